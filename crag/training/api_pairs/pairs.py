"""Questions with their calls, as lines of a file: labelled real questions, and the writer's shipped examples."""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from crag.core.files import Record, shorten_repr
from crag.evaluation.datasets import read_records
from crag.evaluation.question_fields import alternative_answers, question_of, with_query_time
from crag.evaluation.split import Split
from crag.graph.language import KgQueryError, Program, parse, render
from crag.graph.schema import Domain
from crag.graph.writing import load_bank
from crag.training.api_pairs.entities import CompanyNames, groups_of
from crag.training.files import row_of
from crag.training.program_kind import kind_name

REAL = "real"
"""`source` of labelled real questions."""
BANK = "bank"
"""`source` of the writer's shipped examples."""


class CallPair(BaseModel):
    """A question and its calls: canonical lines, or ``["None"]`` if the graph cannot answer.

    `groups` are its entities, most important first (see `crag.training.folds`); `answer` and `alt_ans` are gold
    answers; `split` is the question's split in CRAG.
    """

    model_config = ConfigDict(frozen=True)

    query: str
    query_time: str = ""
    domain: Domain
    calls: tuple[str, ...]
    groups: tuple[str, ...] = ()
    source: str = REAL
    split: int | None = None
    answer: str | None = None
    alt_ans: tuple[str, ...] = ()

    @property
    def program(self) -> Program:
        """The calls, parsed; raises KgQueryError."""
        return parse("\n".join(self.calls), self.domain)


def read_pairs(path: Path, split: Split | None = None) -> list[CallPair]:
    """Read a file of `CallPair` lines, without rows of other splits; raises DatasetError."""
    return [pair_of(record) for record in read_records(path, split=split)]


def real_pairs(
    path: Path,
    names: CompanyNames,
    split: Split | None = None,
) -> list[CallPair]:
    """The labelled real questions, each once, with their entities.

    Rows have query, query_time, domain and calls; optional: frame, answer, alt_ans, and `tables`, the domain of the
    calls where it is another one than the question's. Raises DatasetError.
    """
    pairs: dict[str, CallPair] = {}
    for record in read_records(path, split=split):
        pair = pair_of(record, source=REAL, groups=(), alt_ans=alternative_answers(record))

        # Without any entity the question stands for itself
        entities = groups_of(pair.domain, pair.program, names) or _labelled_entities(record)
        groups = entities or (pair.query,)
        # The first row of a question counts
        pairs.setdefault(pair.query, pair.model_copy(update={"groups": groups}))
    return list(pairs.values())


def bank_pairs() -> list[CallPair]:
    """The writer's shipped examples as questions with calls, to tune on."""
    pairs: list[CallPair] = []
    for example in load_bank():
        calls = tuple(example.calls.split("\n"))
        pair = CallPair(query=example.question, query_time="", domain=example.domain, calls=calls, source=BANK)
        pairs.append(pair)
    return pairs


def grouped_by_calls(pair: CallPair) -> CallPair:
    """The pair in the group of `call_group`."""
    return pair.model_copy(update={"groups": (call_group(pair.program, pair.query),)})


def call_group(program: Program, question: str) -> str:
    """The group of all questions whose calls ask for the same; without calls, a question is in one of its own."""
    return kind_name(program) or question


def _labelled_entities(record: Record) -> tuple[str, ...]:
    """The entities in the row's frame, which it may lack. Raises DatasetError."""
    frame = record.data.get("frame") or {}
    if not isinstance(frame, dict):
        raise record.fault("frame", f"expected a JSON object, found {shorten_repr(frame)}")
    entities = frame.get("entities") or []
    if not isinstance(entities, list):
        raise record.fault("frame.entities", f"expected a list, found {shorten_repr(entities)}")
    return tuple(map(str, entities))


def pair_of(record: Record, **changes: object) -> CallPair:
    """A line of a file as a pair with canonical calls; `changes` replace its fields. Raises DatasetError."""
    question_of(record)
    tables = record.data.get("tables")
    if tables is not None:
        if tables not in tuple(Domain):
            raise record.fault("tables", f"expected {', '.join(Domain)}, found {shorten_repr(tables)}")
        changes["domain"] = tables

    pair = row_of(with_query_time(record), CallPair, **changes)
    try:
        # Canonical: two spellings of one program must not look like two
        return pair.model_copy(update={"calls": tuple(render(pair.program).split("\n"))})
    except KgQueryError as error:
        fault, *_ = str(error).splitlines()  # the other lines show its place
        raise record.fault("calls", fault) from None


def bank_version() -> str:
    """Number of examples in the writer's bank, and 12 hexadecimal digits of their hash: ``120@0f...``."""
    bank = load_bank()
    # "\0" separates the fields, so that moving text between them changes the hash
    plain = "".join(f"{example.domain}\0{example.question}\0{example.calls}\0" for example in bank)
    digest = hashlib.sha256(plain.encode()).hexdigest()
    return f"{len(bank)}@{digest[:12]}"
