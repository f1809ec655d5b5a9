"""The words that a viewer shows on a page of a PDF, by pdfium.

pdfium extracts all text of a page, also what nobody sees: beyond the crop box, in layers that are switched off, white on
white, under a black bar, or in render mode 3 ("neither fill nor stroke"). So the page is rendered as well, and a word
counts only if there is ink where it stands. The invisible words that text recognition lays over a scan have ink under
them and stay.
"""

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pypdfium2
from numpy.typing import NDArray
from pypdfium2 import raw

RENDERED_PIXELS = 1200
"""Of the longer side of a rendered page: letters of ten points are then some seven pixels high."""
LEAST_CONTRAST = 8
"""Of 255 grey levels between the darkest and the lightest pixel of a word that is seen."""

_HYPHENS_AT_LINE_END = {0x2, 0xFFFE}
"""What pdfium returns for a hyphen at the end of a line, by function."""
_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
)
_LAST_LATIN_LETTER = "\u024f"


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of text without blanks, in points from the top left of the page as it is shown.

    Attributes:
        text: Its characters.
        left: Where it begins, from the left.
        right: Where it ends.
        baseline: The line on which it stands, from the top.
        size: The height of its font, from the deepest descender to the highest ascender.
        turn: Quarter turns, counter-clockwise, by which it is rotated on the page. The other attributes are as if the
            page had been turned so that it is upright.
        follows_blank: Whether a blank or a new line precedes it. A footnote mark is a word that does not follow one.
    """

    text: str
    left: float
    right: float
    baseline: float
    size: float
    turn: int = 0
    follows_blank: bool = True


@dataclass(frozen=True, slots=True)
class _Character:
    """A character, its place on the upright page, and the box of its ink on the screen (left, top, right, bottom)."""

    index: int
    text: str
    left: float
    right: float
    baseline: float
    size: float
    turn: int
    ink: tuple[float, float, float, float]
    follows_blank: bool


def visible_words(page: pypdfium2.PdfPage) -> list[Word]:
    """The words of a page that can be seen, in the order of the file. Annotations and form fields must be flattened."""
    frame = _Frame(page)
    pixels = frame.render()
    text_page = page.get_textpage()
    try:
        words = []
        for characters in _group_characters(_read_characters(text_page, frame)):
            if _has_ink(characters, pixels, frame.scale) or _lacks_glyphs(characters, text_page):
                words.append(_build_word(characters))
    finally:
        text_page.close()
    return words


class _Frame:
    """The shown part of a page: from coordinates of the file to points and pixels from the top left of the screen."""

    def __init__(self, page: pypdfium2.PdfPage) -> None:
        self._page = page
        # The crop box, within the media box.
        self._left, self._bottom, self._right, self._top = page.get_bbox()
        self.rotation = page.get_rotation() // 90
        self.width, self.height = page.get_size()
        self.scale = RENDERED_PIXELS / max(self.width, self.height, 1.0)

    def render(self) -> NDArray[np.uint8]:
        """The page as grey pixels, rows from the top."""
        bitmap = self._page.render(scale=self.scale, grayscale=True)
        try:
            pixels: NDArray[np.uint8] = bitmap.to_numpy().copy()
        finally:
            bitmap.close()
        return pixels[:, :, 0] if pixels.ndim == 3 else pixels

    def to_screen(self, x: float, y: float) -> tuple[float, float]:
        """Points from the top left of the page as it is shown."""
        if self.rotation == 1:
            return y - self._bottom, x - self._left
        if self.rotation == 2:
            return self._right - x, y - self._bottom
        if self.rotation == 3:
            return self._top - y, self._right - x
        return x - self._left, self._top - y

    def to_upright(self, x: float, y: float, turn: int) -> tuple[float, float]:
        """The same point after the screen was turned so that text with this turn reads from left to right."""
        if turn == 1:
            return self.height - y, x
        if turn == 2:
            return self.width - x, self.height - y
        if turn == 3:
            return y, self.width - x
        return x, y


def _read_characters(text_page: pypdfium2.PdfTextPage, frame: _Frame) -> Iterator[_Character]:
    """The characters of a page without blanks, in the order of the file."""
    follows_blank = True
    for index in range(text_page.count_chars()):
        code = raw.FPDFText_GetUnicode(text_page, index)
        text = "-" if code in _HYPHENS_AT_LINE_END else chr(code)
        if code and not text.isspace():
            yield _read_character(text_page, index, text, frame, follows_blank=follows_blank)
            follows_blank = False
        elif code:
            follows_blank = True


def _read_character(
    text_page: pypdfium2.PdfTextPage,
    index: int,
    text: str,
    frame: _Frame,
    *,
    follows_blank: bool,
) -> _Character:
    """A character with its place."""
    angle, size = _read_font(text_page, index)
    # The angle is counter-clockwise on the page of the file, which the viewer turns clockwise.
    turn = (round(angle / (math.pi / 2)) - frame.rotation) % 4

    # The loose box reaches from the origin of a glyph to that of the next one.
    left, bottom, right, top = text_page.get_charbox(index, loose=True)
    corners = [frame.to_upright(*frame.to_screen(*corner), turn) for corner in ((left, bottom), (right, top))]
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(text_page, index, x, y)
    _, baseline = frame.to_upright(*frame.to_screen(x.value, y.value), turn)

    left, bottom, right, top = text_page.get_charbox(index)
    (x_1, y_1), (x_2, y_2) = frame.to_screen(left, bottom), frame.to_screen(right, top)
    return _Character(
        index=index,
        text=text,
        left=min(corners)[0],
        right=max(corners)[0],
        baseline=baseline,
        size=size,
        turn=turn,
        ink=(min(x_1, x_2), min(y_1, y_2), max(x_1, x_2), max(y_1, y_2)),
        follows_blank=follows_blank,
    )


def _read_font(text_page: pypdfium2.PdfTextPage, index: int) -> tuple[float, float]:
    """The angle of a character's line in radians, and the size of its font in points, scaled as the page scales it."""
    size = raw.FPDFText_GetFontSize(text_page, index)
    matrix = raw.FS_MATRIX()
    if not raw.FPDFText_GetMatrix(text_page, index, matrix):
        return 0.0, abs(size) or 1.0
    return math.atan2(matrix.b, matrix.a), abs(size) * math.hypot(matrix.c, matrix.d) or 1.0


def _group_characters(characters: Iterator[_Character]) -> Iterator[list[_Character]]:
    """The characters of each word. A raised or lowered character begins a word, and so does one that stands apart."""
    group: list[_Character] = []
    for character in characters:
        if group and not _continues_word(group[-1], character):
            yield group
            group = []
        group.append(character)
    if group:
        yield group


def _continues_word(before: _Character, character: _Character) -> bool:
    """Whether a character stands right behind another, on the same line."""
    if character.follows_blank or before.turn != character.turn:
        return False
    largest = max(before.size, character.size)
    is_on_line = abs(character.baseline - before.baseline) < 0.1 * largest
    is_next = -largest < character.left - before.right < 0.5 * largest
    return is_on_line and is_next


def _has_ink(characters: Sequence[_Character], pixels: NDArray[np.uint8], scale: float) -> bool:
    """Whether the pixels where a word stands differ."""
    boxes = np.array([character.ink for character in characters]) * scale
    left, top = np.floor(boxes[:, :2].min(axis=0)).astype(int)
    right, bottom = np.ceil(boxes[:, 2:].max(axis=0)).astype(int)

    # A part of a word beyond the page is not shown, and a word of which only a part is shown counts.
    area = pixels[max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
    return area.size > 0 and int(area.max()) - int(area.min()) >= LEAST_CONTRAST


def _lacks_glyphs(characters: Sequence[_Character], text_page: pypdfium2.PdfTextPage) -> bool:
    """Whether a word would be seen if this machine had its font: a script beyond Latin in a font that is not embedded."""
    if all(character.text <= _LAST_LATIN_LETTER for character in characters):
        return False
    text_object = raw.FPDFText_GetTextObject(text_page, characters[0].index)
    if not text_object or raw.FPDFTextObj_GetTextRenderMode(text_object) == raw.FPDF_TEXTRENDERMODE_INVISIBLE:
        return False
    return raw.FPDFFont_GetIsEmbedded(raw.FPDFTextObj_GetFont(text_object)) == 0


def _build_word(characters: Sequence[_Character]) -> Word:
    first = characters[0]
    text = "".join(character.text for character in characters)
    # pdfium gives some characters as pairs of surrogates.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return Word(
        text=text.translate(_LIGATURES),
        left=min(character.left for character in characters),
        right=max(character.right for character in characters),
        baseline=first.baseline,
        size=max(character.size for character in characters),
        turn=first.turn,
        follows_blank=first.follows_blank,
    )
