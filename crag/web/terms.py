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
from itertools import chain, pairwise
from typing import NamedTuple

from crag.text.matching import transcribed, without_marks

# --- words ------------------------------------------------------------------------------------------------------------

_WORD = re.compile(r"\w+")
_THOUSANDS_SEPARATOR = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")

# Signs that are read aloud as words.
_PLUS_PLUS = re.compile(r"(?<=\w)\+\+(?!\+)")  # c++, c++17
_PLUS = re.compile(r"(?<=[^\W\d_])\+(?![\w+])")  # disney+; not a+b, 18+
_SHARP = re.compile(r"(?<=\b[A-Za-z])[#♯](?!\w)")  # c#, f#; not a#1
_DOT = re.compile(r"(?<![\w.…])\.(?=[^\W\d_]{2})")  # .net, .com; not node.js, .5, ...and
_SPOKEN_SIGNS = (
    ("+", _PLUS_PLUS, " plus plus "),
    ("+", _PLUS, " plus "),
    ("#", _SHARP, " sharp "),
    ("♯", _SHARP, " sharp "),
    (".", _DOT, " dot "),
)
_SIGN_WORDS = ("plus", "sharp", "dot")

# Signs that stand for a letter.
_LETTER_I = re.compile(r"(?<=[^\W\d_])!(?=[^\W\d_])")  # p!nk; not "wham! rap"
_LETTER_S = re.compile(r"(?<=[^\W\d_])\$(?=[^\W\d_])")  # ke$ha; not us$5
_LETTER_SIGNS = (("!", _LETTER_I, "i"), ("$", _LETTER_S, "s"))

_WITHOUT_BLANKS = re.compile(r"[\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]{2,}")
"""Chinese and Japanese, which have no blanks between words, and Korean, whose particles belong to the word before."""


def extract_terms(text: str) -> list[str]:
    """Lower-case words and numbers, without accents; thousands separators are removed, so 1,000 and 1000 are equal.

    >>> extract_terms("Søren's C++ in 1,000 words")
    ['soren', 's', 'c', 'plus', 'plus', 'in', '1000', 'words']
    >>> extract_terms("東京タワー")
    ['東京', '京タ', 'タワ', 'ワー']
    """
    return [_fold(word) for word in _WORD.findall(_readable(text))]


def indexed_terms(text: str) -> list[str]:
    """The terms of a text for an index, which knows no question: after a name, its other spellings in one word.

    >>> indexed_terms("AC/DC in Zürich")
    ['ac', 'dc', 'acdc', 'in', 'zurich', 'zuerich']
    """
    terms: list[str] = []
    for group in _GROUP.findall(_readable(text)):
        words = [_fold(word) for word in _WORD.findall(group)]
        terms += words

        spellings = []
        if 1 < len(words) <= _MOST_JOINED and _is_joinable(words):
            spellings.append("".join(words))
        if not group.isascii():
            spellings += map(_transcribe, _WORD.findall(group))
        terms += [spelling for spelling in dict.fromkeys(spellings) if spelling not in words]
    return terms


def _readable(text: str) -> str:
    """Lower-case text in which every letter is one character and signs that count as words or letters are spelled."""
    readable = text.lower()
    if not readable.isascii():
        # A mark of its own would end the word before it.
        readable = unicodedata.normalize("NFC", readable).replace("×", "x")
        readable = _WITHOUT_BLANKS.sub(_write_in_pairs, readable)

    readable = _spell(_spell(readable, _SPOKEN_SIGNS), _LETTER_SIGNS)
    return _THOUSANDS_SEPARATOR.sub("", readable)


def _write_in_pairs(run: re.Match[str]) -> str:
    """Each pair of neighbouring characters as a word: what two texts in such a script share is found by pairs.

    As Lucene's `CJKAnalyzer` does.
    """
    pairs = ["".join(pair) for pair in pairwise(run[0])]
    return f" {' '.join(pairs)} "


def _spell(text: str, signs: Sequence[tuple[str, re.Pattern[str], str]]) -> str:
    """The text with the signs in words or letters."""
    for sign, pattern, spelled in signs:
        # Most texts have none of them, and to look for a character is much faster than to search a pattern.
        if sign in text:
            text = pattern.sub(spelled, text)
    return text


def _fold(word: str) -> str:
    """The word without marks."""
    return word if word.isascii() else _fold_marked(word)


def _fold_words(text: str) -> str:
    """The text whose words have no marks; what stands between them stays."""
    return text if text.isascii() else _WORD.sub(lambda word: _fold(word[0]), text)


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


# --- one name in several spellings ------------------------------------------------------------------------------------

_NAME_SIGNS = r"['’‘ʼ`´./&*·•‐‑–\-]"
"""Signs inside a name: o'leary, ac/dc, at&t, m*a*s*h, r.e.m., jay-z."""
_GROUP = re.compile(rf"\w+(?:{_NAME_SIGNS}{{1,2}}\w+)*")
"""Words without a blank between them."""
_POSSESSIVE = re.compile(r"['’‘ʼ`´]s\Z")
_MOST_JOINED = 4
"""Words of the question that a page may write as one: "black lives matter", "4 x 100 m"."""


class Name(NamedTuple):
    """A name of the question: the terms that stand for it, and how the question writes it."""

    terms: tuple[str, ...]
    written: str


class QuestionSpelling:
    """Reads texts in the spelling of a question.

    Attributes:
        terms: The question's distinct terms without stop words, or all if it has only stop words.
        other_spellings: Words that a page may write for one of the terms, or for several.
        question: The question as encoders should read it: no marks, signs that are words in words.

    >>> spelling = QuestionSpelling("who founded acdc?")
    >>> spelling.terms
    ('founded', 'acdc')
    >>> spelling.read("AC/DC was founded")
    ['acdc', 'was', 'founded']
    >>> spelling.rewrite("AC/DC was founded")
    'acdc was founded'
    """

    def __init__(self, question: str) -> None:
        written = _GROUP.findall(_readable(question))
        groups = [_split_group(group) for group in written]
        words = list(chain.from_iterable(groups))
        content = [word for word in words if word not in STOPWORDS]
        self.terms = tuple(dict.fromkeys(content or words))

        self._names = _find_spellings(written, groups, self.terms)
        """By the name in one word."""
        self.other_spellings = tuple(name for name in self._names if name not in self.terms)

        self._beginnings: set[str] = set()
        """What a name begins with, less than the whole."""
        for name in self._names:
            self._beginnings.update(name[:end] for end in range(1, len(name)))
        self._first_words = self._beginnings | self._names.keys()
        """The words with which a name can begin in a text."""
        self._respelled = (self._first_words - set(self.terms)) | self._beginnings
        """Without one of these, a text writes every name as the question does."""

        self._has_sign_words = any(word in " ".join(self.terms) for word in _SIGN_WORDS)
        self.question = _fold_words(self._spell_signs(question))

    def read(self, text: str) -> list[str]:
        """The terms of a text, names as the question spells them."""
        readable = _readable(text)
        words = _WORD.findall(readable)
        if not readable.isascii():
            words = [self._fold(word) for word in words]
        if self._respelled.isdisjoint(words):
            return words

        terms: list[str] = []
        copied = 0
        for start, end in self._find_names(words, readable):
            terms += words[copied:start]
            terms += self._names["".join(words[start:end])].terms
            copied = end
        return terms + words[copied:]

    def rewrite(self, text: str) -> str:
        """The text with names as the question writes them, for encoders: to them "AC/DC" and "acdc" are two names."""
        text = self._spell_signs(text)
        matches = list(_WORD.finditer(text))
        written = [match[0].lower() for match in matches]
        words = [self._fold(word) for word in written]

        pieces: list[str] = []
        copied = 0
        for start, end in self._find_names(words, text.lower()):
            name = self._names["".join(words[start:end])].written
            # The same words with other signs between them mean the same to an encoder.
            if _WORD.findall(name) != written[start:end]:
                pieces += [text[copied : matches[start].start()], name]
                copied = matches[end - 1].end()
        return "".join([*pieces, text[copied:]])

    def _spell_signs(self, text: str) -> str:
        """The text as `rewrite` compares it; unchanged if it has no accents and no such signs."""
        if not text.isascii():
            text = unicodedata.normalize("NFC", text)
        if self._has_sign_words:
            text = _spell(text, _SPOKEN_SIGNS)
        return _spell(text, _LETTER_SIGNS)

    def _fold(self, word: str) -> str:
        """The word without marks; "müller" is "mueller" if the question writes it so."""
        if word.isascii():
            return word
        second_spelling = _transcribe(word)
        return second_spelling if second_spelling in self._names else _fold_marked(word)

    def _find_names(self, words: Sequence[str], readable: str) -> Iterator[tuple[int, int]]:
        """First and last position (exclusive) of each run of words that is a name of the question."""
        start = 0
        while start < len(words):
            length = self._name_length(words, start, readable) if words[start] in self._first_words else 0
            if length:
                yield start, start + length
            start += length or 1

    def _name_length(self, words: Sequence[str], start: int, readable: str) -> int:
        """How many words from `start` on are together a name of the question; 0 if none are."""
        longest = 0
        joined = ""
        for end in range(start, len(words)):
            word = words[end]
            if joined and joined[-1].isdigit() and word[0].isdigit():
                break  # "3-1" is not 31
            if word == "s" and joined in self._names and self._means_the_same(joined, f"{joined}s"):
                break  # the s of "nvidia's" is not part of the name
            joined += word
            if joined in self._names and _may_join(words[start : end + 1], readable):
                longest = end + 1 - start
            if joined not in self._beginnings:
                break
        return longest

    def _means_the_same(self, name: str, longer: str) -> bool:
        return longer not in self._names or self._names[longer].terms == self._names[name].terms


def _may_join(words: Sequence[str], readable: str) -> bool:
    """Whether words can be one name: stop words only where signs join them: "at&t", but not "the rapist"."""
    if len(words) == 1 or STOPWORDS.isdisjoint(words):
        return True
    joined = rf"\b{_NAME_SIGNS}{{1,2}}".join(words)
    return re.search(rf"\b{joined}\b", without_marks(readable)) is not None


def _split_group(group: str) -> list[str]:
    """The words that signs join; those of a name that is nothing but letters, "r.e.m." or "at&t", as one word."""
    parts = extract_terms(_POSSESSIVE.sub("", group))
    telling = [part for part in parts if part not in STOPWORDS]
    # Of "a-ha" too little would be left without the stop word.
    most_letters = 1 if telling == parts else 2
    is_of_letters = all(len(part) <= most_letters and part.isalpha() for part in telling)
    return ["".join(parts)] if len(parts) > 1 and telling and is_of_letters else parts


def _find_spellings(
    written: Sequence[str],
    groups: Sequence[Sequence[str]],
    terms: Sequence[str],
) -> dict[str, Name]:
    """Each name of the question that is or may be written in one word. `groups` has the words of each written group."""
    names: dict[str, Name] = {}

    # Words that signs join, also with a possessive s: "schindlers" for "schindler's".
    for group, parts in zip(written, groups, strict=True):
        meant = tuple(part for part in parts if part in terms)
        if meant and _is_joinable(extract_terms(group)):
            name = Name(meant, _fold_words(_POSSESSIVE.sub("", group)))
            for spelling in ("".join(extract_terms(group)), "".join(parts), _transcribe(group)):
                names.setdefault(spelling, name)

    # Neighbours that a page may write as one word: "spiderman", "jay-z".
    for run in _content_runs(list(chain.from_iterable(groups))):
        if _is_joinable(run):
            names.setdefault("".join(run), Name(tuple(run), " ".join(run)))

    # A word that is a term of its own means itself.
    for term in terms:
        if term not in names or names[term].terms != (term,):
            names[term] = Name((term,), term)
    return names


def _content_runs(words: Sequence[str]) -> Iterator[Sequence[str]]:
    """Two to `_MOST_JOINED` neighbours without a stop word."""
    for start in range(len(words)):
        for end in range(start + 2, min(start + _MOST_JOINED, len(words)) + 1):
            run = words[start:end]
            if STOPWORDS.isdisjoint(run):
                yield run


def _is_joinable(words: Sequence[str]) -> bool:
    """Whether the words can be written as one: numbers beside numbers cannot, "3-1" is not 31."""
    return not any(first[-1].isdigit() and second[0].isdigit() for first, second in pairwise(words))
