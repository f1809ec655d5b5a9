"""HTML to text within limits, in killable processes. `page_text` reads a page."""

from agents.web.extract.page_text import page_text as page_text
from agents.web.extract.worker import Extraction as Extraction
from agents.web.extract.worker import ExtractionPool as ExtractionPool
