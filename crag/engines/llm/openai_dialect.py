"""What a server refuses of a usual request, learned from its refusals: the request is then written otherwise."""

import enum
import re
from collections.abc import Collection, Mapping
from typing import Any

from crag.engines.llm.openai_refusal import RefusedError

Body = dict[str, Any]
"""A request as it is sent, as JSON."""

TOKENS_FOR_THOUGHTS = 2048
"""Added to the limit of a model that thinks before it answers: its thoughts count too."""


class Change(enum.Enum):
    """One way to write a request otherwise; the value says what is then told to the user."""

    STREAM = "only streams: replies are read as streams"
    NO_STREAM_FLAG = "refuses the parameter stream: requests go without"
    OTHER_LIMIT_NAME = "refuses max_tokens: max_completion_tokens is sent"
    NO_LIMIT = "refuses a limit of tokens: longer texts are cut here"
    HIGHER_TEMPERATURE = "refuses temperature 0: 0.01 is sent"
    NO_TEMPERATURE = "refuses temperature: it uses one of its own, so answers may differ from run to run"
    NO_TOP_P = "refuses top_p: requests go without"
    NO_STOP = "refuses stop strings: texts are cut here"
    NO_GRAMMAR = "refuses grammars: requests go without"
    NO_LOG_PROBABILITIES = "refuses log-probabilities"
    NO_THOUGHTS = "refuses thoughts in such requests: they are switched off"
    PARTS = "refuses plain texts as contents: they are sent in parts"
    FOLDED_SYSTEM = "refuses the role system: its text goes into the user's turn"
    PLAIN_TEXT = "has no chat for this model: prompts are sent as plain text"
    ROOM_FOR_THOUGHTS = f"spends its tokens on thoughts: {TOKENS_FOR_THOUGHTS:,} more are allowed"


SUPERSEDED = {
    Change.OTHER_LIMIT_NAME: Change.NO_LIMIT,
    Change.HIGHER_TEMPERATURE: Change.NO_TEMPERATURE,
}
"""A first try -> what is told in its place if that was needed after it."""

_STATUSES_OF_OTHER_CAUSES = frozenset({401, 402, 407, 408, 413, 429, 503, 529})
"""A key, a limit or a busy server: another request would be refused too."""

_QUOTED_VALUE = re.compile(r"[\"']\w{1,40}[\"']\s?:\s?(?:-?\d|true|false|null|\{|\[\s?\{)", re.IGNORECASE)
"""A parameter as the request has it, which some servers quote; it is not what they complain of."""
_REFUSED_VALUES = re.compile(r"\bnot support\b[^{}]{0,40}(?P<values>\{[^{}]{1,400}\})", re.IGNORECASE)
"""Values that a server quotes because it refuses them: LiteLLM's "does not support parameters: {'top_p': 1.0}"."""
_ECHO = re.compile(r"\b(?:input|input_value|value|received|got)[\"'`]?\s?[:=]\s?(?=[\[{])", re.IGNORECASE)
"""Before a part of the request that a server quotes whole: pydantic's ``'input': {...}``."""
_SUGGESTION = re.compile(r"\b(?:did|perhaps|maybe|if) you (?:mean|meant)\b[^?.;\n]{0,100}", re.IGNORECASE)
"""Another name than the one that is refused."""
_OFFER = re.compile(
    r"\bonly (?:the |these )?(?:following )?(?:parameters|params|fields|keys|properties|arguments)\b"
    r"|\b(?:supported|allowed|permitted|valid|known|available|accepted|recogni[sz]ed)\ "
    r"(?:parameter|param|argument|field|key|option|propert)(?:s|ies)?\s?(?:are\b|:)"
    r"|\bexpected one of\b|\bmust be one of\b",
    re.IGNORECASE,
)
"""What follows lists what the server takes, not what it refuses."""
_LOG_PROBABILITIES = re.compile(r"log[\s_-]?prob", re.IGNORECASE)
_RARE_PARAMETERS = re.compile(r"log[\s_-]?prob|\b(?:requested|these|such|some) parameters\b", re.IGNORECASE)
_SYSTEM_ROLE = re.compile(
    r"""
      \b roles? \b
    | \b system (?! [ ] (?: error | failure | overload | memory | resource ) )    # also "systemMessage"
    | \b developer [ ] instruction
    | \b alternat (?: e | ing ) \b
    | \b first [ ] (?: message | turn ) \b
    | \b (?: start | begin ) s? [ ] with \b .{0,20} \b user \b
    | ["'`] user ["'`] .{0,20} ["'`] assistant ["'`]    # the roles that it takes
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Broad, as servers and templates say it in many ways: a try costs one request, and is forgotten if it is no use."""
_CONTENT_IN_PARTS = re.compile(
    r"\bcontent\b.{0,60}\b(?:valid|must be|should be|expected|expects?|has to be)\s(?:an?\s)?(?:list|array|sequence)\b",
    re.IGNORECASE | re.DOTALL,
)
_NO_ROOM = re.compile(r"\boutput limit was reached|\bhigher max_|\bincrease (?:the )?[`'\"]?max_", re.IGNORECASE)
"""OpenAI's answer to a model whose thoughts have used up all tokens."""
_TEMPLATE_FAULT = re.compile(r"jinja|chat.?template|\{%", re.IGNORECASE)
_NO_CHAT = re.compile(
    r"""
      not[ ]a[ ]chat[ ]model
    | v1/completions    # "did you mean to use v1/completions?"
    | \b (?: no | without | provide | default | have | has | define | missing ) \b .{0,30} \b chat.?template
    | \b template [ ] (?: was [ ] | is [ ] )? (?: not [ ] found | missing )
    """,
    re.IGNORECASE | re.VERBOSE,
)
_MUST_STREAM = re.compile(
    r"\bstream\b.{0,20}\b(?:must be|should be|to be|required|only)\b|\bonly\b.{0,20}\bstream|\bnon.?stream"
    r"|\brequires?\b.{0,20}\bstream(?:ing|ed)\b|\bstream[\"'`]?\s?[=:]\s?true",
    re.IGNORECASE | re.DOTALL,
)
_STREAM_UNKNOWN = re.compile(r"\bstream(?:ing|ed)?\b", re.IGNORECASE)
_THOUGHTS_FLAG = re.compile(r"enable_thinking", re.IGNORECASE)
_LIMIT = re.compile(r"max[\s_-]?(?:completion[\s_-]?|new[\s_-]?|output[\s_-]?)?tokens?\b|maxTokens", re.IGNORECASE)
_TEMPERATURE = re.compile(r"temperature|\bsampling param", re.IGNORECASE)
_MUST_BE_POSITIVE = re.compile(
    r"""
      \b positive \b | \b non-?zero \b
    | \b (?: greater | larger | more | bigger | higher ) [ ] than [ ] (?: 0 | zero )
    | > \s? 0 | \( \s? 0 (?:\.0)? \s? ,    # "> 0", "in (0, 1]"
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NOT_BOTH = re.compile(r"\bboth\b|\btogether\b|mutually exclusive|only one of", re.IGNORECASE)
_TOP_P = re.compile(r"top[\s_-]?p\b", re.IGNORECASE)
_STOP = re.compile(r"\bstop(?:[\s_-]?(?:sequences?|strings?|words?))?\b", re.IGNORECASE)
_GRAMMAR = re.compile(r"structured[\s_-]?outputs?|guided|grammar|\blark\b", re.IGNORECASE)


def find_changes(refusal: RefusedError, body: Body, changed: Collection[Change]) -> list[Change]:
    """The changes to a request (`body`, as it was sent, `changed` already) after which a server may take it."""
    if refusal.status in _STATUSES_OF_OTHER_CAUSES or refusal.is_loading:
        return []

    if _NO_ROOM.search(refusal.words) and not refusal.is_too_long:
        return [change for change in (Change.ROOM_FOR_THOUGHTS,) if change not in changed]

    # Of the whole body, as servers say it in different places; the names of what it would take are no complaint.
    refused_values = " ".join(match["values"] for match in _REFUSED_VALUES.finditer(refusal.body))
    words = f"{refused_values} {_QUOTED_VALUE.sub(' ', _without_echoes(refusal.body))}"
    complaint = _OFFER.split(_SUGGESTION.sub(" ", words))[0]
    if refusal.parameter:
        complaint = f"{refusal.parameter} {refusal.words}" if refusal.parameter in body else complaint

    changes = _changes_of_parameters(refusal, complaint, body)
    if not changes:
        changes = _changes_of_messages(words, body)
    if not changes:
        changes = _changes_to_offer(words, body)
    # Any mention: servers that cannot give them fail in many ways.
    if not changes and "logprobs" in body and _RARE_PARAMETERS.search(refusal.body):
        changes = [Change.NO_LOG_PROBABILITIES]
    return [change for change in changes if change not in changed]


def _without_echoes(text: str) -> str:
    """The text without the objects and lists of the request in it: a prompt or a grammar may have any words.

    >>> _without_echoes("extra: 'x', 'input': {'grammar': 'stop'}, 'ctx'")
    "extra: 'x', 'input': , 'ctx'"
    """
    parts: list[str] = []
    start = 0
    for mark in _ECHO.finditer(text):
        if mark.start() >= start:
            parts.append(text[start : mark.end()])
            start = _end_of_value(text, mark.end())
    return "".join([*parts, text[start:]])


def _end_of_value(text: str, start: int) -> int:
    """Behind the bracket that closes the one at the start; the text's end without one."""
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] in "[{") - (text[position] in "]}")
        if depth == 0:
            return position + 1
    return len(text)


def _changes_of_parameters(refusal: RefusedError, complaint: str, body: Body) -> list[Change]:
    if _THOUGHTS_FLAG.search(complaint):
        return [Change.NO_THOUGHTS]

    changes: list[Change] = []
    refused_name = refusal.parameter if refusal.parameter in body else None

    def is_about(name: str, pattern: re.Pattern[str]) -> bool:
        if name not in body:
            return False
        return refused_name == name if refused_name else pattern.search(complaint) is not None

    if is_about("logprobs", _LOG_PROBABILITIES):
        changes.append(Change.NO_LOG_PROBABILITIES)
    if is_about("stream", _STREAM_UNKNOWN):
        changes.append(Change.STREAM if _MUST_STREAM.search(complaint) else Change.NO_STREAM_FLAG)

    # A prompt that is too long stays so, whatever the limit of the answer.
    if not refusal.is_too_long and is_about("max_tokens", _LIMIT):
        changes.append(Change.OTHER_LIMIT_NAME)
    if not refusal.is_too_long and is_about("max_completion_tokens", _LIMIT):
        changes.append(Change.NO_LIMIT)

    top_p = is_about("top_p", _TOP_P)
    if is_about("temperature", _TEMPERATURE) and not (top_p and _NOT_BOTH.search(complaint)):
        is_zero = body["temperature"] == 0 and _MUST_BE_POSITIVE.search(complaint)
        changes.append(Change.HIGHER_TEMPERATURE if is_zero else Change.NO_TEMPERATURE)
    if top_p:
        changes.append(Change.NO_TOP_P)
    if is_about("stop", _STOP):
        changes.append(Change.NO_STOP)
    if is_about("structured_outputs", _GRAMMAR):
        changes.append(Change.NO_GRAMMAR)
    return changes


def _changes_to_offer(complaint: str, body: Body) -> list[Change]:
    """Without a word of what is refused, all that may be left out and that the server does not name as known."""
    _, *offers = _OFFER.split(complaint, maxsplit=1)
    if not offers:
        return []
    changes = [change for change, name in _LEFT_OUT.items() if name in body and name not in offers[0]]
    if "max_tokens" in body and "max_tokens" not in offers[0]:
        changes.append(Change.OTHER_LIMIT_NAME)
    if "max_completion_tokens" in body and "max_completion_tokens" not in offers[0]:
        changes.append(Change.NO_LIMIT)
    return changes


def _changes_of_messages(complaint: str, body: Body) -> list[Change]:
    messages = body.get("messages", [])
    has_system = any(message["role"] == "system" for message in messages)
    if has_system and _SYSTEM_ROLE.search(complaint):
        return [Change.FOLDED_SYSTEM]
    if messages and _CONTENT_IN_PARTS.search(complaint):
        return [Change.PARTS]
    if messages and _NO_CHAT.search(complaint):
        return [Change.PLAIN_TEXT]
    # Whatever a template refuses here, a single turn of the user is the plainest chat.
    return [Change.FOLDED_SYSTEM] if has_system and _TEMPLATE_FAULT.search(complaint) else []


def apply_changes(body: Mapping[str, Any], changes: Collection[Change]) -> Body:
    """The request in a form that the server takes; see `Change`."""
    changed = dict(body)
    if Change.ROOM_FOR_THOUGHTS in changes:
        changed["max_tokens"] += TOKENS_FOR_THOUGHTS

    if Change.OTHER_LIMIT_NAME in changes:
        changed["max_completion_tokens"] = changed.pop("max_tokens")
    if Change.NO_LIMIT in changes:
        changed.pop("max_completion_tokens", None)
    if Change.HIGHER_TEMPERATURE in changes:
        changed["temperature"] = max(changed["temperature"], 0.01)
    if Change.STREAM in changes:
        changed["stream"] = True
    if Change.NO_THOUGHTS in changes:
        changed["enable_thinking"] = False

    for change, name in _LEFT_OUT.items():
        if change in changes:
            changed.pop(name, None)

    return _change_messages(changed, changes) if "messages" in changed else changed


_LEFT_OUT = {
    Change.NO_STREAM_FLAG: "stream",
    Change.NO_TEMPERATURE: "temperature",
    Change.NO_TOP_P: "top_p",
    Change.NO_STOP: "stop",
    Change.NO_GRAMMAR: "structured_outputs",
    Change.NO_LOG_PROBABILITIES: "logprobs",
}


def _fold_system(messages: list[dict[str, str]]) -> list[dict[str, str]]:
    """The messages without a system's: its text stands before that of the first user's turn."""
    instructions = [message["content"] for message in messages if message["role"] == "system"]
    folded = [dict(message) for message in messages if message["role"] != "system"]
    if not folded or folded[0]["role"] != "user":
        folded.insert(0, {"role": "user", "content": ""})
    folded[0]["content"] = "\n\n".join(filter(None, [*instructions, folded[0]["content"]]))
    return folded


def _change_messages(body: Body, changes: Collection[Change]) -> Body:
    """A chat in the form that the server takes."""
    messages = body["messages"]
    if Change.FOLDED_SYSTEM in changes:
        messages = _fold_system(messages)
    if Change.PLAIN_TEXT in changes:
        rest = {name: value for name, value in body.items() if name != "messages"}
        if "logprobs" in rest:  # a number of alternatives there
            rest["logprobs"] = 1
        return {**rest, "prompt": "\n\n".join(message["content"] for message in messages)}
    if Change.PARTS in changes:
        messages = [{**message, "content": [{"type": "text", "text": message["content"]}]} for message in messages]
    return {**body, "messages": messages}


def describe_change(change: Change, address: str, refusal: RefusedError | None) -> str:
    """One line for the user about what the server refuses and what is done instead."""
    if change is Change.NO_LOG_PROBABILITIES and refusal:
        return (
            f"the server at {address} refuses log-probabilities (status {refusal.status}: {refusal.words}): "
            "later requests go without them, so gates and P(correct) cannot use them"
        )
    cause = f" (status {refusal.status}: {refusal.words})" if refusal else ""
    return f"the server at {address} {change.value}, for the rest of this run{cause}"
