"""Joins an event stream into one reply: some servers stream although nobody asked, some know nothing else."""

import json
import re
from collections.abc import Iterator
from typing import Any

from crag.engines.llm.openai_body import unwrap

_LINE_END = re.compile(r"\r\n|\n|\r")
_DONE = "[DONE]"
_REPEATED_NAME = re.compile(r"\A(?:\s?data:)+(?=\s?[\[{])")
_IDLE_EVENT = re.compile(r"ping|heart.?beat|keep.?alive|progress|status", re.IGNORECASE)
"""Names of events that only keep the connection alive."""
_ERROR_FIELDS = frozenset({"message", "detail", "msg"})
_CALL_FIELDS = ("tool_calls", "function_call")
_TEXT_FIELDS = ("content", "reasoning_content", "reasoning", "refusal")


def is_event_stream(body: str) -> bool:
    """Whether a body is an event stream (WHATWG HTML, section 9.2) and no JSON."""
    beginning = body[:200].lstrip("\ufeff \r\n\t")
    return beginning.startswith(("data:", "event:", "id:", "retry:", ":"))


def join_stream(body: str) -> dict[str, Any] | None:
    """The reply that the chunks of an event stream add up to, in the form of a reply that was not streamed.

    None if it has no chunk. Comments, unknown events and words that only keep the connection alive are skipped. A chunk
    that cannot be read raises ValueError: the text would have a hole, or no end.
    """
    joined = _JoinedReply()
    for data in _read_events(body):
        if data == _DONE:
            break
        # Not "ping", "[HEARTBEAT]" or nothing, which some servers send while the model is busy.
        if data.startswith(("{", "[{")):
            chunk = unwrap(json.loads(data))
            if isinstance(chunk, dict):
                joined.add(chunk)
    return joined.as_reply()


def find_stream_error(body: str) -> str | None:
    """The error that a stream reports before its text has an end, as JSON; None if it reports none.

    What came before it is not an answer: nobody knows how the text would have gone on.
    """
    try:
        reply = join_stream(body) or {}
    except (ValueError, RecursionError):
        return None
    return json.dumps({"error": reply["error"]}) if "error" in reply else None


def join_lines(body: str) -> dict[str, Any] | None:
    """The reply in chunks that stand alone on their lines, without the marks of an event stream; None if it is none."""
    joined = _JoinedReply()
    lines = list(filter(str.strip, _LINE_END.split(body)))
    if len(lines) < 2:
        return None
    try:
        for line in lines:
            chunk = json.loads(line)
            if not isinstance(chunk, dict) or "choices" not in chunk:
                return None
            joined.add(chunk)
    except (ValueError, RecursionError):
        return None
    return joined.as_reply()


def _read_events(body: str) -> Iterator[str]:
    """The data of each event. The last one may lack the blank line that ends it."""
    data = ""
    is_idle = False
    for line in _LINE_END.split(body.lstrip("\ufeff")):
        name, _, value = line.strip(" \t").partition(":")
        if name == "event":
            is_idle = _IDLE_EVENT.fullmatch(value.strip()) is not None

        elif name == "data" and not is_idle:
            # A gateway may put its mark before that of the server behind it.
            part = _REPEATED_NAME.sub("", value).strip()
            # Data may span lines, but each chunk of ours is one line: some servers forget the blank one between two.
            if data and _is_whole(data):
                yield data
                data = ""
            data = f"{data}\n{part}" if data else part

        elif name == "error" and value:  # llama.cpp's servers of 2024
            yield json.dumps({"error": value.strip()})

        elif not line.strip():
            is_idle = False
            if data:
                yield data
                data = ""

    if data:
        yield data


def _is_whole(data: str) -> bool:
    if data == _DONE:
        return True
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def _first_choice(chunk: dict[str, Any]) -> dict[str, Any] | None:
    """The chunk's part of the choice with the index 0, which need not stand first; None if it has none."""
    choices = chunk.get("choices")
    choices = [choices] if isinstance(choices, dict) else choices
    if not isinstance(choices, list):
        return None
    for choice in choices:
        if isinstance(choice, dict) and choice.get("index") in (None, 0, "0"):
            return choice
    return None


def _continued(content: object, part: str | list[Any]) -> str | list[Any]:
    """A content with its next part: a text, or a list of parts if one of the two is a list."""
    parts = part if isinstance(part, list) else [part]
    if isinstance(content, list):
        return [*content, *parts]
    text = content if isinstance(content, str) else ""
    return f"{text}{part}" if isinstance(part, str) else [text, *parts]


class _JoinedReply:
    """The chunks so far of the first choice."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._choice: dict[str, Any] = {}
        self._log_probabilities: dict[str, list[Any]] = {}
        self._rest: dict[str, Any] = {}
        self._has_chunks = False
        self._has_deltas = False

    def add(self, chunk: dict[str, Any]) -> None:
        """Join the next chunk to those before."""
        for name in ("model", "usage"):
            if chunk.get(name):
                self._rest[name] = chunk[name]
        self._add_error(chunk)
        self._has_chunks |= "choices" in chunk or "error" in self._rest

        choice = _first_choice(chunk)
        # The first chunk of some servers has none, only what a filter found in the prompt.
        if choice is not None:
            self._add_choice(choice)

    def _add_choice(self, choice: dict[str, Any]) -> None:
        """What a chunk says of the choice: text, or a part of the message, or all of it, and perhaps the end."""
        if isinstance(choice.get("text"), str):
            self._choice["text"] = self._choice.get("text", "") + choice["text"]
        if choice.get("finish_reason"):
            self._choice["finish_reason"] = choice["finish_reason"]

        delta = choice.get("delta")
        if isinstance(delta, str):
            delta = {"content": delta}
        if isinstance(delta, dict):
            self._has_deltas = True
            self._add_delta(delta)

        # A last chunk with the whole message, after the parts or alone.
        if isinstance(choice.get("message"), dict):
            self._add_message(choice["message"])
        if isinstance(choice.get("logprobs"), dict):
            self._add_log_probabilities(choice["logprobs"])

    def _add_error(self, chunk: dict[str, Any]) -> None:
        """Of the chunk or its choice, in the forms that servers use; none after the end of the text."""
        if self._choice.get("finish_reason"):
            return
        choice = _first_choice(chunk)
        error = chunk.get("error") or (choice.get("error") if choice is not None else None)
        # The error itself: `{"object": "error", "message": ...}`, `{"detail": ...}`.
        if not error and "choices" not in chunk and _ERROR_FIELDS & chunk.keys():
            error = chunk
        if error:
            self._rest["error"] = error

    def _add_delta(self, delta: dict[str, Any]) -> None:
        for name in _TEXT_FIELDS:
            value = delta.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                value = str(value)
            if isinstance(value, str | list):
                self._message[name] = _continued(self._message.get(name), value)
        for name in _CALL_FIELDS:
            if delta.get(name):
                self._message[name] = delta[name]

    def _add_message(self, message: dict[str, Any]) -> None:
        """A whole message replaces what came before; without deltas it may also be the next part of one."""
        content = message.get("content")
        if not content:
            return
        before = self._message.get("content")
        is_part = isinstance(before, str) and isinstance(content, str) and not content.startswith(before)
        self._message = dict(message)
        if is_part and not self._has_deltas:
            self._message["content"] = f"{before}{content}"

    def _add_log_probabilities(self, values: dict[str, Any]) -> None:
        for name, entries in values.items():
            if isinstance(entries, list):
                self._log_probabilities.setdefault(name, []).extend(entries)

    def as_reply(self) -> dict[str, Any] | None:
        """The chunks as a reply that was not streamed; None without any chunk."""
        if not self._has_chunks:
            return None
        choice = dict(self._choice)
        if self._message or "text" not in choice:
            choice["message"] = {"content": None, **self._message}
        if self._log_probabilities:
            choice["logprobs"] = self._log_probabilities
        return {**self._rest, "choices": [choice]}
