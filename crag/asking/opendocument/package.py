"""A file of OpenDocument: an archive of XML (OpenDocument 1.3, part 2), or all of it in one file of XML ("flat")."""

import io
import posixpath
import zipfile
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote

from crag.asking.archive_xml import PART_DAMAGE, parse_xml
from crag.asking.opendocument.names import LINK, MANIFEST, OFFICE, TITLE

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_CONTENT = "content.xml"
PARSING: Mapping[str, bool] = {"resolve_entities": False, "no_network": True, "huge_tree": True, "collect_ids": False}
"""How lxml parses parts. LibreOffice 7.4 gives two lists the same `xml:id` at times, which costs the file else."""


class EncryptedFileError(Exception):
    """The content needs a password."""


class UnknownContentError(Exception):
    """The file holds no text, sheets or presentation."""


class Package:
    """The parts of a file.

    Attributes:
        head: The root of the content without its body, and so with its styles.
        body_kind: What the body is: "text", "spreadsheet", "presentation".
        damaged: The parts that are damaged and were left out.
    """

    def __init__(self, content: bytes) -> None:
        """Raises EncryptedFileError, UnknownContentError; KeyError or XMLSyntaxError: it is damaged."""
        self.damaged: list[str] = []
        self._flat = b""
        self._archive: zipfile.ZipFile | None = None
        self._objects: dict[str, Element] = {}
        if content.startswith(b"PK"):
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            if _is_encrypted(self._archive):
                raise EncryptedFileError
        else:
            self._flat = content
        self.head, self.body_kind = self._read_head()

    def open_content(self) -> IO[bytes]:
        """The part with the body."""
        return io.BytesIO(self._flat) if self._archive is None else self._archive.open(_CONTENT)

    def read_content(self) -> "Element":
        """The root of the part with the body."""
        with self.open_content() as file:
            return _parse_part(file.read())

    def read_styles(self) -> "Element | None":
        """The root of the part with the named styles; None if it is damaged, missing, or no part of its own."""
        return self._read_part("styles.xml")

    def read_title(self) -> str:
        """The title that the author gave; "" without one."""
        meta = self.head if self._archive is None else self._read_part("meta.xml")
        title = None if meta is None else meta.findtext(f"{OFFICE}meta/{TITLE}")
        return " ".join((title or "").split())

    def find_object(self, element: "Element") -> "Element":
        """The root of an embedded object: an equation, or a document.

        Raises one of `PART_DAMAGE`: it is missing or damaged, or it is a file of another program.
        """
        for child in element:
            if isinstance(child.tag, str) and child.tag.endswith(("}math", "}document")):
                return child
        if self._archive is None:
            raise KeyError(LINK)
        name = posixpath.normpath(posixpath.join(element.get(LINK, ""), _CONTENT))
        if name not in self._objects:
            is_name = name in self._archive.NameToInfo
            part = self._archive.read(name if is_name else unquote(name))
            self._objects[name] = _parse_part(part)
        return self._objects[name]

    def _read_head(self) -> "tuple[Element, str]":
        """The root of the content up to its body, and the kind of the body."""
        from lxml import etree

        body_kind = ""
        with self.open_content() as file:
            events = etree.iterparse(file, events=("start",), **PARSING)
            root = None
            for _, element in events:
                root = element if root is None else root
                parent = element.getparent()
                if parent is not None and parent.tag == f"{OFFICE}body":
                    body_kind = element.tag.removeprefix(OFFICE)
                    break
        if root is None or not body_kind:
            raise UnknownContentError
        return root, body_kind

    def _read_part(self, name: str) -> "Element | None":
        """A part that a file can do without."""
        if self._archive is None or name not in self._archive.NameToInfo:
            return None
        try:
            return _parse_part(self._archive.read(name))
        except PART_DAMAGE:
            self.damaged.append(name.removesuffix(".xml"))
            return None


def _parse_part(content: bytes) -> "Element":
    """The root of a part. Raises lxml.etree.XMLSyntaxError: it is damaged."""
    from lxml import etree

    return etree.fromstring(content, etree.XMLParser(**PARSING))


def _is_encrypted(archive: zipfile.ZipFile) -> bool:
    """Whether the manifest says so of any part (OpenDocument 1.3, part 2, 3.4)."""
    try:
        manifest = parse_xml(archive.read("META-INF/manifest.xml"))
    except PART_DAMAGE:
        return False
    return next(manifest.iter(f"{MANIFEST}encryption-data"), None) is not None
