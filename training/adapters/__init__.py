"""Trains an adapter from scratch with one command: runs the steps of its recipe and skips finished ones."""
