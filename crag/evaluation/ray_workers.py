"""Agents on a Ray cluster: each an actor that loads the agent once. The batch of one that is lost goes to another.

The driver reads the questions, judges and writes, so the machines share no folder; each needs this code, in the same
place, and the weights.
"""

import logging
import os
import signal
import socket
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from crag.core.files import UserError
from crag.evaluation.batches import Question, evaluator_batch
from crag.evaluation.graph_server import mock_graph
from crag.evaluation.process import ProcessWorker
from crag.evaluation.signature import versions
from crag.evaluation.worker import CLOSE_SECONDS, AgentSpec, AnsweredBatch, BatchResult, Worker
from crag.settings import KG_VARIABLE

LOCAL = "local"
"""The address for a Ray that is started and stopped with the run."""
LOSSES = 10
"""The run ends after more lost workers in a row, with no answer between them."""
CONNECT_SECONDS = 10.0
OBJECT_STORE_BYTES = 100_000_000


class _AwaitedReply(NamedTuple):
    """Whose reply is waited for, and to which questions; without questions the worker is being built."""

    worker: Any
    questions: Sequence[Question]


class _BuiltAgent(NamedTuple):
    """What a worker reports once its agent is built."""

    batch_size: int
    versions: Mapping[str, str]
    machine: str


@dataclass
class RayWorkers(Worker):
    """Agents on the cluster at `address` (``HOST:PORT``, ``auto`` or `LOCAL`).

    There are `workers` of them (None: one for each machine that fits), each with `cpus` processors and `gpus` cards to
    itself. Each serves the graph of the folder `mock_kg` for its agent (empty: the shipped graph; None: none).
    """

    spec: AgentSpec
    address: str
    workers: int | None = None
    cpus: float = 1.0
    gpus: float = 0.0
    mock_kg: str | None = None
    _ray: Any = field(default=None, init=False)
    """The module `ray`, once it is connected."""
    _awaited: dict[Any, _AwaitedReply] = field(default_factory=dict, init=False)
    """By Ray's reference to the reply."""
    _idle: list[Any] = field(default_factory=list, init=False)
    _batch_size: int = field(default=0, init=False)
    _losses: int = field(default=0, init=False)

    def start(self) -> None:
        """Connect to the cluster and begin to build the agents.
        Raises UserError: Ray is not installed, the cluster is not there or has no machine for a worker.
        """
        # Set first, so that `stop` disconnects whatever fails after it
        self._ray = _connect(self.address)
        fitting = self._count_fitting_machines()
        if not fitting:
            needs = f"{self.cpus:g} CPU and {self.gpus:g} GPU"
            raise UserError(f"no machine of the cluster has {needs}: see --worker-cpus, --worker-gpus")
        for _ in range(self.workers or fitting):
            self._add_worker()

    def _count_fitting_machines(self) -> int:
        fitting = 0
        for node in self._ray.nodes():
            resources = node["Resources"]
            has_processors = resources.get("CPU", 0) >= self.cpus
            has_cards = resources.get("GPU", 0) >= self.gpus
            if node["Alive"] and has_processors and has_cards:
                fitting += 1
        return fitting

    def _add_worker(self) -> None:
        # Settings travel as variables; the rest of the environment is the machine's own
        environment = {name: value for name, value in os.environ.items() if name.startswith("CRAG_")}
        # Ray's own way: a decorator with the resources of an actor, the actor, a call that returns at once.
        with_resources = self._ray.remote(num_cpus=self.cpus, num_gpus=self.gpus)
        actor = with_resources(_Worker)
        worker = actor.remote(self.spec, self.mock_kg, Path.cwd(), environment)
        # All workers are built at the same time, while the driver goes on
        build_reply = worker.build.remote()
        self._awaited[build_reply] = _AwaitedReply(worker, ())

    def wait_until_ready(self) -> int:
        """Wait until the first agent is built; returns its batch size."""
        if self._ray is None:
            self.start()
        while not self._idle:
            self._next_reply()
        return self._batch_size

    def answers(self, batches: Iterable[Sequence[Question]], seconds_per_query: float) -> Iterator[AnsweredBatch]:
        """The results as they come in. A batch is given only to a worker that is built, so others may wait for room."""
        unasked = iter(batches)
        lost_batches: list[Sequence[Question]] = []
        while True:
            while self._idle:
                # The batch of a lost worker goes first.
                questions = lost_batches.pop() if lost_batches else next(unasked, None)
                if questions is None:
                    break
                self._ask(questions, seconds_per_query)

            # Workers that still start do not hold up the end
            is_asking = any(awaited.questions for awaited in self._awaited.values())
            if not is_asking and not lost_batches:
                return

            questions, result = self._next_reply()
            if questions and result:
                # A worker that answers shows that the cluster is sound
                self._losses = 0
                yield AnsweredBatch(questions, result)
            elif questions:
                lost_batches.append(questions)

    def _ask(self, questions: Sequence[Question], seconds_per_query: float) -> None:
        worker = self._idle.pop()
        batch = evaluator_batch(questions)
        limit = seconds_per_query * len(questions)
        reply = worker.answer.remote(batch, limit)
        self._awaited[reply] = _AwaitedReply(worker, questions)

    def _next_reply(self) -> tuple[Sequence[Question], BatchResult | None]:
        """Wait for whatever is done next: the questions, if any, and the result; None if their worker was lost."""
        # In the order of completion, not of asking
        (done,), _ = self._ray.wait(list(self._awaited), num_returns=1)
        worker, questions = self._awaited.pop(done)
        try:
            reply = self._ray.get(done)
        except self._ray.exceptions.RayTaskError as error:  # raised by the code of the worker
            raise error.cause from None
        except self._ray.exceptions.RayError as error:  # the worker or its machine is gone
            self._replace_lost_worker(error)
            return questions, None

        # The reply is here, so the worker can take the next batch
        self._idle.append(worker)
        if questions:
            return questions, reply

        built = _BuiltAgent(*reply)
        self._batch_size = built.batch_size
        if built.versions != versions():
            sys.stderr.write(f"note: {built.machine} has other versions than this one: {built.versions}\n")
        return questions, None

    def _replace_lost_worker(self, error: Exception) -> None:
        self._losses += 1
        # An agent that kills every machine would otherwise be restarted for ever
        if self._losses > LOSSES:
            reason = " ".join(str(error).split())
            raise UserError(f"{self._losses} workers were lost in a row: {reason}") from None
        self._add_worker()

    def stop(self, *, in_order: bool = False) -> None:
        """End all workers and leave the cluster."""
        if self._ray is None:
            return
        if in_order:
            closings = [worker.close.remote() for worker in self._idle]
            with suppress(self._ray.exceptions.RayError):
                self._ray.get(closings, timeout=2 * CLOSE_SECONDS)

        ray = self._ray
        # Emptied first: a second `stop` finds nothing to do
        self._ray = None
        self._awaited = {}
        self._idle = []
        ray.shutdown()  # kills what still runs


def _connect(address: str) -> Any:  # noqa: ANN401 - Ray has no types
    """The module `ray`, connected to the cluster."""
    try:
        import ray
    except ImportError:
        raise UserError("--ray needs Ray: pip install -r requirements/ray.txt") from None

    options: dict[str, Any] = {}
    if address == LOCAL:
        options = {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}

    # The runner has its own handler, which must survive `ray.init`
    terminate_handler = signal.getsignal(signal.SIGTERM)
    try:
        if ":" in address:
            # Ray itself would try for minutes.
            host, _, port = address.rpartition(":")
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
        with warnings.catch_warnings(action="ignore"):  # about a default of its next version
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR, **options)
    except (OSError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"--ray {address}: no cluster to connect to: {reason}") from None

    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, terminate_handler)  # Ray takes it for itself
    return ray


class _Worker(ProcessWorker):
    """An actor of Ray that runs the agent beside it, as it would run where the driver is: same folder, same variables.

    Its class name is the name of its process.
    """

    def __init__(
        self,
        spec: AgentSpec,
        mock_kg: str | None,
        cwd: Path,
        environment: Mapping[str, str],
    ) -> None:
        super().__init__(spec)
        os.chdir(cwd)
        sys.path.append(str(cwd))  # as local_evaluation.py does
        os.environ.update(environment)
        self._mock_kg = mock_kg
        self._graph = ExitStack()

    def build(self) -> tuple[int, dict[str, str], str]:
        """Build the agent; returns the fields of `_BuiltAgent`, plain as the driver may have other code."""
        try:
            if self._mock_kg is not None:
                address = self._graph.enter_context(mock_graph(self._mock_kg))
                environment = {**self._spec.environment, KG_VARIABLE: address}
                self._spec = replace(self._spec, environment=environment)
            return self.wait_until_ready(), versions(), socket.gethostname()
        except UserError as error:
            error.add_note(f"on {socket.gethostname()}")
            raise

    def close(self) -> None:
        """End the agent and its graph."""
        self.stop(in_order=True)
        self._graph.close()
