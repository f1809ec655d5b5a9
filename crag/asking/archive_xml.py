"""Parts of archives of XML, such as files of Office and books: how they are parsed, and what damaged ones raise."""

import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

UNPACKING = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
"""What zipfile raises where a part cannot be unpacked."""
PART_DAMAGE = (*UNPACKING, LookupError, SyntaxError)
"""What is raised where a part is missing, cannot be unpacked or is no XML; lxml's own error is a `SyntaxError`."""


def parse_xml(content: bytes, *, is_huge: bool = False) -> "Element":
    """The root of a part, read without its entities and without the network.

    `is_huge`: it may be nested more than 256 times, and a text in it may have more than 10 MB.
    Raises lxml.etree.XMLSyntaxError: it is damaged.
    """
    from lxml import etree

    return etree.fromstring(content, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=is_huge))
