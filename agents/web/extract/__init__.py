"""HTML to text within limits, in processes that can be killed. `page_text` reads a page, `tables` writes its tables."""

from agents.web.extract.page_text import page_text
from agents.web.extract.pool import Extraction, ExtractionPool, ExtractionUnavailableError

__all__ = ["Extraction", "ExtractionPool", "ExtractionUnavailableError", "page_text"]
