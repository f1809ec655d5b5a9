"""The program of the process that reads an EPUB: bytes on standard input, JSON on standard output."""

import re
from collections import Counter
from functools import partial

from crag.asking.archive_xml import PART_DAMAGE
from crag.asking.decoding import decode
from crag.asking.epub.book import Book
from crag.asking.epub.pages import read_page
from crag.asking.parts import section_part
from crag.asking.reading_process import FileReply, PageReply, reply_in_process

_MOST_NAME_CHARACTERS = 60
_BLANKS = re.compile(r"\s+")


def main(_: str) -> None:
    """Read the book on standard input."""
    reply_in_process(read_book)


def read_book(content: bytes) -> FileReply:
    """The sections of a book that have words. One that is missing or damaged is named in the note.

    Raises ProtectedBookError; other errors if the archive or its package is damaged.
    """
    book = Book(content)
    names = _Names(book.find_names())
    sheets = _Sheets(book)
    pages = []
    damaged = []
    for section in book.sections:
        try:
            page = read_page(book.read(section.path), partial(sheets.find, section.path))
        except PART_DAMAGE:
            damaged.append(section.path)
            continue
        if page.html:
            name = names.choose(section.path, page.heading, section.number)
            pages.append(PageReply(html=page.html, part=section_part(name)))

    notes = []
    if book.other_sections:
        notes.append(f"sections that are no text are not read: {book.other_sections}")
    if damaged:
        notes.append(f"left out, missing or damaged: {', '.join(damaged)}; fetch the book again")
    return FileReply(title=book.title, pages=pages, note="; ".join(notes))


class _Names:
    """Names the sections of a book, each differently."""

    def __init__(self, contents: dict[str, str]) -> None:
        """`contents`: the names of files in the table of contents."""
        self._contents = contents
        self._uses: Counter[str] = Counter()

    def choose(self, path: str, heading: str, number: int) -> str:
        """The name in the table of contents, else the first heading, else the number."""
        name = self._contents.get(path) or heading or str(number)
        name = _BLANKS.sub(" ", name)
        if len(name) > _MOST_NAME_CHARACTERS:
            name = f"{name[:_MOST_NAME_CHARACTERS].rstrip()}…"
        self._uses[name] += 1
        return name if self._uses[name] == 1 else f"{name} ({self._uses[name]})"


class _Sheets:
    """The style sheets of a book, each of which is read once."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._texts: dict[str, str] = {}

    def find(self, page_path: str, address: str) -> str:
        """The sheet at an address in a page; "" if it is missing."""
        path = self._book.resolve(page_path, address)
        if path not in self._texts:
            try:
                self._texts[path] = decode(self._book.read(path))
            except PART_DAMAGE:
                self._texts[path] = ""
        return self._texts[path]
