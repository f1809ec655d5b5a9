"""How the bytes of a text are decoded: its font tells, else the code page of the file."""

from dataclasses import dataclass, field
from functools import cached_property

from crag.asking.rtf.code_pages import DEFAULT, codec_of_charset, codec_of_code_page

SYMBOL_FONT = "Symbol"
"""Stands for a codec: the text is in the font Symbol."""
PICTURE_FONT = "pictures"
"""Stands for a codec: the text is in a font of small pictures, which have no letters."""

_SYMBOL_CHARSET = 2
_NAMES_OF_PICTURE_FONTS = ("wingdings", "webdings", "zapfdingbats", "zapf dingbats", "monotype sorts", "marlett")

# Unicode Consortium, Mappings/VENDORS/ADOBE/symbol.txt
_SYMBOLS_FROM_32 = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SYMBOLS_FROM_160 = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\ufffd〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
_SYMBOLS = dict(enumerate(_SYMBOLS_FROM_32, start=32)) | dict(enumerate(_SYMBOLS_FROM_160, start=160))


def decode(content: bytes, codec: str) -> str:
    r"""Bytes as text; bytes that do not fit become U+FFFD. Of a font of pictures nothing remains.

    >>> decode(b"a \xa3 5", SYMBOL_FONT), decode(b"\x93\xfa", "cp932")
    ('α ≤ 5', '日')
    """
    if codec == PICTURE_FONT:
        return " " if content.isspace() else ""
    if codec == SYMBOL_FONT:
        return "".join(_SYMBOLS.get(byte, "\ufffd") for byte in content)
    return content.decode(codec, "replace")


def codec_of_font_name(name: str) -> str | None:
    """The codec of a font of symbols; None for other fonts."""
    lower = name.strip().lower()
    if lower == "symbol":
        return SYMBOL_FONT
    return PICTURE_FONT if lower.startswith(_NAMES_OF_PICTURE_FONTS) else None


@dataclass
class _Font:
    charset: int | None = None
    code_page: int | None = None
    name: bytes = b""

    @cached_property
    def symbol_codec(self) -> str | None:
        """The codec of a font of symbols; None for other fonts."""
        return codec_of_font_name(self.name.partition(b";")[0].decode("latin-1"))

    @cached_property
    def codec(self) -> str | None:
        """The codec; None if it is that of the file."""
        is_symbol_possible = self.charset in {None, _SYMBOL_CHARSET}
        if is_symbol_possible and self.symbol_codec is not None:
            return self.symbol_codec
        return codec_of_code_page(self.code_page) or codec_of_charset(self.charset)


@dataclass(slots=True)
class Fonts:
    """The table of fonts.

    Attributes:
        default_codec: That of the file, for fonts that do not tell.
        default_font: The number of the font where none is named.
    """

    default_codec: str = DEFAULT
    default_font: int | None = None
    _fonts: dict[int, _Font] = field(default_factory=dict)
    _current: _Font = field(default_factory=_Font)

    def take_word(self, word: str, number: int | None) -> None:
        """Follow a control word of the table."""
        if word == "f" and number is not None:
            self._current = self._fonts[number] = _Font()
        elif word == "fcharset":
            self._current.charset = number
        elif word == "cpg":
            self._current.code_page = number

    def take_name(self, content: bytes) -> None:
        """Take a piece of the name of the font that was begun last."""
        self._current.name += content

    def find_codec(self, number: int | None) -> str:
        """The codec of a font; None is the default font."""
        font = self._find_font(number)
        return (font and font.codec) or self.default_codec

    def find_symbol_codec(self, number: int | None) -> str:
        """The codec of signs that have no letters: those of the font Symbol, else small pictures."""
        font = self._find_font(number)
        return (font and font.symbol_codec) or PICTURE_FONT

    def _find_font(self, number: int | None) -> _Font | None:
        font_number = self.default_font if number is None else number
        return None if font_number is None else self._fonts.get(font_number)
