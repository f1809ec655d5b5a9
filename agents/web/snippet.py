"""Search-engine texts (snippet, page name, URL) as plain text that is safe to show to a model."""

import re

from agents.web.extract.neutralise import neutralise

_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
_BLANKS = re.compile(r"\s+")


def plain(text: str) -> str:
    """One line without tags and entities: search engines mark hits with ``<strong>`` and write ``&#x27;``.

    What is left is made harmless once more, because removing a tag can join the two halves of a mark.
    """
    text = neutralise(_TAG.sub("", neutralise(text)), references=True)
    return _BLANKS.sub(" ", text).strip()


def plain_url(url: str, max_characters: int = 200) -> str:
    """The URL as it may stand inside quotes: no blanks, quotes or angle brackets, and not endless."""
    return neutralise(re.sub(r"[\s\"'<>]", "", neutralise(url)))[:max_characters]
