"""Any OpenAI-compatible server, such as one vLLM per GPU or several machines behind one address."""

import asyncio
import base64
import json
import logging
import math
import os
import re
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any

import httpx2
import openai
from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, Field, ValidationError

from crag.core.deadline import Deadline
from crag.core.text import clean, encodable, without_control_tokens, without_credentials
from crag.engines.llm.base import (
    EngineUnavailableError,
    FinishReason,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
    refuse_unknown_adapter,
)
from crag.engines.llm.local_engine import model_folder
from crag.engines.llm.tokenizer import ChatTokenizer, bound_tokens, truncate_to_bound
from crag.settings import MODEL_VARIABLE, OpenAIEngine

log = logging.getLogger(__name__)

_RETRIES = 2
_CONNECT_SECONDS = 5.0
_WARM_UP_SECONDS = 20.0
LARGEST_REPLY = 1_000_000
"""Bytes of a body that are read; an answer with log-probabilities has some 200 a token."""
CHARACTERS_PER_TOKEN = 16
"""A generation is cut there: on average a token has four, and a server may ignore `max_tokens`."""
_NAMES_LOG_PROBABILITIES = re.compile(r"log[\s_-]?prob", re.IGNORECASE)


class OpenAILanguageModel:
    """Requests run concurrently, at most `settings.concurrency` at a time. Adapters are model names on the server.

    One `asyncio` deadline bounds the whole call; the official client's timeouts bound only single reads. The client
    tries a request again, `_RETRIES` times, if there is no connection or the server is busy (429) or fails (above 499).
    A request that misses the deadline gives no partial text. If a server refuses log-probabilities, this and all later
    requests go without. Grammars are sent as vLLM's `structured_outputs`; other servers may ignore them, so the caller
    checks the text.
    """

    def __init__(self, settings: OpenAIEngine) -> None:
        self._settings = settings
        address = os.environ.get(settings.base_url_variable, "").strip() or settings.base_url
        self._base_url = without_credentials(address)
        try:
            url = httpx2.URL(address)
        except httpx2.InvalidURL:
            raise EngineUnavailableError(f"{self._base_url!r} is no address such as http://127.0.0.1:8000/v1") from None
        key = os.environ.get(settings.api_key_variable) or "not-needed"
        basic = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Basic {basic}"} if url.userinfo else {})
        self._options: dict[str, Any] = {"api_key": key, "base_url": self._base_url, "default_headers": headers}
        secrets = [re.escape(secret) for secret in (key, basic, url.password) if len(secret) >= 6]  # no dummy `EMPTY`
        self._secrets = re.compile("|".join(secrets) or r"(?!)")
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
        except (openai.APIConnectionError, TimeoutError) as error:
            raise EngineUnavailableError(
                f"no language model server answers at {self._base_url} ({self._hidden(error.__cause__ or error)}): "
                f"start it, or set {self._settings.base_url_variable} to its address"
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
        refusals = [refuse_unknown_adapter(request, self._settings.adapters) for request in requests]
        sent = {place: requests[place] for place, refusal in enumerate(refusals) if refusal is None}
        generations: dict[int, Generation] = {}
        lost: list[str] = []
        if sent and not deadline.expired:
            with suppress(TimeoutError):
                _in_own_loop(self._answer_all(sent, deadline, generations, lost), deadline)
        if lost and len(lost) == len(sent):
            raise LanguageModelDiedError(lost[0])
        return [refusal or generations.get(place, Generation.out_of_time()) for place, refusal in enumerate(refusals)]

    # --- one request -------------------------------------------------------------------------------------------------

    async def _answer_all(
        self,
        requests: Mapping[int, GenerationRequest],
        deadline: Deadline,
        generations: dict[int, Generation],
        lost: list[str],
    ) -> None:
        """Fill `generations` by position, but for requests that miss the deadline; `lost`: why no server was found."""
        gate = asyncio.Semaphore(self._settings.concurrency)
        async with self._client(deadline) as client:

            async def answer(place: int, request: GenerationRequest) -> None:
                async with gate:
                    try:
                        generations[place] = await self._answer(client, request)
                    except openai.APIConnectionError as error:
                        cause = self._hidden(error.__cause__ or error)
                        lost.append(f"no language model server at {self._base_url}: {cause}")
                        generations[place] = Generation.failed(lost[-1])

            await asyncio.gather(*(answer(place, request) for place, request in requests.items()))

    def _client(self, deadline: Deadline) -> openai.AsyncOpenAI:
        left = max(0.001, deadline.remaining)
        timeout = openai.Timeout(left, connect=min(_CONNECT_SECONDS, left))
        http = openai.DefaultAsyncHttpxClient(event_hooks={"response": [_cut]})
        return openai.AsyncOpenAI(**self._options, max_retries=_RETRIES, timeout=timeout, http_client=http)

    def _hidden(self, text: object) -> str:
        """The text without the key and the password: a server may echo them."""
        return self._secrets.sub("***", str(text))

    def _quoted(self, error: openai.APIStatusError) -> str:
        """The beginning of what the server says, in one line."""
        return " ".join(clean(self._hidden(error.response.text), most=200).split())

    async def _greet(self, deadline: Deadline) -> None:
        """Ask for the server's models; takes the only one if the settings name none."""
        async with self._client(deadline) as client:
            try:
                listing = (await client.models.with_raw_response.list()).text
            except openai.APIStatusError as error:
                listing = error.response.text
        if not self._model:
            self._model = _only_model(self._hidden(listing), self._base_url)

    async def _answer(self, client: openai.AsyncOpenAI, request: GenerationRequest) -> Generation:
        """The server's reply; if it refuses log-probabilities, the reply to the request without them."""
        body = self._body(request)
        try:
            try:
                return read_reply(self._hidden(await _posted(client, body)), request.max_tokens)
            except openai.APIStatusError as error:
                # Servers use different statuses: 400, 403, 422 and 500.
                if body.pop("logprobs", None) is None or not _NAMES_LOG_PROBABILITIES.search(error.response.text):
                    raise
                refusal = error
            reply = read_reply(self._hidden(await _posted(client, body)), request.max_tokens)
        except openai.APIStatusError as error:
            return Generation.failed(f"the server answered with status {error.status_code}: {self._quoted(error)}")
        if self._has_log_probabilities:  # several requests may find out
            self._has_log_probabilities = False
            log.warning(
                "the server at %s refuses log-probabilities (status %d: %s): later requests go without them, "
                "so gates and P(correct) cannot use them",
                *(self._base_url, refusal.status_code, self._quoted(refusal)),
            )
        return reply

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


async def _posted(client: openai.AsyncOpenAI, body: dict[str, Any]) -> str:
    """The text of the reply. Raises openai.APIConnectionError or openai.APIStatusError after the last attempt."""
    endpoint: Any = client.completions if "prompt" in body else client.chat.completions
    return str((await endpoint.with_raw_response.create(**body)).text)


class _Cut(httpx2.AsyncByteStream):
    """The first bytes of a body, which may be endless."""

    def __init__(self, whole: Any) -> None:  # noqa: ANN401 - the declared type covers clients that are not asyncio
        self._whole = whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = LARGEST_REPLY
        async for chunk in self._whole:
            yield chunk[:left]
            if (left := left - len(chunk)) <= 0:
                return

    async def aclose(self) -> None:
        await self._whole.aclose()


async def _cut(response: httpx2.Response) -> None:
    """Bound the body; it is not unpacked, since a small one could become a large one."""
    response.headers.pop("Content-Encoding", None)
    response.stream = _Cut(response.stream)


def _safe(text: str) -> str:
    return without_control_tokens(encodable(text))


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


def _only_model(listing: str, address: str) -> str:
    try:
        names = [" ".join(clean(model["id"], most=200).split()) for model in json.loads(listing)["data"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        names = []
    if len(names) == 1:
        return names[0]
    offer = f"offers {', '.join(names[:20])}" if names else "does not say which models it has"
    raise EngineUnavailableError(f"the server at {address} {offer}: name one, with {MODEL_VARIABLE}=NAME")


class _Token(BaseModel):
    logprob: float


def _first(*path: str) -> AliasPath:
    return AliasPath("choices", 0, *path)


_Count = Annotated[int, BeforeValidator(lambda value: value if isinstance(value, int) and 0 <= value < 10**9 else 0)]


class _Reply(BaseModel):
    """The first choice of a reply: of `chat/completions` with a message, of `completions` with a text."""

    text: str | None = Field(validation_alias=AliasChoices(_first("message", "content"), _first("text")))
    reason: str | None = Field(None, validation_alias=_first("finish_reason"))
    tokens: list[_Token] | None = Field(None, validation_alias=_first("logprobs", "content"))
    log_probabilities: list[float | None] | None = Field(None, validation_alias=_first("logprobs", "token_logprobs"))
    prompt_tokens: _Count = Field(0, validation_alias=AliasPath("usage", "prompt_tokens"))
    completion_tokens: _Count = Field(0, validation_alias=AliasPath("usage", "completion_tokens"))


_FINISH_REASONS: dict[str | None, FinishReason] = {"stop": "stop", "length": "length", None: "stop"}


def read_reply(body: str, max_tokens: int) -> Generation:
    """The generation in a 200 reply of `chat/completions` or `completions`, or a failed one."""
    try:
        reply = _Reply.model_validate_json(body)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, fault["loc"])) or "the body"
        said = f"{where}: {fault['msg']}; of its {len(body):,} characters the first are {body[:120]!r}"
        return Generation.failed(f"the server's reply cannot be read: {said}")
    reason: FinishReason = _FINISH_REASONS.get(reply.reason, "error")
    values = [token.logprob for token in reply.tokens or []]
    values += [value for value in reply.log_probabilities or [] if value is not None]
    mean = min(0.0, sum(values) / len(values)) if values and max(values) < 1e-4 else math.nan  # rounding
    return Generation(
        text=encodable(reply.text or "")[: CHARACTERS_PER_TOKEN * max_tokens],
        mean_log_probability=mean if math.isfinite(mean) else None,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        finish_reason=reason,
        error=None if reason != "error" else f"the server ended with finish_reason {str(reply.reason)[:60]!r}",
    )
