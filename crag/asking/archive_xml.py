"""Parts of archives of XML: how they are parsed, and what is raised where one is damaged."""

import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

PART_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, LookupError, SyntaxError)
"""What is raised where a part is missing, cannot be unpacked or is no XML; lxml's own error is a `SyntaxError`."""


def parse_part(content: bytes) -> "Element":
    """The root of a part of any size, read without its entities and without the network.

    Raises lxml.etree.XMLSyntaxError: it is damaged.
    """
    from lxml import etree

    return etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True))
