"""Reads what an OpenAI-compatible server sends: untrusted bytes of one reply, or its list of models."""

import json
import math
from typing import Annotated

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, Field, ValidationError

from crag.core.text import clean, encodable
from crag.engines.llm.base import EngineUnavailableError, FinishReason, Generation
from crag.settings import MODEL_VARIABLE

CHARACTERS_PER_TOKEN = 16
"""A generation is cut there: on average a token has four, and a server may ignore `max_tokens`."""

_LARGEST_COUNT = 10**9
_HIGHEST_LOG_PROBABILITY = 1e-4
"""Above zero by rounding; a higher one is no log-probability."""

_FINISH_REASONS: dict[str | None, FinishReason] = {"stop": "stop", "length": "length", None: "stop"}


def read_reply(body: str, max_tokens: int) -> Generation:
    """The generation in a 200 reply of `chat/completions` or `completions`, or a failed one."""
    try:
        reply = _Reply.model_validate_json(body)
    except ValidationError as error:
        return Generation.failed(f"the server's reply cannot be read: {_describe(error, body)}")

    reason: FinishReason = _FINISH_REASONS.get(reply.reason, "error")
    return Generation(
        # Bounded here too, as a server may ignore `max_tokens`.
        text=encodable(reply.text or "")[: CHARACTERS_PER_TOKEN * max_tokens],
        mean_log_probability=_mean_log_probability(reply),
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        finish_reason=reason,
        error=None if reason != "error" else f"the server ended with finish_reason {str(reply.reason)[:60]!r}",
    )


def read_only_model(listing: str, address: str) -> str:
    """The name of the only model in a reply of `models`.

    Raises EngineUnavailableError: the server has none or several, or the reply cannot be read.
    """
    try:
        names = _read_names(listing)
    except (ValueError, KeyError, TypeError, RecursionError):  # whatever JSON of another form raises
        names = []

    if len(names) == 1:
        return names[0]
    offer = f"offers {', '.join(names[:20])}" if names else "does not say which models it has"
    raise EngineUnavailableError(f"the server at {address} {offer}: name one, with {MODEL_VARIABLE}=NAME")


def _read_names(listing: str) -> list[str]:
    """Names in one line each, without control characters: they may reach a terminal."""
    names: list[str] = []
    for model in json.loads(listing)["data"]:
        name = clean(model["id"], most=200)
        names.append(" ".join(name.split()))
    return names


class _Token(BaseModel):
    logprob: float


def _in_first_choice(*path: str) -> AliasPath:
    return AliasPath("choices", 0, *path)


def _plausible_count(value: object) -> int:
    """The value if it can be a number of tokens, else 0: a wrong statistic must not cost the answer."""
    return value if isinstance(value, int) and 0 <= value < _LARGEST_COUNT else 0


_Count = Annotated[int, BeforeValidator(_plausible_count)]


class _Reply(BaseModel):
    """The first choice of a reply: of `chat/completions` with a message, of `completions` with a text."""

    text: str | None = Field(
        validation_alias=AliasChoices(_in_first_choice("message", "content"), _in_first_choice("text"))
    )
    reason: str | None = Field(None, validation_alias=_in_first_choice("finish_reason"))
    tokens: list[_Token] | None = Field(None, validation_alias=_in_first_choice("logprobs", "content"))
    """With log-probabilities, as `chat/completions` has them."""
    log_probabilities: list[float | None] | None = Field(
        None, validation_alias=_in_first_choice("logprobs", "token_logprobs")
    )
    """As `completions` has them."""
    prompt_tokens: _Count = Field(0, validation_alias=AliasPath("usage", "prompt_tokens"))
    completion_tokens: _Count = Field(0, validation_alias=AliasPath("usage", "completion_tokens"))


def _describe(error: ValidationError, body: str) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    location = ".".join(map(str, fault["loc"])) or "the body"
    return f"{location}: {fault['msg']}; of its {len(body):,} characters the first are {body[:120]!r}"


def _mean_log_probability(reply: _Reply) -> float | None:
    """In nats; None if the reply has none, or numbers that cannot be log-probabilities."""
    values = [token.logprob for token in reply.tokens or []]
    values += [value for value in reply.log_probabilities or [] if value is not None]
    if not values or max(values) >= _HIGHEST_LOG_PROBABILITY:
        return None

    mean = sum(values) / len(values)
    if not math.isfinite(mean):  # -Infinity, or NaN at any position
        return None
    # Rounding may lift the value of certain tokens a little above 0.
    return min(0.0, mean)
