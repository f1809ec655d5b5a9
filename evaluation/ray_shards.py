"""The shards of a run as tasks of a Ray cluster: restarted where a process or a machine is lost, merged at the end.

A task runs an ordinary shard that continues what its folder, OUTPUT/shards/I, already holds. So a restart repeats no
finished batch, and a task may be killed at any time.
"""

import logging
import os
import shutil
import socket
import sys
import time
import uuid
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agents.common.files import FolderInUseError, UserError, lock_folder
from evaluation.batches import Shard
from evaluation.merge import merge
from evaluation.progress import Progress
from evaluation.runner import expected_rows
from evaluation.store import PREDICTIONS, SavedRun, StoreError, delete_run, locked
from evaluation.termination import stopped_in_order

LOCAL = "local"
"""The address that stands for a Ray of our own, started and stopped with the run."""
RESTARTS = 10
"""How often a shard is restarted whose process or machine was lost."""
HANDOVER_SECONDS = 60.0
"""How long a restarted shard waits for its predecessor to die: Ray may learn of a lost machine before its processes."""
POLL_SECONDS = 1.0
CONNECT_SECONDS = 10.0
OBJECT_STORE_BYTES = 100_000_000
_TOKEN = "driver.txt"  # noqa: S105 - a file's name

RunShard = Callable[[Namespace, Path, Sequence[str]], dict[str, Any]]


class RayUnavailableError(UserError, RuntimeError):
    """No cluster, or none that can run the shards; the message says what to do."""


def run_on_ray(options: Namespace, folder: Path, words: Sequence[str], run_shard: RunShard) -> dict[str, Any]:
    """Run all shards on the cluster and merge them into `folder`; returns the results.

    Raises:
        RayUnavailableError: Ray is not installed, the cluster is not there or has no machine for a shard, or a shard
            was lost too often.
        StoreError: the folder holds another run, or is not seen by all machines.
        Exception: any error of `run_shard`; a note names the shard and its machine.
    """
    shards = folder.absolute() / "shards"
    _refuse_other_run(options, folder, shards)
    with _cluster(options) as ray, locked(shards):
        if options.overwrite:
            for old in (folder, *shards.glob("*/")):
                delete_run(old)
        token = uuid.uuid4().hex
        (shards / _TOKEN).write_text(token, encoding="utf-8")
        environment = {name: value for name, value in os.environ.items() if name.startswith("CRAG_")}
        task = ray.remote(num_cpus=options.shard_cpus, num_gpus=options.shard_gpus, max_retries=RESTARTS)(_run)
        tasks = {}
        for shard in (Shard(number, options.shards) for number in range(1, options.shards + 1)):
            changes = {"output": shards / str(shard.number), "shard": shard, "resume": True, "overwrite": False}
            its_options = Namespace(**vars(options) | changes | {"quiet": True})
            tasks[task.remote(run_shard, its_options, words, Path.cwd(), environment, token)] = shard
        _wait(ray, tasks, options, shards)
        results = merge([shards / str(shard.number) for shard in tasks.values()], folder, overwrite=True)
    shutil.rmtree(shards)
    return results


def _refuse_other_run(options: Namespace, folder: Path, shards: Path) -> None:
    if options.overwrite:
        return
    choices = "--overwrite deletes them, --output names another folder"
    if any(shards.glob(f"*/{PREDICTIONS}")):
        if not options.resume:
            raise StoreError(f"{folder} already holds answers: --resume continues the run, {choices}")
    elif (folder / PREDICTIONS).is_file():
        raise StoreError(f"{folder} holds answers of a run without shards: continue it without --ray, {choices}")


# --- the driver -------------------------------------------------------------------------------------------------------


@contextmanager
def _cluster(options: Namespace) -> Iterator[Any]:
    """The module `ray`, connected."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # otherwise Ray reports to its makers
    try:
        import ray
    except ImportError:
        raise RayUnavailableError("--ray needs Ray: pip install -r requirements-ray.txt") from None
    is_local = options.ray == LOCAL
    own = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES} if is_local else {}
    try:
        if ":" in options.ray:  # Ray itself would try for minutes
            host, _, port = options.ray.rpartition(":")
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
        with warnings.catch_warnings(action="ignore"):  # about a default of its next version
            ray.init(options.ray, log_to_driver=False, logging_level=logging.ERROR, **own)
    except (OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise RayUnavailableError(f"--ray {options.ray}: no cluster to connect to: {reason}") from None
    try:
        with stopped_in_order():  # once more: ray.init takes SIGTERM for itself
            wanted = {"CPU": options.shard_cpus, "GPU": options.shard_gpus}
            machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
            if not any(all(has.get(name, 0) >= number for name, number in wanted.items()) for has in machines):
                listed = " and ".join(f"{number:g} {name}" for name, number in wanted.items())
                raise RayUnavailableError(f"no machine of the cluster has {listed}: see --shard-cpus, --shard-gpus")
            yield ray
    finally:
        ray.shutdown()  # kills what still runs


def _wait(ray: Any, tasks: Mapping[Any, Shard], options: Namespace, shards: Path) -> None:  # noqa: ANN401 - no types
    """Wait for all tasks under one progress bar; the first that fails ends it."""
    seen = {folder: _rows(folder) for folder in (shards / str(shard.number) for shard in tasks.values())}
    done = [row for rows in seen.values() for row in rows]
    running = list(tasks)
    total = expected_rows(options.dataset, options.limit, options.split)
    with Progress(total, done, shown=not options.quiet) as progress:
        while running:
            ready, running = ray.wait(running, timeout=POLL_SECONDS)
            for folder, before in seen.items():
                seen[folder] = _rows(folder)
                progress.add(seen[folder][len(before) :])
            for reference in ready:
                _end(ray, reference, tasks[reference])


def _rows(folder: Path) -> tuple[dict[str, Any], ...]:
    return SavedRun.read(folder).rows if (folder / PREDICTIONS).is_file() else ()


def _end(ray: Any, reference: Any, shard: Shard) -> None:  # noqa: ANN401 - no types
    """Raise what ended a finished task, if anything did."""
    try:
        ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError as error:
        reason = " ".join(str(error).split())
        raise RayUnavailableError(f"shard {shard} was lost and restarted {RESTARTS} times: {reason}") from None


# --- a task -----------------------------------------------------------------------------------------------------------


def _run(
    run_shard: RunShard,
    options: Namespace,
    words: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    token: str,
) -> None:
    """Run a shard in this process of Ray's as it would run where the driver is."""
    check_shared(options.output.parent, token)
    os.chdir(cwd)
    sys.path.append(str(cwd))  # as local_evaluation.py does
    os.environ.update(environment)
    _wait_for_predecessor(options.output)
    try:
        run_shard(options, options.output, words)
    except Exception as error:
        error.add_note(f"in shard {options.shard}, on {socket.gethostname()}")
        raise


def check_shared(shards: Path, token: str) -> None:
    """Check that this machine sees the file with which the driver marked the folder of the shards.

    Raises:
        StoreError: it does not.
    """
    try:
        if (shards / _TOKEN).read_text(encoding="utf-8") == token:
            return
    except OSError:
        pass
    raise StoreError(
        f"{socket.gethostname()} does not see what was just written to {shards}: --output must be in a folder that all "
        "machines share"
    )


def _wait_for_predecessor(folder: Path) -> None:
    end = time.monotonic() + HANDOVER_SECONDS
    while time.monotonic() < end:
        try:
            with lock_folder(folder):
                return
        except FolderInUseError:
            time.sleep(1)
