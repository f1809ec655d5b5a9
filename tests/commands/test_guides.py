"""The commands of the pages: their options exist; those of docs/evaluation.md and docs/scale.md load and run."""

import importlib
import re
import runpy
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from crag.commands.evaluate import main
from crag.commands.evaluate_options import parse_options
from crag.commands.verbs import VERBS, VerbGroup
from crag.evaluation.datasets import DEFAULT_DATASET
from crag.evaluation.store import PREDICTIONS, REPORT, RESULTS, RUN, TRACES
from crag.settings import OpenAIEngine, load_settings
from tests.commands.test_faults import called
from tests.test_local_evaluation import results_of

DOCS = Path(__file__).parents[2] / "docs"
GUIDE, SCALE, OWN = DOCS / "evaluation.md", DOCS / "scale.md", DOCS / "own_data.md"
PAGES = [DOCS.parent / "README.md", *sorted(page for page in DOCS.glob("*.md") if page.name != "commands.md")]
PLACES_OF_VLLMS_OPTIONS = ("vllm.entrypoints.launchers.cli_args", "vllm.entrypoints.openai.cli_args")
"""They moved between versions."""


def blocks(page: Path) -> list[str]:
    """The contents of a page's fences."""
    return re.findall(r"^```\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def commands(page: Path, beginning: str) -> list[list[str]]:
    """The words after the beginning, of every command of a block that begins so; a backslash continues a line."""
    lines = [line for block in blocks(page) for line in block.replace("\\\n", "").splitlines()]
    return [shlex.split(line.removeprefix(beginning)) for line in lines if line.startswith(beginning)]


@cache
def options_of(*command: str) -> frozenset[str]:
    """The options in the help of a command: the words before the first option or file name."""
    with pytest.MonkeyPatch.context() as patch:
        written: list[str] = []
        patch.setattr("sys.stdout.write", written.append)
        assert called("crag", *command, "--help") == 0
    return frozenset(re.findall(r"(?<!\w)--[a-z0-9-]+", "".join(written)))


def inline_commands(page: Path) -> list[list[str]]:
    """The words after ``crag`` of each command with an option that stands inside the text."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    marked = re.findall(r"`(?:[A-Z_]+=\S+ )?crag ([^`]* --[^`]*)`", text.replace("\n", " "))
    return [shlex.split(command) for command in marked]


def verbs(words: list[str]) -> list[str]:
    """The command in these words: one verb, or a group and its verb."""
    return words[:2] if isinstance(VERBS[words[0]], VerbGroup) else words[:1]


def options_in(words: list[str]) -> set[str]:
    return {word.partition("=")[0] for word in words if word.startswith("--")}


EVALUATIONS = [words for page in (GUIDE, SCALE) for words in commands(page, "python local_evaluation.py ")]
OTHERS = [words for page in PAGES for words in commands(page, "crag ")]
INLINE = [words for page in PAGES for words in inline_commands(page)]


@pytest.mark.parametrize("words", EVALUATIONS, ids=" ".join)
def test_an_evaluation_of_the_pages_has_valid_options(words: list[str]) -> None:
    options = parse_options(words)
    model = load_settings(options.preset, options.set).language_model if options.preset else None
    if isinstance(model, OpenAIEngine):
        assert f"export {model.base_url_variable}=" in SCALE.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [*OTHERS, *INLINE], ids=" ".join)
def test_every_other_command_of_the_pages_has_valid_options(words: list[str]) -> None:
    assert options_in(words) <= options_of(*verbs(words))


def test_every_option_that_the_text_names_exists() -> None:
    named = set(re.findall(r"`(--[a-z-]+)", GUIDE.read_text(encoding="utf-8")))
    known = options_of("evaluate").union(*(options_of(*verbs(words)) for words in commands(GUIDE, "crag ")))
    assert len(named) > 10
    assert named <= known


def test_every_file_of_a_run_is_in_the_table() -> None:
    text = GUIDE.read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in (RUN, PREDICTIONS, TRACES, RESULTS, REPORT))


def test_the_agent_of_the_page_runs_as_it_stands_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = (block for block in blocks(GUIDE) if block.startswith("class MyAgent"))
    (tmp_path / "my_agent.py").write_text(source, encoding="utf-8")
    sample = ["--dataset", str(DEFAULT_DATASET.resolve())]
    monkeypatch.chdir(tmp_path)
    assert main([*EVALUATIONS[0], *sample, "--quiet", "--output", str(tmp_path / "out")]) == 0
    assert results_of(tmp_path / "out")["n"] == 8


def test_the_lines_of_python_about_own_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (source,) = re.findall(r"^```python\n(.*?)^```", OWN.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "a.txt").write_text("Its founder is Ann Lee.", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CRAG_PRESET", "scripted")
    monkeypatch.setenv("CRAG_SETTINGS", 'language_model.replies={"who founded" = "Ann Lee"}')
    (tmp_path / "own.py").write_text(source, encoding="utf-8")
    runpy.run_path("own.py")
    assert capsys.readouterr().out == "Ann Lee Its founder is Ann Lee. a, reports/a.txt None\n"


def test_what_the_pages_make_for_a_submission_is_carried_by_git_lfs() -> None:
    attributes = (DOCS.parent / ".gitattributes").read_text(encoding="utf-8").splitlines()
    carried = {line.partition("/*")[0] for line in attributes if "filter=lfs" in line}
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    written = set(re.findall(r"--(?:out|to) (models/\w+)", text))
    assert written >= {"models/weights", "models/routers", "models/public"}
    assert written <= carried


@pytest.mark.vllm
@pytest.mark.parametrize("words", commands(SCALE, "vllm serve"), ids=" ".join)
def test_a_server_of_the_pages_has_options_that_vllm_knows(words: list[str]) -> None:
    model, *options = words
    parser = vllm_parser()
    parsed = parser.parse_args(["--model", model, *[option for option in options if option != "--headless"]])
    assert parsed.structured_outputs_config.backend == "guidance"
    assert "--headless" in parser._option_string_actions


def vllm_parser() -> Any:
    pytest.importorskip("vllm", reason="`make test-vllm` runs this")
    utilities = importlib.import_module("vllm.utils.argparse_utils")
    return next(possible_parsers())(utilities.FlexibleArgumentParser())


def possible_parsers() -> Iterator[Any]:
    for place in PLACES_OF_VLLMS_OPTIONS:
        try:
            yield importlib.import_module(place).make_arg_parser
        except ModuleNotFoundError:
            continue
