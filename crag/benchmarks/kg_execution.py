"""How often labelled calls, run against a graph, give the labelled values."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import fmean
from typing import Any

from crag.core.deadline import Deadline
from crag.core.files import Record
from crag.core.progress import batches_with_progress
from crag.core.queries import parse_query_time
from crag.evaluation.datasets import read_records
from crag.evaluation.judge import Claim, RulesJudge, Verdict, judge_claims
from crag.evaluation.question_fields import with_query_time
from crag.graph.client import KgClient
from crag.graph.conditions import as_number
from crag.graph.derive import JUST_THE_VALUE, CallResults, answer_from_values
from crag.graph.executor import Executor, ProgramResult, Task
from crag.graph.language import parse
from crag.graph.results import Result, Row
from crag.graph.schema import Domain
from crag.mock_api import serve
from crag.training.folds import normalise_spelling

BATCH = 16
"""Programs that are run at once."""
SECONDS_PER_BATCH = 480.0
LABEL_FIELDS = ("query", "query_time", "domain", "calls", "frame", "kg_values", "answerable", "verified")
ANSWER_FIELDS = ("answer", "alt_ans")
_AGGREGATES: Mapping[str, Callable[[list[float]], float]] = {"sum": sum, "avg": fmean}


def values_agree(row: Mapping[str, Any], outcome: ProgramResult, *, derived: bool = True) -> bool:
    """Whether an outcome holds the labelled values of a question's row."""
    expected = row["kg_values"]
    # No calls are right for a question that the graph cannot answer
    if not row["answerable"]:
        return not outcome.results

    groups = _groups(outcome.results)
    if not groups:
        return False

    frame = row["frame"]
    if frame["table"] == "open":
        return _holds_passages(outcome.results, expected)

    # The last call answers a question in several hops, and one that combines entities.
    has_one_result = row.get("hops") or len(groups) == 1 or frame.get("combine")
    if has_one_result:
        return _group_agrees(expected, groups[-1], frame, derived=derived)

    # Otherwise each entity has its own labelled values. Those that cannot be assigned agree with no group of values
    if len(expected) != len(groups):
        expected = [[]] * len(groups)
    for values, group in zip(expected, groups, strict=True):
        if not _group_agrees(values, group, frame, derived=derived):
            return False
    return True


def _holds_passages(results: Sequence[Result], expected: Sequence[object]) -> bool:
    """Whether the values hold every labelled passage; ``||`` separates the passages of a label."""
    values: list[str] = []
    for result in results:
        values += map(str, result.values)
    text = normalise_spelling(" ".join(values))

    passages: list[str] = []
    for value in expected:
        passages += str(value).split("||")
    return all(normalise_spelling(passage) in text for passage in passages)


def _groups(results: Sequence[Result]) -> list[list[Result]]:
    """The statements of each entity: a call with the sorts and averages after it, which work on its result."""
    groups: list[list[Result]] = []
    for result in results:
        if groups and re.match(r"(ALL )?(sort\(|average)", result.call):
            groups[-1].append(result)
        else:
            groups.append([result])
    return groups


def _group_agrees(
    expected: object,
    group: Sequence[Result],
    frame: Mapping[str, Any],
    *,
    derived: bool,
) -> bool:
    """Whether the last statement's values are the labelled ones, perhaps after the frame's last step."""
    result = group[-1]
    labelled = _plain(expected)
    # Only a sorted result has an order that means something
    if _same(labelled, _plain(result.values), ordered=bool(frame["sort"])):
        return True

    # `derived`: the answer may need one more step, which code does for the model
    if not derived:
        return False
    derived_values = _last_step(result, frame)
    return _same(labelled, _plain(derived_values), ordered=False)


def _last_step(result: Result, frame: Mapping[str, Any]) -> list[Any]:
    """The frame's filters, selection and aggregate over the rows of a statement."""
    rows = [row for row in result.rows if _passes_all(row, frame["filters"])]
    if frame["aggregate"] == "len":
        return [len(rows)]

    column = frame["select"]
    values: list[Any] = list(result.values)
    if rows and column in rows[0].cells:
        values = [row.cells.get(column) for row in rows]
    aggregate = _AGGREGATES.get(frame["aggregate"] or "")
    if aggregate is None:
        return values

    # Cells without a number do not count.
    numbers = [number for number in map(as_number, values) if number is not None]
    return [aggregate(numbers)] if numbers else []


def _passes_all(row: Row, filters: Sequence[tuple[str, str, object]]) -> bool:
    """Apply the filters that the labelled calls lack: results and venues of games."""
    for key, operator, value in filters:
        is_missing_in_calls = key in {"result", "venue"} and operator == "eq"
        if is_missing_in_calls and row.cells.get(key) != value:
            return False
    return True


def _plain(values: object) -> list[str | float]:
    """Values for comparison: nested lists flattened, numbers as numbers, strings without case."""
    if isinstance(values, list | tuple):
        plain: list[str | float] = []
        for value in values:
            plain += _plain(value)
        return plain

    # "1.5" and 1.5 are equal, but "1-0" stays a string
    is_numeric = isinstance(values, int | float) or str(values).replace(".", "", 1).isdigit()
    number = as_number(values) if is_numeric else None
    return [number if number is not None else normalise_spelling(str(values))]


def _same(labelled: list[str | float], values: list[str | float], *, ordered: bool) -> bool:
    if len(labelled) != len(values):
        return False
    if not ordered:
        # By text, as strings and numbers have no common order
        labelled = sorted(labelled, key=str)
        values = sorted(values, key=str)
    return all(map(_equal, labelled, values))


def _equal(labelled: str | float, value: str | float) -> bool:
    """Numbers may differ by a millionth of the labelled one."""
    if isinstance(labelled, float) and isinstance(value, float):
        return abs(labelled - value) <= 1e-6 * max(1.0, abs(labelled))
    return labelled == value


@contextmanager
def open_graph(data: Path, url: str | None) -> Iterator[str]:
    """The address of a graph's server: the given one, or our own over a folder, which runs as long as the block."""
    with nullcontext(url) if url else serve(data) as address:
        yield address


def run_rows(rows: Sequence[Mapping[str, Any]], address: str) -> list[ProgramResult]:
    """Run the labelled calls of each row in batches."""
    outcomes: list[ProgramResult] = []
    with KgClient(address) as client:
        executor = Executor(client)
        for batch in batches_with_progress(rows, BATCH):
            tasks: list[Task] = []
            for row in batch:
                asked_at = parse_query_time(row["query_time"])
                calls = "\n".join(row["calls"])
                tasks.append(Task(Domain(row["domain"]), calls, asked_at))
            outcomes += executor.run_batch(tasks, Deadline(SECONDS_PER_BATCH))
    return outcomes


def labelled_questions(path: Path, also: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Questions with calls and values that the graph confirms, each with the fields of `LABEL_FIELDS` and `also`.

    Raises DatasetError: a row cannot be read or lacks a field.
    """
    labels = [read_label(record, also) for record in read_records(path)]
    return [label for label in labels if label["verified"]]


def read_label(record: Record, also: Sequence[str] = ()) -> dict[str, Any]:
    """A line with the fields of `LABEL_FIELDS` and `also`, its time in CRAG's form. Raises DatasetError."""
    for name in (*LABEL_FIELDS, *also):
        if name not in record.data:
            raise record.fault(name, "missing")
    return with_query_time(record).data


def labelled_by_calls(row: Mapping[str, Any], outcome: ProgramResult) -> dict[str, Any]:
    """The row with the outcome of its own calls as its labelled values: None if they return nothing."""
    last_of_groups = [group[-1] for group in _groups(outcome.results)]
    # As labels are: the values of each entity; of one entity, and of open questions, the bare values
    labelled: list[Any] = []
    for result in last_of_groups:
        if row["domain"] == Domain.OPEN or len(last_of_groups) == 1:
            labelled += result.values
        else:
            labelled.append(list(result.values))

    is_sorted = any(re.match(r"(ALL )?sort\(", result.call) for result in last_of_groups)
    frame = {"table": row["domain"], "sort": is_sorted, "filters": [], "aggregate": None, "select": None}
    has_values = any(result.values for result in outcome.results)
    return {**row, "frame": frame, "kg_values": labelled if has_values else None}


def compare_with_labels(row: Mapping[str, Any], outcome: ProgramResult) -> dict[str, bool]:
    """Whether the values are the labelled ones, and whether there is an answer without a model, and a right one."""
    query = row["query"]
    domain = Domain(row["domain"])
    program = parse("\n".join(row["calls"]), domain)

    asked_at = parse_query_time(row["query_time"])
    today = asked_at.date() if asked_at else None
    answer = answer_from_values(CallResults(query, domain, program, outcome.results, today))

    is_right = False
    if answer is not None:
        golds = (row["answer"], *map(str, row["alt_ans"]))
        claim = Claim(query, golds, answer.text)
        (judgement,) = judge_claims(RulesJudge(), [claim], str)
        is_right = judgement.verdict is Verdict.CORRECT

    # What the columns call "said": the value as it is
    is_said = answer is not None and answer.reason == JUST_THE_VALUE
    is_computed = answer is not None and not is_said
    return {
        "direct": values_agree(row, outcome, derived=False),
        "derived": values_agree(row, outcome),
        "said": is_said,
        "said right": is_said and is_right,
        "computed": is_computed,
        "computed right": is_computed and is_right,
    }
