"""The web path: pages to passages to context. Steps of `WebPath`: `extract` (HTML to text), `chunk`, `retrieve`."""

from agents.web.extract.page_text import page_text as page_text
from agents.web.extract.worker import ExtractionPool as ExtractionPool
from agents.web.path import WebEvidence as WebEvidence
from agents.web.path import WebPath as WebPath
from agents.web.ranking import bm25_of_texts as bm25_of_texts
