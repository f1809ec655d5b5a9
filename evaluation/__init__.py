"""Runs an agent over a question file as the real evaluator does, judges its answers and measures them."""
