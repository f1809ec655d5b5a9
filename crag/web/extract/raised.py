"""Raised and lowered text on a line: exponents, footnote marks, ordinals, indices of chemistry.

A line loses the height of its characters: ``10<sup>6</sup>`` must not become 106, nor ``48,312<sup>1</sup>`` 48,3121.
The walk sets marks round such texts, and what they mean is decided by what stands before and after them.
"""

import re
from typing import NamedTuple

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
_ERRORS = re.compile(
    rf"(?<=\d)\s?{RAISED[0]}\s?(\+\s?\d[\d.]{{0,9}})\s?{RAISED[1]}\s?{LOWERED[0]}\s?([-−–]\s?\d[\d.]{{0,9}})\s?{LOWERED[1]}"
)
"""Of a measured value, one above the other."""

# --- kinds of superscripts --------------------------------------------------------------------------------------------

_ORDINAL = re.compile(r"st|nd|rd|th|ste|ers?|res?|[eè]res?|es?|i?[eè]mes?|n?des?|º|ª", re.IGNORECASE)
_TRADE_MARK = re.compile(r"TM|SM|[™®©℠]|\(R\)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NOTE = r"(?:\d{1,3}|[*†‡§¶#]{1,3})"
_LIST_OF_NOTES = re.compile(rf"{_NOTE}(?:\s*[,;–-]\s*{_NOTE})+|[a-z](?:\s*,\s*[a-z])+")
_SUM = re.compile(r"[a-z]\s?(?:[-+−]\s?\d{1,3}|\+\s?[a-z])")
"""An exponent such as n+1."""
_SIGNED = re.compile(r"[-+−–]\s?\w{1,20}(?:[./]\w{1,20})?|\d{1,3}[-+−–]")
"""An exponent such as −3, or the charge of an ion."""
_SYMBOLS = re.compile(r"[*†‡§¶#]+")
_COMPASS_OR_SCALE = re.compile(r"\s?[CFNSEW]\b")
_DEGREE = re.compile("[o°∘◦○˚]")
"""Signs that are raised in place of that of a degree."""
_CHEMICAL_SYMBOL = re.compile(r"[A-Z][a-z]?(?![a-z]|\s[A-Z][a-z])")
"""Not the first name of a player, who has the number of a seed."""
_WHOLE_PRICE = re.compile(rf"[$€£]{RAISED[1]}?\s?(?:\d{{1,6}}|\d{{1,3}}(?:,\d{{3}}){{1,2}})\.?\Z")
_PRICE_SIGN = re.compile(r"\s?(?:€|zł|Kč|(?:kr|EUR|USD|GBP)\b)")
"""Behind a price."""
_BELOW_BAR = re.compile(r"[/⁄]\s?(\d{1,4})(?!\d)")
"""The lower number of a fraction, behind its bar."""
_WHOLE_FRACTION = re.compile(r"(\d{1,2})[/⁄](\d{1,2})")
_MEASURE = re.compile(
    r"""
    \s? (?: -? (?: in(?:ch(?:es)?)? | f(?:ee|oo)?t | yards? | miles? | acres? | cups? | tsp | tbsp
                 | (?:tea|table)spoons? | lbs? | pounds? | oz | ounces? | hours? | days? | weeks? | months? | years? )
             (?! [a-z] )
           | ["″] )
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What people count in halves and quarters."""
_HOUR = re.compile(r"(?<![\d.,:$€£])(?:1?\d|2[0-4])\Z")
_MINUTES = re.compile(r"[0-5]\d")
_BEFORE_HUNDREDTHS = re.compile(r"\d:[0-5]\d[.,]\Z")
_DECIMALS = re.compile(r"0\d{1,2}")
"""No footnote has such a number."""
_CLOCK_AFTER = re.compile(r"\s?(?:[ap]\.?\s?m\b|h\b|uhr\b|hrs?\b|o[’']clock)", re.IGNORECASE)
_SHORT_NUMBER = re.compile(r"(?<![\d.,])\d{1,4}[.,]?\Z")
_ROMAN_NUMBER = re.compile(r"(?<![^\W_])[IVXLCDM]{1,8}\Z")
_NUMERO = re.compile(r"(?<![^\W_])n\Z", re.IGNORECASE)
"""Of ``No 5``, whose o is raised."""
_CLOCK_UNIT = re.compile(r"[dhms]")
_UNIT_BEFORE = re.compile(r"\d[\ue0f1]?[dhm][\ue0f2]?\s?\d{1,2}(?:\.\d{1,6})?\Z")
_UNIT_AFTER = re.compile(r"\s?\d{1,2}(?:\.\d{1,6})?\s?[hms](?![a-z])")
"""The number and unit before or after one of a clock or of a right ascension: ``4h 1m 15.2s``."""

# --- what an exponent stands on: patterns that end at it --------------------------------------------------------------

_TEN = re.compile(r"(?<![\w.,])10\Z")
_DECADE = re.compile(r"\d0s\Z")
"""No number of seconds."""
_TWO = re.compile(r"(?<![\w.,])2\Z")
_VARIABLE = re.compile(r"(?<![^\W\d_])[A-Za-zα-ωΑ-Ω]\Z")
_INDEXED = re.compile(r"(?<![^\W_])[a-zα-ω]_[^\W_]{1,9}\Z")
_PRIME = re.compile("[′″‴]")
_UNIT = re.compile(
    r"""
    (?<! [A-Za-z] )
    (?: (?: [kcdhmnµμMG] | da )? m | Å | ft | yd | mi | s | sec | kg
      | miles? | feet | foot | yards? | inch(?:es)? | met(?:er|re)s?
      | (?<= \d ) \s? in | (?<= \d\s ) in )    # not the preposition
    \Z
    """,
    re.VERBOSE,
)
_FACTOR = re.compile(r"[×*·=/^+]\s?(?:\d{1,9}(?:\.\d{1,9})?|[a-z]{1,3})\Z")
"""The last factor of a product or equation; a number with a thousands separator is none."""
_FUNCTION = re.compile(r"(?<![A-Za-z])(?:(?:sin|cos|tan|cot|sec|csc)h?|log|ln)\Z")
_ARGUMENT = re.compile(r"\s?(?:[a-zα-ω]\b|\(|\d)")
"""Of a function: ``cos^2 x``."""
_OPERATOR_AFTER = re.compile(r"\s?[=×*·^]")
_BRACKETS = re.compile(r"\(([^()]{1,40})\)\Z")
_OPERATOR_OR_VARIABLE = re.compile(r"[+×*/]|(?<![A-Za-z])[a-zA-Z](?![A-Za-z])")
_WORD = re.compile(r"[A-Za-z]{3}")


def lower_marks(text: str) -> str:
    """The text with marked super- and subscripts written on the line.

    Example:
        lower_marks("3 × 10\ue0f16\ue0f2")  # "3 × 10^6"
        lower_marks("48,312\ue0f11\ue0f2.")  # "48,312 [1]."
        lower_marks("H\ue0f52\ue0f6O")  # "H2O"
    """
    if not _ANY_MARK.search(text):
        return text

    text = _ERRORS.sub(r" \1 \2", text)
    for _ in range(_MAX_NESTED):
        text = _LOWERED_TEXT.sub(_write_lowered, text)
        text = _NOTE_TEXT.sub(_write_note, text)
        text = _RAISED_TEXT.sub(_write_raised, text)
    return _ANY_MARK.sub("", text)


class _Script(NamedTuple):
    """A marked text with what stands directly before and after it."""

    text: str
    before: str
    after: str
    after_mark: str
    """The next character if it is a mark."""

    @property
    def stands_alone(self) -> bool:
        """Whether no word ends where the text begins."""
        return not self.before or self.before[-1].isspace() or self.before[-1] in "([{"

    @property
    def follows_digit(self) -> bool:
        return self.before[-1:].isdigit()


def _read_script(mark: re.Match[str]) -> _Script:
    text = " ".join(mark[1].split())
    before = mark.string[max(mark.start() - _CONTEXT_CHARACTERS, 0) : mark.start()]
    after = mark.string[mark.end() : mark.end() + _CONTEXT_CHARACTERS]
    return _Script(text, before, _ANY_MARK.sub("", after), after[:1] if _ANY_MARK.match(after) else "")


def _write_lowered(mark: re.Match[str]) -> str:
    """``H2O`` stays readable; two numbers do not become one: ``101_2``, ``log10 100``."""
    script = _read_script(mark)
    text = script.text
    if " " in text:
        return f" {text} "
    is_on_digit = text[:1].isdigit() and script.follows_digit
    is_below_exponent = script.after_mark == RAISED[0] and script.before[-1:].islower()
    if is_on_digit or (is_below_exponent and _VARIABLE.search(script.before)):
        return _keep_blank(mark, f"_{text}")
    if text[-1:].isdigit() and mark.string[mark.end() : mark.end() + 1].isdigit():
        return f"{text} "
    return _keep_blank(mark, text)


def _write_note(mark: re.Match[str]) -> str:
    """``[1]``, apart from the word before it; a link that stands alone is not a footnote mark."""
    script = _read_script(mark)
    return script.text if script.stands_alone else _write_footnote(script)


def _write_footnote(script: _Script) -> str:
    is_bracketed = script.text[:1] in "[({" or _SYMBOLS.fullmatch(script.text) is not None
    note = script.text if is_bracketed else f"[{script.text}]"
    return f" {note} " if script.after[:1].isalnum() else f" {note}"


def _write_raised(mark: re.Match[str]) -> str:
    """A superscript as the first kind that fits."""
    script = _read_script(mark)
    if not script.text:
        return ""
    for write_as in _KINDS_OF_RAISED:
        written = write_as(script)
        if written is not None:
            return _keep_blank(mark, written)
    return _keep_blank(mark, script.text)


def _keep_blank(mark: re.Match[str], written: str) -> str:
    """A blank at the end of a raised or lowered text parts it from the word behind it, as on the page."""
    next_character = mark.string[mark.end() : mark.end() + 1]
    is_apart = mark[1][-1:].isspace() and next_character.isalnum()
    return f"{written.rstrip()} " if is_apart else written


# --- each kind: the text to write, or None if the superscript is of another kind -------------------------------------


def _as_start_of_word(script: _Script) -> str | None:
    """An isotope, or the mark before the text of a footnote."""
    text, before, after, _ = script
    if not script.stands_alone:
        return None
    if text.isdigit() and _FACTOR.search(before.rstrip()):
        return f"^{text}"

    is_isotope = text.isdigit() and _CHEMICAL_SYMBOL.match(after)
    is_fraction = after[:1] in ("/", "⁄")
    is_mark = text.isdigit() or (len(text) == 1 and text.isalpha())
    if is_isotope or is_fraction or not is_mark:
        return text
    return f"[{text}] " if after[:1].isalnum() else f"[{text}]"


def _as_number(script: _Script) -> str | None:
    """The numerator of a fraction, decimals, the cents of a price, the minutes of a time, a degree."""
    text, before, after, _ = script
    if _is_fraction(script):
        return f" {text}" if script.follows_digit else text
    if _MINUTES.fullmatch(text) and _HOUR.search(before) and _CLOCK_AFTER.match(after):
        return f":{text}"
    if _is_decimals(script):
        return text
    if _is_cents(script):
        return text if before[-1] in ".," else f".{text}"
    if script.follows_digit and (_DEGREE.fullmatch(text) or (text in ("0", "º") and _COMPASS_OR_SCALE.match(after))):
        return "°"
    return None


def _is_decimals(script: _Script) -> bool:
    """Whether digits behind a point are decimals of a number: ``1:52.03``. The mark of a footnote ends a sentence."""
    text, before, after, _ = script
    if _DECIMALS.fullmatch(text):
        return before[-1:] in (".", ",") and before[-2:-1].isdigit()
    goes_on = after.lstrip()[:1].islower()
    return text.isdigit() and goes_on and _BEFORE_HUNDREDTHS.search(before) is not None


def _is_cents(script: _Script) -> bool:
    """Whether two digits are the cents of a price, whose sign stands before or after it."""
    text, before, after, _ = script
    if not text.isdigit() or len(text) != 2:
        return False
    if _WHOLE_PRICE.search(before):
        return True
    return _PRICE_SIGN.match(after) is not None and _SHORT_NUMBER.search(before) is not None


def _is_fraction(script: _Script) -> bool:
    """Whether a text is the upper number of a fraction, or all of one behind a whole number: ``6 1/2 inches``."""
    text, before, after, _ = script
    if _FACTOR.search(before):
        return False
    whole = _WHOLE_FRACTION.fullmatch(text)
    if whole is not None:
        is_measure = script.follows_digit and _MEASURE.match(after) is not None
        return is_measure and int(whole[1]) < int(whole[2])
    # Neither the exponent of m³/s nor that of 10⁹/L.
    below = _BELOW_BAR.match(after)
    if below is None or not text.isdigit() or before[-1:].isalpha():
        return False
    return not script.follows_digit or int(text) < int(below[1])


def _as_ending(script: _Script) -> str | None:
    """What belongs to the word: ``19th``, ``XIXe``, ``No``, ``4h 1m``, ``$5.99``, a trade mark."""
    text, before, *_ = script
    follows_number = script.follows_digit or _ROMAN_NUMBER.search(before)
    is_nth = text == "th" and _VARIABLE.search(before)
    is_ordinal = is_nth or (follows_number and _ORDINAL.fullmatch(text))
    is_numero = text in ("o", "os", "º") and _NUMERO.search(before)
    is_ending = is_ordinal or is_numero or _is_clock_unit(script) or _TRADE_MARK.fullmatch(text) or text[0] == "."
    return text if is_ending or _PRIME.fullmatch(text) else None


def _is_clock_unit(script: _Script) -> bool:
    """Whether a letter is an hour, a minute or a second: alone on its number it would be a footnote mark."""
    text, before, after, _ = script
    if not script.follows_digit or not _CLOCK_UNIT.fullmatch(text):
        return False
    return _UNIT_BEFORE.search(before) is not None or _UNIT_AFTER.match(after) is not None


def _as_exponent(script: _Script) -> str | None:
    text, before, *_ = script
    if _DECADE.search(before) or text[0] == "[":
        return None
    if _SIGNED.fullmatch(text):
        return f"^{text}"
    if _NUMBER.fullmatch(text):
        return f"^{text}" if _is_base(script) else None

    # Letters stand on variables, and on numbers where they are the usual names of whole numbers.
    is_on_variable = before[-1].islower() and _VARIABLE.search(before)
    if _SUM.fullmatch(text) and (script.follows_digit or is_on_variable):
        return f"^({text})"
    if " " in text or not (is_on_variable or (script.follows_digit and text in ("n", "k", "x", "m", "t"))):
        return None
    return f"^{text}" if text.isalnum() else f"^({text})"


def _is_base(script: _Script) -> bool:
    """Whether an exponent can stand on the text: ten, a unit, a variable, a factor; not a town or a census."""
    exponent, before, after, _ = script
    if _FACTOR.search(before) or (before[-1].isalnum() and _OPERATOR_AFTER.match(after)):
        return True
    # Nobody writes an exponent of one, but the marks of footnotes begin with it.
    if exponent == "1":
        return False
    if any(base.search(before) for base in (_TEN, _TWO, _VARIABLE, _INDEXED)):
        return True
    is_of_unit = exponent in ("2", "3", "4") and _UNIT.search(before)
    if is_of_unit or (_FUNCTION.search(before) and _ARGUMENT.match(after)):
        return True
    # What stands in brackets is a formula if it has an operator or a variable, and no words.
    in_brackets = _BRACKETS.search(before)
    if in_brackets is None or _WORD.search(in_brackets[1]):
        return False
    return _OPERATOR_OR_VARIABLE.search(in_brackets[1]) is not None


def _as_footnote(script: _Script) -> str | None:
    text, before, *_ = script
    is_number = _NUMBER.fullmatch(text) or _LIST_OF_NOTES.fullmatch(text)
    # A letter after a number, a word or a point, not after an initial: "Mr" is not a footnote.
    follows_word = (len(before) >= 3 and before[-3:].isalpha()) or _DECADE.search(before) is not None
    is_letter = len(text) == 1 and text.islower() and (script.follows_digit or follows_word or before[-1] in ").,;:")
    is_note = text[0] in "[({" or _SYMBOLS.fullmatch(text) or is_number or is_letter
    return _write_footnote(script) if is_note else None


def _as_word(script: _Script) -> str | None:
    """A word of its own, an ending such as in ``Mlle``, or an expression."""
    text = script.text
    if " " in text:
        return f" {text} "
    if text[0].isdigit() and not text.isdigit():
        return f"^({text})"
    return text if len(text) <= 3 else f" {text}"


_KINDS_OF_RAISED = (_as_start_of_word, _as_number, _as_ending, _as_exponent, _as_footnote, _as_word)
