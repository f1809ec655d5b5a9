"""`python local_evaluation.py` from outside: what a person who runs it sees and finds."""

import html
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crag.commands.evaluate import main
from crag.core.files import write_rows
from crag.evaluation.graph_server import graph_server_fault, mock_graph
from crag.evaluation.process import ProcessWorker
from crag.evaluation.worker import BatchResult

REPOSITORY = Path(__file__).parents[1]
FAKES = "tests.evaluation.fake_agents"
PAGE = {"page_name": "n", "page_url": "u", "page_snippet": "s", "page_result": "r", "page_last_modified": ""}
DOMAINS = ("movie", "music", "sports")


def dataset(folder: Path, count: int = 6, crash_at: int | None = None, **more: Any) -> Path:
    words = ["crash" if number == crash_at else f"word{number}" for number in range(count)]
    rows = [
        {
            "interaction_id": f"id{number}",
            "query": f"say {word}",
            "query_time": "03/05/2024, 23:18:31 PT",
            "answer": word,
            "alternative_answers": "[]",
            "domain": DOMAINS[number % 3],
            "question_type": "simple",
            "static_or_dynamic": "static",
            "search_results": [{**PAGE, "hint": word}],
            **more,
        }
        for number, word in enumerate(words)
    ]
    path = folder / "questions.jsonl.bz2"
    write_rows(path, rows)
    return path


def arguments(tmp_path: Path, data: Path, agent: str = "EchoAgent", *more: str) -> list[str]:
    out = ["--dataset", str(data), "--agent", f"{FAKES}:{agent}", "--output", str(tmp_path / "out"), "--quiet"]
    return [*out, *more]


def rows_of(folder: Path, name: str = "predictions.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def results_of(folder: Path) -> dict[str, Any]:
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def without_times(value: Any) -> Any:
    """The same without what differs from run to run."""
    timed = {"seconds", "batch_seconds", "peak_memory_mb"}
    if isinstance(value, dict):
        return {key: without_times(inner) for key, inner in value.items() if key not in timed}
    return [without_times(inner) for inner in value] if isinstance(value, list) else value


def started(options: Sequence[str], **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(REPOSITORY / "local_evaluation.py"), *options],
        cwd=REPOSITORY,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job starts its children with SIGINT ignored; a person's terminal does not.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - nothing else runs here
    )


def run(options: Sequence[str], **environment: str) -> tuple[int, str, str]:
    with started(options, **environment) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


# --- a whole run ------------------------------------------------------------------------------------------------------


def test_a_perfect_agent_from_the_command_line(tmp_path: Path) -> None:
    data = dataset(tmp_path)
    code, out, err = run([*arguments(tmp_path, data, "TracingAgent")[:-1], "--limit", "5"])
    assert code == 0, err
    table = [line.split()[:2] for line in out.splitlines()]
    assert ["all", "questions"] in table
    assert ["movie", "+1.000"] in table
    assert all(words in out for words in ("question type", "dynamism", "judge:rules@"))
    assert err.startswith("loading tests.evaluation.fake_agents:TracingAgent ...\n")
    assert "score +1.000" in err, "the progress bar shows the running score"
    assert "5/5" in err

    results = results_of(tmp_path / "out")
    assert (results["score"], results["n"], results["ci"]) == (1.0, 5, [1.0, 1.0])
    assert results["slices"]["domain"]["movie"]["n"] == 2
    assert (results["timeouts"], results["errors"]) == (0, 0)
    assert results["seconds"]["first_answer"] >= results["seconds"]["startup"] > 0
    assert results["peak_memory_mb"] > 10
    assert results["signature"]["data"].startswith("questions.jsonl.bz2@")

    predictions = rows_of(tmp_path / "out")
    assert [row["prediction"] for row in predictions] == [f"word{number}" for number in range(5)]
    assert [row["batch"] for row in predictions] == [0, 0, 1, 1, 2]
    assert {"interaction_id", "query", "prediction", "answer", "alt_ans", "verdict", "reason", "domain", "seconds"} <= (
        predictions[0].keys()
    )
    traces = rows_of(tmp_path / "out", "traces.jsonl")
    assert [trace["interaction_id"] for trace in traces] == [row["interaction_id"] for row in predictions]
    assert traces[0]["saw"] == ["interaction_id", "query", "query_time", "search_results"]
    assert traces[0]["page_fields"] == [sorted(PAGE)], "no field but the official five"


# --- what would lose a submission -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "timed_out", "error", "reported"),
    [
        ("CrashingAgent", 0, "RuntimeError: the planted fault", "1 batch(es) failed. THE REAL EVALUATOR WOULD HAVE"),
        ("DyingAgent", 0, "signal SIGABRT", "1 batch(es) failed. THE REAL EVALUATOR WOULD HAVE FAILED THIS WHOLE"),
        ("HangingAgent", 1, "fake_agents.py", "1 batch(es) exceeded their time limit. THE REAL EVALUATOR WOULD HAVE"),
    ],
)
def test_a_batch_that_fails_or_overruns_is_recorded_and_told_loudly(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
    timed_out: int,
    error: str,
    reported: str,
) -> None:
    answer = ProcessWorker.answer

    def short_of_time(worker: ProcessWorker, batch: dict[str, Any], limit: float) -> BatchResult:
        """Only the batch that hangs is given up."""
        return answer(worker, batch, 0.5 if timed_out and "say crash" in batch["query"] else limit)

    monkeypatch.setattr(ProcessWorker, "answer", short_of_time)
    limit = ["--seconds-per-query", "300"]
    assert main(arguments(tmp_path, dataset(tmp_path, crash_at=2), agent, *limit)) == 1
    rows, results = rows_of(tmp_path / "out"), results_of(tmp_path / "out")
    err = capsys.readouterr().err
    assert reported in err
    assert [row["verdict"] for row in rows] == ["correct"] * 2 + ["missing"] * 2 + ["correct"] * 2
    assert [row["timed_out"] for row in rows] == [False] * 2 + [bool(timed_out)] * 2 + [False] * 2
    assert all(error in row["error"] for row in rows[2:4])
    assert (results["errors"], results["timeouts"], results["missing"]) == (
        1 - timed_out,
        timed_out,
        pytest.approx(1 / 3),
    )
    if not timed_out:
        assert agent != "CrashingAgent" or re.match(r"fake_agents.py, line \d+: Runtime", results["last_error"])
        assert f"The last error: {results['last_error']}" in err
        page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
        assert results["last_error"] in html.unescape(page)


# --- what a person gets wrong -----------------------------------------------------------------------------------------


def test_a_python_without_the_packages_is_told_in_one_line() -> None:
    bare = [sys.executable, "-S", "local_evaluation.py", "--help"]  # without the folder of installed packages
    done = subprocess.run(bare, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.endswith("`make install` makes .venv: use .venv/bin/python")


def test_the_sample_is_found_from_anywhere_and_rows_have_their_own_tokens(tmp_path: Path) -> None:
    options = ["--preset", "scripted", "--limit", "3", "--output", str(tmp_path / "out"), "--quiet"]
    command = [sys.executable, str(REPOSITORY / "local_evaluation.py"), *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    rows = rows_of(tmp_path / "out")
    assert len({row["tokens"]["prompt"] for row in rows}) > 1, "prompts differ in length"
    total = {kind: sum(row["tokens"][kind] for row in rows) for kind in ("prompt", "completion")}
    assert total == rows[0]["batch_tokens"] == results_of(tmp_path / "out")["tokens"]


def test_a_graph_that_does_not_reply_is_told_before_the_first_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = ["--kg-url", "http://127.0.0.1:9"]
    shown = [word for word in arguments(tmp_path, dataset(tmp_path), "EchoAgent") if word != "--quiet"]
    assert main([*shown, *dead]) == 0
    said = capsys.readouterr().err
    warning = "warning: the knowledge graph at http://127.0.0.1:9 gives no results (connection refused)"
    assert said.index(warning) < said.index("questions:")
    with mock_graph() as alive:
        assert graph_server_fault(alive) is None
        assert graph_server_fault(f"{alive}/elsewhere") == "status 404 for /open/search_entity_by_name"


def test_the_environment_of_the_agent_and_what_it_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It gets preset and server as the evaluator would give them; its output does not reach our standard output."""
    monkeypatch.delenv("CRAG_PRESET", raising=False)
    monkeypatch.delenv("CRAG_MOCK_API_URL", raising=False)
    data = dataset(tmp_path, count=1, query="say it", answer="cpu http://127.0.0.1:1")
    assert main(arguments(tmp_path, data, "EnvironmentAgent", "--kg-url", "http://127.0.0.1:1")) == 0
    assert rows_of(tmp_path / "out")[0]["prediction"] == "cpu http://127.0.0.1:1"
    assert "CRAG_MOCK_API_URL" not in os.environ
    assert "noise" not in capfd.readouterr().out
