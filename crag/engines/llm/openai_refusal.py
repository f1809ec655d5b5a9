"""What a server says when it does not answer: its words in one line, and whether to ask again, and when."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from crag.core.text import clean
from crag.engines.llm.openai_body import is_page, parse_json, unwrap

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

_PASSING = frozenset({408, 409, 424, 425, 429, 499, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530})
"""Statuses after which the same request may succeed later."""
_GATEWAY = frozenset({502, 503, 504})
"""Statuses of what stands before a server that is not there yet."""
_BUSY = frozenset({429, 529})
"""Statuses of a server that has too much to do."""
_NOT_HERE = frozenset({404, 405})
"""Statuses of an unknown path."""
_MAYBE_NOT_HERE = frozenset({200, 400, 501})
"""The same at some servers, which then say so in words: LM Studio's 200, for one."""
_NO_ENDPOINT = re.compile(
    r"\b(?:unexpected|unknown|invalid|no such) (?:endpoint|path|route|url)\b"
    r"|\bunsupported method\b|\bcannot (?:post|get) /",
    re.IGNORECASE,
)
_LOADING = re.compile(
    r"""
      \b (?:re|down)? (?: loading | starting | warming | booting | pulling | initiali[sz]ing | deploying ) \b
    | \b (?: initiali[sz]ation | deployment ) [ ] in [ ] progress \b
    | \b being [ ] (?: (?:down)?loaded | pulled | started | initiali[sz]ed | deployed ) \b
    | \b not [ ] (?:been[ ]|yet[ ]|fully[ ])? (?: ready | loaded | initiali[sz]ed ) \b
    | \b cold [ -] start | \b scal (?: ing | ed ) [ ] (?: up | from ) \b
    | \b (?: warm | start | boot ) (?:ing)? [ -]? up \b
    | estimated_time     # Hugging Face's inference servers
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FAILED_TO_LOAD = re.compile(
    r"""
      \b (?: error | fail(?:ed|ure)? | unable | cannot | could[ ]not | can't ) \s
      (?:while\s|when\s)? (?:to\s)? (?:be\s)? (?: (?:re|down)?load | pull | start | boot | initiali | deploy )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""It never will."""
_MODEL_GONE = re.compile(
    r"\bmodel (?:is |was )?unloaded\b|\bmodel has crashed\b|\boperation cancell?ed\b", re.IGNORECASE
)
"""What LM Studio says, with status 400, of a model that the next request loads again."""
_OVERLOADED = re.compile(
    r"""
      overload | throttl | \b busy \b | \b at [ ] capacity \b | rate .? limit
    | \b too [ ] many [ ] (?: requests | concurrent | pending )
    | \b queue \b .{0,20} \b full \b
    | \b (?: no | all ) \b .{0,20} \b slots? \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_TOO_LONG = re.compile(
    r"""
      context .{0,10} (?: length | window | size ) | too [ ] (?: long | large ) | exceed | reduce [ ] the [ ] length
    | prompt [ ] is [ ] longer | longer [ ] than [ ] the [ ] model
    | context [ ] (?: the [ ] )? overflow
    | \b (?: too [ ] many | fewer | less [ ] than [ ] \d+ ) [ ] (?: input | prompt )? [ ]? tokens
    | \b (?: inputs? | prompt | sequence ) [ ] length \b
    | \b max_(?: seq_len | model_len ) \b | \b n_ctx \b
    # "`inputs` tokens + `max_new_tokens` must be <= 2048", "input token count 3000 plus max_tokens 20"
    | \b (?: inputs? | prompt ) \W{1,3} tokens? \b .{0,20} (?: \+ | \b plus \b | \b and \b ) .{0,20} tokens \b
    # A server takes the prompt from the limit, and nothing is left.
    | tokens \b .{0,60} \b got [ ] -\d
    """,
    re.IGNORECASE | re.VERBOSE,
)
_USED_UP = re.compile(
    r"insufficient.{0,3}(?:quota|balance|funds|credit)|billing|quota.{0,30}exceeded.{0,40}plan|payment|out of credits"
    r"|\bper[\s-]day\b|\bdaily\b|\bperday\b|余额|欠费|充值",
    re.IGNORECASE,
)
"""Money, or a day's share: no pause of seconds helps."""
_DAY_USED_UP = re.compile(r"RequestsPerDay|TokensPerDay")
"""In the names of Gemini's limits; the pause that stands beside them is that of a minute."""
_DURATION_PART = re.compile(
    r"(?P<number>\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(?P<unit>milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h)(?![a-z])",
    re.IGNORECASE,
)
_WAIT = re.compile(
    r"(?:try again|retry|wait)[^.\d]{0,40}(?P<duration>(?:\d[\d.]{0,12}\s?[a-z]{1,12}[\s,]{0,2}(?:and\s)?){1,4})",
    re.IGNORECASE,
)
"""As in "try again in 7m12.5s"."""
_RETRY_DELAY = re.compile(r'"(?:retryDelay|retry_after|estimated_time)"\s?:\s?"?(?P<number>\d{1,6}(?:\.\d{1,9})?)')
_BARE_MESSAGES = ("message", "msg", "detail", "errors", "error_msg", "error_message")
_MESSAGE_NAMES = (
    "message", "msg", "detail", "error", "errors", "error_description", "error_message", "error_msg", "status_msg",
    "base_resp", "title", "reason",
)  # fmt: skip
"""Fields with the words of an error, the most telling first; `_BARE_MESSAGES` of one that has no object of its own."""
_TITLE = re.compile(r"<title[^<>]{0,80}>(?P<text>[^<]{1,200})", re.IGNORECASE)
_MODEL_UNKNOWN = re.compile(r"model|deployment|endpoints found", re.IGNORECASE)
"""In a status that may mean the address or the model: what says that it is the model."""
_UNKNOWN_MODEL = re.compile(
    r"\b(?:model|deployment)\b.{0,80}\b(?:not (?:found|exist|available|a valid)|unknown|invalid|no longer)"
    r"|\b(?:no such|unknown|invalid|not a valid|does not have the|no) (?:model|deployment)\b"
    r"|\b(?:could not find|unable to access|no router for|no endpoints found for)\b",
    re.IGNORECASE,
)
_UNKNOWN_MODEL_CODE = re.compile(
    r"[\"'](?:model_not_(?:found|available|supported)|(?:unknown|invalid)_model|DeploymentNotFound)[\"']", re.IGNORECASE
)
"""In a field of its own, as the words are written for people."""


class RefusedError(Exception):
    """A reply that is not an answer: its `body`, and its `status`, which a body may name under status 200."""

    def __init__(self, status: int, body: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = _without_escapes(body)
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
        # A request that is too large for the limit of a minute stays so.
        is_too_large = self.status == httpx2.codes.CONTENT_TOO_LARGE
        return self.status in _BUSY or (not is_too_large and _OVERLOADED.search(self.body) is not None)

    @property
    def is_too_long(self) -> bool:
        """Whether the prompt, with the room for its answer, is longer than the server takes."""
        if self.status == httpx2.codes.CONTENT_TOO_LARGE:
            return True
        return self.status not in _BUSY and _TOO_LONG.search(self.body) is not None

    @property
    def is_unknown_model(self) -> bool:
        """Whether the server has no model of the name that was asked for."""
        is_told = self.status in {400, 404} and not is_page(self.body)
        return is_told and bool(_UNKNOWN_MODEL.search(self.words) or _UNKNOWN_MODEL_CODE.search(self.body))

    @property
    def is_not_here(self) -> bool:
        """Whether the address has no such endpoint; an unknown model is another matter."""
        if self.status in _NOT_HERE:
            return is_page(self.body) or not _MODEL_UNKNOWN.search(self.words) or bool(_NO_ENDPOINT.search(self.words))
        if self.status in _MAYBE_NOT_HERE and _NO_ENDPOINT.search(self.words):
            return True
        # A web interface answers any path with its page.
        return self.status == httpx2.codes.OK and is_page(self.body)

    def pause_before(self, attempt: int, *, at_start: bool = False) -> float | None:
        """Seconds to wait before the attempt of this number (the first one is 1); None: it is no use to ask again.

        `at_start`: what stands before a server may be ready long before the server, so it gets more time.
        """
        if self.is_loading:
            return self._requested_pause() or min(_LONGEST_PAUSE, 2.0 ** (attempt - 2))
        may_pass = self.is_busy or self.status in _PASSING or _MODEL_GONE.search(self.body)
        if not may_pass:
            return None
        requested_pause = self._requested_pause()
        # Gemini names plan and billing also where a minute is used up, with the rest of the minute as the pause.
        is_used_up = _DAY_USED_UP.search(self.body) or (requested_pause is None and _USED_UP.search(self.body))
        if is_used_up:
            return None

        usual_pause = min(_LONGEST_PAUSE, 0.5 * 2.0 ** (attempt - 2))
        if requested_pause is not None:
            # "Retry-After: 0" of a server that is still busy would be thousands of requests.
            return requested_pause if requested_pause >= _SHORTEST_PAUSE else usual_pause
        max_attempts = BUSY_ATTEMPTS if self.is_busy else USUAL_ATTEMPTS
        if at_start and self.status in _GATEWAY:
            max_attempts = START_ATTEMPTS
        return usual_pause if attempt <= max_attempts else None

    def _requested_pause(self) -> float | None:
        """How long the server asks to wait, in seconds: in its headers or in its words."""
        milliseconds = self.headers.get("retry-after-ms", "")
        if re.fullmatch(r"\d{1,8}(?:\.\d{1,3})?", milliseconds):
            return float(milliseconds) / 1000

        after = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"\d{1,12}(?:\.\d{1,9})?", after):
            return float(after)
        if after:
            return _read_duration(after) or _seconds_until(after)

        delay = _RETRY_DELAY.search(self.body)
        if delay:
            return float(delay["number"])
        wait = _WAIT.search(self.body)
        return _read_duration(wait["duration"]) if wait else None


def _without_escapes(body: str) -> str:
    r"""The same JSON with characters as they are; some servers escape each quote and each sign beyond ASCII.

    >>> _without_escapes('{"message": "caf\\u00e9"}')
    '{"message": "café"}'
    """
    value = parse_json(body) if "\\u" in body else None
    return body if value is None else json.dumps(value, ensure_ascii=False)


def read_message(body: str) -> str:
    """The message in the body of an error, in one line of at most 200 characters; the body's beginning if it has none.

    >>> read_message('{"error": {"message": "no such model", "code": 404}}')
    'no such model'
    """
    message = _find_message(_inner_error(_error_object(body)))
    if message is None and is_page(body):
        title = _TITLE.search(body[:10_000])
        message = f"a web page{': ' + title['text'] if title else ''}"
    return " ".join(clean(message or body, max_characters=_MOST_CHARACTERS).split())


def read_error(body: str, headers: Mapping[str, str] | None = None) -> RefusedError | None:
    """The refusal in a reply whose status says that all is well; None if it is none."""
    if is_page(body):
        return RefusedError(200, body, headers)
    reply = unwrap(parse_json(body))
    if not isinstance(reply, dict) or reply.get("choices"):
        return None

    # `{"code": 400, "message": "..."}`, which no answer and no list of models looks like.
    is_other_reply = "choices" in reply or isinstance(reply.get("data", reply.get("models")), list)
    is_bare_error = not is_other_reply and any(
        reply.get(name) and isinstance(reply[name], str | list) for name in _BARE_MESSAGES
    )
    if not (_has_error(reply) or is_bare_error):
        return None
    error = _error_object(body)
    codes = [error.get(name) for name in ("code", "status", "status_code")] if isinstance(error, dict) else []
    status = next((code for code in map(_as_status, codes) if code), 200)
    return RefusedError(status, body, headers)


def _has_error(reply: dict[str, Any]) -> bool:
    if reply.get("error") or reply.get("Error") or reply.get("object") == "error":
        return True
    # MiniMax sends it beside `choices`, which are null then.
    base = reply.get("base_resp")
    return isinstance(base, dict) and bool(base.get("status_code"))


def _as_status(code: object) -> int | None:
    text = str(code)
    return int(text) if re.fullmatch(r"[45]\d\d", text) else None


def _error_object(body: str) -> Any:  # noqa: ANN401 - any JSON
    """The part of a body that describes the error: ``{"error": {...}}`` or the body itself, alone or in a list."""
    reply = parse_json(body)
    if isinstance(reply, list) and reply:
        reply = reply[0]
    reply = unwrap(reply)
    if isinstance(reply, dict):
        return reply.get("error") or reply.get("Error") or reply
    return reply


def _inner_error(error: object) -> object:
    """The words of the server behind OpenRouter, whose own say only that it refused; without them the error itself."""
    metadata = error.get("metadata") if isinstance(error, dict) else None
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return raw if isinstance(raw, str) and raw.strip() else error


def _find_message(error: object) -> str | None:
    """The first text under the names that servers use; what is not text there is shown as JSON."""
    if isinstance(error, str):
        # A gateway may quote the whole body of the server behind it.
        inside = parse_json(error) if error.lstrip().startswith("{") else None
        return (_find_message(inside) if inside else None) or error
    if isinstance(error, list) and error:
        return _find_message(error[0])
    if not isinstance(error, dict):
        return None

    by_name = {str(name).lower(): value for name, value in error.items()}
    for name in _MESSAGE_NAMES:
        value = by_name.get(name)
        if isinstance(value, str) and value:
            return _find_message(value)
        if isinstance(value, dict | list) and value:
            return _find_message(value) or json.dumps(value, ensure_ascii=False)[:_MOST_CHARACTERS]
    return None


def _read_duration(text: str) -> float | None:
    """The seconds of ``7m12.5s``, ``90 seconds`` or ``250ms``; None if it has no unit."""
    parts = list(_DURATION_PART.finditer(text))
    if not parts:
        return None
    return sum(float(part["number"]) * _seconds_of(part["unit"].lower()) for part in parts)


def _seconds_of(unit: str) -> float:
    """The seconds of a unit of time, as `_DURATION_PART` reads it."""
    if unit.startswith(("ms", "milli")):
        return 0.001
    return {"s": 1.0, "m": 60.0, "h": 3600.0}[unit[0]]


def _seconds_until(date: str) -> float | None:
    """Seconds until a date as in the header ``Retry-After``, in UTC without a zone; None if it cannot be read."""
    try:
        moment = parsedate_to_datetime(date)
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
