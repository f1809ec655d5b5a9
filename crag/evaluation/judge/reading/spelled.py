"""Writes spelled numbers in digits: number words, fractions, powers of ten.

Why not a library: of the parsers tried, pint takes 0.4 s to import and another 0.3 s to build its registry, quantulum3
3.6 s until its first answer. text2num is light (0.01 s), but leaves "one and a half million", "two thirds" and
"nineteen eighty-four" as they are, which is most of what answers need.
"""

import functools
import re
import unicodedata
from typing import NamedTuple

from crag.evaluation.judge.reading.patterns import any_of
from crag.evaluation.judge.reading.short_forms import write_digits_as_americans, write_in_full
from crag.evaluation.judge.reading.states import write_states_in_full
from crag.text.matching import NUMBER_WORDS, normalise_text, signs_as_letters

_SCALES = {"thousand": 10**3, "lakh": 10**5, "million": 10**6, "crore": 10**7, "billion": 10**9, "trillion": 10**12}
_SCALE = rf"(?:{'|'.join(_SCALES)})"

_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ONES = "one|two|three|four|five|six|seven|eight|nine"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_BELOW_100 = rf"(?:(?:{_TENS})(?:[ -](?:{_ONES}))?|{_TEENS}|{_ONES})"
_BELOW_1000 = rf"(?:(?:{_BELOW_100}|an?|\d{{1,3}})[ -]hundred(?:(?:\ and\ |[ -]){_BELOW_100})?|{_BELOW_100})"
# Look-behinds need a fixed width, so there is one for each scale word
_AFTER_SCALE = rf"(?:{'|'.join(f'(?<={scale})' for scale in _SCALES)})"

_CARDINAL = re.compile(
    rf"""
    \b
    (?: {_BELOW_1000} (?:[ -]{_SCALE}\b)? | an?[ ]{_SCALE}\b )
    (?: ,?[ ](?:and[ ])? {_BELOW_1000}[ -]{_SCALE}\b ){{0,4}}    # "one million two hundred thousand"
    (?: {_AFTER_SCALE}(?:,?[ ]and[ ]|,?[ ]) {_BELOW_1000} )?     # the rest below a thousand
    \b
    (?! [ -]hundred\b )                                          # "one hundred and two hundred" are two numbers
    """,
    re.VERBOSE,
)
# Smaller numbers, "twenty-one", are left to `normalise_text`
_LARGE = re.compile(rf"hundred|{_SCALE}")
_PART = re.compile(rf"(?P<group>.{{0,80}}?)[ -]?(?P<scale>{_SCALE})\b,?(?:\ and\b)?\ ?")

_SPELLED_YEAR = re.compile(
    rf"""
    \b(?P<century>eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty)
    [ -](?P<year> oh[ -](?:{_ONES}) | (?:{_TENS})(?:[ -](?:{_ONES}))? | {_TEENS} )\b  # not "twenty one"
    (?! [ -](?:hundred|{_SCALE})\b )
    """,
    re.VERBOSE,
)

# --- fractions --------------------------------------------------------------------------------------------------------
_PARTS = {
    "half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourths": 4, "fifths": 5,
    "sixths": 6, "eighths": 8, "tenths": 10, "hundredths": 100,
    "3th": 3, "4th": 4, "5th": 5, "6th": 6, "8th": 8, "10th": 10,
}  # fmt: skip
_VULGAR = re.compile(r"(?:(?<!\d)(?P<whole>\d{1,15}))?\s?(?P<sign>[¼½¾⅐-⅞↉])")
_MIXED = re.compile(r"(?<![\w./,])(?P<whole>\d{1,4})(?:\s|-|\sand\s)(?P<top>\d)/(?P<bottom>\d{1,2})(?![\w/])")
_AND_A_PART = re.compile(
    r"""
    \b(?P<whole>\d[\d,]*)
    (?P<unit>\s[a-z]{1,12})?                               # "2 hours and a half"
    \sand\s(?:a|an|1|(?P<top>3))[\s-](?P<part>half|quarter|third)s?\b
    """,
    re.VERBOSE,
)
_PART_CAN_BE_OF = any_of(
    "million billion trillion thousand hundred crore lakh mile kilo met gram lit hour inch foot year day ton pound "
    "acre decade cent"
)
"""The beginnings of scales and units."""
_PART_OF = re.compile(
    rf"""
    \b(?: (?P<half>half) \s (?=(?:an?|1|of)\s)              # "half a million", "half of them"; not "half blood"
      # "two thirds"; `normalise_text` has made "third" 3th. Not "a third place", "the 1 quarter of 2020".
      | (?P<top>\d{{1,2}}) [\s-] (?P<parts>thirds|quarters|fourths|fifths|sixths|eighths|tenths|hundredths|halves)\b
      | (?:an?|1) [\s-] (?P<part>[34568]th|10th|quarter|half)\b
        (?= \s(?:of|mile|million|billion)\b
          | (?<=half|rter)[\s-](?:{_PART_CAN_BE_OF})          # "a half-hour"; "a third year" is an ordinal
          | \s{{0,9}}[.]?\s{{0,9}}$ )
    )
    (?:\s?of\s(?=(?:an?|1)\s))?                                # "a quarter of a million"
    (?: (?:an?|1)\s(?={_PART_CAN_BE_OF}) )?
    """,
    re.VERBOSE,
)
_FRACTION_OF = re.compile(
    rf"""
    (?<![\w./,:-]) (?P<top>\d{{1,2}})/(?P<bottom>\d{{1,3}})
    (?! \s(?:hour|day|year|decade)s\b )                         # "2/3 days" are two or three
    (?= \sof\s(?!\d) | [\s-](?:an?\s)?(?:{_PART_CAN_BE_OF}|cups?\b|teaspoon|tablespoon) )
    """,
    re.VERBOSE,
)
"""The fraction of something, "2/3 of the river", "3/4 cup"; not the day of "the 9/11 attacks"."""
_BARE_HALF = re.compile(r"\s{0,9}(?:a\s|1\s)?half\s{0,9}[.!]?\s{0,9}")

# --- powers of ten ----------------------------------------------------------------------------------------------------
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_RAISED_DIGITS = re.compile(r"(?<=10)[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_POWER = re.compile(
    r"""
    (?<![\w.])
    (?:(?P<factor>\d+(?:\.\d+)?) \s?(?:×|x|\*|·|⋅|times)\s? )?     # "3.2 ×"
    10 (?: \s?(?:\^|\*\*)\s?[({]? | \sto\sthe\s(?:power\s(?:of\s)?)? )
    (?P<exponent>[+-]?\d{1,2})\b [)}]?
    (?:(?:st|nd|rd|th)\b)?(?:\spower\b)?
    """,
    re.VERBOSE,
)
_ORDINAL_POWER = re.compile(r"(?<=\b10 to the )(?P<exponent>\d{1,2})(?:st|nd|rd|th)\b(?: power\b)?")
_TIMES_TEN = re.compile(r"(?<=\d)\s?\*\s?(?=10\b)")
"""The sign of 5*10^3, which `normalise_text` would take for Markdown."""
_SMALL_POWER = re.compile(r"(?<![\w.])(?P<base>[2-9]|\d{2,3})\^(?P<exponent>\d{1,2})(?![\w.])")
_UNIT_AND_NUMBER = re.compile(r"(?<=\d)(?P<unit>hrs?|h|mins?|m|ft|lbs?|st)(?=\d{1,2}(?!\d))")
"""A unit between two numbers: "2h5m"."""
_SPELLED_DECIMALS = re.compile(r"\b(?P<whole>\d+) point (?P<decimals>\d(?: \d){0,9})\b(?! points?\b)")
_MINUS = re.compile(r"(?<![\d)] )\b(?:minus|negative) (?=[\d.$€£¥₹])")
"""A sign in words; not the minus of "5 minus 3"."""
_LOSS = re.compile(r"(?P<currency>[$€£¥₹])\((?P<number>\d[\d.,]{0,20})\)")
"""$(0.35), as accounts write a loss."""
_BELOW_ZERO = re.compile(
    r"(?<![\w.,-])(?P<number>\d+(?:\.\d+)?)(?P<unit>(?:\s[a-z]+){0,2})\sbelow\s(?:0|freezing|sea\slevel)\b"
)
_SHARP = re.compile(r"(?<=[A-Za-z])#(?![A-Za-z0-9#])")
_STARRED = re.compile(r"(?<=(?<![\w*])[A-Z])\*(?![\w*])")
"""The signs of C# and A*, which `normalise_text` would take for Markdown."""
_ONE_UNIT = re.compile(
    r"""
    (?P<lead>
        ^
      | \b(?:about|around|for|in|of|is|was|lasts?|lasted|takes?|took|than|over|under|nearly|almost|and|only)\s
    )
    an?\s (?=(?:decade|century|fortnight|hour|minute|day|week|month|year|mile|kilomet(?:er|re)|ton|tonne|litre|acre)\b)
    """,
    re.VERBOSE,
)
"""One of a unit: "a decade"; not the rate of "5 times a day"."""
_MILLIONS = re.compile(
    r"(?<![\w.,])(?P<number>\d{1,3}(?:\.\d{1,3})?)M\b(?!/|\s(?:race|sprint|dash|hurdles|relay|freestyle)\b)"
)
"""52.3M in capitals; a small m may be metres."""
_BARE_SCALE = re.compile(
    r"(?:(?<=\bof\s)|(?<=\bover\s)|(?<=\babout\s)|(?<=\bcost\s)|(?<=\bpaid\s)|(?<=\bnearly\s)|^)"
    r"(?=(?:hundred|thousand|million|billion|trillion)\s(?:us\s)?(?:dollars?|euros?|pounds?|yen|rupees?|pesos?)\b"
    rf"|hundred\sand\s{_BELOW_100}\b)",
    re.IGNORECASE,
)
"""One of a scale word that stands alone: "hundred dollars"; not "several hundred dollars"."""
_DIGIT = re.compile(r"\d")
_DOZENS = re.compile(r"\b(?P<count>\d{1,3}) dozen\b")


@functools.lru_cache(maxsize=4096)
def plain_text(text: str) -> str:
    """The text as `normalise_text` writes it, with all numbers in digits.

    >>> plain_text("One hundred and twenty islands, 2½ miles, 3.2 × 10⁵")
    '120 islands, 2.5 miles, 3.2e5'
    """
    # Before `normalise_text`: it would remove or misread these signs
    text = _TIMES_TEN.sub(" x ", text)
    text = _SHARP.sub("♯", _STARRED.sub("∗", text))
    text = _MILLIONS.sub(r"\g<number> million", write_states_in_full(text))
    text = write_digits_as_americans(signs_as_letters(text))
    text = _write_signs_in_digits(text)
    text = _BARE_SCALE.sub("one ", text.replace("\u2011", "-"))
    text = _write_words_in_digits(text)
    # Ordinals and single words are digits from here on: "third" is "3th"
    text = write_in_full(normalise_text(text))
    if _DIGIT.search(text):
        text = _write_powers_and_units(text)

    # Also in texts without a digit: "a decade", "half of them"
    text = _ONE_UNIT.sub(r"\g<lead>1 ", text)
    text = _AND_A_PART.sub(_and_a_part_in_digits, text)
    text = _PART_OF.sub(_part_in_digits, text)
    text = _FRACTION_OF.sub(_fraction_in_digits, text)
    text = "0.5" if _BARE_HALF.fullmatch(text) else text
    return _write_minus_signs(text) if _DIGIT.search(text) else text


def _write_powers_and_units(text: str) -> str:
    """Powers of ten, decimals, dozens and units in a text with a digit."""
    # "10 to the 5th power" loses its ending before the general form is looked for
    text = _ORDINAL_POWER.sub(r"\g<exponent>", text)
    text = _POWER.sub(_power_in_digits, text)
    text = _SMALL_POWER.sub(_small_power_in_digits, text)
    text = _UNIT_AND_NUMBER.sub(r"\g<unit> ", text)
    text = _DOZENS.sub(lambda match: str(12 * int(match["count"])), text)
    return _SPELLED_DECIMALS.sub(_decimals_in_digits, text)


def _write_minus_signs(text: str) -> str:
    """Numbers below zero with a sign, once their halves are in digits: "half a degree below zero" is -0.5."""
    text = _LOSS.sub(r"-\g<currency>\g<number>", _MINUS.sub("-", text))
    return _BELOW_ZERO.sub(r"-\g<number>\g<unit>", text)


def decimal(value: float) -> str:
    """At most four decimals, without trailing zeros: "0.6667", "2.5", "3"."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


def _write_signs_in_digits(text: str) -> str:
    """Fractions and raised digits that Unicode has signs for; `normalise_text` would read 2½ as 21⁄2."""
    # Most answers are ASCII; without these signs only "2 1/2" is left to do
    if text.isascii():
        return _MIXED.sub(_mixed_in_digits, text) if "/" in text else text

    # 10⁵ becomes 10^5, which `_POWER` reads
    text = _RAISED_DIGITS.sub(lambda match: "^" + match[0].translate(_RAISED), text)
    text = _VULGAR.sub(_vulgar_in_digits, text)
    text = text.replace("\u2044", "/").replace("″", '"').replace("′", "'")
    return _MIXED.sub(_mixed_in_digits, text)


def _vulgar_in_digits(match: re.Match[str]) -> str:
    whole = int(match["whole"]) if match["whole"] else 0
    return decimal(whole + unicodedata.numeric(match["sign"]))


def _mixed_in_digits(match: re.Match[str]) -> str:
    bottom = int(match["bottom"])
    top = int(match["top"])
    # "3 4/2" is not a mixed number
    if not 0 < top < bottom:
        return match[0]
    return decimal(int(match["whole"]) + top / bottom)


def _fraction_in_digits(match: re.Match[str]) -> str:
    top, bottom = int(match["top"]), int(match["bottom"])
    return decimal(top / bottom) if 0 < top < bottom else match[0]


# --- words ------------------------------------------------------------------------------------------------------------


def _write_words_in_digits(text: str) -> str:
    """Numbers of several words, in digits; single words are left to `normalise_text`."""
    lowered = text.lower()
    if len(lowered) != len(text):
        text = lowered  # a letter such as "İ" is two letters in lower case: the positions would not fit

    pieces: list[str] = []
    end = 0
    # Positions of the lower-case text fit: both have the same length
    for spelled in _find_spelled_numbers(lowered):
        pieces += [text[end : spelled.start], spelled.digits]
        end = spelled.end
    return "".join([*pieces, text[end:]]) if pieces else text


class _SpelledNumber(NamedTuple):
    """Where a number in words stands in a text, and its digits."""

    start: int
    end: int
    digits: str


def _find_spelled_numbers(text: str) -> list[_SpelledNumber]:
    """The numbers of several words in a text, in order; years such as "nineteen eighty-four" too."""
    spelled: list[_SpelledNumber] = []
    for match in _SPELLED_YEAR.finditer(text):
        century = NUMBER_WORDS[match["century"]]
        year = _below_1000(match["year"].replace("oh", ""))
        spelled.append(_SpelledNumber(match.start(), match.end(), f"{century}{year:02d}"))
    starts_of_years = {year.start for year in spelled}

    if _LARGE.search(text):
        for match in _CARDINAL.finditer(text):
            is_large = _LARGE.search(match[0])
            if is_large and match.start() not in starts_of_years:
                spelled.append(_SpelledNumber(match.start(), match.end(), _cardinal_in_digits(match[0])))
    return sorted(spelled)


def _cardinal_in_digits(phrase: str) -> str:
    """The digits; a last scale word stays a word, as it says how precise the number is: "200 thousand"."""
    parts = list(_PART.finditer(phrase))
    rest = phrase[parts[-1].end() :] if parts else phrase
    # "two hundred thousand" keeps its word, "two hundred thousand and one" does not
    if len(parts) == 1 and not rest.strip():
        return f"{_below_1000(parts[0]['group'])} {parts[0]['scale']}"

    total = sum(_below_1000(part["group"]) * _SCALES[part["scale"]] for part in parts)
    return str(total + (_below_1000(rest) if rest.strip() else 0))


def _below_1000(phrase: str) -> int:
    total = 0
    for word in re.split(r"[\s,-]+", phrase.strip()):
        if word == "hundred":
            # A bare "hundred" is one hundred
            total = max(total, 1) * 100
        elif word.isdigit():
            total += int(word)
        elif word in {"a", "an"}:
            total += 1
        else:
            total += NUMBER_WORDS.get(word, 0)
    return total


# --- replacements in normalised text ----------------------------------------------------------------------------------


def _power_in_digits(match: re.Match[str]) -> str:
    return f"{match['factor'] or 1}e{int(match['exponent'])}"


def _small_power_in_digits(match: re.Match[str]) -> str:
    value = int(match["base"]) ** int(match["exponent"])
    # Larger ones are not exact as floats, so the power stays as it is
    return str(value) if value < 10**15 else match[0]


def _decimals_in_digits(match: re.Match[str]) -> str:
    return f"{match['whole']}.{match['decimals'].replace(' ', '')}"


def _and_a_part_in_digits(match: re.Match[str]) -> str:
    whole = int(match["whole"].replace(",", ""))
    share = int(match["top"] or 1) / _PARTS[match["part"]]
    return decimal(whole + share) + (match["unit"] or "")


def _part_in_digits(match: re.Match[str]) -> str:
    if match["half"]:
        return "0.5 "

    # The pattern may have eaten the blank before a unit
    ending = " " if match[0].endswith(" ") else ""
    return decimal(int(match["top"] or 1) / _PARTS[match["part"] or match["parts"]]) + ending
