"""Pages that are XML: read as an XML reader has them, and written again as HTML.

An HTML parser takes ``<script src="x.js"/>`` or ``<title/>`` for opened, and loses all text behind it.
"""

import html as html_module
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

_XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"
_HEAD_CHARACTERS = 2_000
"""A document of XML says so in its first characters."""
_XML_DECLARATION = re.compile(r"\A<\?xml\b[^>]*+>")
_NAMED_REFERENCE = re.compile(
    r"""
    & (?! (?: amp | lt | gt | quot | apos ) ; )    # not those that XML itself knows
    [A-Za-z] [A-Za-z0-9]{1,31} ;
    """,
    re.VERBOSE,
)
_CLOSED_WITHOUT_TEXT = re.compile(
    r"""
    < ( script | style | title | textarea | iframe | noscript )
    (?= [\s/] )
    ( (?> (?: [^<>"'/] | "[^"<]*+" | '[^'<]*+' | /(?!>) )* ) )    # attributes; an address may hold slashes
    />
    (?! \s* </ \1 )    # not those that are closed once more
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Elements that an HTML parser takes for opened, with all that follows as their text."""


def xhtml_as_html(page: str) -> str:
    """An XHTML document as HTML; anything else as it is.

    Of one that is not well-formed only the empty elements are closed that would swallow the text behind them.

    Example:
        xhtml_as_html('<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>Hi</p></body></html>')
    """
    head = page[:_HEAD_CHARACTERS]
    if _XHTML_NAMESPACE not in head and not head.lstrip().startswith("<?xml"):
        return page

    root = _parse_xml(page)
    if root is None:
        return _CLOSED_WITHOUT_TEXT.sub(r"<\1\2></\1>", page)
    if _local_name(root.tag) != "html":
        return page

    from lxml import etree

    for element in root.iter("*"):
        element.tag = _local_name(element.tag)
    etree.cleanup_namespaces(root)
    written: str = etree.tostring(root, method="html", encoding="unicode")
    return written


def _parse_xml(page: str) -> "etree._Element | None":
    """The root, or None if the page is not well-formed. Nothing is fetched; libxml2 limits depth and expansion."""
    from lxml import etree

    # The text is decoded already, and lxml refuses a text that declares an encoding.
    text = _XML_DECLARATION.sub("", page.lstrip()).lstrip()
    # XML knows the names of HTML's characters only from a DTD, which is not loaded.
    text = _NAMED_REFERENCE.sub(lambda reference: html_module.unescape(reference[0]), text)

    parser = etree.XMLParser(no_network=True, load_dtd=False, resolve_entities="internal")
    try:
        return etree.fromstring(text, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _local_name(name: str) -> str:
    """``p`` of ``{http://www.w3.org/1999/xhtml}p``."""
    return name.rpartition("}")[2]
