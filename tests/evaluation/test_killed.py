"""However the evaluator ends: finished answers stay, nothing is asked twice, and nothing that it started is left."""

import contextlib
import math
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

import pytest

from crag.commands.ending import EXIT_INTERRUPTED, EXIT_TERMINATED
from crag.commands.evaluate import main
from crag.core import files
from crag.evaluation import runner, store
from crag.evaluation.datasets import DEFAULT_DATASET, read_rows
from tests.evaluation.processes import command_of, descendants, wait_until_answered, wait_until_gone
from tests.test_local_evaluation import REPOSITORY, arguments, dataset, results_of, rows_of, started, without_times

KILLS = 10
SEED = 20240605
BATCH = 2


@pytest.fixture(scope="module")
def lives() -> ForkServerContext:
    """Starts evaluators in processes of their own that have their imports already: a life of one takes a moment."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["crag.commands.evaluate", "agents.user_config", "crag.engines.llm.scripted_engine"])
    return context


def life(lives: ForkServerContext, options: Sequence[str], last_line: float = math.inf) -> tuple[int | None, int]:
    """Exit code of an evaluator, and how many lines of its own it ran since its first batch was answered.

    It kills itself at the line with the number `last_line`, so that the point of the kill is the same on any machine.
    """
    ours, theirs = lives.Pipe(duplex=False)
    process = lives.Process(target=_live, args=(list(options), last_line, theirs))
    process.start()
    theirs.close()
    with contextlib.closing(ours):
        process.join()
        return process.exitcode, ours.recv() if process.exitcode == 0 else round(last_line)


def _live(options: list[str], last_line: float, reported: Connection) -> None:
    lines = 0

    def count(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
            if lines >= last_line:
                os.kill(os.getpid(), signal.SIGKILL)
        return count

    def enter(frame: FrameType, _event: str, _argument: object) -> Any:
        return count if frame.f_code.co_filename in {runner.__file__, store.__file__, files.__file__} else None

    append = store.RunStore.append

    def counted(self: store.RunStore, *batch: Sequence[dict[str, Any]]) -> None:
        sys.settrace(enter)
        append(self, *batch)

    with mock.patch.object(store.RunStore, "append", counted):
        code = main(options)
    sys.settrace(None)
    reported.send(lines)
    sys.exit(code)


def test_killed_ten_times_at_random_points_it_is_as_if_never_killed(tmp_path: Path, lives: ForkServerContext) -> None:
    data = REPOSITORY / DEFAULT_DATASET
    common = ["--preset", "scripted", "--dataset", str(data), "--batch-size", str(BATCH), "--in-process", "--quiet"]
    common += ["--set", "web.extract.workers=0", "--set", "language_model.default_reply='Parasite'"]
    code, lines = life(lives, [*common, "--output", str(tmp_path / "whole")])
    assert code == 0
    whole = rows_of(tmp_path / "whole")
    predictions = tmp_path / "out/predictions.jsonl"
    of_a_batch = lines * BATCH / len(whole)

    draw, finished = random.Random(SEED), [0]
    for _ in range(KILLS):
        # At any line from where it saves its first batch to the work on the next one.
        last_line = draw.uniform(1, 1.4 * of_a_batch)
        code, _ = life(lives, [*common, "--output", str(tmp_path / "out"), "--resume"], last_line)
        assert code == -signal.SIGKILL, "ten kills must fit into the run"
        finished.append(len(predictions.read_bytes().splitlines()) if predictions.exists() else 0)
    assert finished == sorted(finished), "what was finished stays finished"
    assert len(set(finished)) >= 5, "the kills came at different points of the run"

    assert life(lives, [*common, "--output", str(tmp_path / "out"), "--resume"])[0] == 0
    rows = rows_of(tmp_path / "out")
    assert [row["interaction_id"] for row in rows] == [row["interaction_id"] for row in read_rows(data)]
    traces = rows_of(tmp_path / "out", "traces.jsonl")
    assert [trace["interaction_id"] for trace in traces] == [row["interaction_id"] for row in rows]
    assert without_times(rows) == without_times(whole)
    assert without_times(results_of(tmp_path / "out")) == without_times(results_of(tmp_path / "whole"))
    assert results_of(tmp_path / "out")["hallucination"] > 0.5, "the scripted model does answer"


# --- what it leaves behind --------------------------------------------------------------------------------------------


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
        wait_until_answered(tmp_path / "out", process, 2)
        family = descendants(process.pid)
        commands = " ".join(map(command_of, family))
        assert "crag graph serve" in commands
        assert "sleep 1000" in commands, "what the agent itself has started"
        for _ in range(times):
            process.send_signal(sent)
            time.sleep(0.005)
        _, err = process.communicate()

    assert process.returncode == code

    wait_until_gone(family)
    if sent is not signal.SIGKILL:
        assert "finished batches are kept" in err
        assert "Traceback" not in err

    assert len(rows_of(tmp_path / "out")) == 2
