"""The words of texts as BM25 compares them: accents and signs must not hide a name.

People type "gruneck", "acdc", "jayz" or "spider man" where pages write "Grüneck", "AC/DC", "Jay-Z" or "Spiderman", and
the other way round. So letters lose their marks, and each page is read in the question's spelling (`QuestionSpelling`):
what the question writes as one word counts as one in the page, what it writes as several counts as several. All other
words stay as they are, so a name without another spelling scores as if none of this existed.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from crag.text.matching import transcribed, without_marks

# --- words ------------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"\w+")
_THOUSANDS_SEPARATOR = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

# Signs that are read aloud as words; all of lower-case text.
_PLUS_PLUS = re.compile(r"(?<=\w)\+\+(?!\+)")  # c++, c++17
_PLUS = re.compile(r"(?<=[^\W\d_])\+(?![\w+])")  # disney+; not a+b, 18+
_SHARP = re.compile(r"(?<=\b[a-z])[#♯](?!\w)")  # c#, f#; not a#1
_DOT = re.compile(r"(?<![\w.…])\.(?=[^\W\d_]{2})")  # .net, .com; not node.js, .5, ...and
# Signs that stand for a letter.
_LETTER_I = re.compile(r"(?<=[^\W\d_])!(?=[^\W\d_])")  # p!nk; not "wham! rap"
_LETTER_S = re.compile(r"(?<=[^\W\d_])\$(?=[^\W\d_])")  # ke$ha; not us$5

_READ_SIGNS = (
    ("+", _PLUS_PLUS, " plus plus "),
    ("+", _PLUS, " plus "),
    ("#", _SHARP, " sharp "),
    ("♯", _SHARP, " sharp "),
    (".", _DOT, " dot "),
    ("!", _LETTER_I, "i"),
    ("$", _LETTER_S, "s"),
)


def extract_terms(text: str) -> list[str]:
    """Lower-case words and numbers, without accents; thousands separators are removed, so 1,000 and 1000 are equal.

    >>> extract_terms("Søren's C++ in 1,000 words")
    ['soren', 's', 'c', 'plus', 'plus', 'in', '1000', 'words']
    """
    return [_fold(word) for word in _WORD.findall(_readable(text))]


def _readable(text: str) -> str:
    """Lower-case text in which every letter is one character and signs that count as words or letters are spelled."""
    readable = text.lower()
    if not readable.isascii():
        # A mark of its own would end the word before it.
        readable = unicodedata.normalize("NFC", readable).replace("×", "x")

    for sign, pattern, spelled in _READ_SIGNS:
        if sign in readable:
            readable = pattern.sub(spelled, readable)
    return _THOUSANDS_SEPARATOR.sub("", readable)


def _fold(word: str) -> str:
    """The word without marks."""
    return word if word.isascii() else _fold_marked(word)


@lru_cache(maxsize=1 << 14)
def _fold_marked(word: str) -> str:
    return without_marks(word)


@lru_cache(maxsize=1 << 14)
def _transcribe(word: str) -> str:
    return transcribed(word)


STOPWORDS = frozenset(
    extract_terms(
        "a an and are as at be been but by can did do does for from had has have how in into is it its of on or s so "
        "than that the their there these this to was were what when where which who whom whose why will with would"
    )
)
"""Stop words of questions."""


def query_terms(query: str) -> list[str]:
    """The question's distinct terms without stop words, or all if it has only stop words."""
    return list(QuestionSpelling(query).terms)


# --- one name in several spellings ------------------------------------------------------------------------------------

_NAME_SIGNS = r"['’‘ʼ`´./&*·•‐‑–\-]"
"""Signs inside a name: o'leary, ac/dc, at&t, m*a*s*h, r.e.m., jay-z."""
_GROUP = re.compile(rf"\w+(?:{_NAME_SIGNS}{{1,2}}\w+)*")
"""Words without a blank between them."""
_POSSESSIVE = re.compile(r"['’‘ʼ`´]s\Z")
_MOST_JOINED = 4
"""Words of the question that a page may write as one: "black lives matter", "4 x 100 m"."""


class QuestionSpelling:
    """Reads texts in the spelling of a question.

    >>> spelling = QuestionSpelling("who founded acdc?")
    >>> spelling.terms
    ('founded', 'acdc')
    >>> spelling.read("AC/DC was founded")
    ['acdc', 'was', 'founded']
    """

    def __init__(self, question: str) -> None:
        groups = _read_groups(question)
        words = [word for group in groups for word in group]
        content = [word for word in words if word not in STOPWORDS]
        self.terms: tuple[str, ...] = tuple(dict.fromkeys(content or words))
        """The question's distinct terms without stop words, or all if it has only stop words."""

        self._respelled = _other_spellings(question, groups, self.terms)
        """Spelling in one word -> the question's terms for it."""
        self._beginnings = {word[:end] for word in self._respelled for end in range(1, len(word))}
        self._telling = self._beginnings | (self._respelled.keys() - set(self.terms))

    def read(self, text: str) -> list[str]:
        """The terms of a text, names as the question spells them."""
        readable = _readable(text)
        words = _WORD.findall(readable)
        if not readable.isascii():
            words = [word if word.isascii() else self._fold(word) for word in words]
        if self._telling.isdisjoint(words):
            return words
        return self._respell(words, readable)

    def _fold(self, word: str) -> str:
        """The word without marks; "müller" is "mueller" if the question writes it so."""
        second_spelling = _transcribe(word)
        return second_spelling if second_spelling in self._respelled else _fold_marked(word)

    def _respell(self, words: Sequence[str], readable: str) -> list[str]:
        """The words, of which those that are a name of the question together become its terms."""
        terms: list[str] = []
        position = 0
        while position < len(words):
            word = words[position]
            length = self._name_length(words, position, readable) if word in self._telling else 0
            if length:
                name = "".join(words[position : position + length])
                terms += self._respelled[name]
                position += length
            else:
                terms.append(word)
                position += 1
        return terms

    def _name_length(self, words: Sequence[str], start: int, readable: str) -> int:
        """How many words from `start` on are together a name of the question; 0 if none are."""
        longest = 0
        joined = ""
        for end in range(start, len(words)):
            word = words[end]
            # "3-1" is not 31, and "therapist" not "the rapist".
            if joined and joined[-1].isdigit() and word[0].isdigit():
                break
            joined += word
            if joined in self._respelled and self._may_join(words[start : end + 1], readable):
                longest = end + 1 - start
            if joined not in self._beginnings:
                break
        return longest

    @staticmethod
    def _may_join(words: Sequence[str], readable: str) -> bool:
        """Whether words are one name: stop words only where signs join them, as in "at&t"."""
        if len(words) == 1 or STOPWORDS.isdisjoint(words):
            return True
        return re.search(rf"\b{_NAME_SIGNS}{{1,2}}".join(words) + r"\b", without_marks(readable)) is not None


def _read_groups(question: str) -> list[list[str]]:
    """The words of the question; those of a name that is nothing but letters, "r.e.m." or "at&t", as one word."""
    groups: list[list[str]] = []
    for group in _GROUP.findall(_readable(question)):
        parts = extract_terms(_POSSESSIVE.sub("", group))
        telling = [part for part in parts if part not in STOPWORDS]
        is_of_letters = len(parts) > 1 and all(len(part) == 1 and part.isalpha() for part in telling)
        groups.append(["".join(parts)] if is_of_letters and telling else parts)
    return groups


def _other_spellings(
    question: str,
    groups: Sequence[Sequence[str]],
    terms: Sequence[str],
) -> dict[str, tuple[str, ...]]:
    """Spellings in one word -> the terms that they stand for; each term stands for itself."""
    spellings: dict[str, tuple[str, ...]] = {}

    # Words that signs join, also with a possessive s: "schindlers" for "schindler's".
    written = _GROUP.findall(_readable(question))
    for group, parts in zip(written, groups, strict=True):
        meant = tuple(part for part in parts if part in terms)
        for name in ("".join(extract_terms(group)), "".join(parts), _transcribe(group)):
            if meant and _is_joinable(extract_terms(group)):
                spellings.setdefault(name, meant)

    # Neighbours that a page may write as one word: "spiderman", "jay-z".
    for run in _content_runs(groups):
        if _is_joinable(run):
            spellings.setdefault("".join(run), tuple(run))

    return spellings | {term: (term,) for term in terms}


def _content_runs(groups: Sequence[Sequence[str]]) -> Iterator[Sequence[str]]:
    """Two to `_MOST_JOINED` neighbours without a stop word."""
    words = [word for group in groups for word in group]
    for start in range(len(words)):
        for end in range(start + 2, min(start + _MOST_JOINED, len(words)) + 1):
            run = words[start:end]
            if STOPWORDS.isdisjoint(run):
                yield run


def _is_joinable(words: Sequence[str]) -> bool:
    """Whether the words can be written as one: numbers beside numbers cannot, "3-1" is not 31."""
    return not any(first[-1].isdigit() and second[0].isdigit() for first, second in pairwise(words))
