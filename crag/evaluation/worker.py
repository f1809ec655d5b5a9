"""What a run needs of its agent: the evaluator's interface, the result of a batch, and the interface of workers.

`crag.evaluation.in_process` runs the agent in this process, `crag.evaluation.process` in one that can be killed,
`crag.evaluation.ray_workers` on a cluster.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from crag.core.files import UserError
from crag.core.places import REPOSITORY
from crag.evaluation.batches import Question, evaluator_batch

# The file that a participant of the competition edits
_IN_CLONE = (REPOSITORY / "agents" / "user_config.py").is_file()
DEFAULT_AGENT = "agents.user_config:UserAgent" if _IN_CLONE else "crag:UserAgent"
"""In a clone the agent that would be pushed. An installed package has no `agents`: that may be somebody else's."""
CLOSE_SECONDS = 10.0
"""Time limit for an agent to close itself after the last batch."""


class Agent(Protocol):
    """The evaluator's interface (2024 starter kit). `last_traces` and `close` are used if present."""

    def get_batch_size(self) -> int:
        """The number of questions in a batch, from 1 to 16; called once."""

    def batch_generate_answer(self, batch: dict[str, Any]) -> list[str]:
        """One answer per question, in order."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """The agent (``module:Class`` or ``FILE.py:Class``, built without arguments), and its additional environment."""

    path: str = DEFAULT_AGENT
    environment: Mapping[str, str] = field(default_factory=dict)


class AgentStartError(UserError, RuntimeError):
    """The agent cannot be built."""


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The agent's result for a batch.

    `answers` is None if the batch exceeded its time (`timed_out`) or failed (`error` says how; after a timeout it holds
    the agent's stack, if known). `seconds` are the agent's alone; `peak_memory_mb` is of all its batches.
    """

    answers: list[str] | None
    error: str | None
    seconds: float
    timed_out: bool = False
    traces: Sequence[dict[str, Any]] = ()
    peak_memory_mb: float = 0.0


class AnsweredBatch(NamedTuple):
    """The questions of a batch, and the agent's result for them."""

    questions: Sequence[Question]
    result: BatchResult


class Worker(ABC):
    """What a run needs of its agents, wherever they are."""

    def start(self) -> object:
        """Begin to build the agent, if that can happen while other work goes on."""
        return None

    @abstractmethod
    def wait_until_ready(self) -> int:
        """Wait until the agent is built; returns its batch size. Raises AgentStartError."""

    def answer(self, batch: dict[str, Any], limit: float) -> BatchResult:
        """Answers to one batch, within `limit` seconds."""
        raise NotImplementedError

    def answers(self, batches: Iterable[Sequence[Question]], seconds_per_query: float) -> Iterator[AnsweredBatch]:
        """The results for the batches as they are finished; a batch of n questions gets n times `seconds_per_query`."""
        for questions in batches:
            result = self.answer(evaluator_batch(questions), seconds_per_query * len(questions))
            yield AnsweredBatch(questions, result)

    @abstractmethod
    def stop(self, *, in_order: bool = False) -> None:
        """End all that was started; an idle agent may first close itself `in_order`."""
