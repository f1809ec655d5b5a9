"""docs/papers.md holds: what it names exists, no key of a paper's preset is missing, no step is without a test.

What it claims is shown by the tests that it names, in tests/papers: they run each preset.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crag.commands.command_line import override
from crag.settings import SettingsError, load_settings

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs/papers.md").read_text(encoding="utf-8")
PRESETS = [f"crag/presets/{name}.toml" for name in ("db3_task1", "db3_task23", "nec", "weknow")]
TITLES = ("|---", "| system |", "| section |", "| key |", "| what |")

SHOWN = {
    "nec": ("web.", "answering.", "knowledge_graph."),
    "weknow": ("web.", "answering.", "router.", "knowledge_graph."),
    "db3": ("web.", "knowledge_graph.source_policy", "answering.prompt"),
}
"""Keys of presets whose rows must name a test: steps of an answer, which recorders in the models' places can see."""

_QUOTED = re.compile(r"`([^`]+)`")
_PRESET = re.compile(r"(db3_\*|db3_task[0-9]+(?:_vllm)?|nec|weknow|submission):(.+)")
_TEST = re.compile(r"(test_\w+):(\w+)")
_FILE = re.compile(r"((?:[\w*.-]+/)*[\w*.-]+\.(?:md|toml|py))(?::(.+))?")


def rows() -> list[tuple[int, list[str]]]:
    """Line number and cells of each row, without titles and rules."""
    return [
        (number, [cell.strip() for cell in line.strip("|").split("|")])
        for number, line in enumerate(PAGE.splitlines(), start=1)
        if line.startswith("|") and not line.startswith(TITLES)
    ]


def references(text: str) -> Iterator[tuple[str, str]]:
    """Path and what is named inside it, for everything in backquotes that names a file, a key or a test."""
    for quoted in _QUOTED.findall(text):
        if found := _PRESET.fullmatch(quoted):
            yield f"crag/presets/{found[1].replace('*', '*[0-9]')}.toml", found[2]
        elif found := _TEST.fullmatch(quoted):
            yield f"tests/papers/{found[1]}.py", found[2]
        elif found := _FILE.fullmatch(quoted):
            yield found[1], found[2] or ""


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
    found = list(references(PAGE))
    assert len(found) > 200, "the page was not read"
    assert [wrong for path, inside in found if (wrong := fault(path, inside))] == []


def test_every_row_names_a_place_and_every_step_of_an_answer_a_test_that_runs_the_preset() -> None:
    papers = [(number, cells) for number, cells in rows() if len(cells) > 3]
    assert len(papers) > 60, "the tables were not read"
    for number, (section, said, where, _, *shown) in papers:
        line = f"docs/papers.md, line {number}"
        places = list(references(where))
        assert section, line
        assert said, line
        assert len(places) == len(_QUOTED.findall(where)) > 0, f"{line}: {where}"
        steps = [
            inside for path, inside in places for system, names in SHOWN.items()
            if path.startswith(f"crag/presets/{system}") and inside.startswith(names)
        ]  # fmt: skip
        tests = [path for path, _ in references("".join(shown))]
        assert not steps or tests, f"{line}: no test shows {steps[0]}"
        assert all(path.startswith("tests/papers/") for path in tests), f"{line}: {tests}"


def test_every_test_of_a_preset_is_named_on_the_page() -> None:
    named = {inside for path, inside in references(PAGE) if path.startswith("tests/papers/")}
    there = {
        node.name
        for file in sorted((REPOSITORY / "tests/papers").glob("test_*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert len(there) > 30
    assert sorted(there - named) == []


def test_every_change_of_settings_that_is_named_can_be_made() -> None:
    def loads(preset: str, change: str) -> bool:
        try:
            return bool(load_settings(Path(preset).stem, [change]))
        except SettingsError:
            return False

    changes = [override(change) for change in re.findall(r"--set ([^\s`]+)", PAGE)]
    assert changes
    for change in changes:
        assert any(loads(preset, change) for preset in PRESETS), f"--set {change} fits none of the papers' presets"


@pytest.mark.parametrize("preset", PRESETS)
def test_every_key_of_the_papers_presets_is_on_the_page(preset: str) -> None:
    cells = (cell for _, row in rows() for cell in row)
    found = (reference for cell in cells for reference in references(cell))
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
