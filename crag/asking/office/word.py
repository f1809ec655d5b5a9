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
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
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
    """The document in the forms that mammoth reads, without what is not shown, and the number of its equations."""
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
                _prepare_part(root)
                part = etree.tostring(root)
            changed.writestr(name, part)
    return prepared.getvalue(), equations


def _prepare_part(root: "Element") -> None:
    """Change what mammoth 1.13.0 keeps though it is not shown, or drops though it is."""
    from lxml import etree

    for run in root.findall(f".//{_WORD}r"):
        _mark_raised(run)
        parent = run.getparent()
        is_shown = not (_is_on(run, "vanish") or _is_on(run, "dstrike"))
        if not is_shown and parent is not None:
            parent.remove(run)

    for alternatives in root.findall(f".//{_ALTERNATIVES}AlternateContent"):
        _show_boxes(alternatives)
    # Fields, in which dates and references stand, and words with their reading above.
    etree.strip_elements(root, f"{_WORD}rt", with_tail=False)
    etree.strip_tags(root, f"{_WORD}fldSimple", f"{_WORD}ruby", f"{_WORD}rubyBase")


def _is_on(run: "Element", name: str) -> bool:
    """Whether a run has a property that may be switched off by its value."""
    mark = run.find(f"{_WORD}rPr/{_WORD}{name}")
    return mark is not None and mark.get(f"{_WORD}val") not in _OFF


def _mark_raised(run: "Element") -> None:
    """Make a superscript of a run that was raised by hand."""
    position = run.find(f"{_WORD}rPr/{_WORD}position")
    if position is not None and (position.get(f"{_WORD}val") or "0").isdigit() and position.get(f"{_WORD}val") != "0":
        position.tag = f"{_WORD}vertAlign"
        position.set(f"{_WORD}val", "superscript")


def _show_boxes(alternatives: "Element") -> None:
    """Replace a drawing that has no form for older programs, the only one that mammoth reads, by its text boxes."""
    boxes = alternatives.findall(f".//{_WORD}txbxContent")
    if boxes and alternatives.find(f"{_ALTERNATIVES}Fallback") is None:
        alternatives.clear(keep_tail=True)
        alternatives.tag = f"{_WORD}pict"
        alternatives.extend(boxes)
