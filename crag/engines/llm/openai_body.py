"""The bytes and the JSON that servers send, in the forms in which they send them: decoded, stripped and unwrapped."""

import json
from typing import Any

import httpx2

_BLANKS = "\ufeff \t\r\n\x1e"
"""Blanks, and the marks of order and of records (RFC 7464)."""
_LOOSE_JSON = json.JSONDecoder(strict=False)
_WRAPPERS = ("data", "result", "response", "body", "output")
_CONTENTS = frozenset({"choices", "error", "Error"})
"""What a reply or an error is recognised by."""


def read_text(response: httpx2.Response) -> str:
    """The body as text, without what stands before its content.

    JSON and event streams are UTF-8, whatever the header declares (RFC 8259, WHATWG HTML); only a body that is not is
    read as declared.
    """
    body = response.content
    for encoding in (json.detect_encoding(body), response.charset_encoding or "utf-8"):
        try:
            text = body.decode(encoding)
        except (LookupError, UnicodeError):
            continue
        return _without_preamble(text)
    return _without_preamble(body.decode("utf-8", errors="replace"))


def _without_preamble(text: str) -> str:
    """The text without blanks and comments of event streams before it: gateways send them while the model is busy."""
    start = 0
    while start < len(text):
        if text[start] in _BLANKS:
            start += 1
            continue
        end = text.find("\n", start) if text[start] == ":" else -1
        if end < 0:
            break
        start = end
    # A body that is nothing else is shown as it is.
    return text[start:] or text


def parse_json(body: str) -> Any:  # noqa: ANN401 - any JSON
    """The first JSON value of a body; None if it has none.

    Half a surrogate pair, bare line ends in a text, and more behind the value do no harm. JSON within a JSON text is
    read too.
    """
    try:
        value = _LOOSE_JSON.raw_decode(body.lstrip("\ufeff \r\n\t"))[0]
        if isinstance(value, str) and value.lstrip().startswith("{"):
            value = _LOOSE_JSON.raw_decode(value.lstrip())[0]
    except (ValueError, RecursionError):
        return None
    return value


def is_whole_reply(body: bytes) -> bool:
    """Whether a body is one JSON value to its end, and not the first of several chunks of an answer.

    Example:
        >>> is_whole_reply(b'{"choices": [{"message": {"content": "Ida"}}]}')
        True
        >>> is_whole_reply(b'{"choices": [{"delta": {"content": "Ida"}, "finish_reason": null}]}')
        False
    """
    try:
        reply = json.loads(_without_preamble(body.decode()))
    except (ValueError, RecursionError):
        return False
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not choices:
        return True
    choices = choices if isinstance(choices, list) else [choices]
    return any(_has_ended(choice) for choice in choices if isinstance(choice, dict))


def _has_ended(choice: dict[str, Any]) -> bool:
    # Only a chunk says that there is no reason for an end yet
    return bool(choice.get("finish_reason", "message" in choice))


def unwrap(value: object) -> object:
    """The reply or the error in a list of one, or in an object that a gateway has put around it; else the value.

    >>> unwrap({"code": 0, "data": {"choices": []}})
    {'choices': []}
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict) or _CONTENTS & value.keys():
        return value
    for name in _WRAPPERS:
        inside = value.get(name)
        if isinstance(inside, list) and len(inside) == 1:
            inside = inside[0]
        if isinstance(inside, dict) and _CONTENTS & inside.keys():
            return inside
    return value


def is_page(body: str) -> bool:
    """Whether a body is a web page."""
    return body[:200].lstrip("\ufeff \r\n\t").lower().startswith(("<!doctype", "<html", "<head", "<?xml"))
