"""`local_evaluation.py --ray`: on a cluster that loses a process and a machine it is as if run in one piece."""

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from evaluation.cli import DEFAULT_DATASET, EXIT_INTERRUPTED, main
from evaluation.datasets import read_rows
from evaluation.ray_shards import check_shared
from evaluation.store import RunFile, StoreError
from tests.evaluation.processes import command_of, descendants, wait_until_gone
from tests.test_local_evaluation import arguments, dataset, results_of, rows_of, run, started, without_times

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed: pip install -r requirements-ray.txt"
)


CLUSTER = """
import sys
from ray.cluster_utils import Cluster
small = {"object_store_memory": 100_000_000}
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
for _ in range(2):
    cluster.add_node(num_cpus=1, **small)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
"""Three machines: one for Ray itself, two workers with one processor each. It ends with its standard input."""


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a cluster. It is in a process of its own, because Ray leaves files open, and in another folder."""
    with Popen([sys.executable, "-c", CLUSTER], stdin=PIPE, stdout=PIPE, text=True, cwd="/") as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate("", timeout=60)


def answered(shard: Path, driver: Popen[str], least: int) -> int:
    """Wait until the shard has so many answers; returns how many it has."""
    predictions = shard / "predictions.jsonl"
    while (count := len(predictions.read_bytes().splitlines()) if predictions.exists() else 0) < least:
        assert driver.poll() is None, driver.communicate()
        time.sleep(0.05)
    return count


def writer_of(shard: Path) -> int:
    """The process that holds the folder's lock."""
    for opened in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if opened.readlink() == shard:
                return int(opened.parts[2])
        except OSError:  # it ended meanwhile, or is another's
            continue
    raise AssertionError(f"nobody has {shard} open")


def lose_machine(worker: int) -> None:
    """Kill the process of Ray that stands for the worker's machine, with all that it has started."""
    (parent,) = re.findall(r"^PPid:\s*(\d+)$", Path(f"/proc/{worker}/status").read_text(), re.MULTILINE)
    assert "raylet" in command_of(int(parent))
    for process in (int(parent), *descendants(int(parent))):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@needs_ray
def test_a_lost_process_and_a_lost_machine_cost_nothing(tmp_path: Path, cluster: str) -> None:
    common = ["--batch-size", "2"]
    for line in ("web.extract.workers=0", "language_model.default_reply='Parasite'"):
        common += ["--set", line]
    common += ["--set", "language_model.seconds_per_request=0.3"]  # long enough to be interrupted twice
    output = tmp_path / "out"
    shards = output / "shards"
    options = [*common, "--ray", cluster, "--shards", "2", "--output", str(output)]
    with started(options, CRAG_PRESET="scripted") as driver:
        answered(shards / "1", driver, 2)
        os.kill(writer_of(shards / "1"), signal.SIGKILL)
        before = answered(shards / "2", driver, 4)
        lose_machine(writer_of(shards / "2"))
        answered(shards / "2", driver, before + 2)
        out, err = driver.communicate(timeout=240)
    assert driver.returncode == 0, err
    assert "all questions" in out
    assert "37/37" in err, "one bar over both shards"
    assert not shards.exists()

    assert main(["--preset", "scripted", *common, "--in-process", "--quiet", "--output", str(tmp_path / "whole")]) == 0
    rows = rows_of(output)
    assert [row["interaction_id"] for row in rows] == [row["interaction_id"] for row in read_rows(DEFAULT_DATASET)]
    assert without_times(rows) == without_times(rows_of(tmp_path / "whole"))
    assert without_times(results_of(output)) == without_times(results_of(tmp_path / "whole"))
    assert results_of(output)["hallucination"] > 0.5, "the scripted model does answer"
    assert len(RunFile.read(output).sittings) == 4, "each shard was restarted once, and went on where it was"


@needs_ray
def test_ctrl_c_stops_a_ray_of_our_own_and_resume_goes_on(tmp_path: Path) -> None:
    data, log, output = dataset(tmp_path, 8, crash_at=6), tmp_path / "log.txt", tmp_path / "out"
    options = [*arguments(tmp_path, data, "WaitingAgent"), "--ray", "--shards", "2", "--shard-cpus", "0.5"]
    environment = {"FAKE_AGENT_MENDED": str(tmp_path / "mended"), "FAKE_AGENT_LOG": str(log)}
    old = [*arguments(tmp_path, data, "SilentAgent"), "--in-process"]
    assert main([*old, "--limit", "2", "--shard", "1/2", "--output", str(output / "shards/1")]) == 0
    assert main(old) == 0
    with started([*options, "--overwrite"], **environment) as driver:
        answered(output / "shards/1", driver, 4)
        answered(output / "shards/2", driver, 2)
        family = descendants(driver.pid)
        driver.send_signal(signal.SIGINT)
        _, err = driver.communicate(timeout=60)
    assert driver.returncode == EXIT_INTERRUPTED
    assert err.strip().endswith(f"kept in {output}. Continue with --resume and the same arguments")
    wait_until_gone(family)

    (tmp_path / "mended").touch()
    code, _, err = run([*options, "--resume"], **environment)
    assert (code, err) == (0, "")
    assert [row["prediction"] for row in rows_of(output)] == [*(f"word{n}" for n in range(6)), "crash", "word7"]
    assert sorted(log.read_text().splitlines()) == sorted(row["query"] for row in read_rows(data)), "once each"
    assert not (output / "shards").exists()


def test_another_run_is_not_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = arguments(tmp_path, dataset(tmp_path, 4))
    assert main([*options, "--in-process"]) == 0
    before = (tmp_path / "out/predictions.jsonl").read_bytes()
    assert main([*options, "--ray", "--shards", "2", "--resume"]) == 2
    assert "holds answers of a run without shards: continue it without --ray" in capsys.readouterr().err
    shutil.copytree(tmp_path / "out", tmp_path / "copy")
    (tmp_path / "out/shards").mkdir()
    (tmp_path / "copy").rename(tmp_path / "out/shards/1")
    assert main([*options, "--ray", "--shards", "2"]) == 2
    assert "already holds answers: --resume continues the run, --overwrite" in capsys.readouterr().err
    assert (tmp_path / "out/predictions.jsonl").read_bytes() == before


@needs_ray
@pytest.mark.parametrize(
    ("more", "agent", "said"),
    [
        ([], "NoSuchModelAgent", "error: no model named 'x'; known: y; in shard 1/1, on "),
        (["--shard-gpus", "512"], "EchoAgent", "error: no machine of the cluster has 1 CPU and 512 GPU: see --shard-"),
        (["--ray", "127.0.0.1:1"], "EchoAgent", "error: --ray 127.0.0.1:1: no cluster to connect to: "),
    ],
)
def test_what_cannot_run_is_one_line(tmp_path: Path, more: list[str], agent: str, said: str) -> None:
    code, out, err = run([*arguments(tmp_path, dataset(tmp_path), agent), "--ray", "--shards", "1", *more])
    assert (code, out) == (2, "")
    assert err.startswith(said)
    assert len(err.splitlines()) == 1


def test_without_ray_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "ray.py").write_text("raise ImportError\n")
    options = [*arguments(tmp_path, dataset(tmp_path)), "--ray", "--shards", "2"]
    assert run(options, PYTHONPATH=str(tmp_path)) == (
        2,
        "",
        "error: --ray needs Ray: pip install -r requirements-ray.txt\n",
    )
    assert not (tmp_path / "out").exists()


def test_a_machine_that_does_not_share_the_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=f"does not see what was just written to {tmp_path}: --output must be in"):
        check_shared(tmp_path, "token")
    (tmp_path / "driver.txt").write_text("of an earlier run")
    with pytest.raises(StoreError, match="that all machines share"):
        check_shared(tmp_path, "token")


@pytest.mark.parametrize("words", [["--ray"], ["--shards", "2"], ["--ray", "--shards", "2", "--shard", "1/2"]])
def test_ray_and_the_number_of_shards_belong_together(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert "--ray and --shards N belong together, and without --shard" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["ray://10.0.0.1:10001", "10.0.0.1", "10.0.0.1:0", ":6379"])
def test_an_address_of_another_form(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--ray", address, "--shards", "2"])
    assert f"must be HOST:PORT or auto, found {address!r}" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["-1", "1.5", "inf"])
def test_processors_that_ray_cannot_give(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--ray", "--shards", "2", "--shard-cpus", number])
    assert f"must be 0 or more, and whole above 1, found {number}" in capsys.readouterr().err
