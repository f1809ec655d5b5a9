"""The protocol of text extraction, and what all extractors share before and after the parser."""

import re
from typing import Protocol

from agents.settings import ExtractSettings
from agents.text import clean
from agents.web.extract.clean import clean_lines
from agents.web.extract.limits import cut_bytes, flatten
from agents.web.extract.neutralise import neutralise


class Extractor(Protocol):
    """Turns HTML into the text that a reader sees: one block a line, table rows as ``a | b | c``."""

    def extract(self, html: str) -> str:
        """Text of one page; empty for a page without text. Any string is accepted."""


_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[ \n]*")


def tidy(text: str) -> str:
    """Runs of blanks become one space, runs of line ends one line end; none of either at the ends."""
    return _LINES.sub("\n", _BLANKS.sub(" ", text)).strip()


class PageReader:
    """An extractor with the limits and the cleaning of the settings around it: what a worker does with a page."""

    def __init__(self, settings: ExtractSettings, extractor: Extractor) -> None:
        self._settings = settings
        self._extractor = extractor

    def extract(self, html: str) -> str:
        """Text of one page, harmless for prompts; empty where there is none."""
        if not html.strip():
            return ""
        most = self._settings.max_bytes
        bounded = flatten(cut_bytes(clean(html, most=8 * most), most), self._settings.max_depth)
        text = tidy(neutralise(self._extractor.extract(bounded)))[: self._settings.max_text_characters].rstrip()
        return clean_lines(
            text, english_only=self._settings.english_only, max_word_characters=self._settings.max_word_characters
        )
