r"""The encodings of text in RTF.

`\ansicpg1250` names a code page, `\fcharset238` the character set of a font; the pairs are those of the RTF
Specification 1.9.1, "Font Table" (also in LibreOffice, writerfilter/source/rtftok/rtfcharsets.cxx).
"""

DEFAULT = "cp1252"

# Python lacks the Mac's Hebrew, Thai and East Asian sets: those of Windows have the same letters at the same bytes.
_MAC_CODECS = {
    10000: "mac_roman", 10001: "cp932", 10002: "cp950", 10003: "cp949", 10004: "mac_arabic", 10005: "cp1255",
    10006: "mac_greek", 10007: "mac_cyrillic", 10008: "gbk", 10010: "mac_romanian", 10017: "mac_cyrillic",
    10021: "cp874", 10029: "mac_latin2", 10079: "mac_iceland", 10081: "mac_turkish", 10082: "mac_croatian",
}  # fmt: skip
_CODE_PAGES_OF_PYTHON = (
    437, 720, 737, 775, 850, 852, 855, 857, 858, 860, 861, 862, 863, 864, 865, 866, 869, 874, 932, 949, 950,
    *range(1250, 1259),
)  # fmt: skip
_CODECS = {
    **{number: f"cp{number}" for number in _CODE_PAGES_OF_PYTHON},
    **_MAC_CODECS,
    **{28590 + part: f"iso8859_{part}" for part in range(2, 17) if part != 12},
    708: "iso8859_6",
    819: "cp1252",
    936: "gbk",
    1361: "johab",
    20866: "koi8_r",
    21866: "koi8_u",
    54936: "gb18030",
    65001: "utf-8",
}
"""Number of a code page -> codec. EBCDIC is none: RTF itself is ASCII."""

_CODE_PAGE_OF_CHARSET = {
    0: 1252, 77: 10000, 78: 10001, 79: 10003, 80: 10008, 81: 10002, 83: 10005, 84: 10004, 85: 10006, 86: 10081,
    87: 10021, 88: 10029, 89: 10007, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254,
    163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}  # fmt: skip
"""Without 1 (the default) and 2 (symbols)."""

CODECS_OF_CHARACTER_SETS = {"ansi": DEFAULT, "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
"""Control word at the beginning of the file -> codec."""


def codec_of_code_page(number: int | None) -> str | None:
    """The codec of Python; None if the code page is not known."""
    return _CODECS.get(number or 0)


def codec_of_charset(number: int | None) -> str | None:
    """The codec of a font's character set; None if that does not tell."""
    return codec_of_code_page(_CODE_PAGE_OF_CHARSET.get(-1 if number is None else number))
