"""Small Word documents for tests, written part by part, and their lines as they are read."""

import io
import zipfile

from crag.asking.office.word import read_word
from crag.settings import ExtractSettings
from crag.web import page_text

SETTINGS = ExtractSettings(labelled_tables=True)

SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" '
    'xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:v="urn:schemas-microsoft-com:vml"'
)


def build(body: str, **parts: str | bytes) -> bytes:
    """A document with this body and these other parts; XML without a root's name spaces gets them."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("word/document.xml", f"<w:document {SPACES}><w:body>{body}</w:body></w:document>")
        for name, part in parts.items():
            archive.writestr(f"word/{name}.xml", part)
    return file.getvalue()


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(run(text))}</w:tc>"


def row(*cells: str, properties: str = "") -> str:
    columns = "".join(text if text.startswith("<") else cell(text) for text in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{columns}</w:tr>"


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def style(kind: str, name: str, properties: str, base: str = "") -> str:
    based_on = f'<w:basedOn w:val="{base}"/>' if base else ""
    return f'<w:style w:type="{kind}" w:styleId="{name}">{based_on}<w:rPr>{properties}</w:rPr></w:style>'


def lines_of(content: bytes) -> list[str]:
    return page_text(read_word(content).html, SETTINGS).splitlines()
