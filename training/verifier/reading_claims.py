"""Claims about passages, from reading sets: rows of {source, question, title, passage, answers, answerable}.

A wrong answer is one that looks right: the answer to another question about the passage, or a part of the passage of
the same form. A question without an answer in its passage gives wrong claims only.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

from pydantic import BaseModel

from agents.answering.claims import claim, window
from training.verifier.claims import Claim

READING = Path(__file__).parents[2].parent / "shared/data/reading"
HELD_OUT_PART = 8
"""One title of so many in the reading sets is left out, for runs that fit and measure P(correct)."""
OTHER_ANSWERS = 1
"""Answers of other questions to the same passage, for each question."""
_NAME = re.compile(r"\b[A-Z][\w'’.-]+(?: (?:of |the |and |de |von )?[A-Z][\w'’.-]+){0,4}")
_NUMBER = re.compile(
    r"[A-Z][a-z]+ \d{1,2}, \d{4}|\d{1,2} [A-Z][a-z]+ \d{4}"
    r"|[$£€]?\d[\d,.]*(?: (?:million|billion|percent|%|years|km|miles))?"
)


class ReadingRow(BaseModel):
    """A question about a passage; `answers` are alternatives."""

    id: str
    source: str
    question: str
    title: str
    passage: str
    answers: list[str]
    answerable: bool


def reading_claims(rows: Iterable[ReadingRow], seed: int) -> Iterator[Claim]:
    """Claims of all rows in order."""
    rng = Random(seed)  # noqa: S311 - reproducible chance
    by_passage: dict[str, list[ReadingRow]] = {}
    by_title: dict[str, list[ReadingRow]] = {}
    for row in rows:
        by_passage.setdefault(row.passage, []).append(row)
        by_title.setdefault(row.title, []).append(row)
    for row in (row for rows_of_passage in by_passage.values() for row in rows_of_passage):
        yield from _claims(row, by_passage[row.passage], by_title, rng)


def _claims(
    row: ReadingRow, neighbours: Sequence[ReadingRow], by_title: Mapping[str, Sequence[ReadingRow]], rng: Random
) -> Iterator[Claim]:
    gold = row.answers[0] if row.answerable and row.answers else ""
    if gold:
        yield _claim(row, gold, row.passage, "right", supported=True)
    others = {one.answers[0] for one in neighbours if one.answers and one.answerable}
    others = {one for one in others if not _alike(one, row.answers)}
    for answer in rng.sample(sorted(others), min(OTHER_ANSWERS, len(others))):
        yield _claim(row, answer, row.passage, "other answer")
    form = _NUMBER if any(c.isdigit() for c in gold or rng.choice("a1")) else _NAME
    spans = {
        found for found in form.findall(row.passage) if not _alike(found, row.answers) and found not in row.question
    }
    if spans:
        yield _claim(row, rng.choice(sorted(spans)), row.passage, "other part")
    elsewhere = [one for one in by_title[row.title] if one.passage != row.passage and one.answerable and one.answers]
    if elsewhere and rng.random() < 0.3:
        other = rng.choice(elsewhere)
        if not _alike(other.answers[0], row.answers):
            yield _claim(row, other.answers[0], other.passage, "other passage")


def _claim(row: ReadingRow, answer: str, passage: str, how: str, *, supported: bool = False) -> Claim:
    text = claim(row.question, "", answer, f"{row.title[:80]}: {window(answer, passage)}")
    return Claim(text, supported, f"{row.source.split('-')[0]} {how}", row.title)


def _alike(answer: str, answers: Sequence[str]) -> bool:
    own = answer.casefold()
    return any(own in one.casefold() or one.casefold() in own for one in answers)


def is_held_out(title: str) -> bool:
    """Whether the verifier never sees a reading set's rows of this title."""
    return hashlib.sha256(title.encode()).digest()[0] % HELD_OUT_PART == 0
