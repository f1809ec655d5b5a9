"""Documents as the results of a search: a search engine's part for the user's own pages."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from crag.asking.documents import Document
from crag.core.queries import LIMITS
from crag.web import bm25_scores

Result: TypeAlias = dict[str, str]
"""A search result with the evaluator's fields."""

_PIECE = re.compile(r"\S[\s\S]{0,300}\S*")


def search_results(question: str, documents: Sequence[Document]) -> list[Result]:
    """The documents as search results, those with the best piece first, at most as many as the agent takes."""
    # A snippet is the part of a page that fits the question, so pages compete by their best piece.
    pieces = []
    for document in documents:
        pieces += [(document, piece) for piece in _PIECE.findall(document.text)]

    scores = bm25_scores(question, [f"{document.title}\n{piece}" for document, piece in pieces])
    best_first = sorted(range(len(pieces)), key=lambda index: -scores[index])

    # A document's best piece comes first and becomes its snippet.
    best_pieces: dict[str, tuple[Document, str]] = {}
    for index in best_first:
        document, piece = pieces[index]
        best_pieces.setdefault(document.address, (document, piece))

    results = [as_result(document, piece) for document, piece in best_pieces.values()]
    return results[: LIMITS["search_results"]]


def as_result(document: Document, snippet: str) -> Result:
    """A document as a search result in the evaluator's format."""
    return {
        "page_name": document.title,
        "page_url": document.address,
        "page_snippet": snippet,
        "page_result": document.html,
    }
