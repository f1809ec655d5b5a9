"""Runs an agent over a question file like the real evaluator, judges its answers and computes the metrics."""
