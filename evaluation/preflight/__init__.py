"""Checks for everything known to have lost submissions: `python -m evaluation.preflight`."""
