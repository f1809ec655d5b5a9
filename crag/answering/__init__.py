"""Answers from a context: prompts, drafts, checks and normal form."""

from crag.answering.answerer import Answerer as Answerer
from crag.answering.answerer import Draft as Draft
from crag.answering.checks import CaseView as CaseView
from crag.answering.checks import Check as Check
from crag.answering.checks import ExpectedScore as ExpectedScore
from crag.answering.checks import build_checks as build_checks
from crag.answering.checks import find_closed_class_gate as find_closed_class_gate
from crag.answering.checks import find_closed_score_gate as find_closed_score_gate
from crag.answering.checks import gated_answer as gated_answer
from crag.answering.confidence import MOST_DEVIATIONS as MOST_DEVIATIONS
from crag.answering.confidence import PAGES_KIND as PAGES_KIND
from crag.answering.confidence import ConfidenceModel as ConfidenceModel
from crag.answering.confidence import Feature as Feature
from crag.answering.confidence import LogisticModel as LogisticModel
from crag.answering.confidence import calibration_file as calibration_file
from crag.answering.confidence import load_confidence as load_confidence
from crag.answering.evidence import find_evidence as find_evidence
from crag.answering.features import added_words as added_words
from crag.answering.features import answer_features as answer_features
from crag.answering.features import answer_kind as answer_kind
from crag.answering.features import holds_answer as holds_answer
from crag.answering.normalise import MAX_TOKENS as MAX_TOKENS
from crag.answering.normalise import normalise as normalise
from crag.answering.normalise import trim_to_tokens as trim_to_tokens
from crag.answering.prompts import PROMPTS as PROMPTS
from crag.answering.prompts import answer_prompt as answer_prompt
