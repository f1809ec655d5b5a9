"""The web path: pages to passages to context. `WebPath` is the door; the steps are `pages` (which results to read),
`extract` (HTML to text; `extract/tables.py` writes tables), `chunk`, `retrieve`, `rerank` and `context`.
"""

from agents.web.context import TokenCounter as TokenCounter
from agents.web.extract import ExtractionUnavailableError as ExtractionUnavailableError
from agents.web.path import WebEvidence as WebEvidence
from agents.web.path import WebPath as WebPath
