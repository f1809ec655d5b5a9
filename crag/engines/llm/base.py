"""The interface of language-model engines, and rules that all engines share."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

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
    """One prompt: either `messages` or `prompt`, and how to continue it."""

    messages: tuple[Message, ...] = ()
    """A chat, rendered by the model's chat template."""
    prompt: str | None = None
    """Raw text to continue, without a chat template."""
    exact_turns: bool = False
    """Only the turns of `messages`, without a system turn that the template adds by itself, as Qwen's does: for
    adapters that were tuned without it. An engine behind a server (``openai``) cannot leave it out."""
    adapter: str | None = None
    """A LoRA adapter of the engine's settings; None: the base model."""
    grammar: str | None = None
    """A Lark grammar for the output."""
    max_tokens: int = 64
    temperature: float = 0.0
    """0 is greedy decoding."""
    top_p: float = 1.0
    stop: tuple[str, ...] = ()
    """Generation ends before any of these strings."""
    likely_texts: tuple[str, ...] = ()
    """Texts of which the output is likely to repeat parts. Engines in this process guess tokens from them, which makes
    the same text faster; others ignore them."""
    similar_text: str = ""
    """A text that the output probably resembles from its first word on, such as the answer to a similar request. Used
    like `likely_texts`, by this request alone."""
    shared_prefix: str = ""
    """How the first message, or `prompt`, begins in all requests of this kind, as with its rules. Some engines read it
    once for all of them; others ignore it."""
    with_log_probability: bool = False
    """Ask for `Generation.mean_log_probability`; some engines always give it."""

    def __post_init__(self) -> None:
        if bool(self.messages) == (self.prompt is not None):
            raise ValueError("a generation request needs exactly one of messages and prompt")


@dataclass(frozen=True, slots=True)
class Generation:
    """The result of one request."""

    text: str
    mean_log_probability: float | None
    """In nats, over the `completion_tokens`, before temperature, top-p and grammar. None: the engine does not know it,
    as servers do not for a text under a grammar."""
    prompt_tokens: int
    completion_tokens: int
    """The tokens that the model chose: the end-of-text token is one, unless a grammar allowed nothing else."""
    finish_reason: FinishReason
    """``stop``: the model ended its text, or wrote a stop string; ``length``: at `max_tokens`; ``deadline``: out of
    time, so the text may be partial or empty; ``error``: the engine failed."""
    error: str | None = None
    """How the engine failed."""
    first_entropy: float | None = None
    """Entropy in nats of the first token's distribution: how undecided the model was. None: not known."""

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
        """The longest prefix of the text that has at most `max_tokens` tokens."""


class LanguageModel(TokenCounter, Protocol):
    """One engine with one base model and any number of named adapters.

    Construction is cheap. `count_tokens` and `truncate` load only the tokenizer. `generate` warms up if needed.
    """

    def check_weights(self) -> None:
        """Raise `crag.weights.manifest.WeightsMissingError` if a file is missing; loads nothing."""

    def warm_up(self) -> None:
        """Load weights, once; raises `crag.weights.manifest.WeightsMissingError` or `EngineUnavailableError`."""

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """Answer all requests as one batch: one `Generation` per request, in order.

            request = GenerationRequest(messages=(Message("user", "Who wrote Dune?"),), max_tokens=16)
            [generation] = model.generate([request], Deadline(30))
            generation.text, generation.finish_reason   # "Frank Herbert", "stop"

        A failing request gives ``finish_reason="error"``, an expired deadline gives ``"deadline"``. The call overruns
        the deadline by at most one step of the model.

        Raises LanguageModelDiedError: the engine is dead; nothing else is raised for requests.
        """

    def close(self) -> None:
        """Release memory and processes; safe to call twice."""


@runtime_checkable
class RehearsedModel(Protocol):
    """A model that is ready only after a first request: a server may load it only then."""

    def rehearse(self, request: GenerationRequest) -> None:
        """Send the request and wait for a reply, bounded; raises `EngineUnavailableError` if all would be refused."""


class LanguageModelDiedError(RuntimeError):
    """The engine is dead (process killed, connection refused for good) and can serve no more requests."""


class EngineUnavailableError(UserError, RuntimeError):
    """The engine's package is not installed or cannot run here; the message says what to install."""


def generate_all(model: LanguageModel, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
    """One generation per request, in order, even if the engine returns too few or too many."""
    generations = list(model.generate(requests, deadline))[: len(requests)]

    while len(generations) < len(requests):
        generations.append(Generation.failed("the engine returned no generation for this request"))
    return generations


def prompt_for_trace(request: GenerationRequest) -> list[dict[str, str]] | str | None:
    """The prompt as the trace stores it: chat turns, or a string."""
    if not request.messages:
        return request.prompt
    return [{"role": message.role, "content": message.content} for message in request.messages]


def refuse_unknown_adapter(request: GenerationRequest, adapters: Collection[str]) -> Generation | None:
    """A failed generation if the request names an adapter that the engine does not have, else None."""
    if request.adapter is None or request.adapter in adapters:
        return None
    available = ", ".join(sorted(adapters)) or "none"
    return Generation.failed(f"unknown adapter {request.adapter!r}; adapters of this engine: {available}")


def end_before_stop(text: str, stop: Sequence[str]) -> str:
    """The text before the first stop string; empty stop strings are ignored."""
    end = len(text)
    for string in stop:
        start = text.find(string) if string else -1
        if start >= 0:
            # The earliest in the text, not the first of the list.
            end = min(end, start)
    return text[:end]
