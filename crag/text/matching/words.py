"""Texts as comparable tokens, regardless of case, accents, punctuation, articles, plurals and number words."""

import functools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from itertools import takewhile

_QUOTES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-"})
_TOKEN = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")
_INITIALS = re.compile(r"(?<=\b[^\W\d_]) (?=[^\W\d_]\b)")
"""The blank between two single letters: "j k rowling" has the same initials as "jk rowling"."""
_ENUMERATOR = re.compile(r"(?m)^\s{0,9}(?:\(?\d{1,2}[.)]|[-*•])\s+")
_LISTED = re.compile(r"(?m)(?:^|\s)\(?(?P<number>\d{1,2})[.)](?:\s+\S|\s*$)")
_MARKUP = re.compile(r"[*_#]{1,3}(?=\S)|(?<=\S)[*_]{1,3}")


def words(text: str) -> list[str]:
    """The words of a word list."""
    return text.split()


_UNITS = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBER_WORDS = {
    **{word: value for value, word in enumerate(_UNITS)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
_NUMBER_PHRASE = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[- ](?P<ones>{'|'.join(_UNITS[1:10])}))?|(?P<small>{'|'.join(_UNITS)}))\b"
)
_ORDINALS = {
    word: value
    for value, word in enumerate(
        words(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
            "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        ),
        start=1,
    )
} | {word.removesuffix("y") + "ieth": value for word, value in NUMBER_WORDS.items() if word in _TENS}
_ORDINAL = re.compile(rf"\b(?:(?P<tens>{'|'.join(_TENS)})[- ])?(?P<ordinal>{'|'.join(_ORDINALS)})\b")
_ROMAN = re.compile(r"(?=[ivx]{2})x{0,3}(?:ix|iv|v?i{0,3})")
_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10}
_SAME_NAMES = (
    (re.compile(r"\b(?:the )?(?:u\.?s\.?a?\.?(?=\W|$)|united states(?: of america)?)"), "usa"),
    (re.compile(r"\b(?:the )?(?:u\.?k\.?(?=\W|$)|united kingdom|great britain)"), "uk"),
)
_TIMES = (
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

STOP_WORDS = frozenset(
    words(
        "a an the of in on at to for from by with as and or but is are was were be been being has have had do "
        "does did it its this that these those there their they them he she his her who whom which what when "
        "where how i you we my your our total between s t also about around approximately roughly nearly over "
        "more than just only so than then into out up if time currently current both not no yes s inc corp "
        "corporation ltd llc plc co company"
    )
)


def without_marks(text: str) -> str:
    """Lower case without accents and invisible characters."""
    if text.isascii():
        return text.casefold()
    return "".join(
        character
        for character in unicodedata.normalize("NFKD", text.casefold())
        if unicodedata.category(character) not in {"Mn", "Cf"}
    )


def normalise(text: str) -> str:
    """Lower case without accents, curly quotes, list numbering and Markdown; number words become digits."""
    text = _MARKUP.sub("", _ENUMERATOR.sub(" ; ", text.translate(_QUOTES)))
    text = without_marks(text)
    for pattern, replacement in _TIMES:
        text = pattern.sub(replacement, text)
    return _NUMBER_PHRASE.sub(_digits, _ORDINAL.sub(_ordinal_digits, text))


def _ordinal_digits(match: re.Match[str]) -> str:
    return f"{NUMBER_WORDS.get(match['tens'] or 'zero', 0) + _ORDINALS[match['ordinal']]}th"


def _digits(match: re.Match[str]) -> str:
    if match["tens"]:
        return str(NUMBER_WORDS[match["tens"]] + NUMBER_WORDS.get(match["ones"] or "zero", 0))
    return str(NUMBER_WORDS[match["small"]])


@functools.lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Words and numbers of a text after `clean`, without plurals, possessives and articles."""
    cleaned = re.sub(r"(?<=\d),(?=\d{3}\b)", "", normalise(text)).replace("&", " and ")
    cleaned = re.sub(r"(?<=\w)'s\b|(?<=s)'(?=\s|$)", "", cleaned)
    for pattern, name in _SAME_NAMES:
        cleaned = pattern.sub(name, cleaned)
    cleaned = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", cleaned)
    joined = _INITIALS.sub("", " ".join(_TOKEN.findall(cleaned.replace("'", "")))).split()
    return tuple(stem(_from_roman(token)) for token in joined if token not in {"a", "an", "the"})


def _from_roman(token: str) -> str:
    """As "iii" -> "3", up to 39; single letters stay unchanged."""
    if not _ROMAN.fullmatch(token):
        return token
    values = [_ROMAN_DIGITS[letter] for letter in token]
    return str(sum(-value if value < after else value for value, after in zip(values, [*values[1:], 0], strict=True)))


def content(parts: Iterable[str]) -> list[str]:
    """The tokens that carry meaning."""
    return [token for token in parts if token not in STOP_WORDS]


def stem(token: str) -> str:
    """The token without a plural ending; no more, so that names stay distinct."""
    if len(token) > 4 and token.endswith(("ies", "ie")):
        return token.removesuffix("s").removesuffix("ie") + "y"
    if len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is")):
        return token[:-1]
    return token


def alike(first: str, second: str) -> bool:
    """Whether tokens are equal, or long words that differ by a typo or their ending; never different numbers."""
    if first == second:
        return True
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) < 5 or first[0] != second[0] or not (first.isalpha() and second.isalpha()):
        return False
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(shorter, longer, strict=False)))
    if same >= 6 and len(longer) - same <= 4:
        return True
    return SequenceMatcher(None, first, second, autojunk=False).ratio() >= 0.82


def found_in(token: str, others: Iterable[str]) -> bool:
    """Whether any of the others is like the token."""
    return any(alike(token, other) for other in others)


def recall(wanted: Sequence[str], given: Sequence[str]) -> float:
    """The share of wanted tokens that are given; 1 if none are wanted."""
    if not wanted:
        return 1.0
    pool = set(given)
    return sum(token in pool or found_in(token, pool) for token in wanted) / len(wanted)


def position_of(phrase: Sequence[str], text: Sequence[str]) -> int:
    """Position of the phrase's consecutive tokens in the text; -1 if absent."""
    for start in range(len(text) - len(phrase) + 1):
        if all(alike(wanted, text[start + offset]) for offset, wanted in enumerate(phrase)):
            return start if phrase else -1
    return -1


def same_answer(first: str, second: str) -> bool:
    """Whether one short answer has all telling words of the other: "carter" and "jimmy carter"; never other numbers."""
    shorter, longer = sorted((content(tokens(first)), content(tokens(second))), key=len)
    return (bool(shorter) and recall(shorter, longer) == 1.0) or tokens(first) == tokens(second)


def split_list(text: str) -> list[str]:
    """The items of a list in words. "And" separates only the last two items, as it can be part of a name."""
    if ";" in text or "\n" in text:
        return re.split(r"[;\n]", text)
    parts = re.split(r",(?!\d{3}\b)", text)
    last = parts.pop()
    joined = re.match(r"\s*(?:and|or|&)\s+(.*)", last, re.DOTALL)
    if joined:
        return [*parts, joined[1]]
    return [*parts, *re.split(r"\s(?:and|&)\s(?!.*\s(?:and|&)\s)", last)]


def count_listed(text: str) -> int:
    """How many items a numbered or bulleted list in the text has; 0 without one."""
    found = [int(match["number"]) for match in _LISTED.finditer(text)]
    if 1 in found and 2 in found:
        return max(found)
    bullets = len(re.findall(r"(?m)^\s*[-*•]\s+\S", text))
    return bullets if bullets > 1 else 0
