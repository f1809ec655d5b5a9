"""A question with its calls, as one line of the file."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, InstanceOf

from agents.kg.trainable import Domain, KgQueryError, Program, load_bank, parse, render
from evaluation.datasets import DatasetError, Record, Split, read_records
from training.api_pairs.graph import CompanyNames, groups_of
from training.examples import row_of

REAL = "real"
"""`source` of labelled real questions."""
_FIELDS = ("query", "query_time", "domain", "calls", "groups", "source", Split.FIELD, "answer", "alt_ans")


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its program for the graph.

    `groups` are its entities, most important first (see `training.folds`); `answer` and `alt_ans` are gold answers;
    `split` is the question's split in CRAG.
    """

    query: str
    query_time: str
    domain: Domain
    program: InstanceOf[Program]
    source: str = REAL
    groups: tuple[str, ...] = ()
    answer: str | None = None
    alt_ans: tuple[str, ...] = ()
    split: int | None = None

    @property
    def calls(self) -> list[str]:
        """The canonical lines; ``["None"]`` if the graph cannot answer."""
        return render(self.program).split("\n")

    def to_row(self) -> dict[str, Any]:
        """The pair as a line of the file."""
        return {name: getattr(self, name) for name in _FIELDS}


class _QuestionRow(BaseModel):
    query: str
    query_time: str
    domain: Domain
    calls: list[str]


def read_pairs(path: Path, split: Split | None = None) -> list[Pair]:
    """Read a file of `Pair.to_row` lines, without rows of other splits.

    Raises:
        DatasetError: a line cannot be read, or is not a pair; the message names file, line and field.
    """
    return [_pair(record) for record in read_records(path, split=split)]


def real_pairs(path: Path, names: CompanyNames, split: Split | None = None, limit: int | None = None) -> list[Pair]:
    """The labelled real questions, each once, with their entities.

    Args:
        path: Rows with query, query_time, domain and calls; optional: frame, answer and alt_ans.
        names: Tickers of company names.
        split: Skip questions of other splits.
        limit: Most questions.

    Raises:
        DatasetError: a field is missing, or labelled calls cannot be read.
    """
    found: dict[str, Pair] = {}
    for record in read_records(path, limit, split):
        alternatives = [str(text) for text in record.data.get("alt_ans") or ()]
        pair = _pair(record, source=REAL, groups=(), alt_ans=alternatives)
        entities = (record.data.get("frame") or {}).get("entities") or []
        groups = groups_of(pair.domain, pair.program, names) or tuple(map(str, entities)) or (pair.query,)
        found.setdefault(pair.query, replace(pair, groups=groups))
    return list(found.values())


def _pair(record: Record, **more: object) -> Pair:
    row = row_of(record, _QuestionRow)
    try:
        program = parse("\n".join(row.calls), row.domain)
    except KgQueryError as error:
        raise DatasetError(f'{record.place}: field "calls": {error}') from None
    return row_of(record, Pair, program=program, **more)


def bank_version() -> str:
    """Number of examples in the writer's bank, and 12 hexadecimal digits of their hash: ``120@0f...``."""
    bank = load_bank()
    plain = "".join(f"{example.domain}\0{example.question}\0{example.calls}\0" for example in bank)
    return f"{len(bank)}@{hashlib.sha256(plain.encode()).hexdigest()[:12]}"
