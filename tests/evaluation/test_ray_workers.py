"""`local_evaluation.py --ray`: on a cluster that loses a process and a machine it is as if run in one piece."""

import contextlib
import importlib.util
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from crag.commands.ending import EXIT_INTERRUPTED
from crag.commands.evaluate import main
from crag.evaluation.datasets import DEFAULT_DATASET, read_rows
from tests.evaluation.processes import command_of, descendants, wait_until, wait_until_answered, wait_until_gone
from tests.test_local_evaluation import arguments, dataset, results_of, rows_of, run, started, without_times

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install -r requirements/ray.txt"
)


CLUSTER = """
import sys
from ray.cluster_utils import Cluster
small = {"object_store_memory": 100_000_000}
quick = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 200, "health_check_timeout_ms": 2000}
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": quick, **small})
for _ in range(2):
    cluster.add_node(num_cpus=1, **small)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
"""Three machines: one for Ray itself, two workers with one processor each. It ends with its standard input."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[tuple[str, int]]:
    """A cluster's address and process. It is in a process of its own, as Ray leaves files open, in another folder.

    The test that loses one of its machines is the last to use it.
    """
    with Popen([sys.executable, "-c", CLUSTER], stdin=PIPE, stdout=PIPE, text=True, cwd="/") as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process.pid
        process.communicate("", timeout=60)


def actors(cluster: int) -> list[int]:
    """The processes of Ray that hold an agent."""
    return sorted(process for process in descendants(cluster) if command_of(process).startswith("ray::_Worker"))


def lose_machine(actor: int) -> None:
    """Kill the process of Ray that stands for the actor's machine, with all that it has started."""
    (parent,) = re.findall(r"^PPid:\s*(\d+)$", Path(f"/proc/{actor}/status").read_text(), re.MULTILINE)
    assert "raylet" in command_of(int(parent))
    for process in (int(parent), *descendants(int(parent))):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@needs_ray
@pytest.mark.parametrize(
    ("more", "agent", "reported"),
    [
        ([], "NoSuchModelAgent", "error: no model named 'x'; known: y; on "),
        (["--worker-gpus", "512"], "EchoAgent", "error: no machine of the cluster has 1 CPU and 512 GPU: see --worker"),
        (["--ray", "127.0.0.1:1"], "EchoAgent", "error: --ray 127.0.0.1:1: no cluster to connect to: "),
    ],
)
def test_what_cannot_run_is_one_line(
    tmp_path: Path, cluster: tuple[str, int], more: list[str], agent: str, reported: str
) -> None:
    address, _ = cluster
    code, out, err = run([*arguments(tmp_path, dataset(tmp_path), agent), "--ray", address, *more])
    assert (code, out) == (2, "")
    assert err.startswith(reported)
    assert len(err.splitlines()) == 1


@needs_ray
def test_a_lost_process_and_a_lost_machine_cost_nothing(tmp_path: Path, cluster: tuple[str, int]) -> None:
    address, process = cluster
    common = ["--batch-size", "2"]
    for line in ("web.extract.workers=0", "language_model.default_reply='Parasite'"):
        common += ["--set", line]

    # The second worker starts before the first one has done all.
    common += ["--set", "language_model.seconds_per_request=0.3"]
    output = tmp_path / "out"

    with started([*common, "--ray", address, "--output", str(output)], CRAG_PRESET="scripted") as driver:
        wait_until_answered(output, driver, 4)
        # On a busy machine the second one starts late.
        wait_until(lambda: len(actors(process)) == 2, "both workers run")
        first, second = actors(process)
        os.kill(first, signal.SIGKILL)
        wait_until_answered(output, driver, 8)
        lose_machine(second)
        assert driver.poll() is None, "both losses came before the end"
        out, err = driver.communicate(timeout=240)

    assert driver.returncode == 0, err
    assert "all questions" in out
    assert "37/37" in err

    assert main(["--preset", "scripted", *common, "--in-process", "--quiet", "--output", str(tmp_path / "whole")]) == 0
    rows = rows_of(output)
    assert [row["interaction_id"] for row in rows] == [row["interaction_id"] for row in read_rows(DEFAULT_DATASET)]
    assert without_times(rows) == without_times(rows_of(tmp_path / "whole"))
    assert without_times(results_of(output)) == without_times(results_of(tmp_path / "whole"))
    assert results_of(output)["hallucination"] > 0.5, "the scripted model does answer"

    traced = [row["interaction_id"] for row in rows_of(output, "traces.jsonl")]
    assert sorted(traced) == sorted(row["interaction_id"] for row in rows), "none is lost, none is there twice"


@needs_ray
def test_ctrl_c_stops_a_ray_of_our_own_and_resume_goes_on_without_it(tmp_path: Path) -> None:
    data, log, output = dataset(tmp_path, 8, crash_at=2), tmp_path / "log.txt", tmp_path / "out"
    options = arguments(tmp_path, data, "WaitingAgent")
    environment = {"FAKE_AGENT_MENDED": str(tmp_path / "mended"), "FAKE_AGENT_LOG": str(log)}

    with started([*options, "--ray", "--workers", "2", "--worker-cpus", "0.5", "--mock-kg"], **environment) as driver:
        wait_until_answered(output, driver, 6)  # the other worker waits
        family = descendants(driver.pid)
        assert len([process for process in family if "crag graph serve" in command_of(process)]) == 2, (
            "each has its graph"
        )
        driver.send_signal(signal.SIGINT)
        _, err = driver.communicate(timeout=60)

    assert driver.returncode == EXIT_INTERRUPTED
    assert err.strip().endswith(f"kept in {output}. Continue with --resume and the same arguments")

    wait_until_gone(family)

    (tmp_path / "mended").touch()
    code, _, err = run([*options, "--mock-kg", "--resume"], **environment)
    assert (code, err) == (0, "")

    answers = ["word0", "word1", "crash", *(f"word{number}" for number in range(3, 8))]
    assert [row["prediction"] for row in rows_of(output)] == answers

    asked = [row["query"] for row in read_rows(data)]
    assert sorted(set(log.read_text().splitlines())) == sorted(asked)
    assert len(log.read_text().splitlines()) <= len(asked) + 2, "only the interrupted batch was asked again"


def test_without_ray_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError\n")
    code, out, err = run([*arguments(tmp_path, dataset(tmp_path)), "--ray"], PYTHONPATH=str(tmp_path))
    assert (code, out, err) == (2, "", "error: --ray needs Ray: pip install -r requirements/ray.txt\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--ray", "10.0.0.1:0"], "must be HOST:PORT or auto, found '10.0.0.1:0'"),
        (["--ray", "--worker-cpus", "1.5"], "must be a whole number if above 1, found 1.5"),
        (["--workers", "2"], "--workers needs --ray"),
        (["--worker-cpus", "2"], "--worker-cpus needs --ray"),
        (["--worker-gpus", "1"], "--worker-gpus needs --ray"),
        (["--ray", "--in-process"], "not allowed with argument"),
    ],
)
def test_a_wrong_argument_is_named(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert message in capsys.readouterr().err
