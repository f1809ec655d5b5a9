"""The web path: pages to passages to context. `WebPath` runs the steps: `extract` (HTML to text), `chunk`, `retrieve`
(choosing pages before, reranking after it) and `context`.
"""

from agents.web.extract import ExtractionUnavailableError as ExtractionUnavailableError
from agents.web.extract import page_text as page_text
from agents.web.path import WebEvidence as WebEvidence
from agents.web.path import WebPath as WebPath
