"""What a server says when it does not answer: its words in one line, and whether to ask again, and when."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from crag.core.text import clean

USUAL_ATTEMPTS = 3
"""Of a request that fails with a status that may pass."""
BUSY_ATTEMPTS = 7
"""Of a request that a busy server sends away without saying for how long."""
START_ATTEMPTS = 18
"""At the start, of a request that a gateway sends away: two minutes in all."""
_LONGEST_PAUSE = 8.0
"""Between two attempts, in seconds, if the server asks for none."""
_SHORTEST_PAUSE = 0.25
"""A server that asks for less gets the usual pauses."""
_MOST_CHARACTERS = 200

_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_GATEWAY = frozenset({502, 503, 504})
_BUSY = frozenset({429, 529})
_NOT_HERE = frozenset({404, 405})
_LOADING = re.compile(
    r"""
      \b (?:re)? (?: loading | starting | warming | initiali[sz]ing ) \b
    | \b not [ ] (?:been[ ]|yet[ ]|fully[ ])? (?: ready | loaded | initiali[sz]ed ) \b
    | \b (?: warm | start | boot ) (?:ing)? [ -]? up \b
    | estimated_time     # Hugging Face's inference servers
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FAILED_TO_LOAD = re.compile(
    r"\b(?:error|fail(?:ed|ure)?|unable|cannot|could not|can't)\s(?:while\s|when\s)?(?:to\s)?(?:be\s)?(?:re)?load",
    re.IGNORECASE,
)
"""It never will."""
_OVERLOADED = re.compile(
    r"overload|too many requests|rate.?limit|at capacity|server is busy|server busy", re.IGNORECASE
)
_USED_UP = re.compile(
    r"insufficient.{0,3}(?:quota|balance|funds|credit)|billing|quota.{0,30}exceeded.{0,40}plan|payment|out of credits",
    re.IGNORECASE,
)
_WAIT = re.compile(
    r"""
    (?: try[ ]again | retry | wait ) [^.\d]{0,40}
    (?P<number> \d{1,6} (?:\.\d{1,6})? ) \s?
    (?P<unit> ms | milliseconds? | s | sec | seconds? | m | min | minutes? ) \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_RETRY_DELAY = re.compile(r'"(?:retryDelay|retry_after|estimated_time)"\s?:\s?"?(?P<number>\d{1,6}(?:\.\d{1,9})?)')
_BARE_MESSAGES = ("message", "msg", "detail")
_TITLE = re.compile(r"<title[^<>]{0,80}>(?P<text>[^<]{1,200})", re.IGNORECASE)
_MODEL_UNKNOWN = re.compile(r"model|deployment|endpoints found", re.IGNORECASE)


class RefusedError(Exception):
    """A reply that is not an answer: its `body`, and its `status`, which a body may name under status 200."""

    def __init__(self, status: int, body: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        self.headers = headers or {}

    @property
    def words(self) -> str:
        """The server's message in one line."""
        return read_message(self.body)

    @property
    def parameter(self) -> str | None:
        """The parameter at fault, if the server names it in a field of its own."""
        error = _error_object(self.body)
        name = error.get("param") if isinstance(error, dict) else None
        return name if isinstance(name, str) and name else None

    @property
    def is_loading(self) -> bool:
        """Whether the server has not loaded its model yet."""
        may_pass = self.status in {200, 425, 500, 502, 503, 504}
        return may_pass and bool(_LOADING.search(self.body)) and not _FAILED_TO_LOAD.search(self.body)

    @property
    def is_busy(self) -> bool:
        """Whether the server has too much to do."""
        return self.status in _BUSY or _OVERLOADED.search(self.body) is not None

    @property
    def is_not_here(self) -> bool:
        """Whether the address has no such endpoint; an unknown model is another matter."""
        if self.status in _NOT_HERE:
            return _is_page(self.body) or not _MODEL_UNKNOWN.search(self.words)
        # A web interface answers any path with its page.
        return self.status == httpx2.codes.OK and _is_page(self.body)

    def pause_before(self, attempt: int, *, at_start: bool = False) -> float | None:
        """Seconds to wait before the attempt of this number (the first one is 1); None: it is no use to ask again.

        `at_start`: what stands before a server may be ready long before the server, so it gets more time.
        """
        if self.is_loading:
            return self._asked_pause() or min(_LONGEST_PAUSE, 2.0 ** (attempt - 2))
        if not self.is_busy and self.status not in _PASSING:
            return None
        if _USED_UP.search(self.body):
            return None

        requested_pause = self._asked_pause()
        usual_pause = min(_LONGEST_PAUSE, 0.5 * 2.0 ** (attempt - 2))
        if requested_pause is not None:
            # "Retry-After: 0" of a server that is still busy would be thousands of requests.
            return requested_pause if requested_pause >= _SHORTEST_PAUSE else usual_pause
        max_attempts = BUSY_ATTEMPTS if self.is_busy else USUAL_ATTEMPTS
        if at_start and self.status in _GATEWAY:
            max_attempts = START_ATTEMPTS
        return usual_pause if attempt <= max_attempts else None

    def _asked_pause(self) -> float | None:
        """How long the server asks to wait, in seconds: in its headers or in its words."""
        milliseconds = self.headers.get("retry-after-ms", "")
        if re.fullmatch(r"\d{1,8}(?:\.\d{1,3})?", milliseconds):
            return float(milliseconds) / 1000

        after = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"\d{1,6}(?:\.\d{1,6})?", after):
            return float(after)
        if after:
            return _seconds_until(after)

        delay = _RETRY_DELAY.search(self.body)
        if delay:
            return float(delay["number"])
        wait = _WAIT.search(self.body)
        if not wait:
            return None
        return float(wait["number"]) * _seconds_of(wait["unit"].lower())


def read_message(body: str) -> str:
    """The message in the body of an error, in one line of at most 200 characters; the body's beginning if it has none.

    Example:
        >>> read_message('{"error": {"message": "no such model", "code": 404}}')
        'no such model'
    """
    message = _find_message(_error_object(body))
    if message is None and _is_page(body):
        title = _TITLE.search(body[:10_000])
        message = f"a web page{': ' + title['text'] if title else ''}"
    return " ".join(clean(message or body, max_characters=_MOST_CHARACTERS).split())


def read_error(body: str, headers: Mapping[str, str] | None = None) -> RefusedError | None:
    """The refusal in a reply whose status says that all is well; None if it is none."""
    if _is_page(body):
        return RefusedError(200, body, headers)
    reply = _parse(body)
    if not isinstance(reply, dict) or reply.get("choices"):
        return None

    has_error = reply.get("error") or reply.get("object") == "error"
    # `{"code": 400, "message": "..."}`, which no answer and no list of models looks like.
    is_other_reply = "choices" in reply or isinstance(reply.get("data", reply.get("models")), list)
    is_bare_error = not is_other_reply and any(isinstance(reply.get(name), str | list) for name in _BARE_MESSAGES)
    if not (has_error or is_bare_error):
        return None
    error = _error_object(body)
    codes = [error.get(name) for name in ("code", "status", "status_code")] if isinstance(error, dict) else []
    status = next((code for code in map(_as_status, codes) if code), 200)
    return RefusedError(status, body, headers)


def _as_status(code: object) -> int | None:
    text = str(code)
    return int(text) if re.fullmatch(r"[45]\d\d", text) else None


def _error_object(body: str) -> Any:  # noqa: ANN401 - any JSON
    """The part of a body that describes the error: ``{"error": {...}}`` or the body itself, alone or in a list."""
    reply = _parse(body)
    if isinstance(reply, list) and reply:
        reply = reply[0]
    if isinstance(reply, dict):
        return reply.get("error") or reply
    return reply


def _find_message(error: object) -> str | None:
    """The first text under the names that servers use; what is not text there is shown as JSON."""
    if isinstance(error, str):
        return error
    if isinstance(error, list) and error:
        return _find_message(error[0])
    if not isinstance(error, dict):
        return None
    for name in ("message", "msg", "detail", "error", "errors", "error_description", "title", "reason"):
        value = error.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, dict | list) and value:
            return _find_message(value) or json.dumps(value, ensure_ascii=False)[:_MOST_CHARACTERS]
    return None


def _parse(body: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        return json.loads(body.lstrip("\ufeff \r\n\t"))
    except (ValueError, RecursionError):
        return None


def _is_page(body: str) -> bool:
    beginning = body[:200].lstrip("\ufeff \r\n\t").lower()
    return beginning.startswith(("<!doctype", "<html", "<head", "<?xml"))


def _seconds_of(unit: str) -> float:
    """The seconds of a unit of time, as `_WAIT` reads it."""
    if unit.startswith(("ms", "milli")):
        return 0.001
    return 60.0 if unit.startswith("m") else 1.0


def _seconds_until(date: str) -> float | None:
    """Seconds until a date as in the header ``Retry-After``; None if it cannot be read."""
    try:
        moment = parsedate_to_datetime(date)
        return max(0.0, (moment - datetime.now(moment.tzinfo)).total_seconds())
    except (TypeError, ValueError):
        return None
