"""A presentation in the form that python-pptx 1.0.2 reads.

It parses all parts and relations before it shows the first slide, so one that is damaged costs the whole file, as does
a part of no known type. It reads no strict files.
"""

import io
import posixpath
import zipfile
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.archive_xml import UNPACKING, parse_xml
from crag.asking.office.package_xml import with_usual_names

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_TYPES = "[Content_Types].xml"
_TYPE_NAMES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
_RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationships"
_NEEDED = frozenset({_TYPES, "_rels/.rels", "ppt/presentation.xml", "ppt/_rels/presentation.xml.rels"})
"""Parts without which there is no presentation."""
_ANY_TYPE = "application/octet-stream"


class SlidePackage(NamedTuple):
    """A presentation, and the names of the parts of which relations are lost, such as ``ppt/slides/slide1.xml``."""

    content: bytes
    without_relations: frozenset[str]


def mend_presentation(content: bytes) -> SlidePackage:
    """A presentation in which damaged parts are empty and of no known type, and damaged relations are left out.

    Of an empty part the error comes where it is used. A part without which there is no presentation stays as it is.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = _Parts(archive)
    for name in list(parts.contents):
        parts.mend(name)
    parts.mend_types()

    mended = io.BytesIO()
    with zipfile.ZipFile(mended, "w") as changed:
        for name, part in parts.contents.items():
            changed.writestr(name, part)
    return SlidePackage(mended.getvalue(), frozenset(parts.without_relations))


class _Parts:
    """The parts of a presentation while they are mended."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.contents: dict[str, bytes] = {}
        self.without_relations: set[str] = set()
        self._damaged: set[str] = set()
        for name in archive.namelist():
            try:
                self.contents[name] = archive.read(name)
            except UNPACKING:
                if name in _NEEDED:
                    raise
                self.contents[name] = b""

    def mend(self, name: str) -> None:
        """Mend a part: relations one by one, another as a whole."""
        from lxml import etree

        if not name.endswith((".xml", ".rels")) or name == _TYPES:
            return
        part = with_usual_names(self.contents[name])
        try:
            root = parse_xml(part)
        except etree.XMLSyntaxError:
            if name not in _NEEDED:
                self._damaged.add(name)
                part = b""
            root = None

        folder, file_name = posixpath.split(name)
        if posixpath.basename(folder) != "_rels" or not file_name.endswith(".rels"):
            self.contents[name] = part
            return
        owner = posixpath.join(posixpath.dirname(folder), file_name.removesuffix(".rels"))
        if root is None or root.tag != _RELATIONS:
            self.without_relations.add(owner)
        if root is None and name in _NEEDED:
            return
        self._mend_relations(name, owner, root)

    def _mend_relations(self, name: str, owner: str, root: "Element | None") -> None:
        """Leave out relations that are not whole; those to missing parts are left out by python-pptx."""
        from lxml import etree

        if root is None or root.tag != _RELATIONS:
            del self.contents[name]
            return
        for relation in list(root):
            is_whole = all(relation.get(attribute) is not None for attribute in ("Id", "Type", "Target"))
            if not is_whole:
                root.remove(relation)
            if not is_whole or self._lacks_notes(relation, owner):
                self.without_relations.add(owner)
        self.contents[name] = etree.tostring(root)

    def _lacks_notes(self, relation: "Element", owner: str) -> bool:
        """Whether a relation names notes that are not there."""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(owner), relation.get("Target", "")))
        return relation.get("Type", "").endswith("/notesSlide") and target.lstrip("/") not in self.contents

    def mend_types(self) -> None:
        """Give a type to all parts: no known one to those that are damaged or have none."""
        from lxml import etree

        types = parse_xml(self.contents[_TYPES])
        for entry in list(types):
            part_name = entry.get("PartName") or entry.get("Extension") or ""
            if not part_name or not entry.get("ContentType") or part_name.lstrip("/") in self._damaged:
                types.remove(entry)

        known = {(entry.get("Extension") or "").lower() for entry in types}
        suffixes = {posixpath.splitext(name)[1].lstrip(".").lower() for name in self.contents}
        for suffix in sorted(suffixes - known):
            etree.SubElement(types, f"{_TYPE_NAMES}Default", Extension=suffix, ContentType=_ANY_TYPE)
        self.contents[_TYPES] = etree.tostring(types)
