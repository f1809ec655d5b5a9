"""However the evaluator ends: finished answers stay, nothing is asked twice, and nothing that it started is left."""

import multiprocessing
import random
import signal
import sys
import time
from collections.abc import Sequence
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

import pytest

from agents.datasets import read_rows
from evaluation.cli import DEFAULT_DATASET, EXIT_INTERRUPTED, EXIT_TERMINATED, main
from tests.test_local_evaluation import REPOSITORY, arguments, dataset, results_of, rows_of, started, without_times

KILLS = 10
SEED = 20240605
BATCH = 2


@pytest.fixture(scope="module")
def lives() -> ForkServerContext:
    """Starts evaluators in processes of their own that have their imports already: a life of one takes a moment."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["evaluation.cli", "agents.user_config", "agents.llm.scripted_engine"])
    return context


def evaluator(lives: ForkServerContext, options: Sequence[str]) -> ForkServerProcess:
    process = lives.Process(target=_live, args=(list(options),))
    process.start()
    return process


def finish(process: ForkServerProcess) -> int | None:
    process.join()
    return process.exitcode


def _live(options: list[str]) -> None:
    sys.exit(main(options))


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def wait_for_growth(path: Path, size: int, process: ForkServerProcess) -> None:
    end = time.monotonic() + 60
    while size_of(path) < size and process.is_alive():
        assert time.monotonic() < end, f"{path} never grew to {size} bytes"
        time.sleep(0.002)


def test_killed_ten_times_at_random_points_it_is_as_if_never_killed(tmp_path: Path, lives: ForkServerContext) -> None:
    data = REPOSITORY / DEFAULT_DATASET
    common = [
        "--preset",
        "scripted",
        "--set",
        "web.extract.workers=0",
        "--set",
        "language_model.default_reply='Parasite'",
    ]
    common += ["--dataset", str(data), "--batch-size", str(BATCH), "--in-process", "--quiet"]
    assert finish(evaluator(lives, [*common, "--output", str(tmp_path / "whole")])) == 0
    whole = rows_of(tmp_path / "whole")
    predictions = tmp_path / "out/predictions.jsonl"
    average = (tmp_path / "whole/predictions.jsonl").stat().st_size / len(whole)

    draw, finished = random.Random(SEED), [0]
    for _ in range(KILLS):
        process = evaluator(lives, [*common, "--output", str(tmp_path / "out"), "--resume"])
        # Somewhere from its start to its third batch, and then at any moment of the work on a batch.
        wait_for_growth(predictions, round(size_of(predictions) + draw.uniform(-1, 2.5) * average * BATCH), process)
        time.sleep(draw.uniform(0, 0.1))
        assert process.is_alive(), "ten kills must fit into the run"
        process.kill()
        process.join()
        finished.append(len(predictions.read_bytes().splitlines()) if predictions.exists() else 0)
    assert finished == sorted(finished), "what was finished stays finished"
    assert len(set(finished)) >= 5, "the kills came at different points of the run"

    assert finish(evaluator(lives, [*common, "--output", str(tmp_path / "out"), "--resume"])) == 0
    rows = rows_of(tmp_path / "out")
    assert [row["interaction_id"] for row in rows] == [row["interaction_id"] for row in read_rows(data)]
    assert {row["attempt"] for row in rows} == {1}
    traces = rows_of(tmp_path / "out", "traces.jsonl")
    assert [trace["interaction_id"] for trace in traces] == [row["interaction_id"] for row in rows]
    assert without_times(rows) == without_times(whole)
    assert without_times(results_of(tmp_path / "out")) == without_times(results_of(tmp_path / "whole"))
    assert results_of(tmp_path / "out")["hallucination"] > 0.5, "the scripted model does answer"


# --- what it leaves behind --------------------------------------------------------------------------------------------


def descendants(pid: int) -> set[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):  # it ended meanwhile
            continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def command_of(pid: int) -> str:
    """Empty for a process that has ended, also where nobody has taken notice of that yet."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def wait_until_gone(processes: set[int], seconds: float) -> list[str]:
    end = time.monotonic() + seconds
    while (left := [command for pid in processes if (command := command_of(pid))]) and time.monotonic() < end:
        time.sleep(0.05)
    return left


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")
@pytest.mark.parametrize(
    ("sent", "times", "code"),
    [
        (signal.SIGTERM, 20, EXIT_TERMINATED),  # the first one counts; the others must not tear the clean-up
        (signal.SIGINT, 1, EXIT_INTERRUPTED),
        (signal.SIGKILL, 1, -signal.SIGKILL),
    ],
)
def test_neither_the_agent_nor_the_graph_outlives_the_evaluator(
    tmp_path: Path, sent: signal.Signals, times: int, code: int
) -> None:
    options = [*arguments(tmp_path, dataset(tmp_path, crash_at=2), "ForkingAgent"), "--mock-kg"]
    with started(options, FAKE_AGENT_LOG=str(tmp_path / "log.txt")) as process:
        predictions = tmp_path / "out/predictions.jsonl"
        for _ in range(1200):
            if predictions.exists():
                break
            time.sleep(0.05)
        family = descendants(process.pid)
        commands = " ".join(map(command_of, family))
        assert "mock_api" in commands
        assert "sleep 1000" in commands, "what the agent itself has started"
        for _ in range(times):
            process.send_signal(sent)
            time.sleep(0.005)
        _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert wait_until_gone(family, seconds=10) == []
    if sent is not signal.SIGKILL:
        assert "finished batches are kept" in err
        assert "Traceback" not in err
    assert len(rows_of(tmp_path / "out")) == 2
