"""`crag evaluate`: what its options do, and what a folder with answers in it is good for."""

import bz2
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from crag.__main__ import main as crag
from crag.commands.evaluate import default_folder, main
from crag.commands.evaluate_options import parse_options
from crag.evaluation.datasets import DEFAULT_DATASET
from crag.evaluation.signature import settings_hash
from crag.settings import load_settings
from tests.test_local_evaluation import arguments, dataset, results_of, rows_of


def test_the_command_of_the_package_evaluates_and_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    options = ["--dataset", str(DEFAULT_DATASET), "--limit", "2", "--preset", "scripted", "--output", str(out)]
    assert crag(["evaluate", *options]) == 0
    assert (out / "report.html").is_file()
    assert "all questions" in capsys.readouterr().out


def test_an_older_folder_stays_where_the_agent_cannot_start(tmp_path: Path) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path), "EchoAgent")) == 0
    assert main(arguments(tmp_path, dataset(tmp_path), "NoMethodAgent", "--overwrite")) == 2
    assert (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--quiet", "--in-process"])
def test_an_agent_that_cannot_be_built_is_one_line_and_for_debugging_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path), "BrokenAgent", option)) == 2
    told = capsys.readouterr().err
    fault = "error: agent tests.evaluation.fake_agents:BrokenAgent could not be built: ZeroDivisionError: the planted"
    assert told.splitlines()[-1].startswith(fault)
    assert ("Traceback" in told) == (option == "--in-process")


def test_a_faulty_file_leaves_no_folder_and_no_older_run_is_lost(tmp_path: Path) -> None:
    data = dataset(tmp_path)
    faulty = tmp_path / "faulty.jsonl.bz2"
    faulty.write_bytes(data.read_bytes() + bz2.compress(b"{\n"))

    assert main(arguments(tmp_path, faulty, "EchoAgent")) == 2
    assert not (tmp_path / "out").exists()

    assert main(arguments(tmp_path, data, "EchoAgent")) == 0
    results = results_of(tmp_path / "out")
    assert main(arguments(tmp_path, faulty, "EchoAgent", "--overwrite")) == 2
    assert results_of(tmp_path / "out") == results


def test_questions_without_answers_are_unscored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path, answer=None))) == 0
    results = results_of(tmp_path / "out")
    assert (results["n"], results["unscored"]) == (0, 6)
    assert "6 more could not be scored" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ("", "30"),
        ("--preset scripted --set deadline.seconds_per_query=70", "70"),
        ("--preset scripted --set deadline.seconds_per_query=5", "30"),
        ("--preset scripted --set deadline.seconds_per_query=70 --seconds-per-query 8", "8"),
    ],
)
def test_the_time_limit_follows_that_of_the_preset(tmp_path: Path, options: str, seconds: str) -> None:
    main(arguments(tmp_path, dataset(tmp_path), "EchoAgent", *shlex.split(options)))
    assert results_of(tmp_path / "out")["signature"]["seconds_per_query"] == seconds


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ("--preset nec", "q-nec"),
        ("--preset nec --mock-kg", "q-nec-mock-kg"),
        ("--preset nec --mock-kg a/official", "q-nec-mock-kg-official"),
        ("--preset nec --kg-url http://127.0.0.1:9", "q-nec-kg"),
        ("--agent mine.first:Agent", "q-mine.first.Agent"),
        ("--agent mine.second:Agent --preset nec", "q-mine.second.Agent-nec"),
        ("--preset nec --set answering.audit=true --set a.refine={}", "q-nec-answering.audit=true-a.refine="),
        ("""--preset nec --set 'answering.accepted=["high", "low"]'""", "q-nec-answering.accepted=high,low"),
    ],
)
def test_a_folder_is_named_after_graph_agent_and_changes(
    options: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("CRAG_MOCK_API_URL", "CRAG_SETTINGS"):
        monkeypatch.delenv(variable, raising=False)
    assert default_folder(parse_options(["--dataset", "a/q.jsonl.bz2.part1", *shlex.split(options)])).name == name


def test_many_changes_give_a_short_name_and_still_another_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRAG_SETTINGS", raising=False)
    changes = [f"--set=answering.number{number}=1" for number in range(9)]
    eight = default_folder(parse_options(["--dataset", "q", *changes[:8]])).name
    nine = default_folder(parse_options(["--dataset", "q", *changes])).name
    assert eight != nine
    assert max(len(eight), len(nine)) < 140


def test_settings_of_the_preset_can_be_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent gets them by its environment; the signature tells them, and no other run is mixed with this one."""
    monkeypatch.setenv("CRAG_SETTINGS", "answering.word_limit = 30\nbatch_size = 3")
    data = dataset(tmp_path, count=1, answer="31")
    options = [*arguments(tmp_path, data, "SettingsAgent"), "--preset", "scripted"]

    assert main([*options, "--set", "answering.word_limit=31", "--set", "answering.prompt = basic"]) == 0
    results = json.loads((tmp_path / "out/results.json").read_text(encoding="utf-8"))
    assert results["accuracy"] == 1

    changes = ["answering.word_limit = 30", "batch_size = 3", "answering.word_limit=31", 'answering.prompt="basic"']
    assert results["signature"]["set"] == "; ".join(changes)
    preset = load_settings("scripted", changes)
    assert results["signature"]["preset"] == f"scripted@{settings_hash(preset)}"
    assert (preset.answering.word_limit, preset.answering.prompt, preset.batch_size) == (31, "basic", 3)


@pytest.mark.parametrize("kilobytes", [1, 8, 64])
def test_a_full_disk_is_one_line_and_keeps_what_is_finished(tmp_path: Path, kilobytes: int) -> None:
    """A limit on the size of files stands for the disk: writing fails in the same way."""
    command = [sys.executable, "local_evaluation.py", "--preset", "scripted", "--limit", "12", "--quiet"]
    out = ["--output", str(tmp_path / "out")]
    limited = f"ulimit -f {kilobytes}; exec " + shlex.join([*command, *out])
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False, timeout=120)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert line.startswith("error: ")
    assert "File too large" in line

    predictions = tmp_path / "out" / "predictions.jsonl"
    lines = predictions.read_text(encoding="utf-8").splitlines() if predictions.exists() else []
    # The last line may be torn
    finished = [line for line in lines if line.endswith("}")]
    resumed = subprocess.run([*command, *out, "--resume"], capture_output=True, text=True, check=False, timeout=120)
    assert resumed.returncode == 0, resumed.stderr
    assert predictions.read_text(encoding="utf-8").splitlines()[: len(finished)] == finished


def test_only_questions_of_a_split_are_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "questions.jsonl"
    rows = [{"interaction_id": str(n), "query": f"q{n}", "answer": "a", "split": n % 2} for n in range(5)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = tmp_path / "out"
    options = ["--preset", "scripted", "--dataset", str(data), "--output", str(out), "--in-process", "--quiet"]

    assert main([*options, "--split", "1"]) == 0
    assert "left out, because only split 1 is read: 3 of split 0" in capsys.readouterr().out
    records = [json.loads(line) for line in (out / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(record["interaction_id"], record["split"]) for record in records] == [("1", 1), ("3", 1)]
    signature = json.loads((out / "results.json").read_text(encoding="utf-8"))["signature"]
    assert signature["split"] == "1", "a run of one split is not gone on with as a run of all"


# --- a folder with answers in it --------------------------------------------------------------------------------------


def test_resume_goes_on_to_a_higher_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = dataset(tmp_path)
    log = tmp_path / "log.txt"
    monkeypatch.setenv("FAKE_AGENT_LOG", str(log))

    assert main(arguments(tmp_path, data, "WaitingAgent", "--limit", "4")) == 0
    assert main(arguments(tmp_path, data, "WaitingAgent", "--resume")) == 0

    assert [row["interaction_id"] for row in rows_of(tmp_path / "out")] == [f"id{number}" for number in range(6)]
    assert len(log.read_text(encoding="utf-8").splitlines()) == 6, "no question is asked twice"
    assert results_of(tmp_path / "out")["n"] == 6


def test_runs_are_neither_overwritten_nor_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = dataset(tmp_path)
    assert main(arguments(tmp_path, data)) == 0
    assert main(arguments(tmp_path, data)) == 2
    assert "already holds answers" in capsys.readouterr().err

    assert main(arguments(tmp_path, data, "SilentAgent", "--resume")) == 2
    assert "agent was tests.evaluation.fake_agents:EchoAgent, now" in capsys.readouterr().err

    dataset(tmp_path, count=7)
    assert main(arguments(tmp_path, data, "EchoAgent", "--resume")) == 2
    assert "data was questions.jsonl.bz2@" in capsys.readouterr().err

    assert main(arguments(tmp_path, data, "SilentAgent", "--overwrite")) == 0
    assert results_of(tmp_path / "out")["score"] == 0
