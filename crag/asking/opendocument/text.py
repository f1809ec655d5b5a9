"""Texts of OpenDocument as HTML: headings, paragraphs, lists, tables, boxes and notes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.markdown import without_tags
from crag.asking.marked_tables import mark_table_heads
from crag.asking.opendocument.grid import ROW, count_of, place_cells
from crag.asking.opendocument.list_numbers import number_text
from crag.asking.opendocument.names import DRAW, DRAW_3D, OFFICE, TABLE, TEXT
from crag.asking.opendocument.objects import ObjectReader, is_unseen
from crag.asking.opendocument.package import Package
from crag.asking.opendocument.paragraphs import LINE_BREAK, Note, ParagraphReader, is_hidden
from crag.asking.opendocument.styles import Look, Styles
from crag.asking.raised_text import to_html

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_HEADING_STYLES = {"Title": "h1", "Subtitle": "h2"}
_LAST_LEVEL = 6
_GROUPS = frozenset(
    f"{TEXT}{name}"
    for name in (
        *("section", "numbered-paragraph", "index-body", "index-title", "page-sequence"),
        *("table-of-content", "illustration-index", "table-index", "object-index", "user-index"),
        *("alphabetical-index", "bibliography"),
    )
)
"""What only holds blocks. The sources of an index, which say how it is made, are in none of these."""
_ITEMS = frozenset({f"{TEXT}list-item", f"{TEXT}list-header"})
_MOST_COPIES = 100
"""Of a row or a cell."""
_MOST_SPANNED = 1000


class OpenText(NamedTuple):
    """The title of a text ("" if it has none), and its HTML."""

    title: str
    html: str


def read_text(package: Package, styles: Styles, objects: ObjectReader) -> OpenText:
    """The body of a text, then its notes."""
    body = package.read_content().find(f"{OFFICE}body/{OFFICE}text")
    numbers = {} if body is None else number_text(body, styles)
    reader = BlockReader(styles, objects, numbers)
    markup = reader.read(body, styles.default_look("paragraph")) if body is not None else ""
    markup = mark_table_heads(markup + reader.read_notes())
    return OpenText(package.read_title() or _first_heading(markup), markup)


def _first_heading(markup: str) -> str:
    _, opening, rest = markup.partition("<h1>")
    return without_tags(rest.partition("</h1>")[0]) if opening else ""


class BlockReader:
    """Reads what a text, a cell or a box holds, and keeps the notes for later."""

    def __init__(self, styles: Styles, objects: ObjectReader, numbers: "dict[Element, str] | None" = None) -> None:
        """`numbers`: those that paragraphs show before their text."""
        self._styles = styles
        self._numbers = numbers or {}
        self._objects = objects
        self._paragraphs = ParagraphReader(styles, objects)
        self._notes: list[tuple[Note, Look]] = []

    def read(self, parent: "Element", look: Look) -> str:
        """The blocks in an element as HTML; `look`: of text without a style."""
        return "\n".join(filter(None, self._read_blocks(parent, look)))

    def read_notes(self) -> str:
        """The notes of what was read so far, each behind its mark; a note may have notes."""
        pieces = []
        for note, look in self._notes:
            mark = to_html(f"[{note.mark}] ")
            text = self.read(note.body, look)
            is_paragraph = text.startswith("<p>")
            pieces.append(text.replace("<p>", f"<p>{mark}", 1) if is_paragraph else f"{mark}{text}")
        self._notes.clear()
        return "\n".join(pieces)

    def read_shape(self, shape: "Element", look: Look) -> str:
        """What is in a frame, a shape or a group of them; one that is hidden is counted."""
        if is_unseen(shape):
            self._objects.unread["hidden shapes"] += 1
            return ""
        look = self._styles.look(look, "graphic", shape.get(f"{DRAW}style-name"))
        if shape.tag in {f"{DRAW}g", f"{DRAW}a"}:
            return "\n".join(filter(None, (self.read_shape(child, look) for child in shapes_in(shape))))
        if shape.tag != f"{DRAW}frame":
            return self.read(shape, look)

        # A frame may have the same content in several forms, of which the last is a picture.
        for content in shape:
            if content.tag == f"{DRAW}text-box":
                return self.read(content, look)
            if content.tag == f"{TABLE}table":
                return self._read_table(content, look)
        equation = self._objects.read_equation(shape)
        return self._objects.read_chart(shape) if equation is None else _to_element("p", equation)

    def _read_blocks(self, parent: "Element", look: Look) -> Iterator[str]:
        for child in parent:
            if child.tag in {f"{TEXT}p", f"{TEXT}h"}:
                yield from self._read_paragraph(child, look)
            elif child.tag == f"{TEXT}list":
                yield self._read_list(child, look)
            elif child.tag == f"{TABLE}table":
                yield self._read_table(child, look)
            elif child.tag in _GROUPS and not is_hidden(child):
                yield self.read(child, look)
            elif _is_shape(child):
                yield self.read_shape(child, look)

    def _read_paragraph(self, element: "Element", look: Look) -> Iterator[str]:
        """A paragraph, then the boxes in it."""
        paragraph = self._paragraphs.read(element, look, self._numbers.get(element, ""))
        self._notes += [(note, look) for note in paragraph.notes]
        if paragraph.text.strip():
            yield _to_element(self._find_name(element), paragraph.text)
        for shape in paragraph.shapes:
            yield self.read_shape(shape, look)

    def _find_name(self, element: "Element") -> str:
        """The element of HTML for a paragraph or a heading."""
        if element.tag == f"{TEXT}h":
            level = element.get(f"{TEXT}outline-level", "1")
            return f"h{min(int(level), _LAST_LEVEL)}" if level in set("123456789") else "h6"
        style_name = element.get(f"{TEXT}style-name", "")
        for base, name in _HEADING_STYLES.items():
            if self._styles.is_based_on("paragraph", style_name, base):
                return name
        return "p"

    def _read_list(self, element: "Element", look: Look) -> str:
        items = [self.read(item, look) for item in element if item.tag in _ITEMS]
        return "<ul>{}</ul>".format("".join(f"<li>{item}</li>" for item in items if item))

    # --- tables ---

    def _read_table(self, table: "Element", look: Look) -> str:
        rows = "\n".join(self._read_row(row, look) for row in _rows(table))
        return f"<table>{rows}</table>"

    def _read_row(self, row: "Element", look: Look) -> str:
        parent = row.getparent()
        is_header = parent is not None and parent.tag == f"{TABLE}table-header-rows"
        cells = []
        for cell in place_cells(row):
            if not cell.is_covered:
                markup = _cell_markup(cell.element, self.read(cell.element, look), "th" if is_header else "td")
                cells += [markup] * min(cell.copies, _MOST_COPIES)
        return f"<tr>{''.join(cells)}</tr>" * min(count_of(row, "number-rows-repeated"), _MOST_COPIES)


def _rows(parent: "Element") -> "Iterator[Element]":
    """The rows of a table, without those of tables in it."""
    for child in parent:
        if child.tag == ROW:
            yield child
        elif child.tag in {f"{TABLE}{name}" for name in ("table-header-rows", "table-rows", "table-row-group")}:
            yield from _rows(child)


def _cell_markup(cell: "Element", content: str, name: str) -> str:
    spans = ""
    for attribute, spanned in (("rowspan", "number-rows-spanned"), ("colspan", "number-columns-spanned")):
        count = min(count_of(cell, spanned), _MOST_SPANNED)
        spans += f' {attribute}="{count}"' if count > 1 else ""
    return f"<{name}{spans}>{content}</{name}>"


def shapes_in(parent: "Element") -> "list[Element]":
    """The frames, shapes and groups of them in a slide or a group."""
    return [child for child in parent if _is_shape(child)]


def _is_shape(element: "Element") -> bool:
    return isinstance(element.tag, str) and element.tag.startswith((DRAW, DRAW_3D))


def _to_element(name: str, text: str) -> str:
    return f"<{name}>{to_html(text.strip()).replace(LINE_BREAK, '<br>')}</{name}>"
