"""Small files of OpenDocument for tests, written part by part."""

import io
import zipfile
from collections.abc import Mapping

MEDIA_TYPE = "application/vnd.oasis.opendocument.text"
_OASIS = "urn:oasis:names:tc:opendocument:xmlns:{}:1.0"
_NAMES = {
    "chart": "chart",
    "draw": "drawing",
    "manifest": "manifest",
    "number": "datastyle",
    "office": "office",
    "presentation": "presentation",
    "style": "style",
    "svg": "svg-compatible",
    "table": "table",
    "text": "text",
}
SPACES = " ".join(f'xmlns:{prefix}="{_OASIS.format(name)}"' for prefix, name in _NAMES.items())
SPACES += ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'


def build(
    body: str, kind: str = "text", *, automatic: str = "", named: str = "", parts: Mapping[str, str] | None = None
) -> bytes:
    """A file with this body and these styles; `parts`: others, such as objects."""
    return pack({"content.xml": content_xml(body, kind, automatic), "styles.xml": styles_xml(named), **(parts or {})})


def pack(parts: Mapping[str, str], media_type: str = MEDIA_TYPE) -> bytes:
    """An archive of these parts, of which the first names the media type."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", media_type, zipfile.ZIP_STORED)
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def build_flat(body: str, kind: str = "text", *, automatic: str = "", named: str = "") -> bytes:
    """The same as one file of XML."""
    inside = f"<office:styles>{named}</office:styles>{_inner_content(body, kind, automatic)}"
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<office:document {SPACES}>{inside}</office:document>'.encode()


def content_xml(body: str, kind: str = "text", automatic: str = "") -> str:
    """The part with the body."""
    return f"<office:document-content {SPACES}>{_inner_content(body, kind, automatic)}</office:document-content>"


def _inner_content(body: str, kind: str, automatic: str) -> str:
    styles = f"<office:automatic-styles>{automatic}</office:automatic-styles>"
    return f"{styles}<office:body><office:{kind}>{body}</office:{kind}></office:body>"


def styles_xml(named: str) -> str:
    """The part with the named styles."""
    return f"<office:document-styles {SPACES}><office:styles>{named}</office:styles></office:document-styles>"


def meta_xml(title: str) -> str:
    """The part with the title that the author gave."""
    meta = f"<office:meta><dc:title>{title}</dc:title></office:meta>"
    return f"<office:document-meta {SPACES}>{meta}</office:document-meta>"


def style(name: str, properties: str, family: str = "text", base: str = "") -> str:
    """A style with these properties of its text."""
    parent = f' style:parent-style-name="{base}"' if base else ""
    text_properties = f"<style:text-properties {properties}/>"
    return f'<style:style style:name="{name}" style:family="{family}"{parent}>{text_properties}</style:style>'


def paragraph(text: str, style_name: str = "") -> str:
    """A paragraph of elements and text."""
    named = f' text:style-name="{style_name}"' if style_name else ""
    return f"<text:p{named}>{text}</text:p>"


def span(text: str, style_name: str) -> str:
    """Text in a style."""
    return f'<text:span text:style-name="{style_name}">{text}</text:span>'


def note(text: str, mark: str = "1") -> str:
    """A footnote."""
    body = f"<text:note-body>{paragraph(text)}</text:note-body>"
    citation = f"<text:note-citation>{mark}</text:note-citation>"
    return f'<text:note text:note-class="footnote">{citation}{body}</text:note>'


def cell(text: str, attributes: str = "") -> str:
    """A cell with one paragraph; without a text, none."""
    return f"<table:table-cell {attributes}>{paragraph(text) if text else ''}</table:table-cell>"


def row(*cells: str, attributes: str = "") -> str:
    """A row; a cell is its text or its element."""
    elements = [text if text.startswith("<") else cell(text) for text in cells]
    return f"<table:table-row {attributes}>{''.join(elements)}</table:table-row>"


def table(*rows: str, name: str = "Table", attributes: str = "") -> str:
    """A table or a sheet."""
    return f'<table:table table:name="{name}" {attributes}>{"".join(rows)}</table:table>'


def frame(content: str, attributes: str = "") -> str:
    """A frame around a box, a table or an object."""
    return f"<draw:frame {attributes}>{content}</draw:frame>"


def box(text: str, attributes: str = "") -> str:
    """A frame with text."""
    return frame(f"<draw:text-box>{paragraph(text)}</draw:text-box>", attributes)
