"""The graph that questions are labelled on: its folder, and calls run on it."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from crag.core.deadline import Deadline
from crag.graph.client import KgClient, RequestLimits
from crag.graph.executor import Executor, ProgramResult, Task
from crag.graph.results import Status, Value
from crag.mock_api import GraphError, serve
from crag.mock_api.tables import IMPORT_FILE, SHIPPED_GRAPH, check_folder

DOMAINS = ("movie", "finance", "music", "sports", "open")
"""Folders of a graph."""
SECONDS_PER_BATCH = 120.0


def add_graph_argument(parser: argparse.ArgumentParser) -> None:
    """Add ``--graph DIR`` for `find_graph` and `graph_files`."""
    what = (
        "folder of the graph tables that the questions are asked of (see `crag graph import`); default: "
        "the small graph that ships"
    )
    parser.add_argument("--graph", type=Path, metavar="DIR", help=what)


def find_graph(folder: Path | None) -> Path:
    """The folder of the graph, by default the shipped one. Raises GraphError: it is not whole."""
    root = folder or SHIPPED_GRAPH
    check_whole(root)
    return root


def check_whole(folder: Path) -> None:
    """Raise GraphError unless a folder of graph tables has all five domains, or `import --partial` made it."""
    missing = [domain for domain in DOMAINS if not (folder / domain).is_dir()]
    # At least one domain is there, so the folder is meant to be a graph
    if len(missing) < len(DOMAINS):
        check_folder(folder)

    if missing and not (folder / IMPORT_FILE).is_file():
        fault = "no graph" if len(missing) == len(DOMAINS) else "half a graph"
        raise GraphError(
            f"{folder}: {fault}: the folders {', '.join(missing)} are missing; pass the folder that holds "
            f"{', '.join(DOMAINS)}"
        )


def graph_files(folder: Path | None) -> dict[str, Path]:
    """The files of the graph that `find_graph` finds, by their names in its folder, for a run card."""
    root = folder or SHIPPED_GRAPH
    files = filter(Path.is_file, sorted(root.glob("*/*")))
    return {f"graph {path.relative_to(root)}": path for path in files}


@contextmanager
def executor_of(graph: Path) -> Iterator[Executor]:
    """Serve a folder's graph in this process."""
    with serve(graph) as address, KgClient(address, RequestLimits(seconds=30.0)) as client:
        yield Executor(client)


def execute(executor: Executor, tasks: Sequence[Task], attempts: int = 3) -> list[ProgramResult]:
    """Run each program, late ones up to `attempts` times: a server on a busy machine is sometimes late."""
    results: dict[int, ProgramResult] = {}
    pending = list(range(len(tasks)))
    for _ in range(attempts):
        if not pending:
            break
        # Only the late ones again; the others keep their first result
        pending_tasks = [tasks[index] for index in pending]
        batch = executor.run_batch(pending_tasks, Deadline(SECONDS_PER_BATCH))
        results.update(zip(pending, batch, strict=True))
        pending = [index for index in pending if is_late(results[index])]
    return [results[index] for index in range(len(tasks))]


def is_late(executed: ProgramResult) -> bool:
    """Whether the server did not answer."""
    return any(result.status is Status.KG_DOWN for result in executed.results)


def values_of(executed: ProgramResult) -> list[Value]:
    """The values of the statements, in their order."""
    values: list[Value] = []
    for result in executed.results:
        values += result.values
    return values
