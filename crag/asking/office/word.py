"""A DOCX as HTML, by mammoth: headings, lists, tables, notes; without deleted text and comments."""

import io
import re
import zipfile
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.markdown import without_links
from crag.asking.marked_tables import mark_table_heads

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_TEXT_PART = re.compile(r"word/(?:document|footnotes|endnotes)\d{0,3}\.xml")
_OFF = frozenset({"0", "false", "off"})

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
"""


class WordText(NamedTuple):
    """The HTML of a document, and a note on what is not read."""

    html: str
    note: str


def read_word(content: bytes) -> WordText:
    """The text of a document. Pictures go."""
    import mammoth

    prepared, equations = _prepare(content)

    def drop(_: object) -> list[object]:
        return []

    result = mammoth.convert_to_html(io.BytesIO(prepared), style_map=_STYLES, convert_image=drop)
    note = f"equations are not read: {equations}" if equations else ""
    return WordText(mark_table_heads(without_links(result.value)), note)


def _prepare(content: bytes) -> tuple[bytes, int]:
    """The document without hidden text, its simple fields as text, and the number of its equations.

    mammoth 1.13.0 drops fields (``w:fldSimple``), in which dates and references stand, and keeps hidden text.
    """
    from lxml import etree

    prepared = io.BytesIO()
    equations = 0
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(prepared, "w") as changed:
        for name in archive.namelist():
            part = archive.read(name)
            if _TEXT_PART.fullmatch(name):
                root = etree.fromstring(part, parser)
                equations += len(root.findall(f".//{_MATH}oMath"))
                _remove_hidden(root)
                etree.strip_tags(root, f"{_WORD}fldSimple")
                part = etree.tostring(root)
            changed.writestr(name, part)
    return prepared.getvalue(), equations


def _remove_hidden(root: "Element") -> None:
    """Remove the runs that their author hid."""
    for run in root.findall(f".//{_WORD}r"):
        mark = run.find(f"{_WORD}rPr/{_WORD}vanish")
        parent = run.getparent()
        if mark is not None and mark.get(f"{_WORD}val") not in _OFF and parent is not None:
            parent.remove(run)
