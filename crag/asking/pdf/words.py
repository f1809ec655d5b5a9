"""The words that a viewer shows on a page of a PDF, by pdfium.

pdfium extracts all text of a page, also what nobody sees: beyond the crop box, in layers that are switched off, white
on white, under a black bar, or in render mode 3 ("neither fill nor stroke"). So the page is rendered as well, and a
word counts only if there is ink where it stands. The invisible words that text recognition lays over a scan have ink
under them and stay.
"""

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pypdfium2
from numpy.typing import NDArray
from pypdfium2 import raw

RENDERED_PIXELS = 1200
"""Of the longer side of a rendered page: letters of ten points are then some seven pixels high."""
MOST_CHARACTERS = 100_000
"""Of a page: more than any newspaper prints on one."""
LEAST_CONTRAST = 8
"""Of 255 grey levels between the darkest and the lightest pixel of a word that is seen."""

RAISED = 0.1
"""A character whose baseline is so many font sizes above or below that of its word is a word of its own."""
_WIDEST_CHARACTER = 3.0
"""In font sizes. After a wider step another line begins."""
_SAME_BASELINE = 0.01
"""In points."""
_TOUCHING = 0.12
"""In heights of a letter: so little white is none between two letters. Blanks are twice as wide."""
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
        size: The size of its font.
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


class _Character(NamedTuple):
    """A character with its number on the page, and its origin on the screen.

    There is no more: calls of pdfium take most of the time.
    """

    number: int
    text: str
    origin: tuple[float, float]
    follows_blank: bool


class _Font(NamedTuple):
    """The size of a font in points, as the page scales it, and the quarter turns of its line on the screen."""

    size: float
    turn: int


def visible_words(page: pypdfium2.PdfPage) -> list[Word]:
    """The words of a page that can be seen, in the order of the file. Annotations and form fields must be flattened."""
    frame = _Frame(page)
    pixels = frame.render()
    text_page = page.get_textpage()
    try:
        words = []
        for characters, font in _group_characters(text_page, frame):
            if _has_ink(characters, text_page, frame, pixels) or _lacks_glyphs(characters, text_page):
                words.append(_build_word(characters, font, text_page, frame))
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


def _group_characters(
    text_page: pypdfium2.PdfTextPage,
    frame: _Frame,
) -> Iterator[tuple[list[_Character], _Font]]:
    """The characters of each word with the font of the first. A raised or lowered character begins a word."""
    group: list[_Character] = []
    font = _Font(1.0, 0)
    for character in _read_characters(text_page, frame):
        if group and not _continues_word(group[-1], character, font, frame):
            yield group, font
            group = []
        if not group:
            font = _read_font(text_page, character.number, frame)
        group.append(character)
    if group:
        yield group, font


def _read_characters(text_page: pypdfium2.PdfTextPage, frame: _Frame) -> Iterator[_Character]:
    """The characters of a page without blanks, in the order of the file."""
    x = ctypes.c_double()
    y = ctypes.c_double()
    before = -1
    follows_blank = True
    for index in range(min(text_page.count_chars(), MOST_CHARACTERS)):
        code = raw.FPDFText_GetUnicode(text_page, index)
        text = "-" if code in _HYPHENS_AT_LINE_END else chr(code)
        if code and not text.isspace():
            # Where letters are moved closer together, pdfium sees the end of a line.
            baseline = y.value
            raw.FPDFText_GetCharOrigin(text_page, index, x, y)
            if follows_blank and before >= 0 and abs(y.value - baseline) < _SAME_BASELINE:
                follows_blank = not _touch(text_page, before, index)
            yield _Character(index, text, frame.to_screen(x.value, y.value), follows_blank)
            before = index
            follows_blank = False
        elif code:
            follows_blank = True


def _touch(text_page: pypdfium2.PdfTextPage, before: int, index: int) -> bool:
    """Whether a character begins where another one on its line ends, and the file has no blank between them."""
    if not all(raw.FPDFText_IsGenerated(text_page, between) == 1 for between in range(before + 1, index)):
        return False
    _, bottom, right, top = text_page.get_charbox(before, loose=True)
    left, *_ = text_page.get_charbox(index, loose=True)
    return bool(abs(left - right) < _TOUCHING * (top - bottom))


def _continues_word(before: _Character, character: _Character, font: _Font, frame: _Frame) -> bool:
    """Whether a character follows another on the same line, without a blank."""
    if character.follows_blank:
        return False
    x_before, baseline_before = frame.to_upright(*before.origin, font.turn)
    x, baseline = frame.to_upright(*character.origin, font.turn)
    is_on_line = abs(baseline - baseline_before) < RAISED * font.size
    return is_on_line and abs(x - x_before) < _WIDEST_CHARACTER * font.size


def _read_font(text_page: pypdfium2.PdfTextPage, index: int, frame: _Frame) -> _Font:
    """The font of a character."""
    size = abs(raw.FPDFText_GetFontSize(text_page, index))
    matrix = raw.FS_MATRIX()
    if not raw.FPDFText_GetMatrix(text_page, index, matrix):
        return _Font(size or 1.0, 0)

    # The angle is counter-clockwise on the page of the file, which the viewer turns clockwise.
    angle = math.atan2(matrix.b, matrix.a)
    turn = (round(angle / (math.pi / 2)) - frame.rotation) % 4
    return _Font(size * math.hypot(matrix.c, matrix.d) or 1.0, turn)


def _has_ink(
    characters: Sequence[_Character],
    text_page: pypdfium2.PdfTextPage,
    frame: _Frame,
    pixels: NDArray[np.uint8],
) -> bool:
    """Whether the pixels where a character of the word stands differ."""
    for character in characters:
        left, bottom, right, top = text_page.get_charbox(character.number)
        x_1, y_1 = frame.to_screen(left, bottom)
        x_2, y_2 = frame.to_screen(right, top)
        left, right = sorted((x_1 * frame.scale, x_2 * frame.scale))
        top, bottom = sorted((y_1 * frame.scale, y_2 * frame.scale))

        # Beyond the page there are no pixels.
        rows = slice(max(math.floor(top), 0), max(math.ceil(bottom), 0))
        columns = slice(max(math.floor(left), 0), max(math.ceil(right), 0))
        area = pixels[rows, columns]
        if area.size and int(area.max()) - int(area.min()) >= LEAST_CONTRAST:
            return True
    return False


def _lacks_glyphs(characters: Sequence[_Character], text_page: pypdfium2.PdfTextPage) -> bool:
    """Whether a word would be seen if this machine had its font: no Latin letters, and the font is not embedded."""
    if all(character.text <= _LAST_LATIN_LETTER for character in characters):
        return False
    text_object = raw.FPDFText_GetTextObject(text_page, characters[0].number)
    if not text_object or raw.FPDFTextObj_GetTextRenderMode(text_object) == raw.FPDF_TEXTRENDERMODE_INVISIBLE:
        return False
    return not raw.FPDFFont_GetIsEmbedded(raw.FPDFTextObj_GetFont(text_object))


def _build_word(
    characters: Sequence[_Character],
    font: _Font,
    text_page: pypdfium2.PdfTextPage,
    frame: _Frame,
) -> Word:
    """The word with its place on the upright page."""
    text = "".join(character.text for character in characters)
    # pdfium gives some characters as pairs of surrogates.
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    # The loose box of a character reaches from its origin to that of the next one.
    xs = []
    for index in (characters[0].number, characters[-1].number):
        left, bottom, right, top = text_page.get_charbox(index, loose=True)
        for corner in ((left, bottom), (right, top)):
            x, _ = frame.to_upright(*frame.to_screen(*corner), font.turn)
            xs.append(x)
    _, baseline = frame.to_upright(*characters[0].origin, font.turn)
    return Word(
        text=text.translate(_LIGATURES),
        left=min(xs),
        right=max(xs),
        baseline=baseline,
        size=font.size,
        turn=font.turn,
        follows_blank=characters[0].follows_blank,
    )
