"""`python local_evaluation.py` from outside: what a person who runs it sees and finds."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.common.files import write_rows
from crag.evaluate import main
from evaluation.graph_server import mock_graph, silent_graph

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
    table = [line.split() for line in out.splitlines()]
    assert table[2][:3] == ["all", "questions", "+1.000"] or ["all", "questions", "+1.000"] in [
        row[:3] for row in table
    ]
    assert ["movie", "+1.000"] in [words[:2] for words in table]
    assert "question type" in out
    assert "dynamism" in out
    assert "judge:rules@" in out
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


def test_questions_without_answers_are_unscored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path, answer=None))) == 0
    results = results_of(tmp_path / "out")
    assert (results["n"], results["unscored"]) == (0, 6)
    assert "6 more could not be scored" in capsys.readouterr().out


# --- what would lose a submission -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "error"),
    [("CrashingAgent", "RuntimeError: the planted fault"), ("DyingAgent", "signal SIGABRT")],
)
def test_a_failing_batch_is_recorded_and_said_loudly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: str, error: str
) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path, crash_at=2), agent, "--allow-timeouts")) == 1
    assert "THE REAL EVALUATOR WOULD HAVE FAILED THIS WHOLE SUBMISSION" in capsys.readouterr().err
    rows = rows_of(tmp_path / "out")
    assert [row["verdict"] for row in rows] == ["correct"] * 2 + ["missing"] * 2 + ["correct"] * 2
    assert all(error in row["error"] for row in rows[2:4])
    results = results_of(tmp_path / "out")
    assert (results["errors"], results["timeouts"], results["missing"]) == (1, 0, pytest.approx(1 / 3))


@pytest.mark.parametrize(("more", "code"), [([], 1), (["--allow-timeouts"], 0)])
def test_an_overrun_is_stopped_recorded_and_said_loudly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], code: int
) -> None:
    data = dataset(tmp_path, crash_at=3)
    assert main(arguments(tmp_path, data, "HangingAgent", "--seconds-per-query", "0.5", *more)) == code
    assert "exceeded their time limit. THE REAL EVALUATOR" in capsys.readouterr().err
    rows = rows_of(tmp_path / "out")
    assert [row["timed_out"] for row in rows] == [False, False, True, True, False, False]
    assert [row["verdict"] for row in rows[2:4]] == ["missing", "missing"]
    assert results_of(tmp_path / "out")["timeouts"] == 1


def test_fail_on_error_stops_and_keeps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path, crash_at=2), "CrashingAgent", "--fail-on-error")) == 1
    assert "batch 1 failed:\nTraceback" in capsys.readouterr().err
    assert len(rows_of(tmp_path / "out")) == 4
    assert not (tmp_path / "out/results.json").exists()


# --- what a person gets wrong -----------------------------------------------------------------------------------------


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.strip().splitlines()
    return str(line)


def test_a_python_without_the_packages_is_told_in_one_line() -> None:
    bare = [sys.executable, "-S", "local_evaluation.py", "--help"]  # without the folder of installed packages
    done = subprocess.run(bare, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.endswith("`make install` makes .venv: use .venv/bin/python")


def test_a_wrong_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments(tmp_path, tmp_path / "none.jsonl")) == 2
    assert one_line(capsys).endswith("none.jsonl: there is no such file")
    assert not (tmp_path / "out").exists()


def test_a_wrong_preset(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dataset", str(dataset(tmp_path)), "--preset", "nonesuch", "--output", str(tmp_path / "out")]) == 2
    assert one_line(capsys).startswith("error: there is no preset 'nonesuch'; shipped presets:")


def test_an_unreadable_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "q.jsonl"
    good = {"interaction_id": "a", "query": "say a", "answer": "a"}
    data.write_text(json.dumps(good) + "\n" + json.dumps(good) + "\n{broken\n", encoding="utf-8")
    assert main(arguments(tmp_path, data)) == 2
    assert "q.jsonl, line 3: not valid JSON" in one_line(capsys)
    assert len(rows_of(tmp_path / "out")) == 2, "the batch before it is kept"


def test_a_judge_without_key_is_reported_before_the_agent_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert main(arguments(tmp_path, dataset(tmp_path), "EchoAgent", "--judge", "llm")) == 2
    assert "set OPENAI_API_KEY" in one_line(capsys)


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
        assert silent_graph(alive) is None
        assert silent_graph(f"{alive}/elsewhere") == "status 404 for /open/search_entity_by_name"


def test_the_environment_of_the_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent gets preset and server as the evaluator would give them: by its environment."""
    monkeypatch.delenv("CRAG_PRESET", raising=False)
    monkeypatch.delenv("CRAG_MOCK_API_URL", raising=False)
    data = dataset(tmp_path, count=1, query="say it", answer="cpu http://127.0.0.1:1")
    assert main(arguments(tmp_path, data, "EnvironmentAgent", "--kg-url", "http://127.0.0.1:1")) == 0
    assert rows_of(tmp_path / "out")[0]["prediction"] == "cpu http://127.0.0.1:1"
    assert "CRAG_MOCK_API_URL" not in os.environ
