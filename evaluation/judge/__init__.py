"""Judges: is an answer right? `rules` decides by rules, `llm` asks a language model."""

from evaluation.judge.base import Claim, Judge, Judgement, JudgeUnavailableError, Verdict, judge_claims
from evaluation.judge.llm import LanguageModelJudge
from evaluation.judge.options import (
    DEFAULT_JUDGE,
    JUDGE_NAMES,
    LanguageModelJudgeOptions,
    add_judge_arguments,
    cost_line,
    judge_from,
    make_judge,
)
from evaluation.judge.reading import ReadClaim
from evaluation.judge.rules import RulesJudge
from evaluation.judge.sets import gold_items

__all__ = [
    "DEFAULT_JUDGE",
    "JUDGE_NAMES",
    "Claim",
    "Judge",
    "JudgeUnavailableError",
    "Judgement",
    "LanguageModelJudge",
    "LanguageModelJudgeOptions",
    "ReadClaim",
    "RulesJudge",
    "Verdict",
    "add_judge_arguments",
    "cost_line",
    "gold_items",
    "judge_claims",
    "judge_from",
    "make_judge",
]
