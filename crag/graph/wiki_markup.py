"""Wiki markup as plain text."""

import re

from crag.core.text import clean

_MAX_MARKUP = 20_000
"""Characters of a value that are read."""
_MAX_NESTING = 4
"""Templates nest, but not deeply around useful text."""

# The look-ahead keeps a footnote that is never closed from running on to the end of the next one
_REFERENCE = re.compile(r"<ref[^<>]*/>|<ref(?:(?!<ref).)*?</ref>|<!--(?:(?!<!--).)*?-->", re.DOTALL)
"""Footnotes and comments."""
_TAG = re.compile(r"<[^<>]{0,200}>")
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_WEB_LINK = re.compile(r"\[https?://\S{1,400} ([^\[\]]*)\]")
_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}")
_TEMPLATES_WITHOUT_TEXT = frozenset({"efn", "refn", "notetag", "cite", "sfn", "citation", "nobold"})
_UNCLOSED_NOTE = re.compile(r"\{\{(?:efn|refn|notetag|cite|sfn|citation)\b[^{}]*\Z", re.IGNORECASE)
"""A note that the graph cut off."""
_MEASURE_TEMPLATES = frozenset({"convert", "cvt"})


def plain(markup: str) -> str:
    """Wiki markup as plain text: links and templates become their text, references are removed."""
    # Footnotes first: they hold links and templates of their own
    text = _REFERENCE.sub(" ", markup[:_MAX_MARKUP])
    text = _TAG.sub(" ", text)
    text = _WEB_LINK.sub(r"\1", text)

    # Links and templates can be inside each other: each round removes the innermost ones.
    for _ in range(_MAX_NESTING):
        text = _LINK.sub(r"\1", text)
        text = _TEMPLATE.sub(_template_text, text)

    text = _UNCLOSED_NOTE.sub("", text)
    text = re.sub(r"'{2,}", "", text)  # bold and italics
    words = clean(text, references=True).split()

    # What was removed leaves blanks before punctuation, and commas at the ends.
    text = re.sub(r" ([,.;)])", r"\1", " ".join(words))
    return text.strip(" ,")


def _template_text(template: "re.Match[str]") -> str:
    """A template's arguments without name and options: "{{nowrap|Lake Titicaca|id=x}}" becomes "Lake Titicaca".

    Of a measure only the number and its unit, not what it is converted to: "{{convert|830|m|ft|0}}" becomes "830 m".
    """
    name, _, arguments = template.group(1).replace("|", " ").partition(" ")
    if name.casefold() in _TEMPLATES_WITHOUT_TEXT:
        return " "
    words = re.sub(r"\b\w+=\w+\b", " ", arguments).split()
    if name.casefold() in _MEASURE_TEMPLATES:
        words = words[:2]
    return f" {' '.join(words)} "
