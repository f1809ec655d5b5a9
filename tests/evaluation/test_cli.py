"""How the command line tells of faults of the agent's start and end."""

import importlib.util
import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agents.settings import load_settings
from evaluation.cli import _default_folder, _parser, main
from evaluation.signature import settings_hash
from tests.test_local_evaluation import arguments, dataset, one_line, results_of, run


@pytest.mark.parametrize(
    ("agent", "line"),
    [
        ("NoEngineAgent", "error: the language model engine 'x' cannot start: pip install -r requirements.txt"),
        ("NoSuchModelAgent", "error: no model named 'x'; known: y"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--in-process"]])
def test_a_fault_that_says_what_to_do_has_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: str, line: str, more: list[str]
) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path), agent, *more)) == 2
    reported = capsys.readouterr().err.splitlines()
    assert reported[-1] == line
    assert len(reported) == 1 + len(more), "in this process, a line before it says that no limit is enforced"


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vLLM is installed")
def test_a_preset_whose_engine_is_not_installed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = dataset(tmp_path)
    assert main(["--dataset", str(data), "--preset", "submission", "--output", str(tmp_path / "out"), "--quiet"]) == 2
    line = one_line(capsys)
    assert line.startswith("error: the language model engine 'vllm' cannot start")
    assert "pip install -r requirements.txt" in line


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


def test_a_shard_has_a_folder_and_an_identity_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parsed = _parser().parse_args(["--dataset", "a/q.jsonl", "--preset", "nec", "--shard", "2/4"])
    assert _default_folder(parsed).name == "q-nec-shard-2-of-4"
    options = arguments(tmp_path, dataset(tmp_path), "EchoAgent", "--in-process")
    assert main([*options, "--shard", "1/2"]) == 0
    assert main([*options, "--shard", "2/2", "--resume"]) == 2
    assert "shard was 1/2, now 2/2" in capsys.readouterr().err


def test_a_device_needs_no_quotes() -> None:
    options = _parser().parse_args(["--set", "dense_encoder.device=cuda:0", "--set", "language_model.model=~/m"])
    assert options.set == ['dense_encoder.device="cuda:0"', 'language_model.model="~/m"']
    dense = load_settings("submission", options.set).dense_encoder
    assert dense is not None
    assert dense.device == "cuda:0"


def test_a_folder_tells_the_graph_and_the_module() -> None:
    def folder(*options: str) -> str:
        return _default_folder(_parser().parse_args(["--dataset", "q.jsonl", *options])).name

    assert folder("--preset", "nec", "--mock-kg") == "q-nec-mock-kg"
    assert folder("--preset", "nec", "--mock-kg", "a/official") == "q-nec-mock-kg-official"
    assert folder("--preset", "nec", "--kg-url", "http://127.0.0.1:9") == "q-nec-kg"
    assert folder("--agent", "mine.first:Agent") == "q-mine.first.Agent"
    assert folder("--agent", "mine.first:Agent") != folder("--agent", "mine.second:Agent")


@pytest.mark.parametrize("kilobytes", [1, 8, 64])
def test_a_full_disk_is_one_line_and_keeps_what_is_finished(tmp_path: Path, kilobytes: int) -> None:
    """A limit on the size of files stands for the disk: writing fails in the same way."""
    command = [sys.executable, "local_evaluation.py", "--preset", "scripted", "--limit", "12", "--quiet"]
    out = ["--output", str(tmp_path / "out")]
    limited = f"ulimit -f {kilobytes}; exec " + shlex.join([*command, *out])
    done = subprocess.run(["bash", "-c", limited], capture_output=True, text=True, check=False, timeout=120)
    (line,) = done.stderr.splitlines()
    assert (done.returncode, line.startswith("error: "), "File too large" in line) == (2, True, True)
    kept = tmp_path / "out" / "predictions.jsonl"
    rows = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    again = subprocess.run([*command, *out, "--resume"], capture_output=True, text=True, check=False, timeout=120)
    assert again.returncode == 0, again.stderr
    assert kept.read_text(encoding="utf-8").splitlines()[: len(rows)] == [row for row in rows if row.endswith("}")]


def test_an_agent_without_the_evaluators_methods_is_told_and_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path), "NoMethodAgent")) == 2
    assert one_line(capsys).endswith("NoMethodAgent: it has no method batch_generate_answer")
    assert not (tmp_path / "out").exists()
    assert main(arguments(tmp_path, dataset(tmp_path), "EchoAgent")) == 0
    assert main(arguments(tmp_path, dataset(tmp_path), "NoMethodAgent", "--overwrite")) == 2
    assert (tmp_path / "out").exists(), "an older folder stays"


def test_the_last_error_of_a_failing_agent_is_on_the_console_and_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path, crash_at=2), "CrashingAgent")) == 1
    error = results_of(tmp_path / "out")["last_error"]
    assert error
    assert f"The last error: {error}" in capsys.readouterr().err
    assert error in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_what_is_loaded_is_said_before_it_is_loaded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loud = [*arguments(tmp_path, dataset(tmp_path), "EchoAgent")[:-1]]
    assert main(loud) == 0
    assert capsys.readouterr().err.startswith("loading tests.evaluation.fake_agents:EchoAgent ...\n")


def test_a_folder_tells_what_was_changed() -> None:
    def folder(*changes: str) -> str:
        options = [part for change in changes for part in ("--set", change)]
        parsed = _parser().parse_args(["--dataset", "a/questions.jsonl", "--preset", "nec", *options])
        return _default_folder(parsed).name

    two = ("answering.audit=true", "answering.refine={}")
    assert folder() == "questions-nec"
    assert folder(*two) == "questions-nec-answering.audit=true-answering.refine="
    assert folder('answering.self_assessment.accepted=["high", "low"]').endswith("accepted=high,low")
    long = [f"deadline.{name}=1" for name in ("route", "knowledge_graph", "answer_from_graph", "rerank", "generate")]
    assert len(folder(*long)) < 140
    assert folder(*long) != folder(*long[:-1])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("answering.nonesuch=1", 'key "answering.nonesuch": unknown key; allowed keys: '),
        ("answering.word_limit=many", "answering.word_limit"),
        ("answering.word_limit=0", "greater than or equal to 1 (found 0)"),
    ],
)
def test_a_setting_that_cannot_be_is_reported_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wrong: str, message: str
) -> None:
    data = ["--dataset", str(dataset(tmp_path)), "--output", str(tmp_path / "out")]
    assert main([*data, "--preset", "scripted", "--set", wrong]) == 2
    assert message in one_line(capsys)


def test_a_killed_agent_that_showed_a_progress_bar_leaks_nothing(tmp_path: Path) -> None:
    code, _, err = run(
        [*arguments(tmp_path, dataset(tmp_path, crash_at=2), "ProgressAgent"), "--seconds-per-query", "1"]
    )
    assert code == 1
    assert "1 batch(es) exceeded their time limit" in err
    assert "leaked" not in err


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--limit", "0"], "argument --limit: must be at least 1, found 0"),
        (["--limit", "x"], "argument --limit: invalid whole number value: 'x'"),
        (["--batch-size", "0"], "argument --batch-size: must be from 1 to 16, found 0"),
        (["--seconds-per-query", "-1"], "argument --seconds-per-query: must be more than 0, found -1"),
        (["--seconds-per-query", "soon"], "argument --seconds-per-query: invalid number of seconds value: 'soon'"),
        (["--startup-seconds", "inf"], "argument --startup-seconds: must be more than 0, found inf"),
        (["--judge", "magic"], "argument --judge: invalid choice: 'magic'"),
        (["--set", "answering.audit"], "argument --set: must be KEY=VALUE in one line, found 'answering.audit'"),
        (["--set", "a=1\nb=2"], "argument --set: must be KEY=VALUE in one line, found 'a=1\\nb=2'"),
        (["--set", "a=[1"], "argument --set: the override 'a=[1' is not a line of TOML"),
        (["--kg-url", "foo"], "argument --kg-url: must be http://HOST:PORT or https://HOST, found 'foo'"),
        (["--kg-url", "http://host:port"], "argument --kg-url: invalid server address value: 'http://host:port'"),
        (["--datset", "x"], "unrecognized arguments: --datset x"),
    ],
)
def test_a_wrong_argument_is_named(capsys: pytest.CaptureFixture[str], wrong: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(wrong)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("agent", "reported"),
    [
        ("nosuch:X", "No module named 'nosuch', neither in this folder nor among the packages"),
        ("local_evaluation:Nothing", "the module has no attribute 'Nothing'"),
    ],
)
def test_an_agent_that_is_not_there_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: str, reported: str
) -> None:
    options = ["--dataset", str(dataset(tmp_path)), "--output", str(tmp_path / "out"), "--quiet"]
    assert main([*options, "--agent", agent]) == 2
    assert one_line(capsys) == f"error: agent {agent}: {reported}"


def test_an_output_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    assert main(arguments(tmp_path, dataset(tmp_path))) == 2
    assert "out: cannot be written" in one_line(capsys)
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"


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
