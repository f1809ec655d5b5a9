"""Questions with their calls, as lines of a file; the graph that they were labelled on; the names in their calls.

`crag train api-pairs` writes them, its `label` makes them.

Entities are spelled the same for every question, so that an entity is in one fold.
"""

import argparse
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from crag.core.csv_files import CsvReader
from crag.core.deadline import Deadline
from crag.core.files import DatasetError, Record, shorten_repr
from crag.evaluation.datasets import alternative_answers, read_records, with_query_time
from crag.evaluation.split import Split
from crag.graph.client import CallLimits, KgClient
from crag.graph.entities import nicknames, team_spelling
from crag.graph.executor import Executor, ProgramResult, Task
from crag.graph.language import Call, KgQueryError, Program, parse, render
from crag.graph.results import Status, Value
from crag.graph.schema import Domain, ParameterKind, load_schema
from crag.graph.writing import load_bank
from crag.mock_api import GraphError, serve
from crag.mock_api.tables import IMPORT_FILE, SHIPPED_GRAPH, check_folder
from crag.text.matching import normalise_name
from crag.training.files import row_of
from crag.training.program_kind import kind_name

DOMAINS = ("movie", "finance", "music", "sports", "open")
"""Folders of a graph."""
_LISTING_COLUMNS = ("Name", "Symbol")
_SECURITY = re.compile(
    r"""
    # The kind of a share and all that follows it; not a kind at the very beginning, which is the company's name.
    \s{1,9}(?:class\ [a-z]\ |series\ [a-z]\ )?
      (?:common|ordinary|capital|american\ depositary|depositary|subordinate|voting|preferred|beneficial|american)\b.*
    | \s{1,9}(?:warrants?|units?|rights?|adss?|adrs?)\b.*
    | \s{1,9}\(.*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LEGAL_FORM = re.compile(
    r",? (?:inc\.?|corp\.?|corporation|ltd\.?|limited|plc|n\.v\.|s\.a\.|co\.?|company|l\.p\.)$", re.IGNORECASE
)
"""At the end of a listed name, which still has its dots and commas.

Not `crag.text.matching.LEGAL_FORMS`, which are those of plain names, and more: with "llc", "ag" and "se" more spellings
would name a company, and pairs would fall into other groups than before.
"""

CompanyNames = Mapping[str, str]
"""Normalised name of a company -> its ticker in lower case."""
SECONDS_PER_BATCH = 120.0
REAL = "real"
"""`source` of labelled real questions."""
BANK = "bank"
"""`source` of the writer's shipped examples."""


class Pair(BaseModel):
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


def read_pairs(path: Path, split: Split | None = None) -> list[Pair]:
    """Read a file of `Pair` lines, without rows of other splits; raises DatasetError."""
    return [pair_of(record) for record in read_records(path, split=split)]


def real_pairs(
    path: Path,
    names: CompanyNames,
    split: Split | None = None,
    limit: int | None = None,
) -> list[Pair]:
    """The labelled real questions, each once, with their entities.

    Rows have query, query_time, domain and calls; optional: frame, answer, alt_ans, and `tables`, the domain of the
    calls where it is another one than the question's. Raises DatasetError.
    """
    pairs: dict[str, Pair] = {}
    for record in read_records(path, limit, split):
        pair = pair_of(record, source=REAL, groups=(), alt_ans=alternative_answers(record))

        # From the calls, else from the label, else the question stands for itself
        groups = (
            groups_of(
                pair.domain,
                pair.program,
                names,
            )
            or _labelled_entities(record)
            or (pair.query,)
        )
        # The first row of a question counts
        pairs.setdefault(pair.query, pair.model_copy(update={"groups": groups}))
    return list(pairs.values())


def bank_pairs() -> list[Pair]:
    """The writer's shipped examples as questions with calls, to tune on."""
    pairs: list[Pair] = []
    for example in load_bank():
        calls = tuple(example.calls.split("\n"))
        pair = Pair(query=example.question, query_time="", domain=example.domain, calls=calls, source=BANK)
        pairs.append(pair)
    return pairs


def grouped_by_calls(pair: Pair) -> Pair:
    """The pair in the group of all questions whose calls ask for the same; without calls, in a group of its own."""
    return pair.model_copy(update={"groups": (kind_name(pair.program) or pair.query,)})


def _labelled_entities(record: Record) -> tuple[str, ...]:
    """The entities in the row's frame, which it may lack. Raises DatasetError."""
    frame = record.data.get("frame") or {}
    if not isinstance(frame, dict):
        raise DatasetError(f'{record.place}: field "frame": expected a JSON object, found {shorten_repr(frame)}')
    entities = frame.get("entities") or []
    if not isinstance(entities, list):
        raise DatasetError(f'{record.place}: field "frame.entities": expected a list, found {shorten_repr(entities)}')
    return tuple(map(str, entities))


def pair_of(record: Record, **more: object) -> Pair:
    """A line of a file as a pair with canonical calls; `more` are further fields. Raises DatasetError."""
    tables = record.data.get("tables")
    if tables is not None:
        if tables not in tuple(Domain):
            raise DatasetError(
                f'{record.place}: field "tables": expected {", ".join(Domain)}, found {shorten_repr(tables)}'
            )
        more["domain"] = tables
    pair = row_of(with_query_time(record), Pair, **more)
    try:
        # Canonical: two spellings of one program must not look like two
        return pair.model_copy(update={"calls": tuple(render(pair.program).split("\n"))})
    except KgQueryError as error:
        fault, *_ = str(error).splitlines()  # the other lines show its place
        raise DatasetError(f'{record.place}: field "calls": {fault}') from None


def bank_version() -> str:
    """Number of examples in the writer's bank, and 12 hexadecimal digits of their hash: ``120@0f...``."""
    bank = load_bank()
    # "\0" separates the fields, so that moving text between them changes the hash
    plain = "".join(f"{example.domain}\0{example.question}\0{example.calls}\0" for example in bank)
    digest = hashlib.sha256(plain.encode()).hexdigest()
    return f"{len(bank)}@{digest[:12]}"


def add_graph_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--graph DIR`` for `find_graph` and `graph_files`."""
    what = (
        "folder of the graph tables that the questions are asked of (see `crag graph import`); default: "
        "the small graph that ships"
    )
    parser.add_argument("--graph", type=Path, metavar="DIR", help=what)


def find_graph(folder: Path | None) -> Path:
    """The folder of the graph, by default the shipped one. Raises GraphError: it is not whole."""
    root = folder or SHIPPED_GRAPH
    check_whole(root)
    return root


def check_whole(folder: Path) -> None:
    """Raise GraphError unless a folder of graph tables has all five domains, or `import --partial` made it."""
    missing = [domain for domain in DOMAINS if not (folder / domain).is_dir()]
    # At least one domain is there, so the folder is meant to be a graph
    if len(missing) < len(DOMAINS):
        check_folder(folder)

    if missing and not (folder / IMPORT_FILE).is_file():
        fault = "no graph" if len(missing) == len(DOMAINS) else "half a graph"
        raise GraphError(
            f"{folder}: {fault}: the folders {', '.join(missing)} are missing; pass the folder that holds "
            f"{', '.join(DOMAINS)}"
        )


def graph_files(folder: Path | None) -> dict[str, Path]:
    """The files of the graph that `find_graph` finds, by their names in its folder, for a run card."""
    root = folder or SHIPPED_GRAPH
    files = filter(Path.is_file, sorted(root.glob("*/*")))
    return {f"graph {path.relative_to(root)}": path for path in files}


def company_names(folder: Path) -> CompanyNames:
    """The names of listed companies without the kind of share, with and without their legal forms; and nicknames."""
    tickers: dict[str, str] = {}
    path = folder / "finance/company_name.dict"
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as lines:
            # Not strict: a published list may have rows with surplus cells or open quotes
            listings = CsvReader(
                lines,
                str(path),
                _LISTING_COLUMNS,
                _LISTING_COLUMNS,
                strict=False,
            )
            rows = [row.cells for row in listings]
        # The first listing of a name counts, so it is written last.
        for row in reversed(rows):
            # "Apple Inc. Common Stock" becomes "Apple Inc"
            name = _SECURITY.sub("", row["Name"]).strip(" ,.")
            for spelling in (name, _without_legal_forms(name)):
                tickers[normalise_name(spelling)] = row["Symbol"].lower()

    # Last, because a nickname that we list is meant on purpose
    for nickname, ticker in nicknames().items():
        tickers[nickname] = ticker.lower()
    return tickers


def _without_legal_forms(name: str) -> str:
    """The name of a company without the legal forms at its end.

    >>> _without_legal_forms("Example Holding Co. Ltd")
    'Example Holding'
    """
    while True:
        # One form at a time, from the end: "Co. Ltd" has two
        shorter = _LEGAL_FORM.sub("", name).strip(" ,.")
        if shorter == name:
            return name
        name = shorter


def groups_of(domain: Domain, program: Program, companies: CompanyNames) -> tuple[str, ...]:
    """The entities in a program's calls, teams in full, companies by ticker.

    Without any, table and values of each call: "movie_person_oscar 2012 visual effects".
    """
    calls = [statement for statement in program.statements if isinstance(statement, Call)]

    groups: list[str] = []
    for call in calls:
        groups += _entities(domain, call, companies)
    if not groups:
        groups = [_table_and_values(call) for call in calls]

    distinct = dict.fromkeys(groups)
    return tuple(filter(None, distinct))


def _table_and_values(call: Call) -> str:
    """The table of a call and its strings; empty if it has no strings."""
    values: list[object] = list(call.arguments)
    # "true" only switches a filter on and names nothing
    values += [condition.value for condition in call.conditions if condition.value != "true"]
    strings = [value for value in values if isinstance(value, str)]
    if not strings:
        return ""
    return " ".join([call.table.removeprefix("get_"), *strings])


def _entities(domain: Domain, call: Call, companies: CompanyNames) -> Iterator[str]:
    """The names in the arguments of a call, in one spelling for each entity."""
    parameters = load_schema(domain).tables[call.table].parameters
    # Trailing optional arguments may be missing, so the lengths may differ
    for parameter, argument in zip(parameters, call.arguments, strict=False):
        if not parameter.kind.is_entity:
            continue
        # A call may name several entities at once
        for name in argument if isinstance(argument, tuple) else (argument,):
            if isinstance(name, str):
                yield _spelling(name, call.table, parameter.kind, companies)


def _spelling(
    name: str,
    table: str,
    kind: ParameterKind,
    companies: CompanyNames,
) -> str:
    if kind is ParameterKind.TEAM:
        # "lakers" and "los angeles lakers" must fall into one fold
        team, *_ = team_spelling(name, "nba" if "nba" in table else "soccer")
        return team.casefold()
    if kind is ParameterKind.COMPANY:
        # A name that is not listed is its own group
        return companies.get(normalise_name(name), name).casefold()
    return name.casefold()


@contextmanager
def executor_of(graph: Path) -> Iterator[Executor]:
    """Serve a folder's graph in this process."""
    with serve(graph) as address, KgClient(address, CallLimits(seconds=30.0)) as client:
        yield Executor(client)


def execute(executor: Executor, tasks: Sequence[Task], attempts: int = 3) -> list[ProgramResult]:
    """Run each program, late ones up to `attempts` times: a server on a busy machine is sometimes late."""
    results: dict[int, ProgramResult] = {}
    pending = list(range(len(tasks)))
    for _ in range(attempts):
        if not pending:
            break
        # Only the late ones again; the others keep their first result
        pending_tasks = [tasks[index] for index in pending]
        batch = executor.run_batch(pending_tasks, Deadline(SECONDS_PER_BATCH))
        results.update(zip(pending, batch, strict=True))
        pending = [index for index in pending if is_late(results[index])]
    return [results[index] for index in range(len(tasks))]


def is_late(executed: ProgramResult) -> bool:
    """Whether the server did not answer."""
    return any(result.status is Status.KG_DOWN for result in executed.results)


def values_of(executed: ProgramResult) -> list[Value]:
    """The values of the statements, in their order."""
    values: list[Value] = []
    for result in executed.results:
        values += result.values
    return values
