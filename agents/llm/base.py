"""What every language-model engine promises. Settings choose one, `agents.llm.load_language_model` loads it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from agents.deadline import Deadline

FinishReason = Literal["stop", "length", "deadline", "error"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat: `role` is ``system``, ``user`` or ``assistant``."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One prompt. Exactly one of `messages` (rendered by the model's chat template) and `prompt` (raw text) is given.

    `adapter` names a LoRA adapter of the engine's settings, None means the base model. `grammar` is a Lark grammar that
    the output must match. `temperature` 0 is greedy decoding. Generation ends before any of the `stop` strings.
    `with_log_probability` says that somebody reads `Generation.mean_log_probability`; engines that have it at no cost
    give it always.
    """

    messages: tuple[Message, ...] = ()
    prompt: str | None = None
    adapter: str | None = None
    grammar: str | None = None
    max_tokens: int = 64
    temperature: float = 0.0
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    with_log_probability: bool = False

    def __post_init__(self) -> None:
        if bool(self.messages) == (self.prompt is not None):
            raise ValueError("a generation request needs exactly one of messages and prompt")


@dataclass(frozen=True, slots=True)
class Generation:
    """What came back for one request.

    `mean_log_probability` is the mean over the generated tokens in nats, as the model itself gives them (before
    temperature, top-p and grammar), the end-of-text token among them; None where the engine cannot tell.
    `finish_reason` is ``stop`` at the model's own end or a stop string, ``length`` at `max_tokens`, ``deadline`` where
    time ran out (the text may be partial or empty) and ``error`` where the engine failed: `error` says how.
    """

    text: str
    mean_log_probability: float | None
    prompt_tokens: int
    completion_tokens: int
    finish_reason: FinishReason
    error: str | None = None

    @classmethod
    def failed(cls, error: str) -> "Generation":
        """A generation that did not happen."""
        return cls("", None, 0, 0, "error", error)

    @classmethod
    def out_of_time(cls) -> "Generation":
        """A generation for which no time was left."""
        return cls("", None, 0, 0, "deadline", None)


class LanguageModel(Protocol):
    """One engine with one base model and any number of named adapters.

    Construction is cheap; `count_tokens` and `truncate` load the tokenizer alone; `generate` before `warm_up` warms up.

    `generate` returns one `Generation` per request, in order, whatever happens: a failing request yields
    ``finish_reason="error"`` for itself alone, and time that runs out yields ``"deadline"``. It returns within the
    deadline up to one model step. Only a dead engine raises `LanguageModelDiedError`.
    """

    def check_weights(self) -> None:
        """Raise `models.manifest.WeightsMissingError` at once if a file is missing; loads nothing."""

    def warm_up(self) -> None:
        """Load weights, once; raises `models.manifest.WeightsMissingError` or `EngineUnavailableError`."""

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """Answer all requests as one batch."""

    def count_tokens(self, text: str) -> int:
        """Number of tokens of plain text for this model, without special tokens."""

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest beginning of the text that has at most `max_tokens` tokens."""

    def close(self) -> None:
        """Release memory and processes; safe to call twice."""


class LanguageModelDiedError(RuntimeError):
    """The engine itself is gone (process killed, connection refused for good): no request can be served any more."""


class EngineUnavailableError(RuntimeError):
    """The engine's package is not installed or cannot run here; the message says what to install."""
