"""Commands behind the figures in the README and the docs."""
