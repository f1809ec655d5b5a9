"""Characters and bytes of an RTF, on their way to a flow."""

from typing import NamedTuple

from crag.asking.rtf.flow import Flow
from crag.asking.rtf.fonts import PICTURE_FONT, decode
from crag.asking.rtf.state import State

PRIVATE_USE = range(0xF020, 0xF100)
"""The characters of Unicode that stand for the bytes of fonts of symbols in Word."""


class _Run(NamedTuple):
    """Where bytes go, and how they are decoded."""

    flow: Flow
    table_level: int
    is_raised: bool
    codec: str


class Writer:
    """Writes what is shown. Bytes wait until their run ends: a character may have bytes in two tokens.

    Attributes:
        picture_signs: How many signs of fonts of pictures were left out.
    """

    def __init__(self) -> None:
        self.picture_signs = 0
        self._bytes = bytearray()
        self._run: _Run | None = None

    def write(self, text: str, state: State) -> None:
        """Write characters."""
        self.flush()
        if state.flow is not None and state.is_shown:
            state.flow.write(text, state.table_level, is_raised=state.is_raised)

    def write_bytes(self, content: bytes, codec: str, state: State) -> None:
        """Write bytes of a text."""
        if not content or state.flow is None or not state.is_shown:
            return
        if codec == PICTURE_FONT:
            self._write_picture_signs(content, state)
            return
        run = _Run(state.flow, state.table_level, state.is_raised, codec)
        if run != self._run:
            self.flush()
            self._run = run
        self._bytes += content

    def write_symbol(self, code: int, codec: str, state: State) -> None:
        """Write a sign of a font, by its byte or by its place in Unicode."""
        if code <= 0xFF or code in PRIVATE_USE:
            self.write_bytes(bytes([code & 0xFF]), codec, state)
        else:
            self.write(chr(code), state)

    def flush(self) -> None:
        """Write the bytes that wait."""
        if self._run is not None and self._bytes:
            flow, table_level, is_raised, codec = self._run
            flow.write(decode(bytes(self._bytes), codec), table_level, is_raised=is_raised)
            self._bytes.clear()

    def _write_picture_signs(self, content: bytes, state: State) -> None:
        if content.isspace():
            self.write(" ", state)
        elif not state.is_list_mark:
            self.picture_signs += len(content.translate(None, b" \t"))
