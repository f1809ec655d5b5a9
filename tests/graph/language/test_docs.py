"""docs/kg_language.md says what is so: its examples are canonical, its tables those of the schema."""

import re
from pathlib import Path

import pytest

from crag.graph.language import ErrorKind, KgQueryError, parse, render
from crag.graph.language.constraint import MAX_WRITTEN_STATEMENTS, constraint
from crag.graph.language.parse import MAX_BYTES, MAX_DEPTH, MAX_STATEMENTS
from crag.graph.schema import Domain, Table, load_schema

TEXT = (Path(__file__).parents[3] / "docs/kg_language.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```(\w+)\n(.*?)\n```$", TEXT, re.MULTILINE | re.DOTALL)
ROWS = re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", TEXT, re.MULTILINE)
REFUSED = [row for row in ROWS if row[1] in set(ErrorKind)]
READ = [row for row in ROWS if row not in REFUSED]


SHOWN_KEYS = 28
"""Of a table with many: the page leaves the rest to the schema."""


@pytest.mark.parametrize(("domain", "text"), EXAMPLES)
def test_an_example_is_canonical(domain: str, text: str) -> None:
    assert render(parse(text, Domain(domain))) == text


@pytest.mark.parametrize(("written", "canonical"), READ)
def test_what_is_said_to_be_read_is_read(written: str, canonical: str) -> None:
    assert render(parse(written.replace("⏎", "\n"), Domain.MOVIE)) == canonical.replace("⏎", "\n")


@pytest.mark.parametrize(("written", "kind"), REFUSED)
def test_what_is_said_to_be_refused_is_refused(written: str, kind: str) -> None:
    with pytest.raises(KgQueryError, match=f"^{kind}:"):
        parse(written, Domain.MOVIE)


def test_every_table_stands_with_its_arguments_and_keys() -> None:
    for domain in Domain:
        schema = load_schema(domain)
        section = re.search(rf"^### {domain}: (.*?)(?=^#)", TEXT, re.MULTILINE | re.DOTALL)
        assert section is not None
        heading, *lines = section[1].strip().splitlines()
        assert heading == schema.meaning
        assert lines[3:] == [_row(table) for table in schema.tables.values()]


def _row(table: Table) -> str:
    arguments = ",".join(parameter.name for parameter in table.parameters)
    call = f"`{table.name}({arguments})`" if table.callable else f'rows of `["{table.name}"]`'
    shown = list(table.columns)[:SHOWN_KEYS] if table.extra_keys else table.columns
    return f"| {call} | {table.meaning} | {' '.join(shown)}{' ...' if table.extra_keys else ''} |"


def test_the_limits_are_the_ones_in_force() -> None:
    prose = " ".join(TEXT.split())
    assert len(EXAMPLES) > 6
    assert len(READ) > 8
    assert len(REFUSED) > 8
    assert f"{MAX_BYTES:,} bytes (`too_long`), {MAX_DEPTH} brackets" in prose
    assert f"{MAX_STATEMENTS} statements (`too_many" in prose
    assert f"allows {MAX_WRITTEN_STATEMENTS} statements, 4 conditions" in prose
    assert "{0,149}" in constraint(Domain.OPEN)
