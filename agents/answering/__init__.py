"""From context to the final string: prompts, the answering model, decisions and normal form."""

from agents.answering.answerer import NO_DRAFT, Answerer, Draft
from agents.answering.assessment import NO_ASSESSMENT, Assessment, Assessor, level_of
from agents.answering.confidence import CALIBRATION_FOLDER, ConfidenceModel, LogisticModel
from agents.answering.decide import abstain, decide
from agents.answering.features import answer_features, kind_of, question_features
from agents.answering.normalise import MAX_TOKENS, normalise, trim_to_tokens
from agents.answering.prompts import PROMPTS
from agents.answering.refiner import NO_REVIEW, Refiner, Review
from agents.answering.requests import shown

__all__ = [
    "CALIBRATION_FOLDER",
    "MAX_TOKENS",
    "NO_ASSESSMENT",
    "NO_DRAFT",
    "NO_REVIEW",
    "PROMPTS",
    "Answerer",
    "Assessment",
    "Assessor",
    "ConfidenceModel",
    "Draft",
    "LogisticModel",
    "Refiner",
    "Review",
    "abstain",
    "answer_features",
    "decide",
    "kind_of",
    "level_of",
    "normalise",
    "question_features",
    "shown",
    "trim_to_tokens",
]
