"""Any OpenAI-compatible server, such as one vLLM per GPU or several machines behind one address."""

import asyncio
import logging
import re
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import httpx2
import openai

from crag.core.deadline import Deadline, call_within
from crag.core.text import encodable, without_control_tokens
from crag.engines.llm.base import (
    EngineUnavailableError,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
    refuse_unknown_adapter,
)
from crag.engines.llm.configured_server import configured_key, configured_url
from crag.engines.llm.local_engine import model_folder
from crag.engines.llm.openai_address import parse_address
from crag.engines.llm.openai_dialect import Body
from crag.engines.llm.openai_models import read_only_model
from crag.engines.llm.openai_refusal import RefusedError
from crag.engines.llm.openai_reply import read_reply
from crag.engines.llm.openai_server import Client, Server
from crag.engines.llm.openai_transport import is_broken_off, is_silence
from crag.engines.llm.served_model import describe_listed_model
from crag.engines.llm.tokenizer import ChatTokenizer, bound_tokens, truncate_to_bound
from crag.settings import OpenAIEngine

log = logging.getLogger(__name__)

_WARM_UP_SECONDS = 20.0
LOADING_SECONDS = 600.0
"""How long a server may load its model before the first question."""
_SILENT_SECONDS = 10.0
"""Seconds after which a line says what is being waited for."""
_HOPELESS = frozenset({401, 402, 403, 404})
"""A key, an account or a name that the server will never take."""
_LISTING_REFUSED = re.compile(r"scope|permission", re.IGNORECASE)
"""A key may be good for answers and not for the list of models."""


class OpenAILanguageModel:
    """Requests run concurrently, at most `settings.concurrency` at a time. Adapters are model names on the server.

    One `asyncio` deadline bounds the whole call; the official client's timeouts bound only single reads. Requests are
    repeated if there is no connection, or the server is busy, fails, or still loads its model (`RefusedError`). One
    that misses the deadline gives no partial text. What a server refuses of a request is left out or written otherwise
    from then on: `Change`. Grammars are sent as vLLM's `structured_outputs`; other servers may ignore them, so the
    caller checks the text. A text under a grammar has no log-probability here: servers give that of the grammar's
    choices.
    """

    def __init__(self, settings: OpenAIEngine) -> None:
        self._settings = settings
        address = parse_address(configured_url(settings))
        key = configured_key(settings)
        self._server = Server(address, key, settings.base_url_variable, settings.api_key_variable)
        self._model = settings.model or address.deployment or ""
        self._served: str | None = None
        """What the server said of its model at the start."""
        self._was_away = False
        """Whether a request has found no server since: another one may have taken its place."""

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
        """Ask the server for its models, under each address where they may be; wait, bounded, while it loads one.

        Any status but a refused key counts as an answer.

        Raises EngineUnavailableError: no answer from the address, a refused key, or no model is named and the server
        has not exactly one; WeightsMissingError: the configured tokenizer is missing.
        """
        self.check_weights()
        deadline = Deadline(LOADING_SECONDS)
        try:
            _run_in_thread(self._greet(deadline), deadline)
        except (openai.APIConnectionError, TimeoutError) as error:
            raise EngineUnavailableError(self._describe_no_answer(error)) from error

    def rehearse(self, request: GenerationRequest) -> None:
        """Send a first request and wait, bounded, while the server loads its model: no question pays for that time.

        Raises EngineUnavailableError: the server refuses the key or does not know the model.
        """
        deadline = Deadline(LOADING_SECONDS)
        try:
            _run_in_thread(self._rehearse(request, deadline), deadline)
        except (openai.APIConnectionError, TimeoutError) as error:
            log.warning("the first request had no reply: %s", self._server.describe_failure(error))

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

        Raises LanguageModelDiedError: no request found a server that accepts connections, or the server has come back
        with another model.
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
            try:
                _run_in_thread(self._answer_all(to_send, deadline, generations, connection_errors), deadline)
            except TimeoutError:
                pass  # what has no generation by now ran out of time
            except EngineUnavailableError as error:
                raise LanguageModelDiedError(str(error)) from error
        self._was_away = self._was_away or bool(connection_errors)
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
        semaphore = asyncio.Semaphore(self._settings.concurrency)

        async def answer(client: Client, index: int, request: GenerationRequest) -> None:
            async with semaphore:
                try:
                    # Stored one by one: what has arrived by the deadline is kept.
                    generations[index] = await self._answer(client, request, deadline)
                except openai.APIConnectionError as error:
                    message = f"{self._describe_fault(error)}: {self._server.describe_failure(error)}"
                    connection_errors.append(message)
                    generations[index] = Generation.failed(message)

        async with self._server.connect(deadline) as client:
            if self._was_away:
                await self._check_model(client, deadline)
            await asyncio.gather(*(answer(client, index, request) for index, request in requests.items()))

    async def _greet(self, deadline: Deadline) -> None:
        """Ask for the server's models; takes the only one if the settings name none."""
        cause = ""
        async with self._server.connect(deadline, _WARM_UP_SECONDS) as client:
            try:
                listing = await self._server.list_models(client, deadline)
            except RefusedError as refusal:
                listing = refusal.body
                cause = f"status {refusal.status}: {refusal.words or 'an empty reply'}"
                may_not_list = self._model and _LISTING_REFUSED.search(refusal.body)
                if refusal.status in {401, 403} and not may_not_list:
                    raise EngineUnavailableError(self._at_server(refusal)) from None

        if not self._model:
            self._model = read_only_model(listing, self._server.base_url, self._settings.adapters.values(), cause)

        self._served = describe_listed_model(listing, self._model)

    async def _check_model(self, client: Client, deadline: Deadline) -> None:
        """Raise EngineUnavailableError if the server has come back with another model: no run mixes two."""
        try:
            listing = await self._server.list_models(client, deadline)
        except (RefusedError, openai.APIConnectionError):
            return  # the questions meet the same
        served = describe_listed_model(listing, self._model)
        if self._served is not None and served != self._served:
            raise EngineUnavailableError(
                f"the server at {self._server.base_url} has come back with another model: "
                f"{served or 'one of another name'}, before {self._served}"
            )
        self._was_away = False

    async def _rehearse(self, request: GenerationRequest, deadline: Deadline) -> None:
        # Some servers load a model silently, at the first request for it.
        telling = asyncio.get_running_loop().call_later(_SILENT_SECONDS, self._tell_of_silence)
        async with self._server.connect(deadline) as client:
            try:
                await self._server.complete(client, self._body(request), deadline, is_first=True)
            except RefusedError as refusal:
                if refusal.status in _HOPELESS:
                    raise EngineUnavailableError(self._at_server(refusal)) from None
                log.warning("the first request failed: %s", self._at_server(refusal))
            finally:
                telling.cancel()

    def _describe_fault(self, error: openai.APIConnectionError) -> str:
        """What failed at the server's address, without the cause."""
        if is_broken_off(error):
            return f"the server at {self._server.base_url} breaks off its replies"
        return f"no language model server at {self._server.base_url}"

    def _describe_no_answer(self, error: BaseException) -> str:
        """Why the server's models are not known, and what may help."""
        variable = self._settings.base_url_variable
        to_set = f"set {variable} to" if variable else "name"

        if is_silence(error):
            return (
                f"the server at {self._server.base_url} accepts connections and does not reply: it may be busy with "
                f"other requests or hang; if it is not a language model server, {to_set} the address of one"
            )

        if is_broken_off(error):
            return (
                f"the server at {self._server.base_url} accepts connections and breaks off its replies "
                f"({self._server.describe_failure(error)}): its log says why; if it is not a language model server, "
                f"{to_set} the address of one"
            )

        return (
            f"no language model server answers at {self._server.base_url} "
            f"({self._server.describe_failure(error)}): start it, or {to_set} its address"
        )

    def _tell_of_silence(self) -> None:
        log.warning(
            "waiting for the first reply of the server at %s, which may be loading its model; at most %.0f s",
            self._server.base_url,
            LOADING_SECONDS,
        )

    def _at_server(self, refusal: RefusedError) -> str:
        """The refusal with the server's address."""
        return self._server.describe_refusal(refusal).replace("the server", f"the server at {self._server.base_url}", 1)

    async def _answer(self, client: Client, request: GenerationRequest, deadline: Deadline) -> Generation:
        try:
            reply = await self._server.complete(client, self._body(request), deadline)
        except RefusedError as refusal:
            return Generation.failed(self._server.describe_refusal(refusal))
        except (openai.APIConnectionError, TimeoutError):
            raise
        except (openai.OpenAIError, httpx2.HTTPError, ValueError) as error:
            # One reply that the client cannot read costs no other.
            return Generation.failed(f"the server's reply cannot be read: {self._server.describe_failure(error)}")
        generation = read_reply(reply, request.max_tokens, request.stop)
        # Nor one that came unasked: vLLM's server masks before it measures, another ignores the grammar, and the reply
        # does not tell which.
        return generation if request.grammar is None else replace(generation, mean_log_probability=None)

    def _body(self, request: GenerationRequest) -> Body:
        """The request in the usual form; `Server.complete` writes it otherwise where it is refused."""
        adapters = self._settings.adapters
        body: Body = {
            "model": self._model if request.adapter is None else adapters[request.adapter],
            "max_tokens": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            # Some servers stream by default.
            "stream": False,
        }
        # An empty string ends every text before it begins.
        stop = [string for string in request.stop if string]
        if stop:
            body["stop"] = stop
        if request.grammar is not None:
            body["structured_outputs"] = {"grammar": request.grammar}
        if request.with_log_probability and request.grammar is None:
            # A flag for chats; for completions the number of alternatives.
            body["logprobs"] = True if request.prompt is None else 1

        if request.prompt is not None:
            body["prompt"] = _safe(request.prompt)
        else:
            body["messages"] = [{"role": turn.role, "content": _safe(turn.content)} for turn in request.messages]
        return body


def _safe(text: str) -> str:
    """The text as it can be sent, without marks that a model's template reads as the end of a turn."""
    return without_control_tokens(encodable(text))


def _run_in_thread(coroutine: Coroutine[None, None, None], deadline: Deadline) -> None:
    """Run a coroutine to its end or the deadline, also inside a running event loop (a notebook).

    Raises TimeoutError: the deadline came first.
    """

    async def bounded_work() -> None:
        async with asyncio.timeout(deadline.remaining):
            await coroutine

    # The extra second lets `asyncio.timeout` end the work in an orderly way first. A hanging name lookup, which asyncio
    # cannot cancel, is left behind, and after Ctrl-C the replies are.
    call_within(deadline.remaining + 1.0, lambda: asyncio.run(bounded_work()))
