"""Fits P(correct), the probability that an answer is right, to finished runs."""

from training.calibrate.questions import FinishedQuestion, read_run

__all__ = ["FinishedQuestion", "read_run"]
