"""The web path: pages to passages to context. `WebPath` is the door; each step has a module of its own."""

from agents.web.context import TokenCounter
from agents.web.extract.pool import ExtractionUnavailableError
from agents.web.path import WebEvidence, WebPath

__all__ = ["ExtractionUnavailableError", "TokenCounter", "WebEvidence", "WebPath"]
