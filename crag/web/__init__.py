"""The web path: pages to passages to context. Steps of `WebPath`: `extract` (HTML to text), `chunk`, `retrieve`."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crag.web.extract.page_text import page_text as page_text
from crag.web.extract.worker import ExtractionPool as ExtractionPool

if TYPE_CHECKING:
    from crag.web.path import WebEvidence as WebEvidence
    from crag.web.path import WebPath as WebPath
    from crag.web.ranking import bm25_scores as bm25_scores

_STEPS = {"WebEvidence": "path", "WebPath": "path", "bm25_scores": "ranking"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    """What the processes that read pages do without: they import this package too, and so start in half the time."""
    if name not in _STEPS:
        raise AttributeError(name)
    return getattr(import_module(f"crag.web.{_STEPS[name]}"), name)
