"""One command from nothing to an adapter: the steps of recipes.mk, with prompts and model of the preset."""

import shlex
from pathlib import Path

import pytest

from agents.settings import PRESETS
from training.adapters import main

STEPS = {
    "kg_writer": ["training.api_pairs", "training.prompts", "training.lora"],
    "kg_answerer": ["local_evaluation", "training.labels", "training.prompts", "training.lora"],
    "web_answerer": ["local_evaluation", "training.labels", "training.prompts", "training.lora"],
}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    return path


def arguments(name: str, questions: Path, *more: str) -> list[str]:
    places = ["--work", str(questions.parent / "work"), "--out", str(questions.parent / "out")]
    files = ["--pages", str(questions)] if name == "web_answerer" else ["--questions", str(questions)]
    return [name, "--dry-run", *places, *files, *more]


def commands(text: str) -> list[list[str]]:
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if " -m " in line]


@pytest.mark.parametrize("name", STEPS)
def test_a_dry_run_shows_the_steps_with_the_presets_model_on_one_device(
    name: str, questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    preset = tmp_path / "mine.toml"
    text = (PRESETS / "db3_task23.toml").read_text(encoding="utf-8")
    preset.write_text(text.replace("llama-3-8b-instruct", "llama-mine"), encoding="utf-8")
    given = arguments(name, questions, "--base-preset", str(preset), "HOLD_OUT=1/5", "LIMIT=8", "MAX_STEPS=2")
    assert main(given) == 0
    found = commands(capfd.readouterr().out)
    assert [command[command.index("-m") + 1] for command in found] == STEPS[name]
    for command in found:
        assert "--preset" not in command or command[command.index("--preset") + 1] == str(preset)
        if "local_evaluation" in command:
            assert 'device="cuda:0"' in command, "the preset spreads its models over three cards"
            assert command[command.index("--limit") + 1] == "8"
    tuning = found[-1]
    assert 'base="llama-mine"' in tuning, "what is tuned is what the preset serves"
    options = ("--config", "--device", "--hold-out", "--max-steps", "--out")
    assert [tuning[tuning.index(option) + 1] for option in options] == [
        "db3",
        "cuda",
        "1/5",
        "2",
        str(tmp_path / "out"),
    ]
    assert "quantise=none" not in tuning
    assert not (tmp_path / "work").exists()
    assert main([*given, "--device", "cpu"]) == 0
    assert "quantise=none" in commands(capfd.readouterr().out)[-1], "4 bits need a GPU"


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("kg_writer", ["--questions", "none.jsonl"], "No rule to make target"),
        ("kg_writer", ["--base-preset", "db3_task1"], "uses no graph, so it has no prompt for kg_writer"),
        ("web_answerer", ["--base-preset", "nowhere"], "there is no preset 'nowhere'"),
        ("web_answerer", ["--base-preset", "scripted"], "runs the engine scripted: it has no weights"),
    ],
)
def test_what_is_missing_is_reported_in_a_line(
    name: str, more: list[str], message: str, questions: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(name, questions, *more)) == 2
    reported = capfd.readouterr().err
    assert message in reported
    assert reported.count("\n") == 1
