"""The parts of a file of Office and their relations (ECMA-376, part 2, 9): each is read when it is needed."""

import io
import posixpath
import zipfile
from functools import cached_property
from typing import IO, TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from crag.asking.archive_xml import parse_xml
from crag.asking.office.package_xml import STRICT, with_usual_names

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_BEGINNING = 4096
"""Bytes of a part, in which its root is."""


class Relation(NamedTuple):
    """What a part is related to: the kind of the relation, such as ``drawing``, and the name of the other part."""

    kind: str
    target: str


class Package:
    """A file of Office, whose parts are found by their names whatever their case."""

    def __init__(self, content: bytes) -> None:
        """Raises zipfile.BadZipFile: it is no archive."""
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        self._names = {name.lower(): name for name in self._archive.namelist()}

    def has(self, name: str) -> bool:
        """Whether there is a part of this name."""
        return name.lower() in self._names

    def part(self, name: str) -> "PackagePart":
        """A part by its name. Raises KeyError: there is none."""
        return PackagePart(self, self._names[name.lower()])

    def read(self, name: str) -> bytes:
        """The bytes of a part. Raises KeyError: there is none. What `zipfile` raises: they are damaged."""
        return with_usual_names(self._archive.read(self._names[name.lower()]))

    def open(self, name: str) -> IO[bytes]:
        """The bytes of a part, unpacked while they are read; those of a strict file at once."""
        whole_name = self._names[name.lower()]
        with self._archive.open(whole_name) as file:
            is_strict = STRICT in file.read(_BEGINNING)
        return io.BytesIO(self.read(name)) if is_strict else self._archive.open(whole_name)


class PackagePart:
    """A part of a package, and the parts that it is related to."""

    def __init__(self, package: Package, name: str) -> None:
        self._package = package
        self._name = name

    @property
    def blob(self) -> bytes:
        """Its bytes, in which a strict file has the names of other files."""
        return self._package.read(self._name)

    @property
    def root(self) -> "Element":
        """Its XML. Raises XMLSyntaxError: it is damaged."""
        return parse_xml(self.blob)

    def open(self) -> IO[bytes]:
        """Its bytes, unpacked while they are read."""
        return self._package.open(self._name)

    @cached_property
    def relations(self) -> dict[str, Relation]:
        """Its relations by their names; none without the part that has them. Raises XMLSyntaxError: it is damaged."""
        folder, name = posixpath.split(self._name)
        try:
            content = self._package.read(f"{folder}/_rels/{name}.rels")
        except KeyError:
            return {}
        relations = {}
        for element in parse_xml(content).iter(_RELATION):
            kind = element.get("Type", "").rpartition("/")[2]
            target = posixpath.normpath(posixpath.join("/", folder, unquote(element.get("Target", ""))))
            relations[element.get("Id", "")] = Relation(kind, target.lstrip("/"))
        return relations

    def related_part(self, relation: str) -> "PackagePart":
        """The part behind a relation. Raises KeyError: there is none."""
        return self._package.part(self.relations[relation].target)

    def related_parts(self, kind: str, usual_name: str = "") -> "list[PackagePart]":
        """The parts behind the relations of a kind; without any, the part that has the usual name, in the same folder.

        Raises KeyError: a part is missing.
        """
        targets = [relation.target for relation in self.relations.values() if relation.kind == kind]
        usual = posixpath.join(posixpath.dirname(self._name), usual_name)
        if not targets and usual_name and self._package.has(usual):
            targets = [usual]
        return list(map(self._package.part, targets))
