"""Measure how often the date resolver gives the date that CRAG's labelled questions mean.

    python -m benchmarks.date_resolution [FILE]

The file has rows {query, query_time, domain, calls, frame: {table, filters: [[field, operator, value]]}}. Measured are
questions whose filters name a date or a range of dates (`eq`, or `ge` and `le`), and questions for the newest record.
"Before today" and "after today" (`lt`, `gt`) mark the last and the next game; such questions name no date.

Two methods: `resolve_date` on the date arguments of the calls, and `find_dates` on the question's text, which must find
the labelled date ("alone": and nothing else). Prices exist only for sessions up to the question, so two finance ranges
are equal if they have the same past sessions. Some labels leave out the session of the question: agreement except for
that session counts as "open".
"""

import argparse
import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path

from agents.common.console import end_with
from agents.common.queries import parse_query_time
from agents.questions.calendars import DateRange, sessions
from agents.questions.dates import (
    Calendar,
    MomentKind,
    ResolvedDate,
    eastern_time,
    find_dates,
    resolve_date,
)
from benchmarks.common import SHARED, by_label, exit_code, table
from evaluation.datasets import DatasetError, read_records
from training.command import parser_of

DEFAULT_FILE = SHARED / "kg/kg_questions_split0.jsonl"
DATE_FIELDS = frozenset({"time", "date", "year", "release_date"})
_CALL = re.compile(r"get_(?:stock_price|soccer_on_date|nba_on_date)\((.*?)\)(?:\[|$)")
_QUOTED = re.compile(r"\"([^\"]*)\"|'((?:[^'\\]|\\.)*)'")


class Agreement(StrEnum):
    """How a resolved date compares with its label."""

    EQUAL = "equal"
    BUT_OPEN_SESSION = "open"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with the date that its label means; `label` is None for the newest record."""

    query: str
    domain: str
    asked_at: datetime
    label: DateRange | None
    arguments: tuple[str, ...]

    @property
    def calendar(self) -> Calendar:
        """Finance counts days in New York, in sessions."""
        return Calendar.TRADING if self.domain == "finance" else Calendar.CIVIL

    def compare(self, resolved: ResolvedDate | None) -> Agreement:
        """Whether the resolved date is the labelled one."""
        if resolved is None:
            return Agreement.DIFFERENT
        if resolved.range == self.label:
            newest = self.label is None and resolved.kind is MomentKind.LATEST
            return Agreement.EQUAL if newest or self.label else Agreement.DIFFERENT
        if not self.label or not resolved.range:
            return Agreement.DIFFERENT
        if self.domain != "finance" or self.label.is_day or resolved.range.is_day:
            return Agreement.DIFFERENT
        today = eastern_time(self.asked_at).date()
        ours, labelled = (set(sessions(days.first, min(days.last, today))) for days in (resolved.range, self.label))
        if ours == labelled:
            return Agreement.EQUAL
        return Agreement.BUT_OPEN_SESSION if ours ^ labelled == {today} else Agreement.DIFFERENT


@dataclass(frozen=True, slots=True)
class Measured:
    """The comparisons of one question; `argument` is None if its calls name no date."""

    question: LabelledQuestion
    argument: Agreement | None
    found: Agreement
    alone: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the shares by domain, then the differences. Exit code: 0 done, 2 the file cannot be used."""
    parser = parser_of("benchmarks.date_resolution", __doc__)
    parser.add_argument("file", type=Path, nargs="?", default=DEFAULT_FILE)
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    measured = [measure(question) for question in labelled_questions(options.file)]
    domains = by_label(measured, lambda one: one.question.domain)
    header = ["domain", "arguments", "agree", "open", "questions", "agree", "open", "alone"]
    print(table(header, [[domain, *_figures(some)] for domain, some in domains.items()]), "\n\ndifferent:")
    for one in measured:
        if Agreement.DIFFERENT in {one.argument, one.found}:
            where = "text" if one.argument is not Agreement.DIFFERENT else "argument and text"
            print(f"  {one.question.domain}, {where}: {one.question.query} -> {one.question.label or 'newest'}")


def labelled_questions(path: Path) -> Iterator[LabelledQuestion]:
    """The questions of the file whose label is a date, a range or the newest record.

    Raises:
        DatasetError: the file cannot be read, or a row lacks a field.
    """
    for place, row in read_records(path):
        try:
            frame, asked_at = row["frame"] or {"table": "none", "filters": []}, parse_query_time(row["query_time"])
            bounds = {operator: value for field, operator, value in frame["filters"] if field in DATE_FIELDS}
            label = _label(bounds)
            if asked_at and (label or frame["table"] == "stock_latest"):
                yield LabelledQuestion(row["query"], row["domain"], asked_at, label, _date_arguments(row["calls"]))
        except KeyError as error:
            raise DatasetError(f"{place}: field {error} is missing") from None


def measure(question: LabelledQuestion) -> Measured:
    """Resolve the question's date with both methods."""
    found = [question.compare(one.resolved) for one in find_dates(question.query, question.asked_at, question.calendar)]
    best = min(found, key=list(Agreement).index, default=Agreement.DIFFERENT)
    expression = " to ".join(question.arguments)  # two arguments are the ends of a range
    return Measured(
        question,
        question.compare(resolve_date(expression, question.asked_at, question.calendar)) if expression else None,
        best,
        alone=Agreement.DIFFERENT not in {*found, best},
    )


def _label(bounds: dict[str, str]) -> DateRange | None:
    first, last = bounds.get("eq", bounds.get("ge")), bounds.get("eq", bounds.get("le"))
    return DateRange(_end_of(first, 0), _end_of(last, -1)) if first and last else None


def _end_of(text: str, end: int) -> date:
    """The first (end 0) or last (-1) day of YYYY, YYYY-MM or YYYY-MM-DD."""
    year, month, day, *_ = [*map(int, text.split("-")), 0, 0]
    month = month or (1, 12)[end]
    return date(year, month, day or (1, monthrange(year, month)[1])[end])


def _date_arguments(calls: Sequence[str]) -> tuple[str, ...]:
    """The arguments after the name in the first call of a table with dates."""
    found = next((match for match in map(_CALL.match, calls) if match), None)
    return tuple(double or single for double, single in _QUOTED.findall(found[1])[1:]) if found else ()


def _figures(some: list[Measured]) -> list[object]:
    figures: list[object] = []
    for agreements in ([one.argument for one in some if one.argument], [one.found for one in some]):
        agreeing = len(agreements) - agreements.count(Agreement.DIFFERENT)
        share = f"{agreeing / len(agreements):.1%}" if agreements else "-"
        figures += [len(agreements), share, agreements.count(Agreement.BUT_OPEN_SESSION)]
    return [*figures, f"{sum(one.alone for one in some) / max(1, len(some)):.1%}"]


if __name__ == "__main__":
    end_with(main)
