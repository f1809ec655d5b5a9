"""Reads what a model says about an answer: its confidence (WeKnow-RAG) or a review (NEC 2.1 step 7, 2.4 and 3.5)."""

import enum
import re
from typing import Literal, NamedTuple, cast

from crag.answering.normalise import normalise, one_line
from crag.core.contracts import Answer, Decision, abstain
from crag.engines.llm.base import Generation

Level = Literal["high", "medium", "low"]

_LEVEL = re.compile(
    r"[\s(\[*_,;.-]{,9}\bconfidence(?: level)?\W{,8}(?:is\W{1,9})?(?P<level>high|medium|low)\b[\s)\].*_]*", re.I
)


def assessed(text: str) -> tuple[str, Level | None]:
    """The text without its assessment, wherever it stands, and the level; None if it names no level or several."""
    levels = {match["level"].lower() for match in _LEVEL.finditer(text)}
    return _LEVEL.sub("\n", text).strip(), cast("Level", levels.pop()) if len(levels) == 1 else None


_SUBJECT = r"(?:it|that|this|(?:(?:the|that|this|your|given|proposed|provided) ){0,5}answer)(?: is|[\u2019']s) "
_END = r"(?=\s{0,9}(?:[.,;:!?()*\"\u201d]|\s[-\u2013\u2014]\s|(?:because|since)\b|$))"
"""What may follow a verdict: "Right-handed", "Right Said Fred" and "Wrong Turn" are answers."""
_CONFIRMED = re.compile(rf"\W{{,9}}(?:yes\W{{1,9}})?(?:{_SUBJECT}|is )?(?:correct|right)(?: answer)?{_END}", re.I)
_REJECTED = re.compile(
    rf"\W{{,9}}(?:no\W{{1,9}})?(?:{_SUBJECT}|is )?(?:incorrect|wrong|not (?:correct|right))(?: answer)?{_END}"
    r"(?:[\s.,;:!?()*\"\u201d]|[-\u2013\u2014](?=\s)|(?:because|since)\b)*",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"\W{,9}(?:the )?(?:correct|right) answer(?: (?:is|was|would be|should be)\b|\s?:)[\s:]*", re.IGNORECASE
)


class ReviewVerdict(enum.StrEnum):
    """The result of a second look."""

    CONFIRMED = "confirmed"
    WITHDRAWN = "withdrawn"
    CORRECTED = "corrected"
    NOT_REVIEWED = "not_reviewed"


class Review(NamedTuple):
    """The verdict and the resulting answer."""

    verdict: ReviewVerdict
    answer: Answer


def review_of(answer: Answer, generation: Generation) -> Review:
    """Read the model's reply about an answer. Without a reply, withdraw the answer."""
    if generation.finish_reason in {"error", "deadline"}:
        why = generation.error or "time ran out"
        return Review(ReviewVerdict.NOT_REVIEWED, abstain(f"the answer could not be reviewed: {why}", answer.source))
    said, further = one_line(generation.text), generation.text.strip().partition("\n")[2]
    correction = _correction(said)
    if correction == said and _CONFIRMED.match(said):
        return Review(ReviewVerdict.CONFIRMED, answer)
    found = normalise(correction or _correction(one_line(further)), answer.source)
    if found.text.casefold().strip(" .") == answer.text.casefold().strip(" ."):
        return Review(ReviewVerdict.CONFIRMED, answer)
    if found.decision is Decision.ABSTAINED:
        return Review(ReviewVerdict.WITHDRAWN, abstain("the second look withdrew the answer", answer.source))
    reason = f"the second look corrected {answer.text!r}"
    return Review(ReviewVerdict.CORRECTED, Answer(found.text, found.decision, found.source, reason))


def _correction(said: str) -> str:
    """The reply without its verdict and without "the correct answer is"; may be empty."""
    left = said
    while rejected := _REJECTED.match(left):
        left = left[rejected.end() :]
    left = left[lead_in.end() :] if (lead_in := _LEAD_IN.match(left)) else left
    return left.rstrip(" )") if left != said and "(" not in left else left
