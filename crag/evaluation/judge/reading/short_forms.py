"""Writes short forms in full: parts of years, decades and months, digits of other countries, abbreviations."""

import re

from crag.evaluation.judge.reading.patterns import any_of
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

_FISCAL_YEAR = re.compile(r"\b(?:fy\s?'?|fiscal\s(?:year\s)?'?)(?P<year>(?:19|20)?\d{2})\b(?![.,]\d)")
_FALL_OF_YEAR = re.compile(r"(?<!\ba\s)\bfall\s(?:of\s)?(?=(?:1[89]|20)\d{2}\b)")
"""Not "a fall of 2000 points"."""

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
_YEAR_AND_MONTH = re.compile(r"(?<![\w.,/-])(?P<year>(?:19|20)\d{2})-(?P<month>0[1-9]|1[0-2])(?![\w/]|-\d|[.,]\d)")
_MONTH_AND_YEAR = re.compile(r"(?<![\w.,/-])(?P<month>0?[1-9]|1[0-2])/(?P<year>(?:19|20)\d{2})(?![\w/]|[.,]\d)")
"""2020-03 and 03/2020; whole dates have one number more."""
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

# --- spans that go on -------------------------------------------------------------------------------------------------
_UNTIL_NOW = re.compile(
    r"""
    \b(?:from\s)? (?P<year>(?:1\d|20)\d{2})
    (?: \s?-\s? | \s(?:to|until|till|through)\s ) (?:the\s)? (?:present(?:\sday)?|now|today|date)\b
    """,
    re.VERBOSE,
)
_ONWARDS = re.compile(r"\b(?:from\s(?P<from>(?:1\d|20)\d{2})\son(?:wards?)?|(?P<year>(?:1\d|20)\d{2})\sonwards?)\b")

# --- names ------------------------------------------------------------------------------------------------------------
_PLACE = re.compile(
    r"(?P<before>\A\s{0,9}|\b(?:in|of|at|from|to|the|and|for|by|near|is|was)\s)(?P<short>st|ft)\.?\s(?=[a-z])"
)
"""Not the street of "main st", the feet of "6 ft tall" and the guest of "kestrel ft. ann lee"."""
_PLACES = {"st": "saint", "ft": "fort"}
_ABBREVIATIONS = (
    (re.compile(r"\bmt\.?\s(?=[a-z])"), "mount "),
    # Before a name only: "mulholland dr." is a drive
    (re.compile(r"\bdr\.?\s(?=[a-z])"), "doctor "),
    (re.compile(r"\bprof\.?\s(?=[a-z])"), "professor "),
    (re.compile(r"\bgov\.?\s(?=[a-z])"), "governor "),
    (re.compile(r"\bsen\.?\s(?=[a-z])"), "senator "),
    (re.compile(r"\bsgt\b\.?"), "sergeant"),
    (re.compile(r"\bcapt\b\.?"), "captain"),
    (re.compile(r"\bmister\b"), "mr"),
    (re.compile(r"(?<=[a-z]\s)bros\b\.?"), "brothers"),
    (re.compile(r"(?<=[a-z]\s)utd\b\.?"), "united"),
    (re.compile(r"\buniv\b\.?"), "university"),
    (re.compile(r"\bvs\b\.?"), "versus"),
    (re.compile(r"\bsci-?fi\b"), "science fiction"),
    (re.compile(r"\brom-?com\b"), "romantic comedy"),
    (re.compile(r"\brn'?b\b|\brhythm\s(?:and|&)\sblues\b"), "r&b"),
    # Too short for a typo, and another letter
    (re.compile(r"\bgrey\b"), "gray"),
    (re.compile(r"\A\s{0,9}america[\s.]{0,9}\Z"), "united states"),
    (re.compile(r"\A\s{0,9}nil[\s.]{0,9}\Z"), "0"),
    # Streets at the end of a part: "main st." but not "st. mary"
    (re.compile(r"(?<=[a-z]\s)st\b\.?(?=\s{0,9}(?:,|$))"), "street"),
    (re.compile(r"(?<=[a-z0-9]\s)ave\b\.?(?=\s{0,9}(?:,|$))"), "avenue"),
    (re.compile(r"(?<=[a-z]\s)blvd\b\.?"), "boulevard"),
    (re.compile(r"(?<=[a-z]\s)rd\b\.?(?=\s{0,9}(?:,|$))"), "road"),
    (re.compile(r"(?:(?<=[a-z][\s,])|(?<=[a-z],\s))jr\b\.?"), "junior"),
    (re.compile(r"(?:(?<=[a-z][\s,])|(?<=[a-z],\s))sr\b\.?"), "senior"),
    (re.compile(r"\bww\s?(?=(?:i{1,2}|[12])\b)"), "world war "),
)

# --- numbers ----------------------------------------------------------------------------------------------------------
_NIL = re.compile(r"\b(?:(?P<goals>\d{1,2}|nil)(?:\s?-\s?|\s)nil|nil\s?-\s?(?P<against>\d{1,2}))\b")
"""The 0 of a score: 3-nil."""
_TIME_ZONE = re.compile(r"\b(?P<zone>utc|gmt)\s?(?P<sign>[+-])\s?(?=\d)")
_STATISTIC = re.compile(r"(?<=\d)\s?(?P<short>pts|rebs?|asts?|stls?|blks?|tds?|[prasb]pg)\b\.?")
_STATISTICS = {
    "pt": "points", "reb": "rebounds", "ast": "assists", "stl": "steals", "blk": "blocks", "td": "touchdowns",
    "ppg": "points per game", "rpg": "rebounds per game", "apg": "assists per game", "spg": "steals per game",
    "bpg": "blocks per game",
}  # fmt: skip
_CIRCA = re.compile(r"\bca?\.\s?(?=\d{3})")
_CENT_SIGN = re.compile(r"(?<=\d)\s?¢")
_MILLIONS_OF_MONEY = re.compile(
    r"(?<=\d)\s?mm?\s(?=(?:usd|eur|gbp|cad|aud|chf|inr|jpy|(?:us\s)?dollars|euros|pounds|yen|rupees)\b)"
)
"""1.5m usd; elsewhere "m" is a metre."""
_COUNTED = any_of(
    "people persons residents inhabitants citizens households voters votes viewers listeners readers visitors tourists "
    "passengers customers users subscribers followers fans members workers employees jobs accounts views streams "
    "downloads copies units tickets sales"
)
_MILLIONS_OF_COUNTED = re.compile(rf"(?<=\d)\s?m\s(?={_COUNTED}\b)")
"""1.5m viewers."""
_MILLIONS_OF_COUNT = re.compile(
    r"^(?P<count>\D{0,80}(?<!the\s)(?<!the\smen's\s)(?<!the\swomen's\s)\d[\d.,]*)\s?m\b"
    r"(?!/|²|³|\s(?:tall|wide|long|high|deep|away|race|sprint|dash|hurdles|relay|freestyle|backstroke|butterfly)\b)",
    re.IGNORECASE,
)
"""1.5m as the first number, where a count is asked for; not "the 100m"."""

# --- digits of other countries ----------------------------------------------------------------------------------------
_SPACED_THOUSANDS = re.compile(
    r"(?<![\w.,$€£¥₹-])(?:[$€£¥₹]\s?)?\d{1,3}(?:(?:[\u00a0\u2009\u202f]\d{3})+|(?: \d{3}){2,})(?![\w]|[.,]\d{3})"
)
"""1 200 000, as SI writes it; a single plain blank may also part two numbers."""
_DOTTED_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{3}){2}(?![\w]|[.,]\d)")
"""1.200.000, as most of Europe writes it; "1.200" is a decimal number."""
_QUOTED_THOUSANDS = re.compile(r"(?<![\w.,'’])\d{1,3}(?:['’]\d{3})+(?![\w'’])")
"""2'805.53, as Switzerland writes it."""
_DECIMAL_COMMA = re.compile(
    r"""
    (?<![\w.,])
    (?: \d{1,3}(?:\.\d{3})+,\d{1,2} (?![\w]|[.,]\d)             # 1.234,56
      | (?<=€)\d{1,3},\d{1,2} (?![\w]|[.,]\d)                    # €3,40
      | \d{1,3},\d{1,2} (?=\s?(?:€|eur\b|euros?\b)) )           # 3,40 €
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""A comma that cannot part thousands or items."""


def write_digits_as_americans(text: str) -> str:
    """The text with thousands in one piece and decimals behind a point, before other signs lose their meaning.

    >>> write_digits_as_americans("1 200 000, 1.200.000, 2'805.53 or 3,40 €")
    '1200000, 1200000, 2805.53 or 3.40 €'
    """
    text = _DECIMAL_COMMA.sub(lambda match: match[0].replace(".", "").replace(",", "."), text)
    text = _SPACED_THOUSANDS.sub(lambda match: re.sub(r"\s", "", match[0]), text)
    text = _QUOTED_THOUSANDS.sub(lambda match: re.sub("['’]", "", match[0]), text)
    return _DOTTED_THOUSANDS.sub(lambda match: match[0].replace(".", ""), text)


def write_in_full(text: str) -> str:
    """A normalised text with short forms in full.

    >>> write_in_full("3q21, late '60s, sept. 5, st. mary")
    '3th quarter of 2021, late 1960s, september 5, st. mary'
    """
    text = _PART_OF_YEAR.sub(_part_of_year_in_full, text)
    text = _FISCAL_YEAR.sub(lambda match: f"fiscal year {_in_four_digits(match['year'])}", text)
    text = _FALL_OF_YEAR.sub("autumn ", text)
    text = _UNTIL_NOW.sub(r"since \g<year>", text)
    text = _ONWARDS.sub(lambda match: f"since {match['from'] or match['year']}", text)
    text = _DECADE_IN_WORDS.sub(_decade_in_digits, text)
    text = _SHORT_DECADE.sub(_short_decade_in_full, text)
    text = _HUNDRED_YEARS.sub(lambda match: f"{int(match['hundreds']) + 1}th century", text)

    text = _MONTH_BESIDE_NUMBER.sub(lambda match: _month_in_full(match["month"] or match["after"]), text)
    text = _YEAR_AND_MONTH.sub(_month_and_year_in_full, text)
    text = _MONTH_AND_YEAR.sub(_month_and_year_in_full, text)
    whole_month = _WHOLE_MONTH.fullmatch(text)
    if whole_month:
        text = _month_in_full(whole_month["month"])
    if _WHOLE_WEEKDAYS.fullmatch(text):
        text = _WEEKDAY_IN_LIST.sub(lambda match: _WEEKDAYS.get(match[0].rstrip("."), match[0]), text)

    text = _CENT_SIGN.sub(" cents", _CIRCA.sub("circa ", text))
    text = _MILLIONS_OF_COUNTED.sub(" million ", _MILLIONS_OF_MONEY.sub(" million ", text))
    text = _NIL.sub(lambda match: f"{match['goals'] or 0}-{match['against'] or 0}".replace("nil", "0"), text)
    text = _TIME_ZONE.sub(r"\g<zone> \g<sign>", text)
    text = _STATISTIC.sub(lambda match: f" {_STATISTICS[match['short'].removesuffix('s')]}", text)
    text = _PLACE.sub(lambda match: f"{match['before']}{_PLACES[match['short']]} ", text)
    for pattern, name in _ABBREVIATIONS:
        text = pattern.sub(name, text)
    return text


def write_millions_of_count(text: str) -> str:
    """An answer to a question for a count, with "m" behind its first number as a million.

    >>> write_millions_of_count("About 2.5m, in a hall 20 m wide")
    'About 2.5 million, in a hall 20 m wide'
    """
    return _MILLIONS_OF_COUNT.sub(r"\g<count> million", text)


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
    return f"{name} of {_in_four_digits(written)}"


def _in_four_digits(year: str) -> str:
    """The year; of two digits in this century."""
    return year if len(year) == len("2020") else f"20{year}"


def _month_and_year_in_full(match: re.Match[str]) -> str:
    """As "march 2020"; "2020-21" is a season and "2001-05" a span of years."""
    year = match["year"]
    month = match["month"]
    if match[0].startswith(year) and int(month) > int(year) % 100:
        return match[0]
    return f"{_MONTHS[int(month) - 1]} {year}"


def _decade_in_digits(match: re.Match[str]) -> str:
    return f"19{_TENS[match['word'] or match['alone']]}0s"


def _short_decade_in_full(match: re.Match[str]) -> str:
    """Of the twentieth century, as people say it."""
    digit = match["digit"] or _TENS[match["word"]]
    return f"{match['article'] or ''}19{digit}0s"


def _month_in_full(written: str) -> str:
    return _MONTHS[month_number(written.rstrip(".")) - 1]
