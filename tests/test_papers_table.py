"""docs/papers/rows.toml holds: what it names exists, no key of a paper's preset is missing, no step is without a test.

What it claims is shown by the tests that it names, in tests/papers: they run each preset. The pages are written
from it.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crag.commands.argument_types import override
from crag.commands.papers import PaperRow, pages, read_rows
from crag.settings import SettingsError, load_settings

REPOSITORY = Path(__file__).parents[1]
ROWS = read_rows()
PAPER_ROWS = [(system, row) for system, rows in ROWS.papers.items() for row in rows]
PRESETS = [f"crag/presets/{name}.toml" for name in ("db3_task1", "db3_task23", "nec", "weknow")]

SHOWN = {
    "nec": ("web.", "answering.", "knowledge_graph."),
    "weknow": ("web.", "answering.", "router.", "knowledge_graph."),
    "db3": ("web.", "knowledge_graph.source_policy", "answering.prompt"),
}
"""Keys of presets whose rows must name a test: steps of an answer, which recorders in the models' places can see."""

_QUOTED = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<file>[^)#]+)")
_PRESET = re.compile(r"(db3_\*|db3_task[0-9]+(?:_vllm)?|nec|weknow|submission):(.+)")
_TEST = re.compile(r"(test_\w+):(\w+)")
_FILE = re.compile(r"((?:[\w*.-]+/)*[\w*.-]+\.(?:md|toml|py))(?::(.+))?")


def reference(quoted: str) -> tuple[str, str] | None:
    """Path and what is named inside it, if this names a file, a key or a test."""
    if found := _PRESET.fullmatch(quoted):
        return f"crag/presets/{found[1].replace('*', '*[0-9]')}.toml", found[2]
    if found := _TEST.fullmatch(quoted):
        return f"tests/papers/{found[1]}.py", found[2]
    if found := _FILE.fullmatch(quoted):
        return found[1], found[2] or ""
    return None


def code_references() -> list[str]:
    """Everything that the rows name as code."""
    papers = [quoted for _, row in PAPER_ROWS for quoted in row.code]
    values = [quoted for value in ROWS.values for quoted in value.code]
    additions = [quoted for addition in ROWS.additions for quoted in addition.code]
    return papers + values + additions


def named_tests() -> list[str]:
    """Every test that the rows name."""
    papers = [test for _, row in PAPER_ROWS for test in row.tests]
    return papers + [test for value in ROWS.values for test in value.tests]


def prose() -> str:
    """The differences, and what is written by hand on the pages."""
    return "\n".join([*(row.difference for _, row in PAPER_ROWS), *pages().values()])


def fault(path: str, inside: str) -> str | None:
    """Why a reference does not hold, or None."""
    found = sorted(REPOSITORY.glob(path))
    if not found:
        return f"there is no {path}"
    for file in found if inside else ():
        wrong = toml_fault(file, inside) if file.suffix == ".toml" else python_fault(file, inside)
        if wrong:
            return f"{file.relative_to(REPOSITORY)}: {wrong}"
    return None


def toml_fault(file: Path, inside: str) -> str | None:
    key, _, value = inside.partition("=")
    here: Any = tomllib.loads(file.read_text(encoding="utf-8"))
    for part in re.findall(r"[^.\[\]]+", key):
        try:
            here = here[int(part)] if isinstance(here, list) else here[part]
        except (KeyError, IndexError, TypeError, ValueError):
            return f"there is no key {key}"
    if value and here != tomllib.loads(f"x = {value}")["x"]:
        return f"{key} is {here!r}, not {value}"
    return None


def python_fault(file: Path, inside: str) -> str | None:
    body: list[ast.stmt] = ast.parse(file.read_text(encoding="utf-8")).body
    for part in inside.split("."):
        defined = {name: node for node in body for name in names_of(node)}
        if part not in defined:
            return f"there is no {inside}"
        body = getattr(defined[part], "body", [])
    return None


def names_of(node: ast.stmt) -> list[str]:
    """What a definition or an assignment of a module or class names."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return [node.name]
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return []
    return [name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)]


def leaves(node: Any, name: str = "") -> Iterator[str]:
    """Dotted names of all values of a TOML document."""
    tables = isinstance(node, list) and node and isinstance(node[0], dict)
    if isinstance(node, dict):
        parts = {f"{name}.{key}" if name else key: value for key, value in node.items()}
    else:
        parts = {f"{name}[{place}]": value for place, value in enumerate(node)} if tables else {}
    yield from (leaf for part, value in parts.items() for leaf in leaves(value, part))
    if not isinstance(node, dict) and not tables:
        yield name


def test_everything_that_is_named_exists() -> None:
    named = [*code_references(), *named_tests()]
    assert len(named) > 200, "the rows were not read"
    unknown = [quoted for quoted in named if reference(quoted) is None]
    assert unknown == []

    quoted_in_prose = [quoted for _, row in PAPER_ROWS for quoted in _QUOTED.findall(row.difference)]
    found = filter(None, map(reference, [*named, *quoted_in_prose]))
    assert [wrong for path, inside in found if (wrong := fault(path, inside))] == []


@pytest.mark.parametrize(("system", "row"), PAPER_ROWS, ids=lambda value: getattr(value, "section", value))
def test_every_row_names_code_and_every_step_of_an_answer_a_test_that_runs_the_preset(
    system: str, row: PaperRow
) -> None:
    assert row.section
    assert row.paper
    assert row.code

    keys = [quoted.partition(":")[2] for quoted in row.code if quoted.startswith(system) and _PRESET.fullmatch(quoted)]
    steps = [key for key in keys if key.startswith(SHOWN[system])]
    assert not steps or row.tests, f"no test shows {steps[0]}"
    assert all(_TEST.fullmatch(test) for test in row.tests)


def test_every_test_of_a_preset_is_named() -> None:
    named = {test.partition(":")[2] for test in named_tests()}
    there = {
        node.name
        for file in sorted((REPOSITORY / "tests/papers").glob("test_*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert len(there) > 30
    assert sorted(there - named) == []


def test_the_pages_are_written_from_the_rows() -> None:
    for path, text in pages().items():
        assert path.read_text(encoding="utf-8") == text, f"make docs writes {path.name}"


def test_every_link_of_a_page_leads_to_a_file_that_has_the_names_in_its_text() -> None:
    for path, text in pages().items():
        for link in _LINK.finditer(text):
            file = path.parent / link["file"]
            assert file.exists(), f"{path.name}: {link['file']}"
            names = [name for name in _QUOTED.findall(link["text"]) if "/" not in name and file.suffix == ".py"]
            assert list(filter(None, (python_fault(file, name) for name in names))) == [], f"{path.name}: {file.name}"


def test_every_change_of_settings_that_is_named_can_be_made() -> None:
    def loads(preset: str, change: str) -> bool:
        try:
            return bool(load_settings(Path(preset).stem, [change]))
        except SettingsError:
            return False

    changes = [override(change) for change in re.findall(r"--set ([a-z][^\s`]+)", prose())]
    assert changes
    for change in changes:
        assert any(loads(preset, change) for preset in PRESETS), f"--set {change} fits none of the papers' presets"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_key_of_the_papers_presets_is_in_a_row(preset: str) -> None:
    found = filter(None, map(reference, code_references()))
    named = {inside.partition("=")[0] for path, inside in found if Path(preset).match(path)}
    keys = set(leaves(tomllib.loads((REPOSITORY / preset).read_text(encoding="utf-8")))) - {"description"}
    assert sorted(keys - named) == []


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("agents/nothing.py", ""),
        ("crag/presets/nec.toml", "web.chunk.word"),
        ("crag/presets/nec.toml", "web.chunk.words=151"),
        ("crag/answering/checks.py", "class_gates"),
    ],
)
def test_the_test_sees_what_is_wrong(path: str, inside: str) -> None:
    assert fault(path, inside)
