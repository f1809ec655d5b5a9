"""One command from nothing to an adapter: the steps of recipes.mk, with prompts and model of the preset."""

import json
import shlex
from pathlib import Path

import pytest

from crag.commands.train.adapters import main
from crag.core.places import REPOSITORY
from crag.settings import load_settings
from crag.training.adapters import longest_example, served_folder
from crag.training.lora.settings import LoraTraining


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    return path


def arguments(name: str, questions: Path, *more: str) -> list[str]:
    folder = questions.parent
    places = ["--work", str(folder / "work"), "--out", str(folder / "out"), f"WRITER_WORK={folder}"]
    files = ["--pages", str(questions)] if name == "web_answerer" else ["--questions", str(questions)]
    return [name, "--dry-run", *places, *files, *more]


@pytest.fixture
def writer_rows(questions: Path) -> Path:
    """What `crag train adapters kg_writer` leaves in its folder."""
    rows = questions.with_name("kg_writer.jsonl")
    for path in (rows, questions.with_name("pairs.jsonl")):
        path.touch()
    return rows


def commands(text: str) -> list[list[str]]:
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if " -m " in line]


def values_of(option: str, command: list[str]) -> list[str]:
    """What follows the option, each time that the command has it."""
    return [command[index + 1] for index, word in enumerate(command) if word == option]


def value_of(option: str, command: list[str]) -> str:
    """What follows the option, where the command has it first."""
    return values_of(option, command)[0]


def test_a_dry_run_shows_the_steps_with_the_presets_own_cards_or_on_the_chosen_device(
    questions: Path, writer_rows: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the steps make of real files: test_from_public_files."""
    preset = tmp_path / "mine.toml"
    preset.write_text('extends = "db3_task23"\nlanguage_model.model = "llama-mine"\n', encoding="utf-8")
    command = arguments(
        "kg_answerer", questions, "--base-preset", str(preset), "HOLD_OUT=1/5", "SERVING=other/python", "FOLDS=1"
    )

    for device, placed in ((None, []), ("cuda:0", ["device=cuda:0"]), ("cpu", ["device=cpu"])):
        assert main([*command, *(["--set", f"device={device}"] if device else [])]) == 0
        run, labels, prompts, tuning = commands(capfd.readouterr().out)
        for step, option in ((run, "--preset"), (labels, "--judge-preset"), (prompts, "--preset")):
            assert value_of(option, step) == str(preset)
            assert [word.replace('"', "") for word in step if "device=" in word] == placed
        assert run[0] == labels[0] == prompts[0] == "other/python"
        assert 'base="llama-mine"' in tuning, "what is tuned is what the preset serves"
        assert value_of("--device", tuning) == ("cpu" if device == "cpu" else "cuda")
        assert value_of("--hold-out", tuning) == "1/5"
        assert ("quantise=none" in tuning) is (device == "cpu"), "4 bits need a GPU"

    assert not (tmp_path / "work").exists()


def test_kg_answerer_learns_from_calls_of_writers_that_were_tuned_without_its_questions(
    questions: Path, writer_rows: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments("kg_answerer", questions, "--base-preset", "submission", "HOLD_OUT=1/5", "FOLDS=3")) == 0
    steps = commands(capfd.readouterr().out)
    selections, writers, runs = steps[:9:3], steps[1:9:3], steps[2:9:3]
    labels, _, tuning = steps[9:]

    for number, (select, writer, run) in enumerate(zip(selections, writers, runs, strict=True), start=1):
        assert value_of("--fold", select) == value_of("--hold-out", writer) == f"{number}/3"
        assert value_of("--data", writer) == str(writer_rows)
        assert value_of("--dataset", run) == value_of("--out", select)
        assert f'language_model.adapters.kg_writer="{value_of("--out", writer)}"' in run
        assert value_of("--output", run) in labels
    assert value_of("--hold-out", tuning) == "1/5"


def test_the_steps_that_are_left_are_listed_and_finished_ones_are_not(
    questions: Path, writer_rows: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = arguments("kg_answerer", questions)
    half = questions.parent / "work" / "part1"
    for path in ("questions.jsonl", "kg_writer/run_card.json", "graph_answers/results.json"):
        (half / path).parent.mkdir(parents=True, exist_ok=True)
        (half / path).touch()

    assert main(command) == 0
    steps = capfd.readouterr().out.partition("steps that are left:\n")[2].splitlines()
    assert [step.split(". ")[1] for step in steps] == [
        "select the questions of part 2 of 2",
        "tune a kg_writer without part 2 of 2",
        "answer part 2 of 2 from the graph",
        "judge and label the answers from the graph",
        "write the prompts of kg_answerer",
        "tune kg_answerer",
    ]


def test_every_step_has_the_settings_of_the_environment(
    questions: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_SETTINGS", "web.context.max_tokens = 900\n")
    assert main(arguments("web_answerer", questions)) == 0
    run, labels, prompts, _ = commands(capfd.readouterr().out)
    for step, option in ((run, "--set"), (labels, "--judge-set"), (prompts, "--set")):
        assert value_of(option, step) == "web.context.max_tokens = 900"


def test_the_reader_learns_from_several_files_of_pages(questions: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fifty = questions.with_name("fifty.jsonl")
    fifty.touch()
    assert main(arguments("web_answerer", questions, "--pages", str(fifty))) == 0
    *runs, labels, _, _ = commands(capfd.readouterr().out)
    assert [value_of("--dataset", run) for run in runs] == [str(questions), str(fifty)]
    assert values_of("--run", labels) == [value_of("--output", run) for run in runs]


def test_a_finished_adapter_is_nothing_to_do_unless_another_one_is_asked_for(
    questions: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = arguments("web_answerer", questions)
    work, out = questions.parent / "work", questions.parent / "out"
    out.mkdir()
    card = {"settings": {"hold_out": "1/5", "max_steps": None}}
    (out / "run_card.json").write_text(json.dumps(card), encoding="utf-8")

    assert main([*command, "HOLD_OUT=1/5"]) == 2
    assert "a finished adapter, and 3 steps before it have to be done again: OVERWRITE" in capfd.readouterr().err

    for path in ("web_answers1/results.json", "web_labels.jsonl", "web_answerer.jsonl"):
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).touch()

    assert main([*command, "HOLD_OUT=1/5"]) == 0
    assert "nothing is left to do" in capfd.readouterr().out

    assert main(command) == 2
    assert "a finished adapter, made with HOLD_OUT=1/5: OVERWRITE" in capfd.readouterr().err

    (out / "run_card.json").write_text("[]", encoding="utf-8")
    assert main(command) == 2
    assert "run_card.json: no run card of an adapter: OVERWRITE" in capfd.readouterr().err

    assert main([*command, "OVERWRITE=--overwrite"]) == 0
    assert "1. tune web_answerer" in capfd.readouterr().out


def test_an_adapter_is_written_where_its_preset_looks_for_it(tmp_path: Path) -> None:
    adapters = REPOSITORY / "models/adapters"
    of_submission = load_settings("submission_transformers", [])
    assert served_folder(of_submission, "web_answerer") == adapters / "submission/web_answerer"
    assert served_folder(load_settings("cpu", []), "kg_writer") == adapters / "cpu/kg_writer", "never into the package"

    preset = tmp_path / "mine.toml"
    preset.write_text(
        f'extends = "db3_task1"\nanswering.adapter = "reader"\nlanguage_model.adapters.reader = "{tmp_path}/reader"\n',
        encoding="utf-8",
    )
    assert served_folder(load_settings(preset, []), "web_answerer") == tmp_path / "reader"


def test_examples_with_a_full_context_are_not_left_out() -> None:
    settings = load_settings("submission", ["web.context.max_tokens=5000"])
    assert longest_example(settings, "db3", "web_answerer") > 5000
    assert longest_example(settings, "db3", "kg_writer") == LoraTraining.load("db3").max_tokens


def test_a_writer_for_laptops_is_tuned_on_the_question_alone_with_the_bank_as_rows(
    questions: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    more = questions.with_name("more.jsonl")
    more.touch()

    assert main(arguments("kg_writer", questions, "--config", "cpu", "--questions", str(more))) == 0
    pairs, prompts, tuning = commands(capfd.readouterr().out)
    assert values_of("--questions", pairs) == [str(questions), str(more)]
    assert {"--bank", "--group-by"} <= set(pairs)
    assert value_of("--set", prompts) == 'knowledge_graph.writer.form="question"'
    assert value_of("--config", tuning) == "cpu"
    assert value_of("--device", tuning) == "cpu"


def test_refusals_go_on_from_the_tuned_answerer_with_a_run_for_each_temperature(
    questions: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = arguments(
        "web_refusals", questions, "--pages", str(questions), "TEMPERATURES=0.5 0.9", "START=my/adapter"
    )
    assert main([*command, "--set", "device=cpu"]) == 0
    *runs, labels, preferences, tuning = commands(capfd.readouterr().out)

    outputs = [value_of("--output", run) for run in runs]
    for run, temperature in zip(runs, ("0.5", "0.9"), strict=True):
        assert {f"answering.temperature={temperature}", 'language_model.adapters.web_answerer="my/adapter"'} <= {*run}
    assert values_of("--run", labels) == outputs
    assert value_of("--labels", preferences) == value_of("--out", labels)
    assert value_of("--start", tuning) == "my/adapter"
    assert value_of("--data", tuning) == value_of("--out", preferences)
    assert "quantise=none" in tuning


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("kg_answerer", ["--config", "cpu"], "--config cpu makes no kg_answerer, only kg_writer"),
        ("kg_answerer", ["--questions", "more.jsonl"], "kg_answerer learns from one file of questions"),
        ("kg_writer", ["--questions", "none.jsonl"], "none.jsonl: there is no such file"),
        ("kg_writer", ["--base-preset", "db3_task1"], "uses no graph, so it has no prompt for kg_writer"),
        ("web_answerer", ["--base-preset", "nowhere"], "there is no preset 'nowhere'"),
        ("web_answerer", ["--base-preset", "scripted"], "runs the engine scripted: it has no weights"),
        (
            "web_answerer",
            ["--base-preset", "weknow"],
            "cannot be trained for preset weknow: it asks the model how sure",
        ),
        ("kg_answerer", ["--base-preset", "weknow"], "weknow: it reads no facts of the graph without pages"),
        (
            "web_answerer",
            ["--base-preset", "submission", "--set", "knowledge_graph.source_policy='synthesis'"],
            "it reads pages and facts of the graph together",
        ),
        ("kg_answerer", [], "kg_writer.jsonl is missing: kg_answerer learns from calls of writers that do not know"),
        ("kg_answerer", ["FOLDS=some"], "FOLDS=some: must be a whole number of at least 1"),
        ("kg_answerer", ["LIMIT"], "'LIMIT' is not VARIABLE=VALUE such as LIMIT=8"),
        ("kg_answerer", ["LIMT=8"], "LIMT=8: crag/training/recipes.mk has no variable LIMT; did you mean LIMIT?"),
    ],
)
def test_what_is_missing_is_reported_in_a_line(
    name: str, more: list[str], message: str, questions: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(name, questions, *more)) == 2
    reported = capfd.readouterr().err
    assert message in reported
    assert reported.count("\n") == 1


def test_a_base_without_weights_for_training_is_told_before_the_first_step(
    questions: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    base = tmp_path / "base"
    base.mkdir()
    preset = tmp_path / "mine.toml"
    preset.write_text(f'extends = "cpu"\nlanguage_model.model = "{base}"\n', encoding="utf-8")
    given = arguments("kg_writer", questions, "--config", "cpu", "--base-preset", str(preset))
    given.remove("--dry-run")
    assert main(given) == 2
    assert f"error: {base} has no weights for training: crag models fetch {base} --float16" in capfd.readouterr().err
    assert not (tmp_path / "work").exists()


@pytest.mark.parametrize("name", ["kg_writer", "kg_answerer"])
def test_an_adapter_for_the_graph_needs_questions(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--dry-run"]) == 2
    assert capsys.readouterr().err == f"error: {name} learns from labelled questions: pass --questions FILE\n"
