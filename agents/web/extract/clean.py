"""The cleaning of extracted text that NEC describes (2.1, step 3)."""

import re

_LATIN_LETTER = re.compile(r"[A-Za-z]")
_LETTER = re.compile(r"[^\W\d_]")
_FOREIGN_LETTER_SHARE = 0.5
"""A line is dropped where more than this part of its letters is outside A to Z. Numbers and names stay."""


def clean_lines(text: str, *, english_only: bool, max_word_characters: int | None) -> str:
    """The text without lines in other scripts and without words too long to be words, as the settings say.

    Other languages in Latin letters are not recognised: that takes a model, and the paper does not name one.
    """
    if english_only:
        text = "\n".join(line for line in text.split("\n") if not _is_foreign(line))
    if max_word_characters is not None:
        text = re.sub(rf"\S{{{max_word_characters + 1},}}[^\S\n]?", "", text)
        text = "\n".join(line.strip() for line in text.split("\n") if line.strip())
    return text


def _is_foreign(line: str) -> bool:
    if line.isascii():
        return False
    letters = len(_LETTER.findall(line))
    return letters > 0 and letters - len(_LATIN_LETTER.findall(line)) > _FOREIGN_LETTER_SHARE * letters
