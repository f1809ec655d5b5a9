"""Answers from a context: prompts, drafts, checks and normal form."""

from agents.answering.answerer import Answerer, Draft, draft_of
from agents.answering.checks import (
    EXPECTED_SCORE,
    FORMULA,
    REFINE,
    SELF_ASSESSMENT,
    Check,
    checks_of,
    class_gate,
    gated_answer,
    score_gate,
)
from agents.answering.confidence import CALIBRATION_FOLDER, MOST_DEVIATIONS, PAGES_KIND, ConfidenceModel, LogisticModel
from agents.answering.features import answer_features, kind_of, question_features
from agents.answering.normalise import MAX_TOKENS, normalise, trim_to_tokens
from agents.answering.prompts import PROMPTS, answer_prompt
from agents.answering.requests import generate_all, request_of, shown
from agents.answering.second_look import LEVEL_GRAMMAR, Review, level_of, review_of

__all__ = [
    "CALIBRATION_FOLDER",
    "EXPECTED_SCORE",
    "FORMULA",
    "LEVEL_GRAMMAR",
    "MAX_TOKENS",
    "MOST_DEVIATIONS",
    "PAGES_KIND",
    "PROMPTS",
    "REFINE",
    "SELF_ASSESSMENT",
    "Answerer",
    "Check",
    "ConfidenceModel",
    "Draft",
    "LogisticModel",
    "Review",
    "answer_features",
    "answer_prompt",
    "checks_of",
    "class_gate",
    "draft_of",
    "gated_answer",
    "generate_all",
    "kind_of",
    "level_of",
    "normalise",
    "question_features",
    "request_of",
    "review_of",
    "score_gate",
    "shown",
    "trim_to_tokens",
]
