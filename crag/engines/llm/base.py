"""The interface of language-model engines, and rules that all engines share."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from crag.core.deadline import Deadline
from crag.core.files import UserError

FinishReason = Literal["stop", "length", "deadline", "error"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a chat: `role` is ``system``, ``user`` or ``assistant``."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class GenerationRequest:
    """One prompt: either `messages` (rendered by the model's chat template) or `prompt` (raw text).

    `adapter` names a LoRA adapter of the engine's settings; None means the base model. `grammar` is a Lark grammar for
    the output. `temperature` 0 is greedy decoding. Generation ends before any of the `stop` strings.
    `with_log_probability` asks for `Generation.mean_log_probability`; some engines always give it.
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
    """The result of one request.

    `mean_log_probability` is the mean over the generated tokens in nats, with the end-of-text token and before
    temperature, top-p and grammar; None if the engine does not know it. `finish_reason` is ``stop`` at the model's own
    end or a stop string, ``length`` at `max_tokens`, ``deadline`` at the deadline (the text may be partial or empty)
    and ``error`` if the engine failed; `error` says how. `first_entropy` is that of the first token's distribution, in
    nats: how undecided the model was; None: not known.
    """

    text: str
    mean_log_probability: float | None
    prompt_tokens: int
    completion_tokens: int
    finish_reason: FinishReason
    error: str | None = None
    first_entropy: float | None = None

    @classmethod
    def failed(cls, error: str) -> "Generation":
        """The generation of a request that failed."""
        return cls("", None, 0, 0, "error", error)

    @classmethod
    def out_of_time(cls) -> "Generation":
        """The generation of a request that ran out of time."""
        return cls("", None, 0, 0, "deadline", None)


class TokenCounter(Protocol):
    """Counts tokens like the answering model."""

    def count_tokens(self, text: str) -> int:
        """Number of tokens of plain text, without special tokens."""

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest beginning of the text that has at most `max_tokens` tokens."""


class LanguageModel(TokenCounter, Protocol):
    """One engine with one base model and any number of named adapters.

    Construction is cheap. `count_tokens` and `truncate` load only the tokenizer. `generate` warms up if needed.

    `generate` returns one `Generation` per request, in order. A failing request gives ``finish_reason="error"``, an
    expired deadline gives ``"deadline"``. It overruns the deadline by at most one model step. Only a dead engine raises
    `LanguageModelDiedError`.
    """

    def check_weights(self) -> None:
        """Raise `crag.weights.manifest.WeightsMissingError` if a file is missing; loads nothing."""

    def warm_up(self) -> None:
        """Load weights, once; raises `crag.weights.manifest.WeightsMissingError` or `EngineUnavailableError`."""

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """Answer all requests as one batch."""

    def close(self) -> None:
        """Release memory and processes; safe to call twice."""


class LanguageModelDiedError(RuntimeError):
    """The engine is dead (process killed, connection refused for good) and can serve no more requests."""


class EngineUnavailableError(UserError, RuntimeError):
    """The engine's package is not installed or cannot run here; the message says what to install."""


def refuse_unknown_adapter(request: GenerationRequest, adapters: Collection[str]) -> Generation | None:
    """A failed generation if the request names an adapter that the engine does not have, else None."""
    if request.adapter is None or request.adapter in adapters:
        return None
    known = ", ".join(sorted(adapters)) or "none"
    return Generation.failed(f"there is no adapter {request.adapter!r}; adapters of this engine: {known}")


def end_before_stop(text: str, stop: Sequence[str]) -> str:
    """The text before the first stop string; empty stop strings are ignored."""
    places = [text.find(string) for string in stop if string]
    return text[: min((place for place in places if place >= 0), default=len(text))]
