"""Reads the text files of pairs beside it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crag.graph.schema import Domain

FOLDER = Path(__file__).parent
LABELLED = FOLDER.parents[2] / "../shared/data/kg/kg_questions_split0.jsonl"


class Pair(NamedTuple):
    domain: Domain
    written: str
    canonical: str


class Faulty(NamedTuple):
    domain: Domain
    written: str
    kind: str
    line: int
    column: int


def pairs(file: str = "canonical.txt") -> list[Pair]:
    return [Pair(domain, *_both_sides(line)) for domain, line in lines(FOLDER / file)]


def faulty() -> list[Faulty]:
    cases = []
    for domain, line in lines(FOLDER / "errors.txt"):
        head, _, written = line.partition(" | ")
        kind, place = head.split(" ")
        row, column = place.split(":")
        cases.append(Faulty(domain, written.replace("⏎", "\n"), kind, int(row), int(column)))
    return cases


def _both_sides(line: str) -> tuple[str, str]:
    written, _, canonical = line.replace("⏎", "\n").rpartition(" ==> ")
    return (written if " ==> " in line else canonical), canonical


def lines(path: Path) -> Iterator[tuple[Domain, str]]:
    """The lines of a text file of cases, each with the domain of its section; # begins a comment."""
    domain = Domain.MOVIE
    for line in path.read_text(encoding="utf-8").splitlines():
        heading = re.fullmatch(r"\[(\w+)\]", line)
        if heading:
            domain = Domain(heading[1])
        elif line.strip() and not line.startswith("#"):
            yield domain, line
