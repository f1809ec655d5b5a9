"""Chooses the label of a question: db3 section 2.4, steps 1, 3.1, 3.2.1 and 3.2.2."""

import enum
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agents.answering import trim_to_tokens
from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION
from agents.matching import position_of, tokens
from evaluation.judge import Claim, Judge, Judgement, Verdict, judge_claims
from training.labels.basic_answers import BasicAnswer


class Branch(enum.StrEnum):
    """The paper's step that decided the label."""

    INVALID = "invalid question"
    """Step 1: the question rests on a false premise."""
    RIGHT = "right"
    """Step 3.1: the basic answer is right."""
    IN_CONTEXT = "wrong, in context"
    """Step 3.2.2: it is wrong or missing, but the context has the right one."""
    NOT_IN_CONTEXT = "wrong, not in context"
    """Step 3.2.1: it is wrong or missing, and the context does not have the right one."""


def label(basics: Sequence[BasicAnswer], judge: Judge, check: Judge) -> list[dict[str, Any]]:
    """A row for each basic answer, in order: a training example, and what its label was derived from.

    `judge` decides whether the basic answer is right; `check`, where it is not, whether the context holds a right one.
    Rows without a verdict are left out.
    """
    claims = [Claim(basic.example.query, basic.example.answers, basic.answer) for basic in basics]
    judged = [judgement.verdict for judgement in judge_claims(judge, claims, trim_to_tokens)]
    looked = [
        number
        for number, (basic, verdict) in enumerate(zip(basics, judged, strict=True))
        if verdict in {Verdict.INCORRECT, Verdict.MISSING}
        and not (_says(basic, INVALID_QUESTION) or _says(basic, I_DONT_KNOW))
    ]
    contexts = [replace(claims[number], prediction=basics[number].context) for number in looked]
    found = dict(zip(looked, check.judge(contexts), strict=True))
    return [
        _row(basic, verdict, found.get(number))
        for number, (basic, verdict) in enumerate(zip(basics, judged, strict=True))
        if Verdict.UNSCORED not in {verdict, found[number].verdict if number in found else None}
    ]


def _row(basic: BasicAnswer, verdict: Verdict, context: Judgement | None) -> dict[str, Any]:
    completion = _gold(basic)
    if _says(basic, INVALID_QUESTION):
        branch, completion = Branch.INVALID, INVALID_QUESTION
    elif verdict is Verdict.CORRECT:
        branch = Branch.RIGHT
    elif context is not None and context.verdict is Verdict.CORRECT:
        branch = Branch.IN_CONTEXT
    else:
        branch, completion = Branch.NOT_IN_CONTEXT, I_DONT_KNOW
    return {
        **replace(basic.example, completion=completion, source=branch.value).to_row(),
        **basic.about,
        "context": basic.context,
        "branch": branch.value,
        "basic_answer": basic.answer,
        "verdict": verdict.value,
        "why": context.reason if context else None,
        # MARAGS: whether the context supports the answer; no context supports a false premise.
        "hittable": None if branch is Branch.INVALID else branch is not Branch.NOT_IN_CONTEXT,
    }


def _says(basic: BasicAnswer, phrase: str) -> bool:
    """Whether the right answer is this phrase; a few questions of CRAG have only "i don't know"."""
    return any(gold.strip().lower() == phrase for gold in basic.example.answers)


def _gold(basic: BasicAnswer) -> str:
    """The first right answer that occurs word by word in the context, else the official one."""
    given, golds = tokens(basic.context), basic.example.answers
    literal = (gold for gold in golds if tokens(gold) and position_of(tokens(gold), given) >= 0)
    return trim_to_tokens(next(literal, golds[0]).strip())
