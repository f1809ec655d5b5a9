"""The XML of files of Office: how it is parsed, what its damages raise, and the title among the properties."""

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

UNPACKING = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
"""What zipfile raises where a part cannot be unpacked."""
DAMAGE = (*UNPACKING, ArithmeticError, AttributeError, LookupError, SyntaxError, TypeError, ValueError)
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


def parse_xml(content: bytes) -> "Element":
    """The root of an XML file, read without its entities and without the network.

    Raises lxml.etree.XMLSyntaxError: it is damaged.
    """
    from lxml import etree

    return etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True))


def read_core_title(content: bytes) -> str:
    """The title among the properties of a document (ECMA-376, part 2, 11); "" if it has none, or they are damaged."""
    from lxml import etree

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            properties = parse_xml(archive.read("docProps/core.xml"))
    except (*UNPACKING, KeyError, etree.XMLSyntaxError):
        return ""
    return find_core_title(properties)


def find_core_title(properties: "Element") -> str:
    """The title in the part ``docProps/core.xml``; "" if there is none."""
    title = properties.findtext("{http://purl.org/dc/elements/1.1/}title")
    return " ".join((title or "").split())
