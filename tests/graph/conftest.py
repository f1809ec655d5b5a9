"""A server of the small graph, and programs run against it."""

from collections.abc import Callable, Iterator
from datetime import datetime

import pytest

from crag.core.deadline import Deadline
from crag.graph.client import KgClient
from crag.graph.executor import Executor, ProgramResult, Task
from crag.graph.schema import Domain
from crag.mock_api import serve
from tests.graph.small_graph import write_graph

WEDNESDAY = datetime(2024, 2, 28, 6, 31, 30)
"""09:31:30 in New York."""

Run = Callable[..., ProgramResult]


@pytest.fixture(scope="session")
def graph_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("graph")
    write_graph(folder)
    with serve(folder) as address:
        yield address


@pytest.fixture
def executor(graph_address: str) -> Iterator[Executor]:
    with KgClient(graph_address) as client:
        yield Executor(client)


@pytest.fixture
def run(executor: Executor) -> Run:
    """``run(domain, text or program)``: what one program gives, with a cache of its own."""

    def run_one(domain: str, program: object, asked_at: datetime | None = WEDNESDAY) -> ProgramResult:
        task = Task(Domain(domain), program, asked_at)  # type: ignore[arg-type]
        return executor.run_batch([task], Deadline(600.0))[0]

    return run_one
