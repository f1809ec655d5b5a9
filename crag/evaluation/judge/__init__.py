"""Judges whether answers are right: `rules` by rules, `llm` by a language model."""

from crag.evaluation.judge.base import (
    Claim,
    Judge,
    Judgement,
    Verdict,
    hedged_line,
    is_hedged,
    judge_claims,
    no_verdict_line,
)
from crag.evaluation.judge.llm import LanguageModelJudge
from crag.evaluation.judge.options import JUDGE_NAMES, add_judge_arguments, cost_line, judge_from, make_judge
from crag.evaluation.judge.read_claim import ReadClaim
from crag.evaluation.judge.rules import RulesJudge
from crag.evaluation.judge.sets import gold_items

__all__ = [
    "JUDGE_NAMES", "Claim", "Judge", "Judgement", "LanguageModelJudge", "ReadClaim", "RulesJudge", "Verdict",
    "add_judge_arguments", "cost_line", "gold_items", "hedged_line", "is_hedged", "judge_claims", "judge_from",
    "make_judge", "no_verdict_line",
]  # fmt: skip
