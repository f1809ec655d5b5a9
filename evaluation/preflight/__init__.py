"""Everything that is known to have lost submissions, checked before the push: `python -m evaluation.preflight`."""
