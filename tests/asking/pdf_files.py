"""Writes small PDFs for tests, object by object, so that each test shows what is special about its file."""

from collections.abc import Mapping
from dataclasses import dataclass

FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


@dataclass
class PdfPage:
    """A page: its content stream, its resources besides the font F1, and the other entries of its dictionary."""

    content: str
    resources: str = ""
    entries: str = ""


def text_at(x: float, y: float, *lines: str, size: float = 11, leading: float = 14, before: str = "") -> str:
    """Lines below each other, the first one at the place, in points from the bottom left of the page."""
    shown = " ".join(f"({_escape(line)}) Tj T*" for line in lines)
    return f"BT {before} /F1 {size} Tf 1 0 0 1 {x} {y} Tm {leading} TL {shown} ET\n"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def build_pdf(
    *pages: PdfPage | str, catalog: str = "", info: str = "", extra: Mapping[int, str] | None = None
) -> bytes:
    """A PDF with these pages. `extra` are further objects by number, from 900 on."""
    objects: dict[int, bytes] = {3: FONT.encode()}
    kids = []
    for index, page in enumerate(pages):
        page_object = PdfPage(page) if isinstance(page, str) else page
        number = 10 + 2 * index
        content = page_object.content.encode("cp1252")
        objects[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
        objects[number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {number + 1} 0 R "
            f"/Resources << /Font << /F1 3 0 R >> {page_object.resources} >> {page_object.entries} >>"
        ).encode()
        kids.append(f"{number} 0 R")

    objects[1] = f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode()
    objects[2] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    objects[4] = f"<< {info} >>".encode()
    objects |= {number: text.encode("cp1252") for number, text in (extra or {}).items()}
    return _write(objects)


def _write(objects: Mapping[int, bytes]) -> bytes:
    """The file with its table of objects."""
    file = b"%PDF-1.7\n"
    table = b""
    for number, text in sorted(objects.items()):
        table += b"%d 1\n%010d 00000 n \n" % (number, len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, text)
    trailer = b"trailer << /Size %d /Root 1 0 R /Info 4 0 R >>" % (max(objects) + 1)
    return file + b"xref\n0 1\n0000000000 65535 f \n" + table + trailer + b"\nstartxref\n%d\n%%%%EOF" % len(file)
