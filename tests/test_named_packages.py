"""docs/submitting.md says which packages the papers' systems and ours run on; the presets and the code decide."""

import ast
import builtins
import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from crag.core.deadline import Deadline
from crag.engines.encoders import load_cross_encoder, load_dense_encoder
from crag.engines.llm import ENGINES
from crag.settings import Settings, available_presets, load_settings
from crag.web import ranking
from crag.web.extract.page_text import page_text
from crag.web.page_search import Chunk, PageSearch
from crag.web.retrieve import retrieve
from tests.web.fakes import HashedWords, passage, query

PAGE = Path(__file__).parents[1] / "docs/submitting.md"
IMPORT_NAMES = {
    "vllm": "vllm",
    "torch": "torch",
    "transformers": "transformers",
    "peft": "peft",
    "sentence-transformers": "sentence_transformers",
    "beautifulsoup4": "bs4",
    "lxml": "lxml",
    "numpy": "numpy",
    "rank-bm25": "rank_bm25",
}
HTML = "<html><body><p>The kite festival was founded in 1998.</p></body></html>"
XHTML = HTML.replace("<html>", '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml">')


def file_of(module: str) -> Path:
    spec = find_spec(module)
    assert spec
    assert spec.origin
    return Path(spec.origin)


def imports_of(path: Path, *, in_functions: bool) -> set[str]:
    """The packages that a file imports when it is loaded, or also inside its functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names: set[str] = set()
    for node in ast.walk(tree) if in_functions else tree.body:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


@pytest.fixture
def imported(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The packages that functions import while they run; Python asks for them again even where they are loaded."""
    names: set[str] = set()
    real = builtins.__import__

    def note(name: str, *arguments: Any, **options: Any) -> Any:
        names.add(name.partition(".")[0])
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", note)
    return names


def model_files(settings: Settings) -> list[Path]:
    """The files that run the models of a preset."""
    engine = settings.language_model.engine
    # An engine's files begin with its name: vllm_engine.py
    files = sorted(file_of(ENGINES[engine].module).parent.glob(f"{engine}_*.py"))
    if settings.dense_encoder:
        files.append(file_of(type(load_dense_encoder(settings.dense_encoder)).__module__))
    if settings.cross_encoder:
        files.append(file_of(type(load_cross_encoder(settings.cross_encoder)).__module__))
    return files


def read_and_rank(settings: Settings, pages: Sequence[str]) -> None:
    """What a preset does with pages before it ranks passages by a model."""
    texts = [page_text(page, settings.web.extract) for page in pages]
    chunks = [Chunk(passage(text), text) for text in texts]
    search = PageSearch(query("who founded the kite festival?"), chunks=chunks)
    retrieve([search], settings.web.retrieve, HashedWords(), Deadline(600))
    assert search.passages


@pytest.mark.parametrize("preset", available_presets())
def test_the_table_names_the_packages_on_the_path_of(preset: str, imported: set[str]) -> None:
    settings = load_settings(preset, [])
    read_and_rank(settings, [HTML, XHTML])
    on_path = imported | imports_of(file_of(ranking.__name__), in_functions=False)
    for path in model_files(settings):
        on_path |= imports_of(path, in_functions=True)
    if not getattr(settings.language_model, "adapters", {}):
        on_path.discard("peft")

    expected = {package for package, name in IMPORT_NAMES.items() if name in on_path}
    assert {package for package, presets in table().items() if preset in presets} == expected


def test_the_table_has_a_row_for_each_package() -> None:
    assert list(table()) == list(IMPORT_NAMES)


def table() -> dict[str, set[str]]:
    """Package -> presets, from the page."""
    section = (
        PAGE.read_text(encoding="utf-8").partition("## Packages on the path of each preset")[2].partition("\n## ")[0]
    )
    rows: dict[str, set[str]] = {}
    for package, presets in re.findall(r"^\| ([a-z0-9-]+) \|[^|]*\| (.+) \|$", section, re.MULTILINE):
        if package != "package":
            rows[package] = set(
                available_presets() if presets == "every preset" else re.findall("`([a-z0-9_]+)`", presets)
            )
    return rows
