"""Raised and lowered text on a line: exponents, footnote marks, ordinals, indices of chemistry.

A line loses the height of its characters: ``10<sup>6</sup>`` must not become 106, nor ``48,312<sup>1</sup>`` 48,3121. The
walk sets marks round such texts, and what they mean is decided by what stands before and after them.
"""

import re

RAISED = ("\ue0f1", "\ue0f2")
"""Marks round a superscript."""
NOTE = ("\ue0f3", "\ue0f4")
"""Marks round what is certainly a footnote mark: a short link into the same page."""
LOWERED = ("\ue0f5", "\ue0f6")
"""Marks round a subscript."""

_CONTEXT_CHARACTERS = 60
"""Of the text before a mark that decide what it means."""
_MAX_NESTED = 4


def _between(marks: tuple[str, str]) -> re.Pattern[str]:
    """Innermost text between two marks."""
    return re.compile(rf"{marks[0]}([^\ue0f1-\ue0f6]*+){marks[1]}")


_RAISED_TEXT = _between(RAISED)
_NOTE_TEXT = _between(NOTE)
_LOWERED_TEXT = _between(LOWERED)
_ANY_MARK = re.compile("[\ue0f1-\ue0f6]")

# --- the kinds of superscripts ------------------------------------------------------------------------------------------
_ORDINAL = re.compile(r"st|nd|rd|th|er|re|ère|e|ème|º|ª", re.IGNORECASE)
_TRADE_MARK = re.compile(r"TM|SM|[™®©℠]|\(R\)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_LIST_OF_NOTES = re.compile(r"\d{1,3}(?:\s*[,;–-]\s*\d{1,3})+|[a-z](?:\s*,\s*[a-z])+")
_SIGNED = re.compile(r"[-+−–]\s*\w+(?:[./]\w+)?|\d+[-+−–]")  # 10⁻³, and the charge of an ion
_SYMBOLS = re.compile(r"[*†‡§¶#]+")
_LETTERS = re.compile(r"[^\W\d_]{1,3}\.?")
_DEGREE = re.compile(r"[o0°º]")
_COMPASS_OR_SCALE = re.compile(r"\s?[CFNSEW]\b")
_CHEMICAL_SYMBOL = re.compile(r"[A-Z][a-z]?(?![a-z])")

# --- what an exponent stands on; each pattern ends at the mark ------------------------------------------------------------
_TEN = re.compile(r"(?<![\d.,])10\Z")
_TWO = re.compile(r"(?<![\d.,])2\Z")
_VARIABLE = re.compile(r"(?<![^\W\d_])[A-Za-zα-ωΑ-Ω]\Z")
_UNIT = re.compile(
    r"""
    (?<! [A-Za-z] )
    (?: [kcdmnµμ]?m | ft | yd | mi | s | sec | kg | miles? | feet | foot | yards? | inch(?:es)? | met(?:er|re)s?
      | (?<= \d ) \s? in | (?<= \d\s ) in )    # not the preposition
    \Z
    """,
    re.VERBOSE,
)
_FACTOR = re.compile(r"[×*·=/^+]\s?(?:\d{1,9}(?:\.\d{1,9})?|[a-z]{1,3})\Z")
"""The last factor of a product or equation; a number with a thousands separator is none."""
_OPERATOR_AFTER = re.compile(r"\s?[=×*·^]")
_BRACKETS = re.compile(r"\(([^()]{1,40})\)\Z")
_EXPRESSION = re.compile(r"(?=.*(?:[+×*/]|(?<![A-Za-z])[a-zA-Z](?![A-Za-z])))(?!.*[A-Za-z]{3}).*")
"""What stands in brackets is a formula: an operator or a variable, and no words."""


def lower_marks(text: str) -> str:
    """The text with marked super- and subscripts written on the line.

    Example:
        lower_marks("3 × 10\ue0f16\ue0f2")  # "3 × 10^6"
        lower_marks("48,312\ue0f11\ue0f2.")  # "48,312 [1]."
        lower_marks("H\ue0f52\ue0f6O")  # "H2O"
    """
    if not _ANY_MARK.search(text):
        return text

    for _ in range(_MAX_NESTED):
        text = _LOWERED_TEXT.sub(_write_lowered, text)
        text = _NOTE_TEXT.sub(_write_note, text)
        text = _RAISED_TEXT.sub(_write_raised, text)
    return _ANY_MARK.sub("", text)


def _neighbours(mark: re.Match[str]) -> tuple[str, str]:
    """What stands directly before and after a marked text."""
    text = mark.string
    before = text[max(mark.start() - _CONTEXT_CHARACTERS, 0) : mark.start()]
    after = text[mark.end() : mark.end() + _CONTEXT_CHARACTERS]
    return before, _ANY_MARK.sub("", after)


def _write_lowered(mark: re.Match[str]) -> str:
    """``H2O`` stays readable; two numbers do not become one: ``101_2``, ``log10 100``."""
    before, after = _neighbours(mark)
    text = " ".join(mark[1].split())
    if " " in text:
        return f" {text} "
    if text[:1].isdigit() and before[-1:].isdigit():
        return f"_{text}"
    if text[-1:].isdigit() and after[:1].isdigit():
        return f"{text} "
    return text


def _write_note(mark: re.Match[str]) -> str:
    """``[1]``, apart from the word before it; a link that stands alone is no footnote mark."""
    before, after = _neighbours(mark)
    text = " ".join(mark[1].split())
    is_alone = not before or before[-1].isspace()
    return text if is_alone else _footnote(text, after)


def _footnote(text: str, after: str) -> str:
    is_bracketed = text[:1] in "[({" or _SYMBOLS.fullmatch(text) is not None
    note = text if is_bracketed else f"[{text}]"
    return f" {note} " if after[:1].isalnum() else f" {note}"


def _write_raised(mark: re.Match[str]) -> str:
    before, after = _neighbours(mark)
    text = " ".join(mark[1].split())
    if not text:
        return ""

    if not before or before[-1].isspace():
        return _write_without_base(text, after)
    if text[0] in "[({":
        return _footnote(text, after)
    if text[0].isdigit():
        return _write_raised_number(text, before, after)
    if _SIGNED.fullmatch(text):
        return f"^{text}"
    if _SYMBOLS.fullmatch(text) or _LIST_OF_NOTES.fullmatch(text):
        return _footnote(text, after)
    return _write_raised_word(text, before, after)


def _write_without_base(text: str, after: str) -> str:
    """A superscript at the start of a word: an isotope, or the mark before a footnote's text."""
    is_isotope = text.isdigit() and _CHEMICAL_SYMBOL.match(after)
    is_fraction = after[:1] in ("/", "⁄")
    if is_isotope or is_fraction or not text.isalnum():
        return text
    return f"[{text}] "


def _write_raised_number(text: str, before: str, after: str) -> str:
    """An exponent, the numerator of a fraction, a degree, or the mark of a footnote."""
    follows_digit = before[-1].isdigit()
    if after[:1] in ("/", "⁄"):
        return f" {text}" if follows_digit else text
    if follows_digit and text == "0" and _COMPASS_OR_SCALE.match(after):
        return "°"
    if _SIGNED.fullmatch(text):  # an ion
        return f"^{text}"
    if _NUMBER.fullmatch(text) and _is_base(before, after, text):
        return f"^{text}"
    if _NUMBER.fullmatch(text) or _LIST_OF_NOTES.fullmatch(text):
        return _footnote(text, after)
    if _ORDINAL.fullmatch(text.lstrip("0123456789")) or " " in text:
        return f" {text}"
    return f"^({text})"


def _is_base(before: str, after: str, exponent: str) -> bool:
    """Whether an exponent can stand on the text: ten, a unit, a variable, a factor; not a town or a census."""
    if _FACTOR.search(before) or (before[-1].isalnum() and _OPERATOR_AFTER.match(after)):
        return True
    # Nobody writes an exponent of one; marks of footnotes begin with it.
    if exponent == "1":
        return False
    if _TEN.search(before) or _TWO.search(before) or _VARIABLE.search(before):
        return True
    if exponent in ("2", "3", "4") and _UNIT.search(before):
        return True
    in_brackets = _BRACKETS.search(before)
    return in_brackets is not None and _EXPRESSION.fullmatch(in_brackets[1]) is not None


def _write_raised_word(text: str, before: str, after: str) -> str:
    """Letters: an ordinal, a trade mark, an exponent, the mark of a footnote, or an abbreviation."""
    follows_digit = before[-1].isdigit()
    if follows_digit and _DEGREE.fullmatch(text) and _COMPASS_OR_SCALE.match(after):
        return "°"
    if follows_digit and _ORDINAL.fullmatch(text):
        return text
    if _TRADE_MARK.fullmatch(text) or text[0] == ".":
        return text
    if " " in text:
        return f" {text} "

    is_letter = len(text) == 1 and text.isalpha()
    is_variable = _VARIABLE.search(before) is not None and before[-1].islower()
    if is_variable or (is_letter and follows_digit and text in "nkxmt"):
        return f"^{text}" if text.isalnum() else f"^({text})"
    if is_letter and (follows_digit or before[-3:].isalpha() and len(before) >= 3 or before[-1] in ").,;:"):
        return _footnote(text, after)
    if _LETTERS.fullmatch(text):
        return text
    return f"^({text})" if follows_digit or before[-1] == ")" else f" {text}"
