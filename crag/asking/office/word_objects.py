"""Objects in the text of a DOCX that have a file of their own: charts, diagrams, and documents (`w:altChunk`)."""

import re
from typing import TYPE_CHECKING

from crag.asking.kinds import Kind, find_kind
from crag.asking.office.charts import CHART
from crag.asking.office.diagrams import DIAGRAM
from crag.asking.office.extended_charts import EXTENDED_CHART
from crag.asking.office.package_parts import PackagePart
from crag.asking.office.package_xml import DAMAGE
from crag.asking.office.shapes import RELATION, ShapeReader
from crag.asking.office.word_styles import WORD
from crag.asking.text_files import TextFile, read_text_file

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_REFERENCES = (f"{CHART}chart", f"{EXTENDED_CHART}chart", f"{DIAGRAM}relIds")
_FILE = f"{WORD}altChunk"
_READ_KINDS = frozenset({Kind.MARKUP_OR_TEXT, Kind.PLAIN_TEXT, Kind.MAIL, Kind.RICH_TEXT})

_MARKS = ("\ue1a0", "\ue1a1")
_MARKED_PARAGRAPH = re.compile(rf"<p>{_MARKS[0]}(\d{{1,6}}){_MARKS[1]}</p>")
_TITLE = re.compile(r"<title\b.{0,2000}?</title>", re.IGNORECASE | re.DOTALL)


class WordObjects:
    """Reads the objects of a document. A marked paragraph stands for each until its HTML is put there.

    Example:
        objects = WordObjects(package.part("word/document.xml"))
        objects.mark(root)
        markup = objects.put_back(to_html(root))
    """

    def __init__(self, document: PackagePart) -> None:
        self._document = document
        self._shapes = ShapeReader(document, {})
        self._markups: list[str] = []

    @property
    def faults(self) -> list[str]:
        """What is not read, and why."""
        return self._shapes.faults

    def mark(self, root: "Element") -> None:
        """Put marks below the paragraphs with objects that can be read; other files stay where they are."""
        # The mark of the last one comes first below its paragraph.
        for reference in reversed(list(root.iter(*_REFERENCES))):
            paragraph = next(reference.iterancestors(f"{WORD}p"), None)
            if paragraph is not None:
                self._put_mark(paragraph, "".join(self._shapes.read_content(reference)))
            _remove(reference)

        for file in list(root.iter(_FILE)):
            markup = self._read_file(file)
            if markup:
                self._put_mark(file, markup)
                _remove(file)

    def put_back(self, markup: str) -> str:
        """The HTML of a document with that of its objects in place of their marks."""
        return _MARKED_PARAGRAPH.sub(lambda mark: "".join(self._markups[int(mark[1]) :][:1]), markup)

    def _put_mark(self, place: "Element", markup: str) -> None:
        from lxml import etree

        paragraph = place.makeelement(f"{WORD}p")
        text = etree.SubElement(etree.SubElement(paragraph, f"{WORD}r"), f"{WORD}t")
        text.text = f"{_MARKS[0]}{len(self._markups)}{_MARKS[1]}"
        place.addnext(paragraph)
        self._markups.append(markup)

    def _read_file(self, file: "Element") -> str:
        """A file of text, such as HTML, that Word shows as a part of the document; "" if it cannot be read."""
        try:
            content = self._document.related_part(file.get(f"{RELATION}id", "")).blob
            kind = find_kind(content, "")
            if kind not in _READ_KINDS:
                return ""
            reply = read_text_file(content, TextFile(kind))
        except DAMAGE:
            return ""
        return _TITLE.sub("", "".join(page["html"] for page in reply["pages"]))


def _remove(element: "Element") -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
