"""What a check says: findings, each with its place and its remedy."""

import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class Level(enum.StrEnum):
    """`ERROR`: it has lost submissions, do not push. `WARNING`: look at it; the push may still be right."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a fault is: a file relative to the repository, if any the line (from 1) and the field in it."""

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one check found. `note` is a figure or fact worth a line; `skipped` says why the check does not apply."""

    findings: tuple[Finding, ...] = ()
    note: str = ""
    skipped: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """An outcome with the name of its check and the seconds that it took."""

    check: str
    outcome: Outcome
    seconds: float = 0.0

    @property
    def errors(self) -> int:
        """How many findings are errors."""
        return sum(finding.level is Level.ERROR for finding in self.outcome.findings)

    @property
    def warnings(self) -> int:
        """How many findings are warnings."""
        return len(self.outcome.findings) - self.errors

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        return {
            "check": self.check,
            "skipped": self.outcome.skipped,
            "note": self.outcome.note,
            "seconds": round(self.seconds, 2),
            "findings": [
                {
                    "level": finding.level.value,
                    "file": finding.place.file,
                    "line": finding.place.line,
                    "field": finding.place.field,
                    "problem": finding.problem,
                    "remedy": finding.remedy,
                }
                for finding in self.outcome.findings
            ],
        }


@dataclass(slots=True)
class Findings:
    """Collects the findings of one check."""

    items: list[Finding] = field(default_factory=list)

    def error(self, place: Place | str | Path, problem: str, remedy: str) -> None:
        """Add an error."""
        self.items.append(Finding(Level.ERROR, _place(place), problem, remedy))

    def warning(self, place: Place | str | Path, problem: str, remedy: str) -> None:
        """Add a warning."""
        self.items.append(Finding(Level.WARNING, _place(place), problem, remedy))

    def outcome(self, note: str = "") -> Outcome:
        """All that was found."""
        return Outcome(tuple(self.items), note)


def _place(place: Place | str | Path) -> Place:
    return place if isinstance(place, Place) else Place(str(place))


def skipped(why: str) -> Outcome:
    """The outcome of a check that does not apply."""
    return Outcome(skipped=why)


def one_line(text: object, length: int = 200) -> str:
    """A message as one short line."""
    joined = " ".join(str(text).split())
    return joined if len(joined) <= length else f"{joined[: length - 3]}..."


def some(names: list[str], shown: int = 3) -> str:
    """The first few of many names."""
    rest = f" and {len(names) - shown} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + rest
