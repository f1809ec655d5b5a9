r"""Reads what a model says about an answer: its confidence (WeKnow-RAG) or a review (NEC 2.1 step 7, 2.4 and 3.5).

The patterns of a review read a verdict at the beginning of a reply. They must not match answers that begin with the
same word, such as "Right-handed", "Right Said Fred" or "Wrong Turn": only what ends a verdict may follow it.
"""

import enum
import re
from typing import Literal, NamedTuple, cast

from crag.answering.normalise import answer_line, normalise
from crag.core.contracts import Answer, Decision, abstain
from crag.engines.llm.base import Generation

Level = Literal["high", "medium", "low"]

_LEVEL = re.compile(
    r"""
    [\s(\[*_,;.-]{,9}                      # brackets, marks and blanks before it belong to it
    \b confidence (?:[ ]level)?
    \W{,8} (?: is\W{1,9} )?                # "Confidence: high", "confidence is *low*"
    (?P<level> high | medium | low ) \b    # not "highly"
    [\s)\].*_]*
    """,
    re.IGNORECASE | re.VERBOSE,
)

_SUBJECT = r"""
    (?: it | that | this | (?: (?: the | that | this | your | given | proposed | provided ) [ ] ){0,5} answer )
    (?: [ ]is | [\u2019']s ) [ ]
"""
_VERDICT_END = r"""
    (?=
        \s{0,9}
        (?: [.,;:!?()*"\u201d] | \s[-\u2013\u2014]\s | (?: because | since )\b | $ )
    )
"""
_CONFIRMED = re.compile(
    rf"""
    \W{{,9}} (?: yes\W{{1,9}} )?           # "Yes, ..."
    (?: {_SUBJECT} | is[ ] )?              # "The given answer is ...", "It's ..."
    (?: correct | right ) (?: [ ]answer )?
    {_VERDICT_END}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_REJECTED = re.compile(
    rf"""
    \W{{,9}} (?: no\W{{1,9}} )?
    (?: {_SUBJECT} | is[ ] )?
    (?: incorrect | wrong | not[ ](?:correct|right) ) (?: [ ]answer )?
    {_VERDICT_END}
    (?: [\s.,;:!?()*"\u201d] | [-\u2013\u2014](?=\s) | (?: because | since )\b )*    # not the minus sign of "-3"
    """,
    re.IGNORECASE | re.VERBOSE,
)
_CORRECTION_LEAD_IN = re.compile(
    r"""
    \W{,9} (?: the[ ] )? (?: correct | right ) [ ]answer
    (?: [ ] (?: is | was | would[ ]be | should[ ]be )\b | \s?: )
    [\s:]*
    """,
    re.IGNORECASE | re.VERBOSE,
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


def split_assessment(text: str) -> tuple[str, Level | None]:
    r"""The text without its assessment, wherever that is, and the level; None if it names no level or several.

    >>> split_assessment("Paris\nConfidence: high")
    ('Paris', 'high')
    """
    levels = {match["level"].lower() for match in _LEVEL.finditer(text)}
    level = cast("Level", levels.pop()) if len(levels) == 1 else None
    # A line end, so that the words on both sides do not become one line.
    return _LEVEL.sub("\n", text).strip(), level


def read_review(answer: Answer, generation: Generation) -> Review:
    """Read the model's reply about an answer. Without a reply, withdraw the answer."""
    source = answer.source
    if generation.finish_reason in {"error", "deadline"}:
        cause = generation.error or "time ran out"
        return Review(ReviewVerdict.NOT_REVIEWED, abstain(f"the answer could not be reviewed: {cause}", source))

    first_line = answer_line(generation.text)
    correction = _remove_verdict(first_line)
    # Nothing was removed, so the reply does not begin with "wrong" or a correction.
    if correction == first_line and _CONFIRMED.match(first_line):
        return Review(ReviewVerdict.CONFIRMED, answer)

    # "Incorrect." on the first line: the correction is on the lines after it.
    if not correction:
        _, _, later_lines = generation.text.strip().partition("\n")
        correction = _remove_verdict(answer_line(later_lines))

    corrected = normalise(correction, source)
    if _is_same(corrected.text, answer.text):
        return Review(ReviewVerdict.CONFIRMED, answer)
    if corrected.decision is Decision.ABSTAINED:
        return Review(ReviewVerdict.WITHDRAWN, abstain("the second look withdrew the answer", source))

    reason = f"the second look corrected {answer.text!r}"
    return Review(ReviewVerdict.CORRECTED, Answer(corrected.text, corrected.decision, source, reason))


def _is_same(text: str, other_text: str) -> bool:
    """Whether two answers differ in case and final full stops at most."""
    return text.casefold().strip(" .") == other_text.casefold().strip(" .")


def _remove_verdict(line: str) -> str:
    """The reply without "wrong" and without "the correct answer is"; may be empty."""
    rest = line
    while rejected := _REJECTED.match(rest):
        rest = rest[rejected.end() :]

    lead_in = _CORRECTION_LEAD_IN.match(rest)
    if lead_in:
        rest = rest[lead_in.end() :]

    # "Wrong (it is Paris)": the bracket that opened with the verdict is gone, so is the one that closes.
    has_lost_its_bracket = rest != line and "(" not in rest
    return rest.rstrip(" )") if has_lost_its_bracket else rest
