"""Reads the reply of an OpenAI-compatible server to a request: untrusted bytes, in the forms that servers send."""

import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, Self

from pydantic import AliasPath, BaseModel, BeforeValidator, Field, ValidationError, model_validator

from crag.core.model_marks import final_text
from crag.core.text import clean, encodable
from crag.core.validation import first_fault
from crag.engines.llm.base import FinishReason, Generation, end_before_stop
from crag.engines.llm.openai_body import parse_json, unwrap
from crag.engines.llm.openai_stream import is_event_stream, join_lines, join_stream

CHARACTERS_PER_TOKEN = 16
"""A generation is cut there: on average a token has four, and a server may ignore `max_tokens`."""

_LARGEST_COUNT = 10**9
_HIGHEST_LOG_PROBABILITY = 1e-4
"""Above zero by rounding; a higher one is not a log-probability."""
_UNCOUNTED_TOKENS = 1
"""The token that ends a text counts as one, but may come without a log-probability."""

_UNLIKELY_LOG_PROBABILITY = -9999.0
"""Stands for "very unlikely" and for minus infinity: no value to take a mean of."""
_KINDS_WITHOUT_TEXT = (
    "think", "thought", "reason", "tool", "function", "refusal", "image", "audio", "reference",
    "summary", "citation", "search", "source",
)  # fmt: skip
"""Parts of names of parts that are not the model's answer."""

_AT_LIMIT = re.compile(r"length|max_?(?:\w{1,12}_)?tokens|token_limit|context_window")
"""In a reason for the end, in small letters and with ``_`` for ``-``."""
_NO_END = re.compile(
    r"error|abort|cancel|interrupt|time_?out|timed_out|resource|capacity|overload|unavailable|malformed"
    r"|tool_(?:call|use)|function_call"
)
"""In a reason after which no text is a fault, in small letters and with ``_`` for ``-``."""
_FILTERS = (
    "filter", "safety", "recitation", "prohibited", "blocklist", "blocked", "spii", "guardrail", "sensitive",
    "refusal",
)  # fmt: skip
"""Parts of reasons that say: the text is not the model's, or not all of it."""


def read_reply(body: str, max_tokens: int, stop: Sequence[str] = ()) -> Generation:
    """The generation in a 200 reply of `chat/completions` or `completions`, or a failed one.

    Its text is what the model says in the end, without thoughts (`crag.core.model_marks.final_text`), before the first
    of the `stop` strings, which a server may ignore. The name of the reason for its end does not matter, unless it is a
    filter's. A server may take the whole answer of a model that does not think for a thought: see `_read_text`.
    """
    if not body.strip():
        return Generation.failed("the server's reply is empty")
    try:
        reply = _parse(body)
    except ValidationError as error:
        return Generation.failed(f"the server's reply cannot be read: {_describe(error, body)}")
    except _NoChoicesError:
        return Generation.failed(
            "the server's reply has no choices, so it is none of OpenAI's protocol, or an empty one; "
            f"{_describe_beginning(body)}"
        )
    except ValueError as error:
        return Generation.failed(f"the server's reply, an event stream, cannot be read: {error}")

    reason = (reply.choice.reason or "stop").lower()
    text = end_before_stop(_read_text(reply, reason, max_tokens), stop)
    fault = _find_fault(reply.choice, text, reason)
    if fault:
        text = ""

    finish_reason: FinishReason = "length" if _is_at_limit(reason) else "stop"
    return Generation(
        # Bounded here too, as a server may ignore `max_tokens`.
        text=text[: CHARACTERS_PER_TOKEN * max_tokens],
        mean_log_probability=_mean_log_probability(reply, text),
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        finish_reason="error" if fault else finish_reason,
        error=fault,
    )


def has_only_thoughts(body: str) -> bool:
    """Whether a reply ended at its limit within the model's thoughts."""
    try:
        reply = _parse(body)
    except ValueError:
        return False
    choice = reply.choice
    is_cut = _is_at_limit(choice.reason or "")
    # Some servers only count the tokens of thoughts and never show them.
    has_thoughts = bool(choice.thoughts or choice.whole_text.strip() or reply.completion_tokens)
    return is_cut and has_thoughts and not final_text(choice.whole_text).strip()


def _read_text(reply: "_Reply", reason: str, max_tokens: int) -> str:
    """What the model says in the end.

    A server may return the whole text as thoughts, even if the request has turned thinking off. Then that text is the
    answer, if the model has ended its turn and kept to the limit of an answer.
    """
    choice = reply.choice
    text = final_text(choice.whole_text)
    # A turn may begin with blanks that followed a thought; those that continue a prompt are the model's.
    if choice.text is None:
        text = text.lstrip()
    if text.strip() or choice.has_calls or choice.is_refusal or choice.error:
        return text
    has_ended = not _is_broken_off(reason) and not _is_at_limit(reason)
    is_short = reply.completion_tokens <= max_tokens
    return final_text(choice.thoughts) if has_ended and is_short else text


def _is_at_limit(reason: str) -> bool:
    """Whether a reason for the end says that the tokens were used up."""
    return _AT_LIMIT.search(reason.lower().replace("-", "_")) is not None


def _is_broken_off(reason: str) -> bool:
    """Whether a reason for the end says that the model has not ended its turn."""
    return _NO_END.search(reason.lower().replace("-", "_")) is not None


def _find_fault(choice: "_Choice", text: str, reason: str) -> str | None:
    """Why the reply's text is not used; None if it is."""
    if any(part in reason for part in _FILTERS):
        return f"the server ended with finish_reason {str(choice.reason)[:60]!r}"
    if text.strip() or _is_at_limit(reason):
        return None
    if choice.error:
        return f"the server ended with an error: {' '.join(clean(str(choice.error), max_characters=200).split())}"
    if _is_broken_off(reason):
        return f"the server ended with finish_reason {str(choice.reason)[:60]!r}"
    return "the model called a tool, of which none was offered, and wrote no text" if choice.has_calls else None


class _NoChoicesError(ValueError):
    """A reply without a choice."""


def _parse(body: str) -> "_Reply":
    """Raises ValidationError, _NoChoicesError, or another ValueError for an event stream that cannot be read."""
    body = body.lstrip("\ufeff \r\n\t")
    if is_event_stream(body):
        return _validate(join_stream(body))
    try:
        return _Reply.model_validate_json(body)
    except ValidationError:
        loose = (join_lines(body) if body.startswith("{") else None) or unwrap(parse_json(body))
        if loose is None:
            raise
        return _validate(loose)


def _validate(value: object) -> "_Reply":
    if value is None or (isinstance(value, dict) and not value.get("choices")):
        raise _NoChoicesError
    return _Reply.model_validate(value)


def _join_parts(value: object) -> object:
    """The text of a content in parts, without those of thoughts and tools; a number as text; other values as they are.

    >>> _join_parts([{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "Ida"}, " Larsen"])
    'Ida Larsen'
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, dict):
        # Gemini's content is an object with parts.
        parts = value.get("parts")
        value = parts if isinstance(parts, list) else [value]
    if not isinstance(value, list):
        return value
    return "".join(part if isinstance(part, str) else _text_of_part(part) for part in value)


def _text_of_part(part: object) -> str:
    if not isinstance(part, dict) or part.get("thought") is True:
        return ""
    kind = str(part.get("type") or "text").lower()
    if any(name in kind for name in _KINDS_WITHOUT_TEXT):
        return ""
    text = part.get("text", part.get("content"))
    if isinstance(text, list):
        return "".join(inner if isinstance(inner, str) else _text_of_part(inner) for inner in text)
    # The form of the older interface of assistants.
    text = text.get("value") if isinstance(text, dict) else text
    return text if isinstance(text, str) else ""


def _string_or_none(value: object) -> object:
    return value if isinstance(value, str) else None


def _reason_text(value: object) -> str | None:
    """The reason as text: some servers send a number or an object with its type."""
    if isinstance(value, dict):
        value = value.get("type")
    return None if value is None or value == "" else str(value)


def _plausible_count(value: object) -> int:
    """The value if it can be a number of tokens, else 0: a wrong statistic must not cost the answer."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and 0 <= value < _LARGEST_COUNT else 0


def _dict_or_none(value: object) -> object:
    return value if isinstance(value, dict) else None


def _list_or_none(value: object) -> object:
    return value if isinstance(value, list) else None


def _dict_or_empty(value: object) -> object:
    return value if isinstance(value, dict) else {}


def _as_message(value: object) -> object:
    """A message as an object; a bare text is its content, and of several the last one counts."""
    if isinstance(value, list) and value:
        value = value[-1]
    return {"content": value} if isinstance(value, str) else _dict_or_none(value)


def _number_or_none(value: object) -> float | None:
    """The value as a number, which some servers write as text; a wrong one must not cost the answer."""
    if not isinstance(value, int | float | str) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


_Count = Annotated[int, BeforeValidator(_plausible_count)]
_Content = Annotated[str | None, BeforeValidator(_join_parts)]
_LogProbability = Annotated[float | None, BeforeValidator(_number_or_none)]
_OptionalText = Annotated[str | None, BeforeValidator(_string_or_none)]
_Reason = Annotated[str | None, BeforeValidator(_reason_text)]


class _Message(BaseModel):
    content: _Content = None
    reasoning_content: _OptionalText = None
    reasoning: _OptionalText = None
    refusal: _OptionalText = None
    tool_calls: Any = None
    function_call: Any = None


class _Token(BaseModel):
    token: _OptionalText = None
    logprob: _LogProbability = None


_LooseToken = Annotated[_Token, BeforeValidator(_dict_or_empty)]


class _ScoredToken(NamedTuple):
    """A token's text, empty if the server did not send it, and its log-probability; None: the server gave none."""

    text: str
    log_probability: float | None


class _LogProbabilities(BaseModel):
    content: Annotated[list[_LooseToken] | None, BeforeValidator(_list_or_none)] = None
    """As `chat/completions` has them."""
    tokens: Annotated[list[_OptionalText] | None, BeforeValidator(_list_or_none)] = None
    token_logprobs: Annotated[list[_LogProbability] | None, BeforeValidator(_list_or_none)] = None
    """As `completions` has them."""

    @property
    def scored_tokens(self) -> list[_ScoredToken]:
        """The tokens, as many as have values."""
        if self.content:
            return [_ScoredToken(token.token or "", token.logprob) for token in self.content]
        values = self.token_logprobs or []
        texts = [text or "" for text in self.tokens or []]
        texts += [""] * (len(values) - len(texts))
        return [_ScoredToken(text, value) for text, value in zip(texts, values, strict=False)]


class _Choice(BaseModel):
    """Of `chat/completions` with a message, of `completions` with a text."""

    message: Annotated[_Message | None, BeforeValidator(_as_message)] = None
    delta: Annotated[_Message | None, BeforeValidator(_dict_or_none)] = None
    text: _Content = None
    reason: _Reason = Field(None, validation_alias="finish_reason")
    log_probabilities: Annotated[_LogProbabilities | None, BeforeValidator(_dict_or_none)] = Field(
        None, validation_alias="logprobs"
    )
    error: Any = None

    @model_validator(mode="after")
    def _has_text_or_message(self) -> Self:
        if not self.model_fields_set & {"message", "delta", "text", "error"}:
            raise ValueError("it has neither message nor text")
        return self

    @property
    def whole_text(self) -> str:
        """The text, with the thoughts that are in it."""
        message = self.message or self.delta
        text = (message.content if message else None) or self.text or ""
        # A server that looks for thoughts may take all for one, until a mark that it does not know.
        if not text.strip() and "</" in self.thoughts:
            text = final_text(self.thoughts)
        return encodable(text)

    @property
    def has_calls(self) -> bool:
        """Whether the model calls a tool."""
        message = self.message or self.delta
        return bool(message and (message.tool_calls or message.function_call))

    @property
    def is_refusal(self) -> bool:
        """Whether the model says why it does not answer."""
        message = self.message or self.delta
        return bool(message and message.refusal)

    @property
    def thoughts(self) -> str:
        """What the server itself has kept apart as thoughts."""
        message = self.message or self.delta
        return (message.reasoning_content or message.reasoning or "") if message else ""


def _choose(value: object) -> object:
    """The first choice by its index that has a text, else the first: tool calls may be a choice of their own."""
    if not isinstance(value, list) or len(value) < 2:
        return value[0] if isinstance(value, list) and value else value

    by_index = sorted(value, key=_index_of)
    for choice in by_index:
        if isinstance(choice, dict) and _has_text(choice):
            return choice
    return by_index[0]


def _has_text(choice: dict[str, Any]) -> bool:
    message = choice.get("message")
    text = message.get("content") if isinstance(message, dict) else choice.get("text", message)
    return bool(text.strip()) if isinstance(text, str) else bool(text)


def _index_of(choice: object) -> int:
    """A choice's index; a large one without, so that such choices keep their order."""
    index = choice.get("index") if isinstance(choice, dict) else None
    return index if isinstance(index, int) else _LARGEST_COUNT


class _Reply(BaseModel):
    """The choice of a reply that is its answer."""

    choice: Annotated[_Choice, BeforeValidator(_choose)] = Field(validation_alias="choices")
    prompt_tokens: _Count = Field(0, validation_alias=AliasPath("usage", "prompt_tokens"))
    completion_tokens: _Count = Field(0, validation_alias=AliasPath("usage", "completion_tokens"))


def _describe(error: ValidationError, body: str) -> str:
    fault = first_fault(error)
    return f"{fault.field or 'the body'}: {fault.message}; {_describe_beginning(body)}"


def _describe_beginning(body: str) -> str:
    return f"of its {len(body):,} characters the first are {body[:120]!r}"


def _mean_log_probability(reply: _Reply, text: str) -> float | None:
    """In nats; None if the reply has none, too few for its text, or numbers that cannot be log-probabilities."""
    log_probabilities = reply.choice.log_probabilities
    tokens: Sequence[_ScoredToken] = log_probabilities.scored_tokens if log_probabilities else []
    if not _cover_text(tokens, reply, text):
        return None
    tokens = _tokens_of_text(tokens, reply.choice, text)

    # A null is not a value: some servers have none for the first token.
    values = [token.log_probability for token in tokens if token.log_probability is not None]
    if not values or max(values) >= _HIGHEST_LOG_PROBABILITY or min(values) <= _UNLIKELY_LOG_PROBABILITY:
        return None

    mean = sum(values) / len(values)
    if not math.isfinite(mean):  # -Infinity, or NaN at any position
        return None
    # Rounding may lift the value of certain tokens a little above 0.
    return min(0.0, mean)


def _cover_text(tokens: Sequence[_ScoredToken], reply: _Reply, text: str) -> bool:
    """Whether the tokens are all that were written; llama.cpp, for one, leaves some out, and a mean would be wrong."""
    if reply.completion_tokens and len(tokens) >= reply.completion_tokens - _UNCOUNTED_TOKENS:
        return True
    written = "".join(token.text for token in tokens)
    # Without counts and without the tokens' text nothing speaks against them.
    if not reply.completion_tokens and not written:
        return True
    return len(written.strip()) >= len(text.strip())


def _tokens_of_text(tokens: Sequence[_ScoredToken], choice: _Choice, text: str) -> Sequence[_ScoredToken]:
    """The tokens of the text, without the thoughts before it; none if the two cannot be told apart."""
    is_beginning = choice.whole_text.strip().startswith(text.strip())
    if not text or (is_beginning and not choice.thoughts):
        return tokens
    # Some servers list the tokens of thoughts that they keep apart, others do not.
    if "".join(token.text for token in tokens).strip().startswith(text.strip()):
        return tokens

    written = ""
    for index in range(len(tokens) - 1, -1, -1):
        written = tokens[index].text + written
        if text.strip() in written:
            return tokens[index:]
        # Only what ends a turn may follow the text.
        if len(written) > len(text) + 200:
            break
    return ()
