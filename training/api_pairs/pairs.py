"""A question with its calls, as one line of the file."""

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, InstanceOf

from agents.common.contracts import Fact
from agents.kg.trainable import Domain, KgQueryError, Program, Value, parse, render
from evaluation.datasets import DatasetError, Record, Split, read_records
from training.examples import row_of

REAL = "real"
"""`source` of labelled real questions."""
SOURCES = (REAL, "bank", "synthetic", "near_miss", "none")
_FIELDS = (
    *("query", "query_time", "domain", "calls", "groups", "source", Split.FIELD, "facts", "direct_answer"),
    *("answer", "alt_ans", "values"),
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its program for the graph.

    `groups` are its entities, most important first (see `training.folds`). `facts` are for an answering model,
    `direct_answer` is the rules' answer from the values, `values` are the executed values in the order of the
    statements. `answer` and `alt_ans` are gold answers; only real questions have them. `split` is a real question's
    split in CRAG.
    """

    query: str
    query_time: str
    domain: Domain
    program: InstanceOf[Program]
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
        """Equal for the same question in other case or punctuation."""
        return normalised(self.query)

    @property
    def calls(self) -> list[str]:
        """The canonical lines; ``["None"]`` if the graph cannot answer."""
        return render(self.program).split("\n")

    def to_row(self) -> dict[str, Any]:
        """The pair as a line of the file."""
        return {name: getattr(self, name) for name in _FIELDS} | {"facts": [asdict(fact) for fact in self.facts]}


def normalised(question: str) -> str:
    """The words of a question, without case, punctuation and blanks."""
    return " ".join(re.findall(r"\w+", question.casefold()))


class _QuestionRow(BaseModel):
    query: str
    query_time: str
    domain: Domain
    calls: list[str]


def read_pair(record: Record, **more: object) -> Pair:
    """Read a line of a file of questions with calls; `more` are missing fields.

    Raises:
        DatasetError: a field is missing or of another type, or the calls cannot be read; the message names file, line
            and field.
    """
    row = row_of(record, _QuestionRow)
    try:
        program = parse("\n".join(row.calls), row.domain)
    except KgQueryError as error:
        raise DatasetError(f'{record.place}: field "calls": {error}') from None
    return row_of(record, Pair, program=program, **more)


def read_pairs(path: Path, split: Split | None = None) -> list[Pair]:
    """Read a file of `to_row` lines, without rows of other splits.

    Raises:
        DatasetError: a line cannot be read, or is not a pair; the message names file, line and field.
    """
    return [read_pair(record) for record in read_records(path, split=split)]
