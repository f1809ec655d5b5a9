"""Letters as people without a foreign keyboard type them: "Grüneck" as "gruneck", "Łódź" as "lodz"."""

import re
import unicodedata

_PLAIN_LETTERS = str.maketrans({
    "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ĸ": "k", "ŋ": "n",
    "æ": "ae", "œ": "oe", "þ": "th", "ß": "ss", "ĳ": "ij",
    "ʻ": "", "ʼ": "", "ʽ": "", "ʾ": "", "ʿ": "",  # the okina of "Hawaiʻi", an apostrophe that counts as a letter
})  # fmt: skip
"""Letters that Unicode does not split into a letter and a mark, and those that are left out."""

_TRANSCRIBED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "đ": "dj"})
"""The usual second spelling of these letters: "Mueller" for "Müller", "Haaland" for "Håland"."""


_SIGN_AS_LETTER = re.compile(r"(?<=[^\W\d_])[!$](?=[^\W\d_])(?!(?:mm?|mn|bn?|k)\b)", re.IGNORECASE)
"""Not the currency of "US$5" or "A$m", nor the end of a sentence."""
_LETTERS_OF_SIGNS = {"!": "i", "$": "s"}


def signs_as_letters(text: str) -> str:
    """The text with signs that stand for a letter inside a name as that letter.

    >>> signs_as_letters("P!nk paid US$5")
    'Pink paid US$5'
    """
    return _SIGN_AS_LETTER.sub(lambda sign: _LETTERS_OF_SIGNS[sign[0]], text)


def without_marks(text: str) -> str:
    """Lower case without accents and invisible characters, however they are encoded; "ø" is "o", "æ" is "ae".

    >>> without_marks("Łódź, Bodø, Straße")
    'lodz, bodo, strasse'
    """
    if text.isascii():
        return text.casefold()

    # Splits "é" into letter and accent; "Mn" are such marks, "Cf" invisible characters.
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    plain = [character for character in decomposed if unicodedata.category(character) not in {"Mn", "Cf"}]
    return "".join(plain).translate(_PLAIN_LETTERS)


def transcribed(text: str) -> str:
    """Lower case with two letters for an umlaut, as in "mueller", and without other marks."""
    if text.isascii():
        return text.casefold()
    composed = unicodedata.normalize("NFC", text.casefold())
    return without_marks(composed.translate(_TRANSCRIBED))
