"""Fits P(correct), the probability that an answer is right, to finished runs."""

from training.calibrate.expected_score import ReliabilityBin
from training.calibrate.runs import FinishedQuestion, read_run

__all__ = ["FinishedQuestion", "ReliabilityBin", "read_run"]
