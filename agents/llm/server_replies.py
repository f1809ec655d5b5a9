"""What an OpenAI-compatible server sent back, as a generation; servers differ and proxies interfere."""

import math
from typing import Literal

from pydantic import BaseModel, ValidationError

from agents.llm.base import FinishReason, Generation
from agents.text import encodable


class _Message(BaseModel):
    content: str | None = None


class _TokenLogProbability(BaseModel):
    logprob: float


class _LogProbabilities(BaseModel):
    content: list[_TokenLogProbability] | None = None
    """Of a chat completion."""
    token_logprobs: list[float | None] | None = None
    """Of a completion of raw text."""


class _Choice(BaseModel):
    finish_reason: str | None = None
    message: _Message | None = None
    text: str | None = None
    logprobs: _LogProbabilities | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Reply(BaseModel):
    choices: list[_Choice]
    usage: _Usage | None = None


_FINISH_REASONS: dict[str | None, Literal["stop", "length"]] = {"stop": "stop", "length": "length", None: "stop"}


def read_reply(body: str) -> Generation:
    """The generation in the body of a 200 reply to `chat/completions` or `completions`, or a failed one."""
    try:
        reply = _Reply.model_validate_json(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"])) or "the body"
        return Generation.failed(
            f"the server's reply cannot be read: {where}: {fault['msg']}; it begins {body[:120]!r}"
        )
    if not reply.choices:
        return Generation.failed("the server's reply has no choices")
    choice = reply.choices[0]
    text = choice.message.content if choice.message is not None else choice.text
    if choice.message is None and text is None:
        return Generation.failed("the server's reply has neither message nor text")
    usage = reply.usage or _Usage()
    reason: FinishReason = _FINISH_REASONS.get(choice.finish_reason, "error")
    error_text = None if reason != "error" else f"the server ended with finish_reason {choice.finish_reason!r}"
    return Generation(
        text=encodable(text or ""),
        mean_log_probability=_mean(choice.logprobs),
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        finish_reason=reason,
        error=error_text,
    )


def _mean(logprobs: _LogProbabilities | None) -> float | None:
    if logprobs is None:
        return None
    values = [token.logprob for token in logprobs.content or []]
    values += [value for value in logprobs.token_logprobs or [] if value is not None]
    mean = sum(values) / len(values) if values else math.nan
    return mean if math.isfinite(mean) else None
