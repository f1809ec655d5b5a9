"""What a check reports: findings, each with its place and its remedy."""

import enum
from dataclasses import asdict, dataclass, field
from typing import Any


class NotApplicableError(Exception):
    """The check does not apply here; the message says why."""


class Level(enum.StrEnum):
    """`ERROR`: has lost submissions, do not push. `WARNING`: look at it; the push may still be right."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault is: a file relative to the repository, its line (from 1) and the field in it."""

    file: str
    line: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        line = f":{self.line}" if self.line is not None else ""
        return f"{self.file}{line}{f', field {self.field}' if self.field else ''}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: how bad, where, what is wrong, and what to do about it."""

    level: Level
    place: Place
    problem: str
    remedy: str


@dataclass(slots=True)
class CheckReport:
    """What one check found. `note` is a figure or fact worth a line; `skipped` says why the check does not apply."""

    check: str
    findings: list[Finding] = field(default_factory=list)
    note: str = ""
    skipped: str | None = None
    seconds: float = 0.0

    def error(self, place: Place | str, problem: str, remedy: str) -> None:
        """Add an error."""
        self._add(Level.ERROR, place, problem, remedy)

    def warning(self, place: Place | str, problem: str, remedy: str) -> None:
        """Add a warning."""
        self._add(Level.WARNING, place, problem, remedy)

    def _add(self, level: Level, place: Place | str, problem: str, remedy: str) -> None:
        self.findings.append(Finding(level, place if isinstance(place, Place) else Place(place), problem, remedy))

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
        findings = [
            {"level": one.level, **asdict(one.place), "problem": one.problem, "remedy": one.remedy}
            for one in self.findings
        ]
        head = {"check": self.check, "skipped": self.skipped, "note": self.note, "seconds": round(self.seconds, 2)}
        return {**head, "findings": findings}


def one_line(text: object, length: int = 200) -> str:
    """A message as one short line."""
    joined = " ".join(str(text).split())
    return joined if len(joined) <= length else f"{joined[: length - 3]}..."


def some(names: list[str], shown: int = 3) -> str:
    """The first few of many names."""
    rest = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + rest
