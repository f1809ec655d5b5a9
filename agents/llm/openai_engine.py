"""Any OpenAI-compatible server, such as one vLLM per GPU or several machines behind one address."""

import asyncio
import logging
import math
import os
import random
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Any, Literal

import openai
from pydantic import BaseModel, ValidationError

from agents.common.deadline import Deadline
from agents.common.text import clean, encodable, without_control_tokens
from agents.llm.base import (
    EngineUnavailableError,
    FinishReason,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
    refuse_unknown_adapter,
)
from agents.llm.local_engine import model_folder
from agents.llm.tokenizer import ChatTokenizer, bound_tokens, truncate_to_bound
from agents.settings import MODEL_VARIABLE, OpenAIEngine

log = logging.getLogger(__name__)

_RETRIED_STATUS = frozenset({429, 502, 503, 504})
_CONNECT_SECONDS = 5.0
_WARM_UP_SECONDS = 20.0
_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 4.0
_NAMES_LOG_PROBABILITIES = re.compile(r"log[\s_-]?prob", re.IGNORECASE)


class _UnreachableError(Exception):
    """No connection after all attempts."""


class OpenAILanguageModel:
    """Requests run concurrently, at most `settings.concurrency` at a time. Adapters are model names on the server.

    One `asyncio` deadline bounds the whole call; the official client's timeouts bound only single reads. Connection
    errors and status 429, 502, 503, 504 are retried with growing pauses, at most `settings.max_attempts` attempts. A
    request that misses the deadline gives no partial text. If a server refuses log-probabilities, this and all later
    requests go without. Grammars are sent as vLLM's `structured_outputs`; other servers may ignore them, so the caller
    checks the text.
    """

    def __init__(self, settings: OpenAIEngine) -> None:
        self._settings = settings
        self._base_url = os.environ.get(settings.base_url_variable, "").strip() or settings.base_url
        self._model = settings.model
        self._has_log_probabilities = True

    @cached_property
    def _tokenizer(self) -> ChatTokenizer | None:
        return ChatTokenizer(model_folder(self._settings.tokenizer)) if self._settings.tokenizer else None

    def check_weights(self) -> None:
        """Raise `WeightsMissingError` if a configured tokenizer is missing; the server has the weights."""
        if self._settings.tokenizer:
            model_folder(self._settings.tokenizer)

    def warm_up(self) -> None:
        """Ask the server for its models once. Any status counts as an answer.
        Raises EngineUnavailableError: no answer from the address, or no model is named and the server has not exactly
        one; WeightsMissingError: the configured tokenizer is missing.
        """
        self.check_weights()
        deadline = Deadline(_WARM_UP_SECONDS)
        try:
            _in_own_loop(self._greet(deadline), deadline)
        except (_UnreachableError, TimeoutError) as error:
            raise EngineUnavailableError(
                f"no language model server answers at {self._base_url} ({error}): start it, "
                f"or set {self._settings.base_url_variable} to its address"
            ) from error

    def close(self) -> None:
        """Nothing is held between calls."""

    def count_tokens(self, text: str) -> int:
        """Number of tokens; without a tokenizer an upper bound."""
        return self._tokenizer.count(text) if self._tokenizer else bound_tokens(text)

    def truncate(self, text: str, max_tokens: int) -> str:
        """A prefix with at most `max_tokens` tokens; without a tokenizer not always the longest."""
        return self._tokenizer.truncate(text, max_tokens) if self._tokenizer else truncate_to_bound(text, max_tokens)

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """Answer all requests; see `LanguageModel.generate`.
        Raises LanguageModelDiedError: no request found a server that accepts connections.
        """
        outcomes: dict[int, Generation | _UnreachableError] = {}
        if requests and not deadline.expired:
            # A request that missed the deadline has no outcome.
            with suppress(TimeoutError):
                _in_own_loop(self._answer_all(requests, deadline, outcomes), deadline)
        results = [outcomes.get(place, Generation.out_of_time()) for place in range(len(requests))]
        unreachable = [result for result in results if isinstance(result, _UnreachableError)]
        adapters = self._settings.adapters
        sent = [request for request in requests if refuse_unknown_adapter(request, adapters) is None]
        if unreachable and len(unreachable) == len(sent):
            raise LanguageModelDiedError(f"no language model server at {self._base_url}: {unreachable[0]}")
        return [
            Generation.failed(f"no connection to {self._base_url}: {result}")
            if isinstance(result, _UnreachableError)
            else result
            for result in results
        ]

    # --- one request -------------------------------------------------------------------------------------------------

    async def _answer_all(
        self,
        requests: Sequence[GenerationRequest],
        deadline: Deadline,
        outcomes: dict[int, Generation | _UnreachableError],
    ) -> None:
        """Fill `outcomes` by position; cancelled requests are left out."""
        gate = asyncio.Semaphore(self._settings.concurrency)
        async with self._client() as client:

            async def answer(place: int, request: GenerationRequest) -> None:
                async with gate:
                    try:
                        refused = refuse_unknown_adapter(request, self._settings.adapters)
                        outcomes[place] = refused or await self._answer(client, request, deadline)
                    except _UnreachableError as error:
                        outcomes[place] = error

            await asyncio.gather(*(answer(place, request) for place, request in enumerate(requests)))

    def _client(self) -> openai.AsyncOpenAI:
        key = os.environ.get(self._settings.api_key_variable) or "not-needed"
        return openai.AsyncOpenAI(api_key=key, base_url=self._base_url, max_retries=0)

    async def _greet(self, deadline: Deadline) -> None:
        """Ask for the server's models; takes the only one if the settings name none."""
        async with self._client() as client:

            async def ask() -> str:
                listing = await client.models.with_raw_response.list(timeout=_timeout(deadline))
                return str(listing.text)

            try:
                listing = await self._persist(ask, deadline)
            except openai.APIStatusError as error:
                listing = error.response.text
        if not self._model:
            self._model = _only_model(listing, self._base_url)

    async def _answer(self, client: openai.AsyncOpenAI, request: GenerationRequest, deadline: Deadline) -> Generation:
        try:
            return read_reply(await self._reply(client, self._body(request), deadline))
        except openai.APIStatusError as error:
            return Generation.failed(
                f"the server answered with status {error.status_code}: {clean(error.response.text, most=200)}"
            )
        except openai.OpenAIError as error:
            return Generation.failed(f"{type(error).__name__}: {error}")

    async def _reply(self, client: openai.AsyncOpenAI, body: dict[str, Any], deadline: Deadline) -> str:
        """The server's reply; if it refuses log-probabilities, the reply to the request without them."""

        async def ask() -> str:
            if "prompt" in body:
                completion = await client.completions.with_raw_response.create(**body, timeout=_timeout(deadline))
                return str(completion.text)
            chat = await client.chat.completions.with_raw_response.create(**body, timeout=_timeout(deadline))
            return str(chat.text)

        try:
            return await self._persist(ask, deadline)
        except openai.APIStatusError as error:
            # Servers use different statuses: 400, 403, 422 and 500.
            if body.pop("logprobs", None) is None or not _NAMES_LOG_PROBABILITIES.search(error.response.text):
                raise
            refusal = error
        reply = await self._persist(ask, deadline)
        self._do_without_log_probabilities(refusal)
        return reply

    def _do_without_log_probabilities(self, refusal: openai.APIStatusError) -> None:
        """Remember that the server has no log-probabilities; warn once, even if several requests find out."""
        if self._has_log_probabilities:
            self._has_log_probabilities = False
            log.warning(
                "the server at %s refuses log-probabilities (status %d: %s): later requests go without them, "
                "so gates and P(correct) cannot use them",
                *(self._base_url, refusal.status_code, " ".join(clean(refusal.response.text, most=200).split())),
            )

    async def _persist(self, ask: Callable[[], Awaitable[str]], deadline: Deadline) -> str:
        """The reply of `ask`; retries transient failures.
        Raises _UnreachableError: the last attempt found no connection; openai.APIStatusError: the last attempt failed.
        """
        for attempt in range(1, self._settings.max_attempts + 1):
            wanted = 0.0
            try:
                return str(await ask())
            except openai.APIConnectionError as error:
                last: Exception = _UnreachableError(str(error.__cause__ or error))
            except openai.APIStatusError as error:
                if error.status_code not in _RETRIED_STATUS:
                    raise
                last, wanted = error, _retry_after(error.response.headers.get("retry-after"))
            pause = max(wanted, _pause(attempt))
            if attempt == self._settings.max_attempts or pause >= deadline.remaining:
                break
            await asyncio.sleep(pause)
        raise last

    def _body(self, request: GenerationRequest) -> dict[str, Any]:
        adapters = self._settings.adapters
        body: dict[str, Any] = {
            "model": self._model if request.adapter is None else adapters[request.adapter],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
        }
        if request.stop:
            body["stop"] = list(request.stop)
        if request.grammar is not None:
            body["extra_body"] = {"structured_outputs": {"grammar": request.grammar}}
        if request.with_log_probability and self._has_log_probabilities:
            body["logprobs"] = True if request.prompt is None else 1
        if request.prompt is not None:
            return {**body, "prompt": _safe(request.prompt)}
        messages = [{"role": turn.role, "content": _safe(turn.content)} for turn in request.messages]
        return {**body, "messages": messages}


def _safe(text: str) -> str:
    return without_control_tokens(encodable(text))


def _timeout(deadline: Deadline) -> openai.Timeout:
    remaining = max(0.001, deadline.remaining)
    return openai.Timeout(remaining, connect=min(_CONNECT_SECONDS, remaining))


def _pause(attempt: int) -> float:
    longest = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1))
    # Randomised, so that the requests of a batch do not retry at the same moment.
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - not a secret


def _retry_after(header: str | None) -> float:
    """Seconds of a Retry-After header; if it is a date, the usual pause."""
    return float(header) if header is not None and header.isascii() and header.isdigit() else 0.0


def _in_own_loop(work: Coroutine[None, None, None], deadline: Deadline) -> None:
    """Run a coroutine to its end or the deadline, also inside a running event loop (a notebook).
    Raises TimeoutError: the deadline came first.
    """

    async def bounded() -> None:
        async with asyncio.timeout(deadline.remaining):
            await work

    # Not a `with` block: it would wait for a hanging name lookup, which asyncio cannot cancel.
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="openai-engine")
    try:
        thread.submit(asyncio.run, bounded()).result(timeout=deadline.remaining + 1.0)
    finally:
        thread.shutdown(wait=False)


class _Model(BaseModel):
    id: str


class _Listing(BaseModel):
    data: list[_Model] = []


def _only_model(listing: str, address: str) -> str:
    try:
        names = [model.id for model in _Listing.model_validate_json(listing).data]
    except ValidationError:
        names = []
    if len(names) == 1:
        return names[0]
    found = f"offers {', '.join(names[:20])}" if names else "does not say which models it has"
    raise EngineUnavailableError(f"the server at {address} {found}: name one, with {MODEL_VARIABLE}=NAME")


class _Message(BaseModel):
    content: str | None = None


class _TokenLogProbability(BaseModel):
    logprob: float


class _LogProbabilities(BaseModel):
    content: list[_TokenLogProbability] | None = None
    token_logprobs: list[float | None] | None = None


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
    """The generation in a 200 reply of `chat/completions` or `completions`, or a failed one."""
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
