"""Answers from a context: prompts, drafts, checks and normal form."""

from agents.answering.answerer import Answerer as Answerer
from agents.answering.answerer import Draft as Draft
from agents.answering.answerer import generate_all as generate_all
from agents.answering.answerer import shown as shown
from agents.answering.checks import CaseView as CaseView
from agents.answering.checks import Check as Check
from agents.answering.checks import checks_of as checks_of
from agents.answering.checks import class_gate as class_gate
from agents.answering.checks import gated_answer as gated_answer
from agents.answering.checks import score_gate as score_gate
from agents.answering.confidence import CALIBRATION_FOLDER as CALIBRATION_FOLDER
from agents.answering.confidence import MOST_DEVIATIONS as MOST_DEVIATIONS
from agents.answering.confidence import PAGES_KIND as PAGES_KIND
from agents.answering.confidence import ConfidenceModel as ConfidenceModel
from agents.answering.confidence import Feature as Feature
from agents.answering.confidence import LogisticModel as LogisticModel
from agents.answering.evidence import evidence_of as evidence_of
from agents.answering.features import answer_features as answer_features
from agents.answering.features import kind_of as kind_of
from agents.answering.normalise import MAX_TOKENS as MAX_TOKENS
from agents.answering.normalise import normalise as normalise
from agents.answering.normalise import trim_to_tokens as trim_to_tokens
from agents.answering.prompts import PROMPTS as PROMPTS
from agents.answering.prompts import answer_prompt as answer_prompt
