"""The interface for training: the parts of a classifier that training and inference share."""

from agents.questions.base import field_entry
from agents.questions.calibration import (
    Logs,
    MixingWeights,
    expected_calibration_error,
    fit_mixing_weights,
    log_softmax,
    mixed,
)
from agents.questions.classifier import CONFIG_FILE, SHIPPED, WEIGHTS_FILE, ClassifierConfig, FieldConfig
from agents.questions.network import Pooling, QuestionTokenizer
from agents.questions.ngrams import bucket_rarity, hashed_rows

__all__ = [
    "CONFIG_FILE", "SHIPPED", "WEIGHTS_FILE", "ClassifierConfig", "FieldConfig", "Logs", "MixingWeights", "Pooling",
    "QuestionTokenizer", "bucket_rarity", "expected_calibration_error", "field_entry", "fit_mixing_weights",
    "hashed_rows", "log_softmax", "mixed",
]  # fmt: skip
