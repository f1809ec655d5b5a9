"""Sends requests to one server: with its key, in the form that it takes, and with the patience that it needs."""

import asyncio
import base64
import json
import logging
import os
import re
import ssl
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import Any
from urllib.parse import quote

import httpx2
import openai

from crag.core.deadline import Deadline
from crag.engines.llm.base import EngineUnavailableError
from crag.engines.llm.openai_address import ServerAddress
from crag.engines.llm.openai_body import read_text
from crag.engines.llm.openai_dialect import SUPERSEDED, Body, Change, apply_changes, describe_change, find_changes
from crag.engines.llm.openai_models import describe_names, is_listing
from crag.engines.llm.openai_refusal import USUAL_ATTEMPTS, RefusedError, read_error
from crag.engines.llm.openai_reply import has_only_thoughts
from crag.engines.llm.openai_stream import find_stream_error, is_event_stream
from crag.engines.llm.openai_transport import Proxy, find_proxy, is_silence, open_connections, read_certificates
from crag.settings import MODEL_VARIABLE

log = logging.getLogger(__name__)

Client = openai.AsyncOpenAI
pause = asyncio.sleep
"""Tests replace it."""

MOST_SILENT_SECONDS = 300.0
"""How long the start waits for a server that accepts connections and does not reply: it may be busy with others."""
LISTING_SECONDS = 60.0
"""For one list of models from its first byte to its last: a server may send a byte now and then, without an end."""
_CONNECT_SECONDS = 5.0
_COMPLAINTS = frozenset({400, 422})
"""Statuses that say what is wrong with a request."""
_TOO_LONG_STATUSES = frozenset({400, 413, 422, 500})
_LONG_PAUSE = 10.0
"""In seconds. A longer pause while the server starts is announced in a line."""
_WANTS_TLS = re.compile(r"HTTP request (?:was sent )?to (?:an )?HTTPS", re.IGNORECASE)
_NO_HTTP = re.compile(r"without sending a response|illegal (?:request|status) line|^ReadError$", re.IGNORECASE)
"""What is said of a server that sends no HTTP, such as one that waits for TLS."""
_OPENAI_HOST = "openai.com"
_ACCOUNT_VARIABLES = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
_SECRET_NAME = re.compile(r"key|token|secret|sig|password|auth|code|credential", re.IGNORECASE)
"""Of a parameter in the address."""
_SHORTEST_SECRET = 6
"""Shorter keys are dummies such as `EMPTY`, a word that messages may contain."""


class Server:
    """Sends requests to one address, repeats those that may succeed later, and remembers what it refuses.

    Args:
        address: Where it is.
        key: Empty: it needs none.
        variable: The environment variable of the address, for messages.
        key_variable: That of the key.
    """

    def __init__(self, address: ServerAddress, key: str, variable: str, key_variable: str) -> None:
        self.base_url = address.candidates[0]
        """Where ``/chat/completions`` is; without credentials, as it appears in messages."""
        self._address = address
        self._variable = variable
        self._key_variable = key_variable
        self._changes: set[Change] = set()
        self._is_told_to_load = False
        self._is_told_to_be_busy = False

        if not key.isascii() or not key.isprintable():
            raise EngineUnavailableError(f"the key in {key_variable} has a character that no key has")
        for name in _ACCOUNT_VARIABLES:
            value = os.environ.get(name, "")
            if address.url.host.endswith(_OPENAI_HOST) and not (value.isascii() and value.isprintable()):
                raise EngineUnavailableError(f"{name} has a character that no header has")

        basic = base64.b64encode(f"{address.user}:{address.password}".encode()).decode()
        headers = {"Accept-Encoding": "identity"}
        if address.user or address.password:
            headers["Authorization"] = f"Basic {basic}"
        if address.deployment:
            headers["api-key"] = key
        self._client_options: dict[str, Any] = {
            # The client refuses to start without a key, but local servers need none.
            "api_key": key or "not-needed",
            "default_headers": headers,
            "default_query": dict(address.query),
        }

        query_secrets = [value for name, value in address.query.items() if _SECRET_NAME.search(name)]
        # Without a password the name of the user is a token.
        user = "" if address.password else address.user
        secrets = _as_they_appear([key, basic, address.password, user, *query_secrets])
        # An empty pattern would match everywhere.
        matches_nothing = r"(?!)"
        self._secrets = re.compile("|".join(map(re.escape, secrets)) or matches_nothing)
        self._has_key = bool(key or address.user)
        self._offered_models = ""

    @cached_property
    def _proxy(self) -> Proxy | None:
        return find_proxy(self._address)

    @cached_property
    def _certificates(self) -> ssl.SSLContext:
        return read_certificates(self._address)

    def connect(self, deadline: Deadline, most_seconds: float = float("inf")) -> AbstractAsyncContextManager[Client]:
        """A client for one call of the engine: its connections belong to the event loop of that call.

        A request of it takes at most the deadline's time, and `most_seconds`.

        Raises EngineUnavailableError: the environment names a proxy or certificates that cannot be used.
        """
        seconds = max(0.001, min(deadline.remaining, most_seconds))
        client = openai.AsyncOpenAI(
            **self._client_options,
            base_url=self.base_url,
            max_retries=0,  # `_send_until_answered` repeats
            timeout=openai.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds)),
            http_client=open_connections(self._proxy, self._certificates),
        )
        # The library reads both from the environment. They say who pays there, and are nobody else's business.
        if not self._address.url.host.endswith(_OPENAI_HOST):
            client.organization = client.project = None
        return client

    # --- messages ----------------------------------------------------------------------------------------------------

    def describe_failure(self, error: BaseException) -> str:
        """Why no reply came, in one line, with the proxy that stood between."""
        cause = error.__cause__ or error
        words = " ".join(self._hide(cause).split()) or type(cause).__name__
        if "CERTIFICATE_VERIFY_FAILED" in words:
            words += "; SSL_CERT_FILE=FILE names a file with the certificate to trust"
        elif "SSL" in words or "TLS" in words:
            words += f"; if the server does not encrypt, write http:// in {self._place}"
        elif self._address.url.scheme == "http" and _NO_HTTP.search(words):
            words += f"; if the server encrypts, write https:// in {self._place}"
        if self._proxy is None:
            return words
        return f"{words}; asked through {self._proxy}; NO_PROXY={self._address.url.host} goes around it"

    def describe_refusal(self, refusal: RefusedError) -> str:
        """The status and the server's words, in one line, with what may help."""
        line = f"the server answered with status {refusal.status}: {refusal.words or 'no word why'}"
        advice = self._advise(refusal)
        return f"{line} ({advice})" if advice else line

    def _advise(self, refusal: RefusedError) -> str:
        """What may help; "" if that is not known."""
        if self._proxy and refusal.status in {403, 407, 502, 503, 504}:
            return f"asked through {self._proxy}"
        if refusal.status in {401, 403}:
            return self._advise_on_key()
        if _WANTS_TLS.search(refusal.words):
            return f"write https:// in {self._place}"
        if refusal.is_not_here:
            return f"at {self.base_url}: {self._to_set} the address that ends before /chat/completions"
        return self._advise_on_request(refusal)

    def _advise_on_request(self, refusal: RefusedError) -> str:
        if refusal.is_unknown_model:
            offer = f"it offers {self._offered_models}: " if self._offered_models else ""
            return f"{offer}name one of its models, with {MODEL_VARIABLE}=NAME or --judge-model NAME"
        if refusal.is_too_long and refusal.status in _TOO_LONG_STATUSES and not refusal.is_busy:
            return "shorter prompts: --set web.context.max_tokens=500, or give the server a longer context"
        return ""

    def _advise_on_key(self) -> str:
        if not self._key_variable:
            return ""
        return f"the key is that of {self._key_variable}" if self._has_key else f"{self._key_variable} is not set"

    @property
    def _place(self) -> str:
        """Where the user has written the address."""
        return self._variable or "the address"

    @property
    def _to_set(self) -> str:
        """What to do with another address, which follows."""
        return f"set {self._variable} to" if self._variable else "name"

    def _hide(self, text: object) -> str:
        """The text without the key and the password: a server may echo them."""
        return self._secrets.sub("***", str(text))

    # --- requests ----------------------------------------------------------------------------------------------------

    async def list_models(self, client: Client, deadline: Deadline) -> str:
        """The body of the list of models, at the first of the addresses that has one; `base_url` is then that address.

        Raises RefusedError: no address has one; that of the given address. openai.APIConnectionError: no connection.
        EngineUnavailableError: a list is still not whole after `LISTING_SECONDS`.
        """
        first_refusal: RefusedError | None = None
        for base_url in self._address.candidates:

            async def get(base_url: str = base_url) -> str:
                try:
                    async with asyncio.timeout(LISTING_SECONDS):
                        return await self._send(client.get(f"{base_url}/models", cast_to=httpx2.Response))
                except TimeoutError:
                    raise EngineUnavailableError(
                        f"the server at {base_url} sends its list of models bit by bit and came to no end within "
                        f"{LISTING_SECONDS:.0f} s; if it is not a language model server, {self._to_set} the "
                        "address of one"
                    ) from None

            try:
                listing = await self._send_until_answered(get, deadline, at_start=True)
            except RefusedError as refusal:
                first_refusal = first_refusal or refusal
                # Any other status is that of a server, which need not have a list.
                if not refusal.is_not_here:
                    break
            else:
                if is_listing(listing):
                    self._move(base_url)
                    self._offered_models = describe_names(listing)
                    return listing
                first_refusal = first_refusal or RefusedError(200, listing)

        assert first_refusal is not None  # noqa: S101 - there is at least one candidate
        raise first_refusal

    async def complete(self, client: Client, body: Body, deadline: Deadline, *, is_first: bool = False) -> str:
        """The body of the reply to a request of ``chat/completions`` or, with a prompt, of ``completions``.

        What the server refuses is written otherwise, once each; what it then takes is remembered. A reply that ends
        within the model's thoughts is asked for again with room for them. `is_first`: a rehearsal, with more patience
        and no need of an answer.

        Raises RefusedError: the last refusal; openai.APIConnectionError: no connection.
        """
        changes = set(self._changes)
        causes: dict[Change, RefusedError | None] = {}
        only_thoughts: str | None = None
        while True:
            written = apply_changes(body, changes)
            try:
                reply = await self._post(client, written, deadline, is_first=is_first)
            except RefusedError as refusal:
                # More room than the server has.
                if only_thoughts is not None:
                    return only_thoughts
                new_changes = find_changes(refusal, written, changes)
                if not new_changes:
                    raise
                causes |= dict.fromkeys(new_changes, refusal)
                changes.update(new_changes)
                continue

            if not is_first and Change.ROOM_FOR_THOUGHTS not in changes and has_only_thoughts(reply):
                only_thoughts = reply
                causes[Change.ROOM_FOR_THOUGHTS] = None
                changes.add(Change.ROOM_FOR_THOUGHTS)
                continue
            # Only now is it certain: the request succeeded so.
            self._remember(causes)
            return reply

    def _remember(self, causes: dict[Change, RefusedError | None]) -> None:
        self._changes.update(change for change in causes if change in SUPERSEDED and SUPERSEDED[change] in causes)
        for change, cause in causes.items():
            # Another request of the batch may have found out before.
            if change not in self._changes:
                self._changes.add(change)
                log.warning("%s", describe_change(change, self.base_url, cause))

    async def _post(self, client: Client, body: Body, deadline: Deadline, *, is_first: bool) -> str:
        """The reply, at the first address that has the endpoint. Raises as `complete`."""
        endpoint = "completions" if "prompt" in body else "chat/completions"
        first_refusal: RefusedError | None = None
        for base_url in dict.fromkeys([self.base_url, *self._address.candidates]):

            async def post(base_url: str = base_url) -> str:
                return await self._send(client.post(f"{base_url}/{endpoint}", cast_to=httpx2.Response, body=body))

            try:
                reply = await self._send_until_answered(post, deadline, at_start=is_first)
            except RefusedError as refusal:
                first_refusal = first_refusal or refusal
                if not refusal.is_not_here:
                    # At another address than the given one it may be anybody's, unless it has read the request.
                    has_read_it = base_url == self.base_url or refusal.status in _COMPLAINTS
                    raise refusal if has_read_it else first_refusal from None
            else:
                self._move(base_url)
                return reply

        assert first_refusal is not None  # noqa: S101 - there is at least one address
        raise first_refusal

    def _move(self, base_url: str) -> None:
        """From now on ask at this address; tell the user if it is another one."""
        if base_url != self.base_url:
            log.warning("the server answers at %s, not at %s: %s it", base_url, self.base_url, self._to_set)
            self.base_url = base_url

    async def _send(self, request: Awaitable[httpx2.Response]) -> str:
        """The body of a reply that is not an error. Raises RefusedError, openai.APIConnectionError."""
        try:
            response = await request
        except openai.APIStatusError as error:
            body = self._hide(read_text(error.response))
            raise RefusedError(error.status_code, body, error.response.headers) from None

        body = self._hide(read_text(response))
        reported = find_stream_error(body) if is_event_stream(body) else body
        refusal = read_error(reported, response.headers) if reported is not None else None
        if refusal:
            raise refusal
        return body

    async def _send_until_answered(
        self, send: Callable[[], Awaitable[str]], deadline: Deadline, *, at_start: bool
    ) -> str:
        """The reply, after as many attempts and pauses as the refusals ask for, within the deadline.

        Raises RefusedError, openai.APIConnectionError: the last ones.
        """
        remaining_at_start = deadline.remaining
        attempt = 1
        while True:
            try:
                return await send()
            except openai.APITimeoutError as error:
                waited = remaining_at_start - deadline.remaining
                is_too_long = waited >= MOST_SILENT_SECONDS or deadline.expired
                if not at_start or not is_silence(error) or is_too_long:
                    raise
                # Servers with one thread reply to nobody while they generate, be it for a run that has ended: that is
                # no failed attempt.
                self._tell_of_silence()
                continue

            except openai.APIConnectionError:
                if attempt >= USUAL_ATTEMPTS:
                    raise
                seconds = 0.5 * 2.0 ** (attempt - 1)

            except RefusedError as refusal:
                requested_pause = refusal.pause_before(attempt + 1, at_start=at_start)
                # A pause beyond the deadline would only hide what the server says.
                if requested_pause is None or requested_pause >= deadline.remaining:
                    raise
                seconds = requested_pause
                is_long = attempt >= USUAL_ATTEMPTS or seconds >= _LONG_PAUSE
                if refusal.is_loading or (at_start and is_long):
                    self._tell_of_loading(refusal)

            await pause(seconds)
            attempt += 1

    def _tell_of_loading(self, refusal: RefusedError) -> None:
        if not self._is_told_to_load:
            self._is_told_to_load = True
            purpose = " to load its model" if not refusal.is_busy else ""
            message = "waiting for the server at %s%s (status %d: %s)"
            log.warning(message, self.base_url, purpose, refusal.status, refusal.words)

    def _tell_of_silence(self) -> None:
        if not self._is_told_to_be_busy:
            self._is_told_to_be_busy = True
            log.warning(
                "the server at %s accepts connections and does not reply yet; it may be busy: waiting at most %.0f s",
                self.base_url,
                MOST_SILENT_SECONDS,
            )


def _as_they_appear(secrets: Iterable[str]) -> list[str]:
    """The secrets that are long enough to be one, as they are, as in an address and as in JSON; the longest first."""
    forms: set[str] = set()
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            forms |= {secret, quote(secret, safe=""), quote(secret), json.dumps(secret)[1:-1]}
    return sorted(forms, key=len, reverse=True)
