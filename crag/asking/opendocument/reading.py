"""The program of the process that reads a file of OpenDocument: bytes on standard input, JSON on standard output."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from crag.asking.opendocument.objects import ObjectReader
from crag.asking.opendocument.package import Package, UnknownContentError
from crag.asking.opendocument.sheets import read_sheets
from crag.asking.opendocument.slides import read_slides
from crag.asking.opendocument.styles import Styles
from crag.asking.opendocument.text import read_text
from crag.asking.parts import slide_part
from crag.asking.reading_process import FileReply, PageReply, reply_in_process
from crag.asking.sheet_pages import sheet_pages


def main(_: str) -> None:
    """Read the file on standard input."""
    reply_in_process(read_open_document)


def read_open_document(content: bytes) -> FileReply:
    """The text, the sheets or the slides of a file, whatever its name says that it is.

    Raises EncryptedFileError, UnknownContentError; other errors if the archive or its main part is damaged.
    """
    package = Package(content)
    objects = ObjectReader(package)
    body = _read_body(package, Styles(package.head, package.read_styles()), objects)

    notes = [*body.notes]
    notes += [f"{kind} are not read: {count}" for kind, count in objects.unread.items() if count]
    if package.damaged:
        notes.append(f"left out, damaged: {', '.join(package.damaged)}; open it and save it again")
    return FileReply(title=body.title, pages=body.pages, note="; ".join(notes))


class _Body(NamedTuple):
    """The title and the pages of a file, and notes on what is not read."""

    title: str
    pages: list[PageReply]
    notes: Sequence[str] = ()


def _read_body(package: Package, styles: Styles, objects: ObjectReader) -> _Body:
    """The text, the sheets or the slides. Raises UnknownContentError: it is something else, such as a drawing."""
    if package.body_kind == "text":
        text = read_text(package, styles, objects)
        return _Body(text.title, [PageReply(html=text.html, part="")])

    if package.body_kind == "spreadsheet":
        workbook = read_sheets(package, styles, objects)
        sheets = chain.from_iterable(map(sheet_pages, workbook.sheets))
        return _Body(package.read_title(), list(sheets), workbook.notes)

    if package.body_kind == "presentation":
        presentation = read_slides(package, styles, objects)
        slides = [PageReply(html=markup, part=slide_part(number)) for number, markup in presentation.slides]
        return _Body(presentation.title, slides, presentation.notes)

    raise UnknownContentError(package.body_kind)
