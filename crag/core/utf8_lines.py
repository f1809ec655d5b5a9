"""The lines of files that people write by hand or save from a spreadsheet."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from crag.core.files import DatasetError

ENCODING = "utf-8-sig"
"""A byte order mark would become part of the first line."""
ERRORS = "surrogateescape"
"""How to open such a file: a strict decoder reads in blocks and would not know the line."""
_FIRST_ESCAPE = 0xDC00
"""With `ERRORS` a byte that is no UTF-8 is read as this character plus the byte."""


def utf8_lines(file: Iterable[str], source: Path) -> Iterator[str]:
    """The lines of a file that was opened with `ENCODING` and `ERRORS`.

    Raises DatasetError: names the first line that is not UTF-8.
    """
    for number, line in enumerate(file, start=1):
        try:
            line.encode("utf-8")
        except UnicodeEncodeError as error:
            byte = ord(line[error.start]) - _FIRST_ESCAPE
            fault = f"not UTF-8 text (byte 0x{byte:02x}); save it as UTF-8"
            raise DatasetError(f"{source}, line {number}: {fault}") from None
        yield line
