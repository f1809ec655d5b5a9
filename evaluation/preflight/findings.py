"""A check's findings, each with place and remedy."""

import enum
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class NotApplicableError(Exception):
    """The check does not apply here; the message says why."""


class Level(enum.StrEnum):
    """`ERROR`: has lost submissions, do not push. `WARNING`: look at it; the push may still be fine."""

    ERROR = "error"
    WARNING = "warning"


class Finding(NamedTuple):
    """One problem: its level, file, description and remedy; its line (from 1) and field."""

    level: Level
    file: str
    problem: str
    remedy: str
    line: int | None = None
    field: str | None = None

    @property
    def place(self) -> str:
        """File, line and field as one text."""
        line = f":{self.line}" if self.line is not None else ""
        return f"{self.file}{line}{f', field {self.field}' if self.field else ''}"


@dataclass(slots=True)
class CheckReport:
    """A check's result. `note` is a short fact; `skipped` says why the check does not apply."""

    check: str
    findings: list[Finding] = field(default_factory=list)
    note: str = ""
    skipped: str | None = None
    seconds: float = 0.0

    def error(self, file: str, problem: str, remedy: str, **place: Any) -> None:  # noqa: ANN401 - line or field
        """Add an error; `place` is its line or field."""
        self.findings.append(Finding(Level.ERROR, file, problem, remedy, **place))

    def warning(self, file: str, problem: str, remedy: str, **place: Any) -> None:  # noqa: ANN401 - as above
        """Add a warning; `place` is its line or field."""
        self.findings.append(Finding(Level.WARNING, file, problem, remedy, **place))

    def by_problem(self, level: Level) -> dict[tuple[str, str], list[str]]:
        """Problem and remedy -> the places of the findings of that level."""
        found: dict[tuple[str, str], list[str]] = {}
        for finding in self.findings:
            if finding.level is level:
                found.setdefault((finding.problem, finding.remedy), []).append(finding.place)
        return found

    def count(self, level: Level) -> int:
        """How many findings have that level."""
        return sum(finding.level is level for finding in self.findings)

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return self.count(Level.ERROR)

    @property
    def state(self) -> str:
        """One word for the table."""
        if self.skipped is not None:
            return "skipped"
        return "ERROR" if self.errors else "warning" if self.findings else "ok"

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        head = {"check": self.check, "skipped": self.skipped, "note": self.note, "seconds": round(self.seconds, 2)}
        return {**head, "findings": [finding._asdict() for finding in self.findings]}


def one_line(text: object, length: int = 200) -> str:
    """A message as one short line."""
    joined = " ".join(str(text).split())
    return joined if len(joined) <= length else f"{joined[: length - 3]}..."


def some(names: list[str], shown: int = 3) -> str:
    """The first few of many names."""
    rest = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + rest
