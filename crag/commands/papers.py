"""Writes the tables of docs/papers.md and docs/papers/*.md from docs/papers/rows.toml: `make docs`.

A page is written by hand down to the line `MARK`; what follows is made here. A test compares the pages with this.
"""

import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crag.core.places import REPOSITORY

INDEX = REPOSITORY / "docs" / "papers.md"
FOLDER = REPOSITORY / "docs" / "papers"
ROWS = FOLDER / "rows.toml"
PAPERS = ("db3", "nec", "weknow")

MARK = "<!-- `make docs` writes the rest of this page from rows.toml. -->"

TESTS_INTRODUCTION = """Each line is the name of a test in [tests/papers](../../tests/papers). It runs the preset with
mock models in place of the real ones and looks at what they are asked."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A statement of a paper, the references to our code for it, and the difference between both."""

    section: str
    paper: str
    code: Sequence[str]
    difference: str = ""
    tests: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ValueRow:
    """Keys of presets whose values no paper gives."""

    code: Sequence[str]
    reason: str
    tests: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class AdditionRow:
    """What every preset does beyond its paper."""

    what: str
    code: Sequence[str]
    reason: str


@dataclass(frozen=True, slots=True)
class PaperRows:
    """The content of rows.toml."""

    papers: Mapping[str, Sequence[PaperRow]]
    values: Sequence[ValueRow]
    additions: Sequence[AdditionRow]


def read_rows(path: Path = ROWS) -> PaperRows:
    """The rows of all pages. A field that no row has is a TypeError."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    papers = {name: [PaperRow(**row) for row in document[name]] for name in PAPERS}
    values = [ValueRow(**row) for row in document["values"]]
    additions = [AdditionRow(**row) for row in document["additions"]]
    return PaperRows(papers, values, additions)


def pages() -> dict[Path, str]:
    """The whole text of each page, by its path."""
    rows = read_rows()
    texts = {INDEX: _with_tables(INDEX, _index_tables(rows))}
    for name in PAPERS:
        path = FOLDER / f"{name}.md"
        texts[path] = _with_tables(path, _paper_tables(rows.papers[name]))
    return texts


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the pages."""
    del arguments
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"wrote {path}\n")


def _with_tables(path: Path, tables: Iterable[str]) -> str:
    """The page's own text, the mark, and the tables."""
    # A page without the mark is taken as written by hand, and the tables follow
    by_hand = path.read_text(encoding="utf-8").partition(MARK)[0].rstrip()
    return "\n".join([by_hand, "", MARK, "", *tables, ""])


def _paper_tables(rows: Sequence[PaperRow]) -> list[str]:
    statements = ["| section | the paper says | where it is | what differs, and why |", "|---|---|---|---|"]
    tests = ["| section | test |", "|---|---|"]
    for row in rows:
        code = _references(row.code, "../../")
        statements.append(f"| {row.section} | {row.paper} | {code} | {row.difference} |")
        tests += [f"| {row.section} | {_test(test, '../../')} |" for test in row.tests]
    # A test that shows several statements of a section is listed once
    tests = list(dict.fromkeys(tests))
    return ["## Row by row", "", *statements, "", "## What the tests show", "", TESTS_INTRODUCTION, "", *tests]


def _index_tables(rows: PaperRows) -> list[str]:
    lines = ["## Values that no paper gives", "", "| key | reason |", "|---|---|"]
    for value in rows.values:
        tests = [f"Test: {_test(test, '../')}." for test in value.tests]
        lines.append(f"| {_references(value.code, '../')} | {' '.join([value.reason, *tests])} |")

    lines += ["", "## Additions in all presets", "", "| addition | where it is | reason |", "|---|---|---|"]
    for addition in rows.additions:
        lines.append(f"| {addition.what} | {_references(addition.code, '../')} | {addition.reason} |")
    return lines


def _references(references: Sequence[str], root: str) -> str:
    """What is named in each preset, then in each file; one line each. `root` leads to the repository."""
    names: dict[str, list[str]] = {}

    # "crag/evaluation/batches.py:SECONDS_PER_QUERY" is a name in a file; a preset is named without a path
    for reference in references:
        owner, _, name = reference.partition(":")
        names.setdefault(owner, [])
        if name:
            names[owner].append(f"`{name}`")

    presets = []
    files = []
    for owner, inside in names.items():
        line = _link(owner, root)
        if inside:
            line += f": {', '.join(inside)}"
        # A path has a slash, the name of a preset does not
        if "/" in owner:
            files.append(line)
        else:
            presets.append(line)
    return "<br>".join(presets + files)


def _link(owner: str, root: str) -> str:
    """A path as a link; a preset or a pattern of several files is none."""
    return f"`{owner}`" if "/" not in owner or "*" in owner else f"[`{owner}`]({root}{owner})"


def _test(reference: str, root: str) -> str:
    """``test_nec:test_all_other_classes_are_answered`` as a sentence that links to the file."""
    module, _, name = reference.partition(":")
    sentence = name.removeprefix("test_").replace("_", " ")
    return f"[{sentence}]({root}tests/papers/{module}.py)"
