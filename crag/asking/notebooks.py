"""Notebooks (`.ipynb`): their texts, their code, and what the code showed when it was run (nbformat 4)."""

import html
from collections.abc import Iterator, Mapping

from crag.asking.markdown import Converted, convert_markdown
from crag.asking.structured import Json


def is_notebook(value: Json) -> bool:
    """Whether JSON is a notebook."""
    return isinstance(value, Mapping) and "nbformat" in value and isinstance(value.get("cells"), list)


def convert_notebook(value: Json) -> Converted:
    """The title ("" if it has none) and the HTML of a notebook: texts as Markdown, code and what it wrote as lines."""
    title = ""
    pieces = []
    for cell in _objects_of(value, "cells"):
        source = _text_of(cell, "source")
        if cell.get("cell_type") == "markdown":
            converted = convert_markdown(source)
            title = title or converted.title
            pieces.append(converted.html)
        else:
            pieces.append(_preformatted(source))
        pieces.extend(_outputs_of(cell))
    return Converted(title, "".join(pieces))


def _outputs_of(cell: Mapping[str, Json]) -> Iterator[str]:
    """What a cell showed: of several forms HTML, which has the tables."""
    for output in _objects_of(cell, "outputs"):
        forms = output.get("data")
        if not isinstance(forms, Mapping):
            yield _preformatted(_text_of(output, "text"))
        elif "text/html" in forms:
            yield f"<div>{_text_of(forms, 'text/html')}</div>\n"
        else:
            yield _preformatted(_text_of(forms, "text/plain"))


def _preformatted(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>\n" if text.strip() else ""


def _objects_of(value: Json, name: str) -> list[Mapping[str, Json]]:
    items = value.get(name) if isinstance(value, Mapping) else None
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []


def _text_of(value: Mapping[str, Json], name: str) -> str:
    """A text, which may be a list of its lines."""
    text = value.get(name)
    if isinstance(text, list):
        return "".join(map(str, text))
    return text if isinstance(text, str) else ""
