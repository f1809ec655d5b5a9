"""Texts as comparable tokens, regardless of case, accents, punctuation, articles, plurals and number words."""

import functools
import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from rapidfuzz.distance import Prefix

from crag.text.matching.letters import without_marks
from crag.text.number_words import NUMBER_WORDS, ORDINAL_WORDS, SMALL_NUMBER_WORDS, TENS_WORDS
from crag.text.roman_numbers import read_roman


def words(text: str) -> list[str]:
    """The words of a string: a long list of them reads better so than in quotes.

    >>> words("won win")
    ['won', 'win']
    """
    return text.split()


# --- number words -----------------------------------------------------------------------------------------------------
_NUMBER_PHRASE = re.compile(
    rf"""
    \b(?:
        (?P<tens>{"|".join(TENS_WORDS)})
        (?:[- ](?P<ones>{"|".join(SMALL_NUMBER_WORDS[1:10])}))?    # "twenty-one"; not "twenty zero"
        |
        (?P<small>{"|".join(SMALL_NUMBER_WORDS)})
    )\b                                                        # not the beginning of "tenth" or "sixties"
    """,
    re.VERBOSE,
)
_ORDINAL_PHRASE = re.compile(
    rf"""
    \b(?:(?P<tens>{"|".join(TENS_WORDS)})[- ])?
    (?P<ordinal>{"|".join(ORDINAL_WORDS)})\b
    """,
    re.VERBOSE,
)

_ROMAN_NUMERAL = re.compile(
    r"""
    (?: (?=[ivx]{2})           # at least two digits: "i" and "v" are also words and initials
        x{0,3}
      | (?=[ivxl]{3}) (?!liv)  # from 40 on three: "xl", "li" and "liv" are sizes and names
        (?:xl|lx{0,3})
    )
    (?:ix|iv|v?i{0,3})         # up to 89
    """,
    re.VERBOSE,
)

# --- spellings with one meaning ---------------------------------------------------------------------------------------
_PLAIN_MARKS = str.maketrans({
    "’": "'", "‘": "'", "ʼ": "'", "`": "'",
    "“": '"', "”": '"',
    "–": "-", "—": "-", "−": "-",
})  # fmt: skip

_SAME_PLACES = (
    # "U.S.", "usa"; with word ends, so that "us" inside "bus" or "using" stays
    (re.compile(r"\b(?:the )?(?:u\.?s\.?a?\.?(?=\W|$)|united states(?: of america)?)"), "usa"),
    (re.compile(r"\b(?:the )?(?:u\.?k\.?(?=\W|$)|united kingdom|great britain)"), "uk"),
)
_PHRASES_AS_NUMBERS = (
    (re.compile(r"\bonce\b"), "1 time"),
    (re.compile(r"\btwice\b"), "2 times"),
    (re.compile(r"\bthrice\b"), "3 times"),
    (re.compile(r"\bhalf an? dozen\b|\bhalf-dozen\b"), "6"),
    (re.compile(r"\b(?:a|one) dozen\b"), "12"),
    (re.compile(r"\ba (?=(?:hundred|thousand|million|billion|trillion)\b)"), "1 "),
    (re.compile(r"\s?°\s?c\b"), " degrees celsius"),
    (re.compile(r"\s?°\s?f\b"), " degrees fahrenheit"),
    (re.compile(r"\bhalf an hour\b"), "30 minutes"),
    (re.compile(r"\b(?:an?|one) (hour|year|month|week|day) and a half\b"), r"1.5 \1s"),
)
"""Applied in this order."""

# --- marks and markup -------------------------------------------------------------------------------------------------
# "3.5" is one token; words have letters of any script, but no underscore.
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
# "navy's", and also "students'"
_POSSESSIVE = re.compile(r"(?<=\w)'s\b|(?<=s)'(?=\s|$)")
_THOUSANDS_SEPARATOR = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ORDINAL_ENDING = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")

_SPACE_BETWEEN_INITIALS = re.compile(r"(?<=\b[^\W\d_]) (?=[^\W\d_]\b)")
"""The space between two single letters: "j k rowling" has the same initials as "jk rowling"."""

_MARKDOWN = re.compile(
    r"""
    [*_#]{1,3}(?=\S)       # opens bold or a heading; not the bullet "* "
    | (?<=\S)[*_]{1,3}     # closes bold
    """,
    re.VERBOSE,
)
_LINE_NUMBER = re.compile(
    r"""
    ^\s{0,9}
    (?: \(?\d{1,2}[.)]     # "1.", "(2)"; not a year "1999."
      | [-*•]
    )\s+                   # not "1.5" and "-4"
    """,
    re.VERBOSE | re.MULTILINE,
)
_NUMBERED_ITEM = re.compile(
    r"""
    (?:^|\s)
    \(?(?P<number>\d{1,2})[.)]
    (?: \s+\S | \s*$ )     # an item follows, or the line ends; not "2.5"
    """,
    re.VERBOSE | re.MULTILINE,
)
_BULLET = re.compile(r"^[^\S\n]*[-*•]\s+\S", re.MULTILINE)

# --- separators of lists ----------------------------------------------------------------------------------------------
_LINE_SEPARATOR = re.compile(r"[;\n]")
_COMMA = re.compile(r",(?!\d{3}\b)")  # not the comma of "1,000"
_FINAL_ITEM = re.compile(r"\A\s*(?:and|or|&)\s+(?P<item>.*)", re.DOTALL)
_AND = re.compile(r"\s(?:and|&)\s")

STOP_WORDS = frozenset(
    words(
        "a an the of in on at to for from by with as and or but is are was were be been being has have had do "
        "does did it its this that these those there their they them he she his her who whom which what when "
        "where how i you we my your our total between s t also about around approximately roughly nearly over "
        "more than just only so than then into out up if time currently current both not no yes s inc corp "
        "corporation ltd llc plc co company fc cf"
    )
)
_ARTICLES = frozenset({"a", "an", "the"})

_TYPO_MIN_CHARACTERS = 5
"""Shorter words that differ are different: "mary" and "mark"."""
_STEM_CHARACTERS = 6
_LONGEST_ENDING = 4
"""Words with this many letters in common and at most this ending are forms of one word: "publishing", "published"."""
_TYPO_RATIO = 0.82
"""Least similarity of a word and its misspelling, as in `difflib`."""


# --- normalising ------------------------------------------------------------------------------------------------------
def normalise_text(text: str) -> str:
    """Lower case without accents, curly quotes, list numbering and Markdown; number words become digits.

    >>> normalise_text("**Twenty-one** cafés")
    '21 cafes'
    """
    text = text.translate(_PLAIN_MARKS)
    # "1. Paris" becomes "; Paris": `split_list` splits at semicolons.
    text = _LINE_NUMBER.sub(" ; ", text)
    text = _MARKDOWN.sub("", text)
    text = without_marks(text)

    for pattern, replacement in _PHRASES_AS_NUMBERS:
        text = pattern.sub(replacement, text)
    # Ordinals first, or "twenty-first" would become "20-first".
    text = _ORDINAL_PHRASE.sub(_ordinal_in_digits, text)
    return _NUMBER_PHRASE.sub(_number_in_digits, text)


def _ordinal_in_digits(match: re.Match[str]) -> str:
    tens = NUMBER_WORDS[match["tens"]] if match["tens"] else 0
    return f"{tens + ORDINAL_WORDS[match['ordinal']]}th"


def _number_in_digits(match: re.Match[str]) -> str:
    if match["small"]:
        return str(NUMBER_WORDS[match["small"]])
    ones = NUMBER_WORDS[match["ones"]] if match["ones"] else 0
    return str(NUMBER_WORDS[match["tens"]] + ones)


@functools.lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Words and numbers of a normalised text, without plurals, possessives and articles.

    >>> tokens("The U.S. Navy's 1,000 ships")
    ('usa', 'navy', '1000', 'ship')
    """
    cleaned = _THOUSANDS_SEPARATOR.sub("", normalise_text(text))
    cleaned = cleaned.replace("&", " and ")
    cleaned = _POSSESSIVE.sub("", cleaned)
    for pattern, name in _SAME_PLACES:
        cleaned = pattern.sub(name, cleaned)
    # "21st" and "21" are the same token.
    cleaned = _ORDINAL_ENDING.sub("", cleaned)
    # The apostrophes that are left are inside names: "o'brien".
    cleaned = cleaned.replace("'", "")

    parts = " ".join(_TOKEN.findall(cleaned))
    parts = _SPACE_BETWEEN_INITIALS.sub("", parts)
    return tuple(stem(_roman_in_digits(token)) for token in parts.split() if token not in _ARTICLES)


def _roman_in_digits(token: str) -> str:
    """As "iii" -> "3", up to 89; single letters stay unchanged."""
    return str(read_roman(token)) if _ROMAN_NUMERAL.fullmatch(token) else token


def stem(token: str) -> str:
    """The token without a plural ending; no more, so that names stay distinct."""
    # "cities" becomes "city"; "movies" and "movie" both become "movy".
    if len(token) > 4 and token.endswith(("ies", "ie")):
        return token.removesuffix("s").removesuffix("ie") + "y"
    # Not "class", "virus" and "basis".
    if len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is")):
        return token[:-1]
    return token


# --- comparing --------------------------------------------------------------------------------------------------------
def content(parts: Iterable[str]) -> list[str]:
    """The tokens that carry meaning."""
    return [token for token in parts if token not in STOP_WORDS]


def alike(first: str, second: str) -> bool:
    """Whether tokens are equal, or long words that differ by a typo or their ending; never different numbers."""
    if first == second:
        return True

    shorter, longer = sorted((first, second), key=len)
    if len(shorter) < _TYPO_MIN_CHARACTERS or first[0] != second[0]:
        return False
    # "10500" and "10600" are different numbers, not a typo.
    if not (first.isalpha() and second.isalpha()):
        return False

    common = Prefix.similarity(shorter, longer)
    if common >= _STEM_CHARACTERS and len(longer) - common <= _LONGEST_ENDING:
        return True
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= _TYPO_RATIO


def found_in(token: str, pool: Iterable[str]) -> bool:
    """Whether any token of the pool is like the token."""
    return any(alike(token, candidate) for candidate in pool)


def recall(expected: Sequence[str], actual: Sequence[str]) -> float:
    """The share of expected tokens that are among the actual ones; 1 if none are expected."""
    if not expected:
        return 1.0
    pool = set(actual)
    matched = sum(token in pool or found_in(token, pool) for token in expected)
    return matched / len(expected)


def position_of(phrase: Sequence[str], text: Sequence[str]) -> int:
    """Position of the phrase's consecutive tokens in the text; -1 if absent or if the phrase is empty."""
    if not phrase:
        return -1
    for start in range(len(text) - len(phrase) + 1):
        if all(alike(token, text[start + offset]) for offset, token in enumerate(phrase)):
            return start
    return -1


def same_answer(first: str, second: str) -> bool:
    """Whether one short answer has all telling words of the other: "carter" and "jimmy carter"; never other numbers."""
    shorter, longer = sorted((content(tokens(first)), content(tokens(second))), key=len)
    if shorter and recall(shorter, longer) == 1.0:
        return True
    # Some answers have no telling words at all: "yes", "no".
    return tokens(first) == tokens(second)


# --- lists ------------------------------------------------------------------------------------------------------------
def split_list(text: str) -> list[str]:
    """The items of a list in words. "And" separates only the last two items, as it can be part of a name.

    >>> split_list("nick and norah, tom")
    ['nick and norah', ' tom']
    """
    if ";" in text or "\n" in text:
        return _LINE_SEPARATOR.split(text)

    *items, final = _COMMA.split(text)
    with_conjunction = _FINAL_ITEM.match(final)
    if with_conjunction:
        return [*items, with_conjunction["item"]]

    conjunctions = list(_AND.finditer(final))
    if not conjunctions:
        return [*items, final]
    return [*items, final[: conjunctions[-1].start()], final[conjunctions[-1].end() :]]


def count_listed(text: str) -> int:
    """How many items a numbered or bulleted list in the text has; 0 without one."""
    numbers = [int(match["number"]) for match in _NUMBERED_ITEM.finditer(text)]
    # One number alone may only end a sentence.
    if 1 in numbers and 2 in numbers:
        return max(numbers)

    bullets = len(_BULLET.findall(text))
    return bullets if bullets > 1 else 0
