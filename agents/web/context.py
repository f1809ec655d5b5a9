"""Builds the model's context from passages: each in a `<doc>` mark with its source, within the token limit."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol
from urllib.parse import urlsplit

from agents.common.contracts import Passage
from agents.settings import ContextSettings
from agents.web.extract.clean import plain, plain_url
from agents.web.retrieve import reading_key

SMALLEST_PART_TOKENS = 40
"""Cut a passage that does not fit if at least this many tokens remain; otherwise leave it out."""

_TITLE_CHARACTERS = 120


class TokenCounter(Protocol):
    """Counts tokens like the answering model; every `agents.llm.LanguageModel` is one."""

    def count_tokens(self, text: str) -> int:
        """Number of tokens of plain text."""

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest prefix of the text with at most `max_tokens` tokens."""


def build_context(
    passages: Sequence[Passage], settings: ContextSettings, tokens: TokenCounter, *, max_tokens: int | None = None
) -> tuple[str, tuple[Passage, ...]]:
    """The context, and the passages in it, the last one possibly cut: the first ones up to the limit, no text twice.

    `max_tokens` replaces the settings' limit.
    """
    left = max_tokens = settings.max_tokens if max_tokens is None else max_tokens
    used: list[Passage] = []
    keys: list[str] = []
    for passage in passages:
        key = f" {reading_key(passage.text)} "
        if not key.strip() or any(key in other for other in keys):
            continue
        size = tokens.count_tokens(_block(passage))
        shown = passage if size <= left else _cut(passage, left, tokens)
        if shown is None:
            break
        used.append(shown)
        keys.append(key)
        left -= size
        if left <= 0:
            break
    while len(used) > 1 and tokens.count_tokens("".join(map(_block, used))) > max_tokens:
        used.pop()  # blocks may need a few more tokens together than alone
    ordered = reversed(used) if settings.order == "best_last" else used
    return tokens.truncate("".join(map(_block, ordered)).rstrip("\n"), max_tokens), tuple(used)


def _cut(passage: Passage, max_tokens: int, tokens: TokenCounter) -> Passage | None:
    """The prefix of a passage whose block has at most `max_tokens` tokens; None if too little remains."""
    room = max_tokens - tokens.count_tokens(_block(replace(passage, text="")))
    if room < SMALLEST_PART_TOKENS:
        return None
    text = tokens.truncate(passage.text, room)
    return replace(passage, text=text, end=passage.start + len(text))


def _block(passage: Passage) -> str:
    title = plain(passage.page_name)[:_TITLE_CHARACTERS].replace('"', "'")
    attributes = f'source="{plain_url(_host(passage.url))}"' + (f' title="{title}"' if title else "")
    return f"<doc {attributes}>\n{passage.text}\n</doc>\n"


def _host(url: str) -> str:
    """The host of a URL without ``www.``; the URL itself if it has none."""
    try:
        host = urlsplit(url).netloc
    except ValueError:
        host = ""
    return host.removeprefix("www.") or url
