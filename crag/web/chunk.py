"""Step 3: cuts the extracted pages, and snippets if the settings want them, into the chunks that retrieval ranks."""

from collections.abc import Sequence
from functools import cache

from crag.core.contracts import Page, Passage, PassageKind
from crag.core.deadline import Deadline
from crag.settings import WebSettings
from crag.web.extract.clean import plain
from crag.web.orders import gives_orders
from crag.web.page_search import Chunk, PageSearch, SourceText
from crag.web.splitting import ParentSpan, TokenOffsets, split_text
from crag.web.suspicion import is_suspicious

HEADING_CHARACTERS = 400
"""Maximum characters of a page's name, and of its snippet, that are searched with its chunks, as in search engines."""


def chunk_pages(
    searches: Sequence[PageSearch],
    settings: WebSettings,
    token_offsets: TokenOffsets | None,
    deadline: Deadline,
) -> None:
    """Fill in the `chunks` of each search. At the deadline the texts that are left get no chunks.

    Passages that repeat the question or judge it are left out, see `WebSettings.largest_question_share`.
    """

    @cache  # questions of a batch can share pages
    def split_once(text: str) -> list[ParentSpan]:
        return split_text(text, settings.chunk, token_offsets)

    for search in searches:
        for source in _list_source_texts(search, settings.snippets):
            if deadline.expired:
                return
            parents = split_once(source.text)
            _add_chunks(search, source, parents, settings)


def _list_source_texts(search: PageSearch, with_snippets: bool) -> list[SourceText]:
    """The extracted pages, then the snippets if they are passages too."""
    source_texts = list(search.source_texts)
    if with_snippets:
        for page in search.snippet_pages:
            snippet = plain(page.snippet)
            source_texts.append(SourceText(page, PassageKind.SNIPPET, snippet))
    return source_texts


def _add_chunks(
    search: PageSearch,
    source: SourceText,
    parents: Sequence[ParentSpan],
    settings: WebSettings,
) -> None:
    """Add the chunks of one text to the search."""
    page = source.page
    page_name = plain(page.name)
    heading = _build_heading(page, source.kind, settings.chunk.searched_with)
    page_gives_orders = gives_orders(f"{page_name}\n{plain(page.snippet)}")

    for span, children in parents:
        passage_text = source.text[span.start : span.end]

        # The page's name is checked too: a poisoned page may repeat the question there.
        share = settings.largest_question_share
        if share is not None and is_suspicious(page_name, passage_text, search.query.text, share):
            search.events.append(f"a passage of {page.url} repeats the question or judges it and was dropped")
            continue
        # An order in the title or snippet tells of the whole page: both were written for it.
        if share is not None and (page_gives_orders or gives_orders(passage_text)):
            search.events.append(f"a passage of {page.url} gives its reader orders and was dropped")
            continue

        passage = Passage(
            text=passage_text,
            url=page.url,
            page_name=page_name,
            page_rank=page.rank,
            kind=source.kind,
            start=span.start,
            end=span.end,
            heading=heading,
        )
        for child in children:
            child_text = source.text[child.start : child.end]
            search.chunks.append(Chunk(passage, child_text))


def _build_heading(page: Page, kind: PassageKind, searched_with: Sequence[str]) -> str:
    """The page's name and snippet, as far as they are searched with its chunks."""
    fields = {"page_name": page.name, "snippet": page.snippet}
    if kind is PassageKind.SNIPPET:
        fields["snippet"] = ""  # a snippet does not precede itself

    lines = [plain(fields[name][:HEADING_CHARACTERS]) for name in searched_with]
    return "\n".join(filter(None, lines))
