"""One command from nothing to an adapter: steps in order, done ones left out, a failed one gone on with."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from agents.common.files import FolderInUseError, lock_folder
from agents.settings import PRESETS, load_settings
from training.adapters import __main__ as command
from training.adapters import recipe
from training.adapters.recipe import GivenFiles, Recipe
from training.api_pairs.graph import check_whole
from training.lora.settings import load_training

RECIPE = """
[cpu_small.toy]
description = "copies a file twice"

[[cpu_small.toy.steps]]
run = ["json.tool", "{work}/given.json", "{work}/first.json"]

[[cpu_small.toy.steps]]
run = ["json.tool", "{work}/first.json", "{out}"]
"""
CHANGED = RECIPE.replace('run = ["json.tool", "{work}/given', 'run = ["json.tool", "--sort-keys", "{work}/given')


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments of a recipe whose steps are a module of Python's own."""
    (tmp_path / "recipes.toml").write_text(RECIPE, encoding="utf-8")
    monkeypatch.setattr(recipe, "RECIPES", tmp_path / "recipes.toml")
    return ["toy", "--work", str(tmp_path), "--out", str(tmp_path / "second.json")]


def test_a_step_that_fails_stops_the_command_and_the_same_command_goes_on(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.main(toy) != 0
    said = capfd.readouterr().err
    assert "run the same command again" in said
    assert "--work" in said, "a step refuses what another preset or limit left in its folder"
    (tmp_path / "given.json").write_text("[1]", encoding="utf-8")
    assert command.main(toy) == 0
    assert (tmp_path / "second.json").read_text(encoding="utf-8").split() == ["[", "1", "]"]
    capfd.readouterr()
    assert command.main(toy) == 0
    assert "python -m" not in capfd.readouterr().out


def test_a_changed_step_is_done_again_with_all_after_it_even_after_a_run_that_failed(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "given.json").write_text("[1]", encoding="utf-8")
    assert command.main(toy) == 0
    (tmp_path / "recipes.toml").write_text(CHANGED, encoding="utf-8")
    out = tmp_path / "second.json"
    out.unlink()
    out.mkdir()  # the second step cannot write there
    capfd.readouterr()
    assert command.main(toy) != 0
    assert capfd.readouterr().out.count("python -m json.tool") == 2
    out.rmdir()
    assert command.main(toy) == 0
    assert "[1/1]" in capfd.readouterr().out


def test_a_dry_run_shows_the_commands_and_does_nothing(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.main([*toy, "--dry-run"]) == 0
    assert capfd.readouterr().out.count("python -m json.tool") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recipes.toml"]


@pytest.mark.parametrize("name", recipe.recipes())
def test_each_shipped_adapter_ends_with_a_training_that_can_hold_a_fold_out(name: str, tmp_path: Path) -> None:
    steps = Recipe(name).steps(tmp_path / "work", tmp_path / "out", GivenFiles(), recipe.Choices(hold_out="1/5"))
    module, *arguments = steps[-1].command
    assert module == "training.lora"
    assert arguments[-2:] == ["--hold-out", "1/5"]
    assert arguments[arguments.index("--out") + 1] == str(tmp_path / "out")
    assert arguments[arguments.index("--config") + 1] == name
    assert all("--hold-out" not in step.command for step in steps[:-1])
    assert not any("{" in part and part != "language_model.adapters={}" for step in steps for part in step.command)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (
            "kg_writer",
            ["--questions", "none.jsonl"],
            "none.jsonl: there is no such file; pass --questions or --no-real",
        ),
        ("kg_answerer", ["--no-real", "--graph", "no_graph"], "no_graph: no such folder; pass --graph ("),
        ("web_answerer", ["--contexts", "none.jsonl"], "none.jsonl: there is no such file; pass --contexts ("),
    ],
)
def test_a_missing_file_is_reported_before_any_step(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, given: list[str], message: str
) -> None:
    work = tmp_path / "work"
    assert command.main([name, *given, "--work", str(work), "--out", str(tmp_path / "out")]) == 1
    output = capfd.readouterr()
    assert message in output.err
    assert len(output.err.splitlines()) == 1
    assert not output.out
    assert not list(work.iterdir())


def test_given_files_come_into_the_steps_that_read_them(tmp_path: Path) -> None:
    graphs = (tmp_path / "a", tmp_path / "b")
    files = GivenFiles(tmp_path / "mine.jsonl", graphs)
    first = Recipe("kg_writer").steps(tmp_path, tmp_path, files)[0]
    expected = ("--questions", str(tmp_path / "mine.jsonl"), "--graph", str(graphs[0]), "--graph", str(graphs[1]))
    assert first.command[2:8] == expected
    without = Recipe("kg_writer").steps(tmp_path, tmp_path, files._replace(real=False, graph=()))[0]
    assert without.command[:4] == ("training.api_pairs", "--house-style", "--no-real", "--out")
    assert without.reads == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kg_writer", "--hold-out", "9/5"], "such as 1/5; found '9/5'"),
        (["kg_writer", "--contexts", "x"], "does not learn from --contexts"),
        (["web_answerer", "--no-real"], "does not learn from --questions"),
    ],
)
def test_wrong_arguments_are_reported_at_once(
    capfd: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert message in capfd.readouterr().err


def test_a_finished_adapter_is_not_overwritten_unasked(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "given.json").write_text("[1]", encoding="utf-8")
    out = tmp_path / "adapter"
    out.mkdir()
    (out / "adapter_model.safetensors").write_bytes(b"weights")
    assert command.main([*toy, "--out", str(out)]) == 1
    output = capfd.readouterr()
    assert "holds a finished adapter" in output.err
    assert "--overwrite" in output.err
    assert "python -m" not in output.out
    assert command.main([*toy, "--out", str(out), "--overwrite"]) != 0  # the toy's step cannot write into a folder
    assert "[2/2]" in capfd.readouterr().out
    assert command.main([*toy, "--out", str(out)]) != 0
    assert "[1/1]" in capfd.readouterr().out, "what was begun goes on"


def test_two_processes_do_not_write_into_one_folder(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with lock_folder(tmp_path):
        assert command.main(toy) == 1
    assert "another process is writing here" in capfd.readouterr().err


WAITS = """
import pathlib, sys, time
pathlib.Path(sys.argv[0]).with_name("begun").touch()
time.sleep(100000)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_step_ends_with_its_command_or_keeps_the_lock(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "waits.py").write_text(WAITS, encoding="utf-8")
    (tmp_path / "recipes.toml").write_text('[[cpu_small.toy.steps]]\nrun = ["waits"]\n', encoding="utf-8")
    program = (
        "import pathlib, sys; from training.adapters import __main__ as command, recipe; "
        f"recipe.RECIPES = pathlib.Path({str(tmp_path / 'recipes.toml')!r}); "
        f"sys.exit(command.main(['toy', '--work', {str(tmp_path)!r}, '--out', {str(tmp_path / 'out')!r}]))"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], cwd=command.REPOSITORY, env=environment) as process:
        wait_for((tmp_path / "begun").exists)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        (child,) = map(int, children.read_text(encoding="ascii").split())
        process.send_signal(number)
    if number == signal.SIGTERM:
        assert process.returncode == 143
        assert not Path(f"/proc/{child}").exists()
        return
    try:
        with pytest.raises(FolderInUseError), lock_folder(tmp_path):
            pass
    finally:
        os.kill(child, signal.SIGKILL)


def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)


OWN_GRAPH = command.REPOSITORY / "mock_api" / "graph"


class Db3(NamedTuple):
    """What a user with files and a GPU has: a preset file of a model folder, questions, the shipped graph."""

    preset: Path
    model: Path
    questions: Path

    def arguments(self, name: str, folder: Path, *more: str) -> list[str]:
        files = ["--questions", str(self.questions), "--graph", str(OWN_GRAPH)]
        files = ["--pages", str(self.questions)] if name == "web_answerer" else files
        places = ["--work", str(folder / "work"), "--out", str(folder / "out")]
        return [name, "--config", "db3", "--base-preset", str(self.preset), *places, *files, *more]


@pytest.fixture
def db3(tmp_path: Path) -> Db3:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    text = (PRESETS / "db3_task23.toml").read_text(encoding="utf-8").replace("llama-3-8b-instruct", str(model))
    preset = tmp_path / "mine.toml"
    preset.write_text(text.replace("models/adapters/db3", str(tmp_path / "adapters")), encoding="utf-8")
    questions = tmp_path / "questions.jsonl"
    questions.write_text("{}\n", encoding="utf-8")
    return Db3(preset, model, questions)


def faults(arguments: list[str], capfd: pytest.CaptureFixture[str]) -> str:
    """What the command says where it refuses before its first step: one line."""
    assert command.main(arguments) == 1
    output = capfd.readouterr()
    assert not output.out
    assert output.err.startswith("error: ")
    assert output.err.count("\n") == 1
    return output.err


def test_a_missing_gpu_and_a_base_that_is_no_llama_are_reported_before_anything_long(
    db3: Db3, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    assert "torch finds 0" in faults(db3.arguments("kg_writer", tmp_path), capfd)
    (db3.model / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    reported = faults(db3.arguments("kg_writer", tmp_path, "--device", "cpu"), capfd)
    assert f"{db3.model} is a gpt2" in reported
    assert "these settings are for a llama" in reported


def test_a_graph_that_is_not_whole_is_reported_and_one_that_was_imported_in_part_will_do(
    db3: Db3, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    graph = tmp_path / "cragkg"
    graph.mkdir()
    arguments = db3.arguments("kg_writer", tmp_path, "--device", "cpu")
    arguments[arguments.index(str(OWN_GRAPH))] = str(graph)
    assert "no graph: the folders movie" in faults(arguments, capfd)
    (graph / "music").mkdir()
    assert "half a graph: the folders movie, finance, sports, open are missing" in faults(arguments, capfd)
    (graph / "music/grammy_df.pickle").touch()
    assert f"python -m mock_api.tables import {graph} --out DIR" in faults(arguments, capfd)
    (graph / "music/grammy_df.pickle").unlink()
    (graph / "import.json").write_text('{"tables": {}, "finished": true, "missing": ["sports/nba.sqlite"]}')
    check_whole(graph)


def test_the_graphs_answerer_needs_the_writer_whose_facts_it_reads(
    db3: Db3, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    reported = faults(db3.arguments("kg_answerer", tmp_path, "--device", "cpu"), capfd)
    assert f"{tmp_path / 'adapters' / 'kg_writer'} does not exist yet" in reported
    folder = tmp_path / "adapters" / "kg_writer"
    own = f"--base-preset {db3.preset} --out {folder}"
    assert f"python -m training.adapters kg_writer --config db3 {own}" in reported, "what is said makes what is missing"


def test_an_adapter_that_the_preset_looks_for_elsewhere_is_reported(
    db3: Db3, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "_undone", lambda made: [])
    assert command.main(db3.arguments("web_answerer", tmp_path, "--device", "cpu")) == 0
    said = capfd.readouterr().out
    assert f"looks for it in {tmp_path / 'adapters' / 'web_answerer'}: " in said
    change = shlex.split(said)[-1]
    assert load_settings(str(db3.preset), [change]).language_model.adapters["web_answerer"] == str(tmp_path / "out")
    there = ["--out", str(tmp_path / "adapters" / "web_answerer")]
    assert command.main(db3.arguments("web_answerer", tmp_path, "--device", "cpu", *there)) == 0
    assert "looks for it" not in capfd.readouterr().out


def test_what_a_preset_cannot_be_tuned_for_is_reported(
    db3: Db3, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = db3.arguments("web_answerer", tmp_path)
    place = arguments.index(str(db3.preset))
    arguments[place] = "nowhere"
    assert "there is no preset 'nowhere'" in faults(arguments, capfd)
    arguments[place] = "scripted"
    assert "runs the engine scripted: its weights cannot be tuned here" in faults(arguments, capfd)
    for name in ("kg_writer", "kg_answerer"):
        arguments = db3.arguments(name, tmp_path)
        arguments[arguments.index(str(db3.preset))] = "db3_task1"
        assert f"no prompt for {name}: pass a --base-preset with [knowledge_graph], such as db3_task23" in faults(
            arguments, capfd
        )
    missing = ["web_answerer", "--config", "db3", "--device", "cpu", "--work", str(tmp_path / "w")]
    assert "nothing to learn from: pass --pages" in faults([*missing, "--out", str(tmp_path / "o")], capfd)
    with pytest.raises(SystemExit):
        command.main([*missing, "--no-real"])


def test_one_option_puts_everything_on_one_gpu(db3: Db3, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The models of the run, which the preset spreads over three cards, and the tuning."""
    for name in ("kg_writer", "kg_answerer", "web_answerer"):
        assert command.main(db3.arguments(name, tmp_path, "--device", "cuda", "--dry-run")) == 0
        commands = [shlex.split(line) for line in capfd.readouterr().out.splitlines()]
        tuning = commands[-1]
        assert tuning[tuning.index("--device") + 1] == "cuda"
        assert "quantise=none" not in tuning
        assert f'base="{db3.model}"' in tuning, "what is tuned is what the preset serves"
        for run in (one for one in commands if "local_evaluation" in one):
            assert 'device="cuda:0"' in run
        assert all(one[one.index("--preset") + 1] == str(db3.preset) for one in commands if "--preset" in one)
    settings = load_training("db3")
    assert (settings.quantise, settings.batch_size, settings.accumulation) == ("4bit", 1, 4)
    assert settings.gradient_checkpointing
    placed = load_settings("db3_task23", ["device=cuda:0"])
    assert placed.dense_encoder is not None
    assert placed.cross_encoder is not None
    assert {placed.dense_encoder.device, placed.cross_encoder.device} == {"cuda:0"}
    here = load_settings("db3_task23", ["device=cpu"])
    assert here.language_model.model_dump()["dtype"] == "float32"


def test_steps_that_read_an_edited_preset_are_done_again(db3: Db3, tmp_path: Path) -> None:
    def made(preset_hash: str) -> list[recipe.RecipeStep]:
        choices = recipe.Choices(preset=str(db3.preset), preset_hash=preset_hash)
        return Recipe("kg_writer", "db3").steps(tmp_path, tmp_path / "out", GivenFiles(), choices)

    for step in made("before"):
        step.begin()
        step.end()
    assert all(step.done for step in made("before"))
    assert [step.command[0] for step in made("after") if not step.done] == ["training.prompts"]


@pytest.mark.parametrize("config", recipe.configs())
def test_folders_follow_the_configuration(config: str, capfd: pytest.CaptureFixture[str]) -> None:
    for name in recipe.recipes(config):
        pages = ["--pages", "x"] if "pages" in Recipe(name, config).files else []
        assert command.main([name, "--config", config, "--device", "cpu", "--dry-run", *pages]) == 0
        last = capfd.readouterr().out.splitlines()[-1].split()
        assert last[last.index("--out") + 1] == str(command.REPOSITORY / "models" / "adapters" / config / name)


def test_who_judges_is_said_as_in_the_evaluator(db3: Db3, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def labels(*more: str) -> list[str]:
        assert command.main(db3.arguments("web_answerer", tmp_path, "--dry-run", *more)) == 0
        (line,) = (line for line in capfd.readouterr().out.splitlines() if "training.labels" in line)
        return shlex.split(line)

    own = ["--judge", "llm", "--judge-rubric", "db3", "--judge-preset", str(db3.preset), "--context-check", "llm"]
    assert " ".join(own) in " ".join(labels())
    asked = labels("--judge-url", "http://gpu:8000/v1", "--judge-model", "large")
    assert "--judge-preset" not in asked
    assert asked[asked.index("--judge-url") + 1] == "http://gpu:8000/v1"
    assert "llm" not in labels("--judge", "rules")


def test_the_commands_of_the_documentation_are_those_of_the_parser(capfd: pytest.CaptureFixture[str]) -> None:
    text = (command.REPOSITORY / "docs" / "training.md").read_text(encoding="utf-8")
    lines = [shlex.split(line) for line in text.splitlines() if line.startswith("python -m training.adapters ")]
    assert {line[3] for line in lines if "db3" in line} == set(recipe.recipes("db3"))
    assert {line[3] for line in lines if "db3" not in line} == set(recipe.recipes("cpu_small"))
    for line in lines:
        assert command.main([*line[3:], "--dry-run"]) == 0
