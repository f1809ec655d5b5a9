"""Commands for preparing a submission."""
