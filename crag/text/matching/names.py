"""Compares names: normalisation, similarity, short forms."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from crag.core.text import clean
from crag.text.matching.letters import signs_as_letters, transcribed, without_marks
from crag.text.number_words import NUMBER_WORDS

SIMILARITY_FLOOR = 0.82
"""Less similar names are different."""
MARGIN = 0.04
"""Required lead of an inexact match over the next different name."""

_SAME_NAME_SIMILARITY = 0.92
"""One typo in a longer name."""
_MOST_INEXACT_SIMILARITY = 0.99
_OTHER_NAME_FACTOR = 0.8
"""Lowers the similarity of names that are probably not the same, however alike they look."""
_SHORT_WORD = 4
"""A word of so many letters with another letter in it is another word: "fire" and "wire"."""

_ELDER = frozenset({"sr", "senior"})

_APOSTROPHES = re.compile(r"['’‘`´]")
_INITIALS = re.compile(r"\b(?:[^\W\d_]\.){2,9}")
_POSSESSIVE = re.compile(r"['’]s\b", re.IGNORECASE)
_NOT_A_WORD = re.compile(r"[\W_]+")
_ARTICLE = re.compile(r"(?:the|an?) (?=.)")  # not the name "A"
_DIGITS = re.compile(r"\d+")
_SHORT_FORMS = {
    "doctor": "dr", "mister": "mr", "missus": "mrs", "junior": "jr", "senior": "sr", "saint": "st", "mount": "mt",
    "brothers": "bros", "incorporated": "inc", "corporation": "corp", "limited": "ltd",
    **{word: str(value) for word, value in NUMBER_WORDS.items()},
}  # fmt: skip
"""Words that names have in full or abbreviated, and numbers in digits: "Maroon Five" is Maroon 5."""
_ARTICLE_OF_ORDINAL = re.compile(r" (?:the )?([2-9])(?:nd|rd|th)$")
"""The end of "John Doe the 3rd", who is also John Doe III."""
_HONORIFICS = frozenset({"sir", "dame"})
"""Titles before a first and a last name: people are looked up with and without them."""
_ROMAN = {"ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9"}
"""Not "i" and "x", which are words and letters more often."""

# Endings of companies' plain names. Spaces are bounded, as each space can be the first of an ending.
_SHARE_CLASS = re.compile(
    r"""
    \s{1,9}
    (?: class\ [a-z] | series\ [a-z]
      | common\ (?:stock|shares?) | ordinary\ shares? | capital\ stock
      | american\ depositary\ (?:shares?|receipts?) | depositary\ shares? | adss? | adrs?
      | subordinate\ voting\ shares?
      | units? | warrants? | rights? | new
    )$
    """,
    re.VERBOSE,
)
LEGAL_FORMS = (
    "incorporated", "inc", "corporation", "corp", "company", "co", "limited", "ltd", "plc", "llc", "lp", "sa", "nv",
    "ag", "se",
)  # fmt: skip
"""Legal forms of companies in plain names."""
_LEGAL_FORM = re.compile(
    rf"""
    (?:\s{{1,9}}and)?\s{{1,9}}     # "Deere & Company" loses the "and" too
    (?: {"|".join(LEGAL_FORMS)} )$
    """,
    re.VERBOSE,
)
_KIND_OF_FIRM = re.compile(r"\s{1,9}(?:holdings?|group|com)$")  # not "Group 1 Automotive"


@dataclass(frozen=True, slots=True)
class NameMatch:
    """The position of the best candidate, its similarity (0 to 1), and whether both are equal when normalised."""

    position: int
    similarity: float
    exact: bool


# --- plain forms ------------------------------------------------------------------------------------------------------
def plain_name(name: str) -> str:
    """Lower-case words and numbers with single spaces: no accents, apostrophes or punctuation; ``&`` is ``and``.

    >>> plain_name("Beyoncé & Jay-Z's")
    'beyonce and jay zs'
    """
    # Apostrophes join ("o'neil" is "oneil"), all other signs separate.
    without_apostrophes = _APOSTROPHES.sub("", without_marks(signs_as_letters(name)))
    return _NOT_A_WORD.sub(" ", without_apostrophes.replace("&", " and ")).strip()


def join_initials(name: str) -> str:
    """The name with initials in one piece, as word searches have them.

    >>> join_initials("J.P. Morgan, A.F.C. Bournemouth")
    'JP Morgan, AFC Bournemouth'
    """
    return _INITIALS.sub(lambda initials: initials[0].replace(".", ""), name)


def without_article(name: str) -> str:
    """A plain name without leading ``the``, ``a`` or ``an``, unless nothing else is left."""
    match = _ARTICLE.match(name)
    return name[match.end() :] if match else name


def without_possessive(text: str) -> str:
    """The text without ``'s`` at the ends of words."""
    return _POSSESSIVE.sub("", text)


def without_possessive_at_end(name: str) -> str:
    """The name without ``'s`` at its end; another one, as in "McDonald's Corporation", is a part of the name."""
    return name.removesuffix("'s").removesuffix("\u2019s")


def normalise_name(name: str) -> str:
    """The plain name without leading article, Roman numerals as digits; without letters or digits ("÷") unchanged.

    >>> normalise_name("The Godfather, Part II")
    'godfather part 2'
    """
    cleaned = clean(name)
    in_digits = [_ROMAN.get(word, word) for word in plain_name(cleaned).split()]
    plain = without_article(" ".join(in_digits))
    return plain or " ".join(without_marks(cleaned).split())


# --- similarity -------------------------------------------------------------------------------------------------------
def has_same_article(left: str, right: str) -> bool:
    """Whether two equal names also agree in the article at the beginning: "The Batman" and "Batman" do not."""
    return plain_name(clean(left)).split()[:1] == plain_name(clean(right)).split()[:1]


def similarity(left: str, right: str) -> float:
    """The similarity of two names, from 0 to 1; 1 if and only if their normalised texts are equal.

    Different numbers lower it, "Sr." instead of "Jr.", and another letter in a short word: sequels, father and son, and
    "Man on Fire" and "Man on Wire" differ in nothing else.
    """
    first = normalise_name(left)
    second = normalise_name(right)
    if first == second:
        return 1.0
    if not first or not second:
        return 0.0
    if same_numbers(first, second) and not _letters(left).isdisjoint(_letters(right)):
        return _MOST_INEXACT_SIMILARITY  # "AC/DC" and "acdc", "Müller" and "mueller"
    if _in_short_form(first) == _in_short_form(second):
        return _MOST_INEXACT_SIMILARITY  # "Doctor Dre" and "Dr. Dre"

    # Sorted words too, for "Lopez, Jennifer" and "Jennifer Lopez".
    percent = max(fuzz.ratio(first, second), fuzz.token_sort_ratio(first, second))
    # Sorted words may agree fully, but 1.0 is kept for equal names.
    score = min(_MOST_INEXACT_SIMILARITY, percent / 100)
    is_other = (
        not same_numbers(first, second)
        or _is_elder(first) != _is_elder(second)
        or _has_other_short_word(first.split(), second.split())
    )
    return score * _OTHER_NAME_FACTOR if is_other else score


def same_numbers(left: str, right: str) -> bool:
    """Whether two names hold the same numbers, in digits or words, in any order. "One" is left out: it is often none.

    >>> same_numbers("Terminator Two", "The Terminator"), same_numbers("Ocean's Eleven", "Ocean's 11")
    (False, True)
    """
    return _numbers_in(left) == _numbers_in(right)


def _numbers_in(name: str) -> list[str]:
    words = normalise_name(name).split()
    numbers = _DIGITS.findall(" ".join(words))
    numbers += [str(NUMBER_WORDS[word]) for word in words if word in NUMBER_WORDS and word != "one"]
    return sorted(numbers)


def _in_short_form(name: str) -> list[str]:
    """The words of a plain name in the form that catalogues use.

    "Doctor" and the like are abbreviated, "sir" before two names is left out, and so are "the" at the end ("Matrix,
    The") and in "the 3rd".
    """
    name_words = [_SHORT_FORMS.get(word, word) for word in _ARTICLE_OF_ORDINAL.sub(r" \1", name).split()]
    if len(name_words) > 2 and name_words[0] in _HONORIFICS:
        name_words = name_words[1:]
    return name_words[:-1] if len(name_words) > 1 and name_words[-1] == "the" else name_words


def _is_elder(name: str) -> bool:
    """Whether a plain name is that of the elder: people are often named without "Jr."."""
    return not _ELDER.isdisjoint(name.split())


def _has_other_short_word(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether a short word of one plain name is another word in the other, and not a misspelling of it."""
    # The same words in another order: "Lopez, Jennifer"
    if len(left) != len(right) or sorted(left) == sorted(right):
        return False
    return any(map(_is_other_short_word, left, right))


def _is_other_short_word(left: str, right: str) -> bool:
    """Whether two words differ, one of them is short, and neither is a misspelling of the other."""
    if left == right:
        return False
    shorter, longer = sorted((left, right), key=len)
    if len(shorter) > _SHORT_WORD:
        return False
    if len(shorter) == 1:
        return shorter not in longer  # "u" is short for "you"
    # A letter too many, or two letters that changed places, is a slip of the fingers.
    return OSA.distance(shorter, longer) > 1 or (len(shorter) == len(longer) and sorted(shorter) != sorted(longer))


def _letters(name: str) -> set[str]:
    """The letters and digits of a name without signs and blanks, and with two letters for an umlaut."""
    cleaned = clean(name)
    return {_NOT_A_WORD.sub("", spelling) for spelling in (without_marks(cleaned), transcribed(cleaned))}


def best_match(name: str, candidates: Sequence[str], *, floor: float = SIMILARITY_FLOOR) -> NameMatch | None:
    """The best candidate, or None if none is similar enough or two different ones are nearly equal.

    Word search such as BM25 does not allow typos, and its first hit is often a longer or shorter name, so its hits are
    ranked again here. Among equally similar candidates the first wins: put the better known first.

    >>> best_match("the godfahter", ["The Godfather", "Heat"]).position
    0
    """
    if not candidates:
        return None

    scores = [similarity(name, candidate) for candidate in candidates]
    best = max(scores)
    if best < floor:
        return None
    if best == 1.0:
        equal = [position for position, score in enumerate(scores) if score == 1.0]
        return NameMatch(_with_same_article(name, candidates, equal), best, exact=True)

    position = scores.index(best)
    if best - _best_score_of_others(candidates[position], candidates, scores) < MARGIN:
        return None
    return NameMatch(position, best, exact=False)


def _with_same_article(name: str, candidates: Sequence[str], positions: Sequence[int]) -> int:
    """The first of the positions whose candidate has the article of the name, else the first of all."""
    # "The Batman" and "Batman" differ in the article alone
    for position in positions:
        if has_same_article(name, candidates[position]):
            return position
    return positions[0]


def _best_score_of_others(winner: str, candidates: Sequence[str], scores: Sequence[float]) -> float:
    """The best score of a candidate that is not the winner in another spelling; 0 if there is none."""
    normalised_winner = normalise_name(winner)
    best = 0.0
    for candidate, score in zip(candidates, scores, strict=True):
        if normalise_name(candidate) != normalised_winner:
            best = max(best, score)
    return best


def is_one_letter_apart(left: str, right: str) -> bool:
    """Whether two names of several words differ in one letter that does not begin a word: "Jackie Chen" and "Chan".

    Two people may have such names, so it takes more than this to tell that one is meant. Few slips change the first
    letter of a word (Kukich 1992, section 1.1), but many names do: "Bill" and "Will".

    >>> is_one_letter_apart("jackie chen", "Jackie Chan"), is_one_letter_apart("bill moe", "Will Moe")
    (True, False)
    """
    first = normalise_name(left)
    second = normalise_name(right)
    if len(first.split()) < 2 or len(first) != len(second):
        return False

    differing = [position for position, letter in enumerate(first) if letter != second[position]]
    if len(differing) != 1:
        return False
    position = differing[0]
    begins_word = position == 0 or first[position - 1] == " "
    return not begins_word and first[position].isalpha() and second[position].isalpha()


def same_name(left: str, right: str) -> bool:
    """Whether two texts name the same entity: equal when normalised, or one typo apart in a longer name."""
    return similarity(left, right) >= _SAME_NAME_SIMILARITY


def contains_words(text: str, phrase: str) -> bool:
    """Whether `text` contains the words of `phrase` in a row."""
    # Spaces at both ends, so that "art" is not found in "start".
    return f" {normalise_name(phrase)} " in f" {normalise_name(text)} "


# --- other forms of a name --------------------------------------------------------------------------------------------
def spellings(name: str) -> set[str]:
    """The plain forms of a name for search: with and without article, and without a possessive ``'s``.

    "Schindler's List" is found as "schindlers list" and "schindler list", "the film's" as "film".
    """
    forms = {plain_name(name), plain_name(without_possessive(name))}
    forms |= {without_article(form) for form in forms}
    return forms - {""}


def company_names(name: str) -> Iterator[str]:
    """A company's plain name, and the name without share class, legal form, and "group" or "holdings".

    Stock lists write "Example Group Inc. Class A Common Stock" for "Example".

    >>> list(company_names("Example Inc. Class A"))
    ['example inc class a', 'example inc', 'example']
    """
    current = plain_name(name)
    yield current

    # The legal form twice: "Example Inc. Holdings" ends with it only after the third step.
    for ending in (_SHARE_CLASS, _LEGAL_FORM, _KIND_OF_FIRM, _LEGAL_FORM):
        shorter = _without_endings(current, ending)
        if shorter != current:
            current = shorter
            yield current


def _without_endings(name: str, ending: re.Pattern[str]) -> str:
    """The name without this kind of ending, however often it has one."""
    shorter = ending.sub("", name)
    while shorter != name:
        name = shorter
        shorter = ending.sub("", name)
    return name
