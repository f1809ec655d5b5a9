"""`--resume`, `--retry-failed` and `--overwrite`: what a folder with answers in it is good for."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from crag.evaluate import main
from tests.evaluation.processes import descendants, wait_until_gone
from tests.test_local_evaluation import arguments, dataset, results_of, rows_of, run, started, without_times


def wait_for_lines(path: Path, count: int, process: subprocess.Popen[str]) -> None:
    while not path.exists() or len(path.read_bytes().splitlines()) < count:
        assert process.poll() is None, f"{path} never had {count} lines"
        time.sleep(0.01)


def asked(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").splitlines()


def test_killed_and_resumed_is_as_if_never_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, log, mended = dataset(tmp_path, count=14, crash_at=7), tmp_path / "log.txt", tmp_path / "mended"
    environment = {"FAKE_AGENT_LOG": str(log), "FAKE_AGENT_MENDED": str(mended)}
    options = arguments(tmp_path, data, "WaitingAgent")
    with started(options, **environment) as process:
        wait_for_lines(tmp_path / "out/predictions.jsonl", 6, process)
        family = descendants(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert len(rows_of(tmp_path / "out")) == 6
    wait_until_gone(family)  # the agent's process ends with the evaluator
    mended.touch()
    before = asked(log)
    with (tmp_path / "out/predictions.jsonl").open("ab") as stream:
        stream.write(b'{"interaction_id": "id6", "occ')

    code, out, err = run([*options, "--resume"], **environment)
    assert code == 0, err
    again = set(before) & set(asked(log)[len(before) :])
    assert again <= {"say word6", "say crash"}, "only the batch that the kill interrupted is asked again"

    monkeypatch.setenv("FAKE_AGENT_MENDED", str(mended))
    whole = [*options, "--output", str(tmp_path / "whole")]
    assert main(whole) == 0
    assert without_times(rows_of(tmp_path / "out")) == without_times(rows_of(tmp_path / "whole"))
    assert without_times(results_of(tmp_path / "out")) == without_times(results_of(tmp_path / "whole"))
    assert "all questions" in out


def test_resume_goes_on_to_a_higher_limit(tmp_path: Path) -> None:
    data, log = dataset(tmp_path), tmp_path / "log.txt"
    os.environ["FAKE_AGENT_LOG"] = str(log)
    try:
        assert main(arguments(tmp_path, data, "WaitingAgent", "--limit", "4")) == 0
        assert main(arguments(tmp_path, data, "WaitingAgent", "--resume")) == 0
    finally:
        del os.environ["FAKE_AGENT_LOG"]
    assert [row["interaction_id"] for row in rows_of(tmp_path / "out")] == [f"id{number}" for number in range(6)]
    assert len(asked(log)) == 6
    assert results_of(tmp_path / "out")["n"] == 6


def test_a_finished_run_is_measured_again_without_the_agent(tmp_path: Path) -> None:
    data = dataset(tmp_path)
    assert main(arguments(tmp_path, data)) == 0
    first = results_of(tmp_path / "out")
    assert main(arguments(tmp_path, data, "EchoAgent", "--resume")) == 0
    assert results_of(tmp_path / "out") == first


def test_runs_are_neither_overwritten_nor_mixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = dataset(tmp_path)
    assert main(arguments(tmp_path, data)) == 0
    assert main(arguments(tmp_path, data)) == 2
    assert "already holds answers" in capsys.readouterr().err
    assert main(arguments(tmp_path, data, "SilentAgent", "--resume")) == 2
    assert "agent was tests.evaluation.fake_agents:EchoAgent, now" in capsys.readouterr().err
    assert main(arguments(tmp_path, data, "EchoAgent", "--resume", "--seconds-per-query", "5")) == 2
    assert "seconds_per_query was 30, now 5" in capsys.readouterr().err
    dataset(tmp_path, count=7)
    assert main(arguments(tmp_path, data, "EchoAgent", "--resume")) == 2
    assert "data was questions.jsonl.bz2@" in capsys.readouterr().err
    assert main(arguments(tmp_path, data, "SilentAgent", "--overwrite")) == 0
    assert results_of(tmp_path / "out")["score"] == 0
