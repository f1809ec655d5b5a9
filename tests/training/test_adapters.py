"""One command from nothing to an adapter: the steps of recipes.mk, with prompts and model of the preset."""

import shlex
from pathlib import Path

import pytest

from crag.commands.train.adapters import main


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


def test_a_dry_run_shows_the_steps_with_the_presets_own_cards_or_on_the_chosen_device(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the steps make of real files: test_from_public_files."""
    preset = tmp_path / "mine.toml"
    preset.write_text('extends = "db3_task23"\nlanguage_model.model = "llama-mine"\n', encoding="utf-8")
    given = arguments("kg_answerer", questions, "--base-preset", str(preset), "HOLD_OUT=1/5", "SERVING=other/python")
    for device, placed in ((None, []), ("cuda:0", ["device=cuda:0"]), ("cpu", ["device=cpu"])):
        assert main([*given, *(["--set", f"device={device}"] if device else [])]) == 0
        run, labels, prompts, tuning = commands(capfd.readouterr().out)
        for command, option in ((run, "--preset"), (labels, "--judge-preset"), (prompts, "--preset")):
            assert command[command.index(option) + 1] == str(preset)
            assert [word.replace('"', "") for word in command if "device=" in word] == placed
        assert run[0] == labels[0] == prompts[0] == "other/python"
        assert 'base="llama-mine"' in tuning, "what is tuned is what the preset serves"
        assert tuning[tuning.index("--device") + 1] == ("cpu" if device == "cpu" else "cuda")
        assert tuning[tuning.index("--hold-out") + 1] == "1/5"
        assert ("quantise=none" in tuning) is (device == "cpu"), "4 bits need a GPU"
    assert not (tmp_path / "work").exists()


def test_a_writer_for_laptops_is_tuned_on_the_question_alone_with_the_bank_as_rows(
    questions: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    more = questions.with_name("more.jsonl")
    more.touch()
    assert main(arguments("kg_writer", questions, "--config", "cpu", "--questions", str(more))) == 0
    pairs, prompts, tuning = commands(capfd.readouterr().out)
    assert [pairs[index + 1] for index, word in enumerate(pairs) if word == "--questions"] == [
        str(questions),
        str(more),
    ]
    assert {"--bank", "--group-by"} <= set(pairs)
    assert prompts[prompts.index("--set") + 1] == 'knowledge_graph.writer.form="question"'
    assert tuning[tuning.index("--config") + 1] == "cpu"
    assert tuning[tuning.index("--device") + 1] == "cpu"


def test_refusals_go_on_from_the_tuned_answerer_with_a_run_for_each_temperature(
    questions: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    given = arguments("web_refusals", questions, "--pages", str(questions), "TEMPERATURES=0.5 0.9", "START=my/adapter")
    assert main([*given, "--set", "device=cpu"]) == 0
    *runs, labels, preferences, tuning = commands(capfd.readouterr().out)

    outputs = [run[run.index("--output") + 1] for run in runs]
    for run, temperature in zip(runs, ("0.5", "0.9"), strict=True):
        assert {f"answering.temperature={temperature}", 'language_model.adapters.web_answerer="my/adapter"'} <= {*run}
    assert [labels[index + 1] for index, word in enumerate(labels) if word == "--run"] == outputs
    assert preferences[preferences.index("--labels") + 1] == labels[labels.index("--out") + 1]
    assert tuning[tuning.index("--start") + 1] == "my/adapter"
    assert tuning[tuning.index("--data") + 1] == preferences[preferences.index("--out") + 1]
    assert "quantise=none" in tuning


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("kg_answerer", ["--config", "cpu"], "--config cpu makes no kg_answerer, only kg_writer"),
        ("kg_answerer", ["--questions", "more.jsonl"], "kg_answerer learns from one file of questions"),
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


@pytest.mark.parametrize("name", ["kg_writer", "kg_answerer"])
def test_an_adapter_for_the_graph_needs_questions(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--dry-run"]) == 2
    assert capsys.readouterr().err == f"error: {name} learns from labelled questions: pass --questions FILE\n"
