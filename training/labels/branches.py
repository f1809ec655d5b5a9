"""Chooses the label of a question: db3 section 2.4, steps 1, 3.1, 3.2.1 and 3.2.2."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION
from agents.matching import position_of, tokens
from evaluation.judge import Claim, Judge, Verdict, judge_claims
from evaluation.trim import official_trim
from training.examples import TrainingExample
from training.labels.basic_answers import BasicAnswer
from training.labels.in_context import ContextCheck, ContextResult


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


@dataclass(frozen=True, slots=True)
class Labelled:
    """A basic answer with its label. `result` is None if the context was not checked."""

    basic: BasicAnswer
    verdict: Verdict
    branch: Branch
    completion: str
    result: ContextResult | None

    @property
    def hittable(self) -> bool | None:
        """Whether the context supports the answer (MARAGS): it is there, or was given. None for false premises."""
        if self.branch is Branch.INVALID:
            return None
        return self.branch is Branch.RIGHT or bool(self.result and self.result.found)

    def to_row(self) -> dict[str, Any]:
        """A line of the file: a training example, and what its label was derived from."""
        basic = self.basic
        example = TrainingExample(
            completion=self.completion,
            messages=basic.messages,
            prompt=basic.prompt,
            groups=(basic.query,),  # two retrievals for one question fall into one fold
            source=self.branch.value,
            query=basic.query,
            answers=basic.golds,
            split=basic.split,
        )
        return example.to_row() | {
            "interaction_id": basic.interaction_id,
            "query_time": basic.query_time,
            "context": basic.context,
            "branch": self.branch.value,
            "basic_answer": basic.answer,
            "verdict": self.verdict.value,
            "gold_in_context": self.result.found if self.result else None,
            "why": self.result.why if self.result else None,
            "hittable": self.hittable,
            **basic.labels,
        }


def label(basics: Sequence[BasicAnswer], judge: Judge, check: ContextCheck) -> list[Labelled]:
    """One label for each basic answer that can be judged, in order.

    Checks the context if the basic answer is wrong or missing; a check that costs nothing (`ContextCheck.free`) checks
    all contexts and so counts the readable answers.
    """
    trim = official_trim().cut
    judged = judge_claims(judge, [Claim(basic.query, basic.golds, basic.answer) for basic in basics], trim)
    verdicts = [judgement.verdict for judgement in judged]
    open_ones = [
        number
        for number, (basic, verdict) in enumerate(zip(basics, verdicts, strict=True))
        if verdict is not Verdict.UNSCORED
        and (check.free or verdict is not Verdict.CORRECT)
        and not (_says(basic, INVALID_QUESTION) or _says(basic, I_DONT_KNOW))
    ]
    found = dict(zip(open_ones, check.look([basics[number] for number in open_ones]), strict=True))
    return [
        _labelled(basic, verdict, found.get(number))
        for number, (basic, verdict) in enumerate(zip(basics, verdicts, strict=True))
        if verdict is not Verdict.UNSCORED
    ]


def _says(basic: BasicAnswer, phrase: str) -> bool:
    """Whether the right answer is this phrase; a few questions of CRAG have only "i don't know"."""
    return any(gold.strip().lower() == phrase for gold in basic.golds)


def _labelled(basic: BasicAnswer, verdict: Verdict, result: ContextResult | None) -> Labelled:
    if _says(basic, INVALID_QUESTION):
        return Labelled(basic, verdict, Branch.INVALID, INVALID_QUESTION, None)
    if verdict is Verdict.CORRECT:
        return Labelled(basic, verdict, Branch.RIGHT, _gold(basic), result)
    if result is not None and result.found:
        return Labelled(basic, verdict, Branch.IN_CONTEXT, _gold(basic), result)
    return Labelled(basic, verdict, Branch.NOT_IN_CONTEXT, I_DONT_KNOW, result)


def _gold(basic: BasicAnswer) -> str:
    """The label: the first right answer that occurs word by word in the context, else the official one."""
    given = tokens(basic.context)
    literal = (gold for gold in basic.golds if tokens(gold) and position_of(tokens(gold), given) >= 0)
    return official_trim().cut(next(literal, basic.golds[0]).strip())
