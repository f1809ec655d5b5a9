"""The program of the process that reads a file of OpenDocument: bytes on standard input, JSON on standard output."""

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
    styles = Styles(package.head, package.read_styles())
    objects = ObjectReader(package)
    notes: list[str] = []
    if package.body_kind == "text":
        text = read_text(package, styles, objects)
        title = text.title
        pages = [PageReply(html=text.html, part="")]
    elif package.body_kind == "spreadsheet":
        workbook = read_sheets(package, styles, objects)
        title = package.read_title()
        pages = [page for sheet in workbook.sheets for page in sheet_pages(sheet)]
        notes += workbook.notes
    elif package.body_kind == "presentation":
        presentation = read_slides(package, styles, objects)
        title = presentation.title
        pages = [PageReply(html=markup, part=slide_part(number)) for number, markup in presentation.slides]
        notes += presentation.notes
    else:
        raise UnknownContentError(package.body_kind)

    notes += [f"{kind} are not read: {count}" for kind, count in objects.unread.items() if count]
    if package.damaged:
        notes.append(f"left out, damaged: {', '.join(package.damaged)}; open it and save it again")
    return FileReply(title=title, pages=pages, note="; ".join(notes))
