"""The web path: pages to passages to context. Steps of `WebPath`: `extract` (HTML to text), `chunk`, `retrieve`."""

from agents.web.extract.page_text import page_text as page_text
from agents.web.path import WebEvidence as WebEvidence
from agents.web.path import WebPath as WebPath
