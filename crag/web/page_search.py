"""The state of a search: it goes forward through the steps of `crag.web.path`, and each step fills in its part."""

from dataclasses import dataclass, field

from crag.core.contracts import Page, Passage, PassageKind, Query


@dataclass(frozen=True, slots=True)
class SourceText:
    """Readable text that becomes passages: the extracted text of a page, or a snippet of the search engine."""

    page: Page
    kind: PassageKind
    text: str


@dataclass(slots=True)
class Chunk:
    """A piece of text that retrieval ranks (the child), and the passage around it that is read (the parent).

    With chunks of one size, `text` is the passage's whole text. `scores` has a number for each ranking, such as
    ``bm25``; higher is better.
    """

    passage: Passage
    text: str
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def searched_text(self) -> str:
        """The text that retrieval compares with the question."""
        return prepend_heading(self.passage.heading, self.text)


@dataclass(slots=True)
class PageSearch:
    """What is known about one question's pages so far.

    Attributes:
        query: The question, with all its search results.
        pages: Pages to read, best first; once they are extracted, only those that could be read.
        snippet_pages: Pages whose snippets can become passages, in search order.
        source_texts: The extracted texts of `pages`.
        chunks: Pieces of the source texts and snippets; best first once they are ranked.
        passages: Candidates for the context, best first.
        events: Sentences about pages and passages that were dropped, and about unfinished work.
    """

    query: Query
    pages: list[Page] = field(default_factory=list)
    snippet_pages: list[Page] = field(default_factory=list)
    source_texts: list[SourceText] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)
    events: list[str] = field(default_factory=list)


def prepend_heading(heading: str, text: str) -> str:
    """The text below its page's heading, as rankings see it; see `crag.settings.Chunks.searched_with`."""
    return f"{heading}\n{text}" if heading else text
