"""An EPUB: its sections in reading order, and their names in the table of contents (EPUB 3.3; OPF 2.0.1)."""

import io
import posixpath
import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urldefrag

from crag.asking.archive_xml import PART_DAMAGE, parse_xml

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_OF_FONTS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
"""Encryption that keeps fonts from being copied: the text is as it was."""
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
_NCX = "application/x-dtbncx+xml"
_MOST_FALLBACKS = 10


class ProtectedBookError(Exception):
    """The text is encrypted (DRM)."""


class Item(NamedTuple):
    """A file of the book: its path in the archive, its media type, its properties, and the item to show instead."""

    path: str
    media_type: str
    properties: str
    fallback: str


class Section(NamedTuple):
    """A file of the text: its number in the reading order, from 1, and its path."""

    number: int
    path: str


class Book:
    """The package of a book.

    Attributes:
        title: The title; "" without one.
        sections: The text in reading order; then what stands outside of it, such as answers to questions.
        other_sections: How many of them are no text, such as pictures.
    """

    def __init__(self, content: bytes) -> None:
        """Raises ProtectedBookError; KeyError, BadZipFile or XMLSyntaxError: it is damaged."""
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        self._names = {name.lower(): name for name in self._archive.namelist()}
        self._names |= {name: name for name in self._archive.namelist()}
        self._package_path = self._find_package()
        package = parse_xml(self.read(self._package_path))
        self.title = " ".join((package.findtext("{*}metadata//{*}title") or "").split())
        self._items = self._read_items(package)
        self._spine = package.find("{*}spine")
        self._navigation = set(self._find_navigation(package))

        self.other_sections = 0
        self.sections = list(self._read_spine())
        if not {section.path for section in self.sections}.isdisjoint(self._find_encrypted()):
            raise ProtectedBookError

    def read(self, path: str) -> bytes:
        """A file, whose name may differ in capitals. Raises one of `PART_DAMAGE`: it is missing or damaged."""
        return self._archive.read(self._names.get(path) or self._names.get(path.lower(), path))

    def _read_if_whole(self, path: str) -> "Element | None":
        """The root of a part that a book can do without; None if it is missing or damaged."""
        try:
            return parse_xml(self.read(path))
        except PART_DAMAGE:
            return None

    def find_names(self) -> dict[str, str]:
        """The name of each file that the table of contents names first; empty if there is none that can be read."""
        ncx_id = "" if self._spine is None else self._spine.get("toc", "")
        sources = [path for path in self._navigation if path.endswith(("html", "htm"))]
        sources += [item.path for item_id, item in self._items.items() if item_id == ncx_id or item.media_type == _NCX]
        for path in sources:
            try:
                names = self._read_contents(path)
            except PART_DAMAGE:
                continue
            if names:
                return names
        return {}

    def _find_package(self) -> str:
        """The path of the package: that in the container, or the only one in the archive."""
        names = self._archive.namelist()
        container = self._read_if_whole(_CONTAINER)
        for root_file in () if container is None else container.iter("{*}rootfile"):
            path: str = root_file.get("full-path", "")
            if path in names:
                return path
        packages = [name for name in names if name.lower().endswith(".opf")]
        if not packages:
            raise KeyError(_CONTAINER)
        return packages[0]

    def _read_items(self, package: "Element") -> dict[str, Item]:
        items = {}
        for item in package.iterfind("{*}manifest/{*}item"):
            path = self.resolve(self._package_path, item.get("href", ""))
            media_type = item.get("media-type", "").lower()
            items[item.get("id", "")] = Item(path, media_type, item.get("properties", ""), item.get("fallback", ""))
        return items

    def _find_navigation(self, package: "Element") -> Iterator[str]:
        """The paths of tables of contents, by EPUB 3 and by EPUB 2."""
        for item in self._items.values():
            if "nav" in item.properties.split():
                yield item.path
        for reference in package.iterfind("{*}guide/{*}reference"):
            if reference.get("type") == "toc":
                yield self.resolve(self._package_path, reference.get("href", ""))

    def resolve(self, base: str, address: str) -> str:
        """The path in the archive of an address in a file."""
        path = unquote(urldefrag(address).url)
        return posixpath.normpath(posixpath.join(posixpath.dirname(base), path)) if path else base

    def _read_spine(self) -> Iterator[Section]:
        """The sections without the table of contents."""
        references = [] if self._spine is None else self._spine.findall("{*}itemref")
        numbered = list(enumerate(references, start=1))
        seen = set(self._navigation)
        # Python's sort keeps the order of equals.
        for number, reference in sorted(numbered, key=lambda entry: entry[1].get("linear") == "no"):
            item = self._find_page(reference.get("idref", ""))
            if item is None:
                self.other_sections += 1
            elif item.path not in seen:
                seen.add(item.path)
                yield Section(number, item.path)

    def _find_page(self, item_id: str) -> Item | None:
        """The item, or the one to show instead, that is text."""
        for _ in range(_MOST_FALLBACKS):
            item = self._items.get(item_id)
            if item is None or item.media_type in _PAGES:
                return item
            item_id = item.fallback
        return None

    def _find_encrypted(self) -> set[str]:
        """The paths of the files that are encrypted, without fonts."""
        paths: set[str] = set()
        encryption = self._read_if_whole(_ENCRYPTION)
        for data in () if encryption is None else encryption.iter("{*}EncryptedData"):
            method = data.find("{*}EncryptionMethod")
            if method is None or method.get("Algorithm") not in _OF_FONTS:
                paths |= {unquote(reference.get("URI", "")) for reference in data.iter("{*}CipherReference")}
        return paths

    def _read_contents(self, path: str) -> dict[str, str]:
        """The names in a table of contents of EPUB 3 (XHTML) or EPUB 2 (NCX)."""
        names: dict[str, str] = {}
        root = parse_xml(self.read(path))
        links = [(link.get("href", ""), "".join(link.itertext())) for link in _find_links(root)]
        for point in root.iter("{*}navPoint"):
            content = point.find("{*}content")
            if content is not None:
                links.append((content.get("src", ""), point.findtext("{*}navLabel/{*}text") or ""))
        for address, text in links:
            name = " ".join(text.split())
            if name:
                names.setdefault(self.resolve(path, address), name)
        return names


def _find_links(root: "Element") -> "Iterator[Element]":
    """The links of a table of contents, which stands beside lists of pages and of landmarks."""
    for navigation in root.iter("{*}nav"):
        if navigation.get("{http://www.idpf.org/2007/ops}type", "toc") == "toc":
            yield from navigation.iter("{*}a")
