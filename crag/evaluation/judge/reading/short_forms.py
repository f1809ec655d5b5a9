"""Writes short forms in full: quarters, decades and months, and the abbreviations of names."""

import re

from crag.text.dates import MONTH_NAME, month_number

# --- quarters and halves ----------------------------------------------------------------------------------------------
_YEAR = r"(?:(?:fy\s?)?'?(?P<year>(?:1[89]|20)?\d{2})(?!\d|[.,]\d))"
_PART_OF_YEAR = re.compile(
    rf"""
    (?<![\w.,-])
    (?: (?P<kind>[qh])(?P<number>[1-4]) | (?P<leading_number>[1-4])(?P<leading_kind>[qh]) )
    (?: (?:\s?(?:of|in|,)?\s|\s?(?=fy|')|(?<=[qh])) {_YEAR} )?
    (?![\w'-]) (?!\.\d)
    """,
    re.VERBOSE,
)
"""q1, q3 2021, 3q21, q3'21, h1 of 2020."""
_PARTS = {"q": "quarter", "h": "half"}

# --- decades and centuries --------------------------------------------------------------------------------------------
_TENS = {
    "twenties": 2,
    "thirties": 3,
    "forties": 4,
    "fifties": 5,
    "sixties": 6,
    "seventies": 7,
    "eighties": 8,
    "nineties": 9,
}
_PART_OF_DECADE = r"(?:(?:very\s)?(?:early|late|mid)[\s-])?"
_SHORT_DECADE = re.compile(
    rf"""
    (?: (?P<article>\bthe\s{_PART_OF_DECADE}) '? | (?<![\w']) ' )
    (?: (?P<digit>[2-9])0'?s | (?P<word>{"|".join(_TENS)}) )
    (?! [\w-] | \s?(?:°|%|degrees|percent|mph|mins?|minutes) )    # not "a high in the 60s °F"
    """,
    re.VERBOSE,
)
_DECADE_IN_WORDS = re.compile(
    rf"\b(?:19-?|19\s)(?P<word>{'|'.join(_TENS)})\b|\A\s{{0,9}}(?P<alone>{'|'.join(_TENS)})[\s.]{{0,9}}\Z"
)
_HUNDRED_YEARS = re.compile(r"(?<![\w.,$€£¥₹])(?P<hundreds>1[0-9])00'?s\b")
"""The 1800s, the 19th century; the 2000s are also a decade."""

# --- months and weekdays ----------------------------------------------------------------------------------------------
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH_BESIDE_NUMBER = re.compile(
    rf"(?<![\w'-])(?P<month>{MONTH_NAME})(?=\s\d{{1,4}}(?![\d:]))|(?<=\d\s)(?P<after>{MONTH_NAME})(?![\w'-])"
)
_WHOLE_MONTH = re.compile(r"\s{0,9}(?P<month>feb|jul|aug|sept?|oct|nov|dec)\.?\s{0,9}")
"""An answer of nothing but a month; Jan, Jun, Mar and Apr are also names and words."""
_WEEKDAYS = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday", "thur": "thursday",
    "thurs": "thursday", "fri": "friday", "sat": "saturday", "sun": "sunday",
}  # fmt: skip
_WEEKDAY = rf"(?:{'|'.join(_WEEKDAYS)})\b\.?"
_WHOLE_WEEKDAYS = re.compile(
    rf"""
    \s{{0,9}}
    (?: {_WEEKDAY}(?:\s?(?:-|to|and|,|&|/)\s?{_WEEKDAY}){{1,6}}
      | (?!su|sa){_WEEKDAY}    # alone, "sun" and "sat" are words
    )
    \s{{0,9}}
    """,
    re.VERBOSE,
)
"""An answer of nothing but abbreviated weekdays."""
_WEEKDAY_IN_LIST = re.compile(r"[a-z]+\.?")

# --- names ------------------------------------------------------------------------------------------------------------
_SAINT = re.compile(r"(?P<before>\A\s{0,9}|\b(?:in|of|at|from|to|the|and|for|by|near|is|was)\s)st\.?\s(?=[a-z])")
"""Not the street of "main st"."""
_ABBREVIATIONS = (
    (re.compile(r"\bmt\.?\s(?=[a-z])"), "mount "),
    (re.compile(r"(?<=[a-z][\s,])jr\b\.?"), "junior"),
    (re.compile(r"(?<=[a-z][\s,])sr\b\.?"), "senior"),
    (re.compile(r"\bww\s?(?=(?:i{1,2}|[12])\b)"), "world war "),
)

# --- numbers ----------------------------------------------------------------------------------------------------------
_CIRCA = re.compile(r"\bca?\.\s?(?=\d{3})")
_CENT_SIGN = re.compile(r"(?<=\d)\s?¢")
_MILLIONS_OF_MONEY = re.compile(
    r"(?<=\d)\s?mm?\s(?=(?:usd|eur|gbp|cad|aud|chf|inr|jpy|(?:us\s)?dollars|euros|pounds|yen|rupees)\b)"
)
"""1.5m usd; elsewhere "m" is a metre."""

# --- thousands --------------------------------------------------------------------------------------------------------
_SPACED_THOUSANDS = re.compile(
    r"(?<![\w.,$€£¥₹-])(?:[$€£¥₹]\s?)?\d{1,3}(?:(?:[\u00a0\u2009\u202f]\d{3})+|(?: \d{3}){2,})(?![\w]|[.,]\d{3})"
)
"""1 200 000, as SI writes it; a single plain blank may also part two numbers."""
_DOTTED_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3}){2}(?![\w]|[.]\d)")
"""1.200.000, as most of Europe writes it; "1.200" is a decimal number."""


def join_thousands(text: str) -> str:
    """The text with thousands in one piece, before blanks and points lose their meaning.

    >>> join_thousands("1 200 000 or 1.200.000")
    '1200000 or 1200000'
    """
    text = _SPACED_THOUSANDS.sub(lambda match: re.sub(r"\s", "", match[0]), text)
    return _DOTTED_THOUSANDS.sub(lambda match: match[0].replace(".", ""), text)


def write_in_full(text: str) -> str:
    """A normalised text with short forms in full.

    >>> write_in_full("3q21, late '60s, sept. 5, st. mary")
    '3th quarter of 2021, late 1960s, september 5, st. mary'
    """
    text = _PART_OF_YEAR.sub(_part_of_year_in_full, text)
    text = _DECADE_IN_WORDS.sub(_decade_in_digits, text)
    text = _SHORT_DECADE.sub(_short_decade_in_full, text)
    text = _HUNDRED_YEARS.sub(lambda match: f"{int(match['hundreds']) + 1}th century", text)

    text = _MONTH_BESIDE_NUMBER.sub(lambda match: _month_in_full(match["month"] or match["after"]), text)
    whole_month = _WHOLE_MONTH.fullmatch(text)
    if whole_month:
        text = _month_in_full(whole_month["month"])
    if _WHOLE_WEEKDAYS.fullmatch(text):
        text = _WEEKDAY_IN_LIST.sub(lambda match: _WEEKDAYS.get(match[0].rstrip("."), match[0]), text)

    text = _CENT_SIGN.sub(" cents", _CIRCA.sub("circa ", text))
    text = _MILLIONS_OF_MONEY.sub(" million ", text)
    text = _SAINT.sub(r"\g<before>saint ", text)
    for pattern, name in _ABBREVIATIONS:
        text = pattern.sub(name, text)
    return text


def _part_of_year_in_full(match: re.Match[str]) -> str:
    kind = match["kind"] or match["leading_kind"]
    number = match["number"] or match["leading_number"]
    # There is no third half
    if kind == "h" and number in "34":
        return match[0]

    written = match["year"]
    # Not the visa H1, nor the two hours of "2h 30"
    if kind == "h" and len(written or "") < len("2020"):
        return match[0]
    name = f"{number}th {_PARTS[kind]}"
    if not written:
        return name
    return f"{name} of {written if len(written) == 4 else f'20{written}'}"


def _decade_in_digits(match: re.Match[str]) -> str:
    return f"19{_TENS[match['word'] or match['alone']]}0s"


def _short_decade_in_full(match: re.Match[str]) -> str:
    """Of the twentieth century, as people say it."""
    digit = match["digit"] or _TENS[match["word"]]
    return f"{match['article'] or ''}19{digit}0s"


def _month_in_full(written: str) -> str:
    return _MONTHS[month_number(written.rstrip(".")) - 1]
