"""The web path: pages to passages to context. `crag.web.path` lists its steps and their modules."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crag.web.extract.page_text import page_text as page_text

if TYPE_CHECKING:
    from crag.web.extract.limits import MAX_BYTES as MAX_BYTES
    from crag.web.extract.pool import ExtractionPool as ExtractionPool
    from crag.web.extract.writer import MAX_TEXT_CHARACTERS as MAX_TEXT_CHARACTERS
    from crag.web.path import RetrievedPassages as RetrievedPassages
    from crag.web.path import WebPath as WebPath
    from crag.web.ranking import bm25_scores as bm25_scores
    from crag.web.sites import find_site as find_site
    from crag.web.terms import STOPWORDS as STOPWORDS
    from crag.web.terms import QuestionSpelling as QuestionSpelling
    from crag.web.terms import indexed_terms as indexed_terms

# The processes that read pages import this package too. Without the modules below they start in half the time.
_LAZY_MODULES = {
    "ExtractionPool": "extract.pool",
    "MAX_BYTES": "extract.limits",
    "MAX_TEXT_CHARACTERS": "extract.writer",
    "QuestionSpelling": "terms",
    "STOPWORDS": "terms",
    "RetrievedPassages": "path",
    "WebPath": "path",
    "bm25_scores": "ranking",
    "find_site": "sites",
    "indexed_terms": "terms",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    """Import a name when it is first used."""
    if name not in _LAZY_MODULES:
        raise AttributeError(name)
    module = import_module(f"crag.web.{_LAZY_MODULES[name]}")
    return getattr(module, name)
