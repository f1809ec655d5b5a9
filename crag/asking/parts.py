"""Parts of a file that an answer names, in the fragment of its address: a page, sheet, slide, section, message, rows.

The fragments of pages are those of RFC 8118 (`report.pdf#page=3`), those of rows of RFC 7111 (`staff.csv#row=2-201`);
sheets, slides, sections of books and messages follow their form.
"""

import re
from urllib.parse import quote, unquote

_PART = re.compile(r"(?:page|slide|sheet|section|message|row)=[^#=&]{1,800}(?:&row=[^#=&]{1,40})?")


def page_part(number: int) -> str:
    """The part of a page of a PDF, from 1."""
    return f"page={number}"


def slide_part(number: int) -> str:
    """The part of a slide, from 1."""
    return f"slide={number}"


def sheet_part(title: str) -> str:
    """The part of a sheet of a workbook."""
    return f"sheet={quote(title, safe='')}"


def section_part(title: str) -> str:
    """The part of a section of an e-book: its name in the table of contents, or its number, from 1."""
    return f"section={quote(title, safe='')}"


def message_part(number: int) -> str:
    """The part of a message of a mailbox, from 1."""
    return f"message={number}"


def row_part(first: int, last: int, sheet: str = "") -> str:
    """The part of rows, from 1, perhaps of a sheet that `sheet_part` gave."""
    rows = f"row={first}-{last}"
    return f"{sheet}&{rows}" if sheet else rows


def join_address(location: str, part: str) -> str:
    """The address of a part; of a whole file, its location."""
    return f"{location}#{part}" if part else location


def split_address(address: str) -> tuple[str, str]:
    """The location and the part of an address, for people.

    >>> split_address("staff.xlsx#sheet=New%20York&row=2-201")
    ('staff.xlsx', 'sheet New York, rows 2-201')
    """
    location, mark, part = address.rpartition("#")
    if not mark or not _PART.fullmatch(part):
        return address, ""

    words = []
    for field in part.split("&"):
        name, _, value = field.partition("=")
        words.append(f"{'rows' if name == 'row' else name} {unquote(value)}")
    return location, ", ".join(words)
