"""The XML of files of Office: its names, what its damages raise, and the title among the properties."""

import io
import zipfile
from typing import TYPE_CHECKING

from crag.asking.archive_xml import PART_DAMAGE, parse_xml

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

DAMAGE = (*PART_DAMAGE, ArithmeticError, AttributeError, TypeError, ValueError)
"""What zipfile, lxml and openpyxl raise where a part is missing, damaged, or not as they expect."""

STRICT = b"http://purl.oclc.org/ooxml/"
"""Begins the names of name spaces and relations in strict files."""
_STRICT_FAMILIES = (b"wordprocessingml", b"spreadsheetml", b"presentationml", b"officeDocument", b"drawingml")
"""Strict files (ECMA-376, part 1, annex A) have the elements of others under names of their own."""


def with_usual_names(part: bytes) -> bytes:
    """A part of a strict file with the name spaces that other files have."""
    if STRICT not in part:
        return part
    for family in _STRICT_FAMILIES:
        strict = b"%b%b/" % (STRICT, family)
        part = part.replace(strict, b"http://schemas.openxmlformats.org/%b/2006/" % family)
    return part


def slide_damage() -> tuple[type[Exception], ...]:
    """What is raised where a part of a presentation is missing, damaged, or not as python-pptx expects."""
    from pptx.exc import PythonPptxError

    return (*DAMAGE, PythonPptxError)


def read_core_title(content: bytes) -> str:
    """The title among the properties of a document (ECMA-376, part 2, 11); "" if it has none, or they are damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            properties = parse_xml(archive.read("docProps/core.xml"))
    except PART_DAMAGE:
        return ""
    return find_core_title(properties)


def find_core_title(properties: "Element") -> str:
    """The title in the part ``docProps/core.xml``; "" if there is none."""
    title = properties.findtext("{http://purl.org/dc/elements/1.1/}title")
    return " ".join((title or "").split())
