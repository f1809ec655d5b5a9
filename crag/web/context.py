"""Step 6: builds a question's context: its best passages in `<doc>` marks with their sources, within a token budget."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from crag.core.contracts import Passage
from crag.engines.llm.base import TokenCounter
from crag.settings import ContextSettings
from crag.web.extract.clean import plain, plain_url
from crag.web.ranking import comparison_key
from crag.web.rerank import SCORE_NAME

SMALLEST_PART_TOKENS = 40
"""Cut a passage that does not fit if at least this many tokens remain; otherwise leave it out."""

TITLE_CHARACTERS = 120


class Context(NamedTuple):
    """A text for the prompt, and where each passage went that fits into it; both groups are best first."""

    text: str
    passages: tuple[Passage, ...]
    """The passages in the text, the last one possibly cut."""
    left_out: tuple[Passage, ...]
    """Those too far below the best one: not read, but they tell how far that one stands out."""


def build_context(
    passages: Sequence[Passage],
    settings: ContextSettings,
    tokens: TokenCounter,
    *,
    max_tokens: int | None = None,
) -> Context:
    """A context of the first passages up to the limit, no text twice, without those far below the best one.

    `passages` are best first. `max_tokens` replaces the settings' limit.

    Example:
        context, used, left_out = build_context(ranked, settings.web.context, model, max_tokens=350)
        # <doc source="example.org" title="Comets">
        # The comet was seen in 1910.
        # </doc>
    """
    budget = settings.max_tokens if max_tokens is None else max_tokens
    fitting: list[Passage] = []
    keys: list[str] = []
    for passage in passages:
        # With blanks around it, a key is found inside another one only as whole words.
        key = f" {comparison_key(passage.text)} "
        if not key.strip() or any(key in earlier for earlier in keys):
            continue

        # The marks count too: those of the passages before, and of this one around a placeholder.
        marks = _mark_up([*fitting, replace(passage, text="-")], settings)
        remaining_tokens = budget - tokens.count_tokens(marks)
        part = _truncate_passage(passage, remaining_tokens, tokens)
        if part is None:
            break
        fitting.append(part)
        keys.append(key)

    used, left_out = _split_at_gap(fitting, settings.largest_gap)
    context = _mark_up(used, settings).rstrip("\n")
    # Texts may have a few more tokens when joined than when counted apart.
    return Context(tokens.truncate(context, budget), tuple(used), tuple(left_out))


def _split_at_gap(
    passages: Sequence[Passage],
    largest_gap: float | None,
) -> tuple[Sequence[Passage], Sequence[Passage]]:
    """The passages whose logit is at most `largest_gap` below the first one's or that have none, and the others."""
    if largest_gap is None or not passages or SCORE_NAME not in passages[0].scores:
        return passages, []

    least = passages[0].scores[SCORE_NAME] - largest_gap
    close_passages: list[Passage] = []
    distant_passages: list[Passage] = []
    for passage in passages:
        if passage.scores.get(SCORE_NAME, least) >= least:
            close_passages.append(passage)
        else:
            distant_passages.append(passage)
    return close_passages, distant_passages


def _truncate_passage(passage: Passage, max_tokens: int, tokens: TokenCounter) -> Passage | None:
    """The passage, or its beginning of `max_tokens` tokens; None if too little remains."""
    if tokens.count_tokens(passage.text) <= max_tokens:
        return passage
    if max_tokens < SMALLEST_PART_TOKENS:
        return None

    text = tokens.truncate(passage.text, max_tokens)
    end = passage.start + len(text)
    return replace(passage, text=text, end=end)


def _mark_up(passages: Sequence[Passage], settings: ContextSettings) -> str:
    """The passages in `<doc>` marks: each in its own, or those of a page together with the best page last."""
    if settings.order == "best_first":
        return "".join(_block([passage]) for passage in passages)

    # The given order is best first, for pages and for the passages of a page; both are reversed.
    blocks = []
    for page_passages in reversed(_group_by_page(passages)):
        best_last = page_passages[::-1]
        blocks.append(_block(best_last))
    return "".join(blocks)


def _group_by_page(passages: Sequence[Passage]) -> list[list[Passage]]:
    """The passages of each page; the pages in the order in which they occur."""
    by_page: dict[str, list[Passage]] = {}
    for passage in passages:
        by_page.setdefault(passage.url, []).append(passage)
    return list(by_page.values())


def _block(passages: Sequence[Passage]) -> str:
    """One `<doc>` block with the source and title of its page."""
    page = passages[0]
    source = plain_url(_host(page.url))
    attributes = f'source="{source}"'

    title = plain(page.page_name)[:TITLE_CHARACTERS]
    if title:
        title = title.replace('"', "'")  # a quote would end the attribute
        attributes += f' title="{title}"'

    text = "\n".join(passage.text for passage in passages)
    return f"<doc {attributes}>\n{text}\n</doc>\n"


def _host(url: str) -> str:
    """The host of a URL without ``www.``; the URL itself if it has none."""
    try:
        host = urlsplit(url).netloc
    except ValueError:
        host = ""
    return host.removeprefix("www.") or url
