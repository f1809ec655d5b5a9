"""Step 6: builds a question's context: its best passages in `<doc>` marks with their sources, within a token budget."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from crag.core.contracts import Passage
from crag.engines.llm.base import TokenCounter
from crag.settings import ContextSettings
from crag.web.extract.clean import plain, plain_url
from crag.web.ranking import comparison_key

SMALLEST_PART_TOKENS = 40
"""Cut a passage that does not fit if at least this many tokens remain; otherwise leave it out."""

TITLE_CHARACTERS = 120


def build_context(
    passages: Sequence[Passage],
    settings: ContextSettings,
    tokens: TokenCounter,
    *,
    max_tokens: int | None = None,
) -> tuple[str, tuple[Passage, ...]]:
    """The context, and the passages in it, the last one possibly cut: the first ones up to the limit, no text twice.

    `max_tokens` replaces the settings' limit.

    Example:
        context, used = build_context(ranked, settings.web.context, model, max_tokens=350)
        # <doc source="example.org" title="Comets">
        # The comet was seen in 1910.
        # </doc>
    """
    budget = settings.max_tokens if max_tokens is None else max_tokens
    used: list[Passage] = []
    keys: list[str] = []
    for passage in passages:
        key = f" {comparison_key(passage.text)} "
        if not key.strip() or any(key in earlier for earlier in keys):
            continue

        # The marks count too: those of the passages before, and of this one around a placeholder.
        marks = _mark_up([*used, replace(passage, text="-")], settings)
        fitting = _truncate_passage(passage, budget - tokens.count_tokens(marks), tokens)
        if fitting is None:
            break
        used.append(fitting)
        keys.append(key)

    context = _mark_up(used, settings).rstrip("\n")
    return tokens.truncate(context, budget), tuple(used)


def _truncate_passage(passage: Passage, max_tokens: int, tokens: TokenCounter) -> Passage | None:
    """The passage, or its beginning of `max_tokens` tokens; None if too little remains."""
    if tokens.count_tokens(passage.text) <= max_tokens:
        return passage
    if max_tokens < SMALLEST_PART_TOKENS:
        return None
    text = tokens.truncate(passage.text, max_tokens)
    return replace(passage, text=text, end=passage.start + len(text))


def _mark_up(passages: Sequence[Passage], settings: ContextSettings) -> str:
    """The passages in `<doc>` marks: each in its own, or those of a page together with the best page last."""
    if settings.order == "best_first":
        return "".join(_block([passage]) for passage in passages)

    by_page: dict[str, list[Passage]] = {}
    for passage in passages:
        by_page.setdefault(passage.url, []).append(passage)
    pages_best_last = reversed(by_page.values())
    return "".join(_block(page_passages[::-1]) for page_passages in pages_best_last)


def _block(passages: Sequence[Passage]) -> str:
    """One `<doc>` block with the source and title of its page."""
    source = plain_url(_host(passages[0].url))
    title = plain(passages[0].page_name)[:TITLE_CHARACTERS].replace('"', "'")
    title_attribute = f' title="{title}"' if title else ""
    text = "\n".join(passage.text for passage in passages)
    return f'<doc source="{source}"{title_attribute}>\n{text}\n</doc>\n'


def _host(url: str) -> str:
    """The host of a URL without ``www.``; the URL itself if it has none."""
    try:
        host = urlsplit(url).netloc
    except ValueError:
        host = ""
    return host.removeprefix("www.") or url
