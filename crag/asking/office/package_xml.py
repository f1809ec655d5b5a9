"""The XML of files of Office: how it is parsed, and a package of which one part is damaged."""

import io
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_UNPACKING = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
DAMAGE = (*_UNPACKING, ArithmeticError, AttributeError, LookupError, SyntaxError, TypeError, ValueError)
"""What zipfile, lxml and openpyxl raise where a part is missing, damaged, or not as they expect."""

_TYPES = "[Content_Types].xml"
_TYPE = "{http://schemas.openxmlformats.org/package/2006/content-types}Override"
_NEEDED = frozenset({_TYPES, "_rels/.rels", "ppt/presentation.xml", "ppt/_rels/presentation.xml.rels"})
"""Parts without which there is no presentation."""


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


def without_damaged_parts(content: bytes) -> bytes:
    """A presentation in which a damaged part is empty and of no known type.

    python-pptx 1.0.2 parses all parts before it shows the first. Of such a part it keeps the bytes, and the error comes
    where the part is used.
    """
    from lxml import etree

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        damaged = set()
        for name in archive.namelist():
            try:
                part = archive.read(name)
                if name.endswith((".xml", ".rels")):
                    parse_xml(part)
            except (*_UNPACKING, etree.XMLSyntaxError):
                damaged.add(name)
        return content if not damaged or damaged & _NEEDED else _empty_parts(archive, damaged)


def _empty_parts(archive: zipfile.ZipFile, names: set[str]) -> bytes:
    """The package with these parts empty; the relations of a part, which are a part too, as none."""
    from lxml import etree

    types = parse_xml(archive.read(_TYPES))
    for override in types.findall(_TYPE):
        if (override.get("PartName") or "").lstrip("/") in names:
            types.remove(override)

    mended = io.BytesIO()
    with zipfile.ZipFile(mended, "w") as changed:
        changed.writestr(_TYPES, etree.tostring(types))
        for name in archive.namelist():
            is_relations = name.endswith(".rels")
            if name not in names and name != _TYPES:
                changed.writestr(name, archive.read(name))
            elif name in names and not is_relations:
                changed.writestr(name, b"")
    return mended.getvalue()


def read_core_title(content: bytes) -> str:
    """The title among the properties of a document (ECMA-376, part 2, 11); "" if it has none, or they are damaged."""
    from lxml import etree

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            properties = parse_xml(archive.read("docProps/core.xml"))
    except (*_UNPACKING, KeyError, etree.XMLSyntaxError):
        return ""
    return find_core_title(properties)


def find_core_title(properties: "Element") -> str:
    """The title in the part ``docProps/core.xml``; "" if there is none."""
    title = properties.findtext("{http://purl.org/dc/elements/1.1/}title")
    return " ".join((title or "").split())
