"""Any OpenAI-compatible server, such as one vLLM per GPU or several machines behind one address."""

import asyncio
import base64
import logging
import os
import re
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import httpx2
import openai

from crag.core.deadline import Deadline
from crag.core.text import clean, encodable, without_control_tokens, without_credentials
from crag.engines.llm.base import (
    EngineUnavailableError,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
    refuse_unknown_adapter,
)
from crag.engines.llm.local_engine import model_folder
from crag.engines.llm.openai_reply import read_only_model, read_reply
from crag.engines.llm.tokenizer import ChatTokenizer, bound_tokens, truncate_to_bound
from crag.settings import OpenAIEngine

log = logging.getLogger(__name__)

_RETRIES = 2
_CONNECT_SECONDS = 5.0
_WARM_UP_SECONDS = 20.0
LARGEST_REPLY = 1_000_000
"""Bytes of a body that are read; an answer with log-probabilities has some 200 a token."""
_SHORTEST_SECRET = 6
"""Shorter keys are dummies such as `EMPTY`, a word that messages may contain."""
_NAMES_LOG_PROBABILITIES = re.compile(r"log[\s_-]?prob", re.IGNORECASE)


class OpenAILanguageModel:
    """Requests run concurrently, at most `settings.concurrency` at a time. Adapters are model names on the server.

    One `asyncio` deadline bounds the whole call; the official client's timeouts bound only single reads. The client
    tries a request again, `_RETRIES` times, if there is no connection or the server is busy (429) or fails (above 499).
    A request that misses the deadline gives no partial text. If a server refuses log-probabilities, this and all later
    requests go without. Grammars are sent as vLLM's `structured_outputs`; other servers may ignore them, so the caller
    checks the text. A text under a grammar has no log-probability here: servers give that of the grammar's choices.
    """

    def __init__(self, settings: OpenAIEngine) -> None:
        self._settings = settings
        self._model = settings.model
        self._has_log_probabilities = True

        address = os.environ.get(settings.base_url_variable, "").strip() or settings.base_url
        # This form appears in logs and messages; a password in the address must not.
        self._base_url = without_credentials(address)
        try:
            url = httpx2.URL(address)
        except httpx2.InvalidURL:
            raise EngineUnavailableError(
                f"{self._base_url!r} is not an address such as http://127.0.0.1:8000/v1"
            ) from None

        # The client refuses to start without a key, but local servers need none.
        key = os.environ.get(settings.api_key_variable) or "not-needed"
        basic = base64.b64encode(f"{url.username}:{url.password}".encode()).decode()
        headers = {"Accept-Encoding": "identity"}
        if url.userinfo:
            headers["Authorization"] = f"Basic {basic}"
        self._client_options: dict[str, Any] = {
            "api_key": key,
            "base_url": self._base_url,
            "default_headers": headers,
        }

        secrets = [re.escape(secret) for secret in (key, basic, url.password) if len(secret) >= _SHORTEST_SECRET]
        # An empty pattern would match everywhere.
        matches_nothing = r"(?!)"
        self._secrets = re.compile("|".join(secrets) or matches_nothing)

    @cached_property
    def _tokenizer(self) -> ChatTokenizer | None:
        if not self._settings.tokenizer:
            return None
        return ChatTokenizer(model_folder(self._settings.tokenizer))

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
            _run_in_thread(self._greet(deadline), deadline)
        except (openai.APIConnectionError, TimeoutError) as error:
            cause = self._without_secrets(error.__cause__ or error)
            raise EngineUnavailableError(
                f"no language model server answers at {self._base_url} ({cause}): "
                f"start it, or set {self._settings.base_url_variable} to its address"
            ) from error

    def close(self) -> None:
        """Nothing is held between calls."""

    def count_tokens(self, text: str) -> int:
        """Number of tokens; without a tokenizer an upper bound."""
        if self._tokenizer is None:
            return bound_tokens(text)
        return self._tokenizer.count(text)

    def truncate(self, text: str, max_tokens: int) -> str:
        """A prefix with at most `max_tokens` tokens; without a tokenizer not always the longest."""
        if self._tokenizer is None:
            return truncate_to_bound(text, max_tokens)
        return self._tokenizer.truncate(text, max_tokens)

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """Answer all requests; see `LanguageModel.generate`.

        Raises LanguageModelDiedError: no request found a server that accepts connections.
        """
        generations: dict[int, Generation] = {}
        to_send: dict[int, GenerationRequest] = {}
        for index, request in enumerate(requests):
            refusal = refuse_unknown_adapter(request, self._settings.adapters)
            if refusal is None:
                to_send[index] = request
            else:
                generations[index] = refusal

        connection_errors: list[str] = []
        if to_send and not deadline.expired:
            with suppress(TimeoutError):
                _run_in_thread(self._answer_all(to_send, deadline, generations, connection_errors), deadline)
        # One request that found the server is enough: the engine is alive.
        if connection_errors and len(connection_errors) == len(to_send):
            raise LanguageModelDiedError(connection_errors[0])

        return [generations.get(index, Generation.out_of_time()) for index in range(len(requests))]

    # --- one request -------------------------------------------------------------------------------------------------

    async def _answer_all(
        self,
        requests: Mapping[int, GenerationRequest],
        deadline: Deadline,
        generations: dict[int, Generation],
        connection_errors: list[str],
    ) -> None:
        """Fill `generations` by index, and `connection_errors` with a line for each request that found no server.

        A request that misses the deadline gets no generation.
        """
        gate = asyncio.Semaphore(self._settings.concurrency)

        async def answer(client: openai.AsyncOpenAI, index: int, request: GenerationRequest) -> None:
            async with gate:
                try:
                    # Stored one by one: what has arrived by the deadline is kept.
                    generations[index] = await self._answer(client, request)
                except openai.APIConnectionError as error:
                    cause = self._without_secrets(error.__cause__ or error)
                    message = f"no language model server at {self._base_url}: {cause}"
                    connection_errors.append(message)
                    generations[index] = Generation.failed(message)

        async with self._client(deadline) as client:
            await asyncio.gather(*(answer(client, index, request) for index, request in requests.items()))

    def _client(self, deadline: Deadline) -> openai.AsyncOpenAI:
        seconds = max(0.001, deadline.remaining)
        # A new client for each call, because its connections belong to the event loop of that call.
        return openai.AsyncOpenAI(
            **self._client_options,
            max_retries=_RETRIES,
            timeout=openai.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)),
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_bound_body]}),
        )

    def _without_secrets(self, text: object) -> str:
        """The text without the key and the password: a server may echo them."""
        return self._secrets.sub("***", str(text))

    def _quote(self, error: openai.APIStatusError) -> str:
        """The beginning of the server's message, in one line."""
        return " ".join(clean(self._without_secrets(error.response.text), most=200).split())

    async def _greet(self, deadline: Deadline) -> None:
        """Ask for the server's models; takes the only one if the settings name none."""
        async with self._client(deadline) as client:
            try:
                listing = (await client.models.with_raw_response.list()).text
            except openai.APIStatusError as error:
                listing = error.response.text

        if not self._model:
            self._model = read_only_model(self._without_secrets(listing), self._base_url)

    async def _answer(self, client: openai.AsyncOpenAI, request: GenerationRequest) -> Generation:
        try:
            reply = await self._fetch_reply(client, self._body(request))
        except openai.APIStatusError as error:
            return Generation.failed(f"the server answered with status {error.status_code}: {self._quote(error)}")
        generation = read_reply(self._without_secrets(reply), request.max_tokens)
        # Nor one that came unasked: vLLM's server masks before it measures, another ignores the grammar, and the reply
        # does not tell which.
        return generation if request.grammar is None else replace(generation, mean_log_probability=None)

    async def _fetch_reply(self, client: openai.AsyncOpenAI, body: dict[str, Any]) -> str:
        """The server's reply; if it refuses log-probabilities, the reply to the request without them."""
        try:
            return await _post(client, body)
        except openai.APIStatusError as error:
            # Servers use different statuses: 400, 403, 422 and 500.
            if "logprobs" not in body or not _NAMES_LOG_PROBABILITIES.search(error.response.text):
                raise
            refusal = error

        del body["logprobs"]
        reply = await _post(client, body)
        # Only now is it certain: the same request succeeded without them.
        self._give_up_log_probabilities(refusal)
        return reply

    def _give_up_log_probabilities(self, refusal: openai.APIStatusError) -> None:
        if not self._has_log_probabilities:  # another request of the batch found out before
            return
        self._has_log_probabilities = False
        log.warning(
            "the server at %s refuses log-probabilities (status %d: %s): later requests go without them, "
            "so gates and P(correct) cannot use them",
            self._base_url,
            refusal.status_code,
            self._quote(refusal),
        )

    def _body(self, request: GenerationRequest) -> dict[str, Any]:
        """The arguments of the client's `create` for one request."""
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
        if request.with_log_probability and request.grammar is None and self._has_log_probabilities:
            # A flag for chats; for completions the number of alternatives.
            body["logprobs"] = True if request.prompt is None else 1

        if request.prompt is not None:
            body["prompt"] = _safe(request.prompt)
        else:
            body["messages"] = [{"role": turn.role, "content": _safe(turn.content)} for turn in request.messages]
        return body


async def _post(client: openai.AsyncOpenAI, body: dict[str, Any]) -> str:
    """The text of the reply. Raises openai.APIConnectionError or openai.APIStatusError after the last attempt."""
    endpoint: Any = client.completions if "prompt" in body else client.chat.completions
    response = await endpoint.with_raw_response.create(**body)
    return str(response.text)


class _BoundedStream(httpx2.AsyncByteStream):
    """The first `LARGEST_REPLY` bytes of a body, which may be endless."""

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - the declared type covers clients that are not asyncio
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = LARGEST_REPLY
        async for chunk in self._stream:
            yield chunk[:remaining]
            remaining -= len(chunk)
            if remaining <= 0:
                return

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound_body(response: httpx2.Response) -> None:
    """Bound the body; it is not unpacked, since a small one could become a large one."""
    response.headers.pop("Content-Encoding", None)
    response.stream = _BoundedStream(response.stream)


def _safe(text: str) -> str:
    return without_control_tokens(encodable(text))


def _run_in_thread(work: Coroutine[None, None, None], deadline: Deadline) -> None:
    """Run a coroutine to its end or the deadline, also inside a running event loop (a notebook).

    Raises TimeoutError: the deadline came first.
    """

    async def bounded_work() -> None:
        async with asyncio.timeout(deadline.remaining):
            await work

    # Not a `with` block: it would wait for a hanging name lookup, which asyncio cannot cancel.
    executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="openai-engine")
    try:
        # The extra second lets `asyncio.timeout` end the work in an orderly way first.
        executor.submit(asyncio.run, bounded_work()).result(timeout=deadline.remaining + 1.0)
    finally:
        executor.shutdown(wait=False)
