"""From finished runs to P(correct): how likely an answer is to be right, and whether to give it."""

from training.calibrate.expected_score import ReliabilityBin
from training.calibrate.runs import FinishedQuestion, read_run

__all__ = ["FinishedQuestion", "ReliabilityBin", "read_run"]
