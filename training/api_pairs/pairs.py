"""A question with its calls, as one line of the file."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from agents.contracts import Fact
from agents.kg.trainable import Domain, KgQueryError, Program, Value, parse, render
from evaluation.datasets import DatasetError, Record, Split, read_records
from training.examples import row_of

REAL = "real"
"""`source` of labelled real questions."""
SOURCES = (REAL, "bank", "synthetic", "near_miss", "none")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and the program that asks the graph what it asks.

    `groups` are the entities that it is about, most important first (see `training.folds`). `facts` is what an
    answering model would be shown, `direct_answer` what rules make of the values alone, `values` the executed values in
    the order of the statements. `answer` and `alt_ans` are gold answers; only real questions have them.
    `split` is that of a real question in
    CRAG, None where it was made up.
    """

    query: str
    query_time: str
    domain: Domain
    program: Program
    source: str
    groups: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    direct_answer: str | None = None
    values: tuple[Value, ...] = ()
    answer: str | None = None
    alt_ans: tuple[str, ...] = ()
    split: int | None = None

    @property
    def key(self) -> str:
        """What makes it the same question as another: its words."""
        return normalised(self.query)

    @property
    def calls(self) -> list[str]:
        """The canonical lines; ``["None"]`` where the graph cannot answer."""
        return render(self.program).split("\n")

    def to_row(self) -> dict[str, Any]:
        """The pair as a line of the file."""
        return {
            "query": self.query,
            "query_time": self.query_time,
            "domain": str(self.domain),
            "calls": self.calls,
            "groups": list(self.groups),
            "source": self.source,
            Split.FIELD: self.split,
            "facts": [{"text": fact.text, "source": fact.source} for fact in self.facts],
            "direct_answer": self.direct_answer,
            "answer": self.answer,
            "alt_ans": list(self.alt_ans),
            "values": list(self.values),
        }


def normalised(question: str) -> str:
    """The words of a question: neither case, punctuation nor blanks make a new question."""
    return " ".join(re.findall(r"\w+", question.casefold()))


class QuestionRow(BaseModel):
    """What every line of a question with calls has; other fields are left alone."""

    query: str
    query_time: str
    domain: Domain
    calls: list[str]


class _FactRow(BaseModel):
    text: str
    source: str


class _PairRow(QuestionRow):
    source: str
    groups: list[str]
    facts: list[_FactRow]
    direct_answer: str | None
    values: list[Any]
    answer: str | None
    alt_ans: list[str]
    split: int | None = None


def program_of(record: Record, row: QuestionRow) -> Program:
    """The program that the calls of a line are.

    Raises:
        DatasetError: they cannot be read.
    """
    try:
        return parse("\n".join(row.calls), row.domain)
    except KgQueryError as error:
        raise DatasetError(f'{record.place}: field "calls": {error}') from None


def read_pairs(path: Path, split: Split | None = None) -> list[Pair]:
    """Read a file that `to_row` wrote, without what is of another split.

    Raises:
        DatasetError: a line cannot be read, or is no pair; the message names file, line and field.
    """
    return [_pair(record) for record in read_records(path, split=split)]


def _pair(record: Record) -> Pair:
    row = row_of(record, _PairRow)
    return Pair(
        query=row.query,
        query_time=row.query_time,
        domain=row.domain,
        program=program_of(record, row),
        source=row.source,
        groups=tuple(row.groups),
        facts=tuple(Fact(fact.text, fact.source) for fact in row.facts),
        direct_answer=row.direct_answer,
        values=tuple(row.values),
        answer=row.answer,
        alt_ans=tuple(row.alt_ans),
        split=row.split,
    )
