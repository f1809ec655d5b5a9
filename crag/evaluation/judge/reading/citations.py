"""Leaves out what a prediction says about its sources: [1], 【4†source】, links, tags."""

import re

_LINK = re.compile(r"\[(?P<text>[^\[\]]{1,200})\]\(https?://[^)\s]{1,400}\)")
_SOURCE = re.compile(r"\((?:sources?|see|ref(?:erence)?s?|citations?)\b:?[^()]{0,300}\)", re.IGNORECASE)
_MARK = re.compile(
    r"""
    (?<=\S) \s?
    (?: \[\^?\d{1,3}(?:\s?[,;-]\s?\d{1,3}){0,9}\]     # "[1]", "[1, 3]"
      | 【[^【】]{1,60}】
    )
    """,
    re.VERBOSE,
)
_TAG = re.compile(r"</?[A-Za-z][\w-]{0,20}>")


def without_citations(text: str) -> str:
    """The text without marks of sources and tags; of a link its words stay.

    >>> without_citations("There are **42** [1][2], see [the page](https://a.example/2).")
    'There are **42**, see the page.'
    """
    # Most predictions have none of these
    if not re.search(r"[\[【<(]", text):
        return text
    text = _LINK.sub(r"\g<text>", text)
    text = _SOURCE.sub(" ", text)
    text = _MARK.sub("", text)
    return _TAG.sub(" ", text).strip()
