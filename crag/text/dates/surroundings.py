"""A possible date among the words around it: what stands beside it, and whether a title begins there."""

import re
from dataclasses import dataclass
from functools import lru_cache

from crag.text.dates import usage_words as words

END_OF_CLAUSE = frozenset(".,;:?!")

_CONTEXT_CHARACTERS = 120
"""The characters on each side that are looked at."""

_TOKEN = re.compile(r"'s\b|[\w$%]+(?:[-'](?!s\b)[\w$%]+){0,3}|[^\w\s]")
"""A word, the ending of a possessive or a mark."""

_VERB_OR_ADVERB = re.compile(r"\w{2,20}(?:ed|ing|ly)")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A possible date and the words around it.

    `date` and the tokens of `left` and `right` are in lower case. `written` and its neighbours are as the asker wrote
    them.
    """

    date: str
    left: list[str]
    right: list[str]
    written: str
    left_written: str
    right_written: str
    has_both_cases: bool
    is_quoted: bool

    def before(self, distance: int = 1) -> str:
        """The token so many places before the date; "" for the beginning."""
        return self.left[-distance] if distance <= len(self.left) else ""

    def after(self, distance: int = 1) -> str:
        """The token so many places after the date; "" for the end."""
        return self.right[distance - 1] if distance <= len(self.right) else ""

    @property
    def clause_before(self) -> list[str]:
        """The tokens before the date, since the last mark that ends a clause."""
        return _last_clause(self.left)

    @property
    def is_possessive(self) -> bool:
        """Whether it is "friday's"."""
        return self.after() == "'s"

    @property
    def is_capitalised(self) -> bool:
        """Whether the asker, who writes other words small, wrote the date with a capital."""
        return self.has_both_cases and self.written[0].isupper()


def look_around(text: str, start: int, end: int) -> Surroundings:
    """The surroundings of the characters from `start` to `end`."""
    left = _TOKEN.findall(text[max(0, start - _CONTEXT_CHARACTERS) : start])
    right = _TOKEN.findall(text[end : end + _CONTEXT_CHARACTERS])
    is_in_single_quotes = left[-1:] == ["'"] and right[:1] == ["'"]
    is_in_double_quotes = text.count('"', 0, start) % 2 == 1 and '"' in text[end:]
    return Surroundings(
        date=text[start:end].lower(),
        left=[token.lower() for token in left],
        right=[token.lower() for token in right],
        written=text[start:end],
        left_written=left[-1] if left else "",
        right_written=right[0] if right else "",
        has_both_cases=_has_both_cases(text),
        is_quoted=is_in_single_quotes or is_in_double_quotes,
    )


@lru_cache(maxsize=16)
def _has_both_cases(text: str) -> bool:
    """Whether capitals tell names apart: most words begin with a small letter, some with a capital."""
    initials = [word[0] for word in text.split()[1:] if word[0].isalpha()]
    capitals = sum(initial.isupper() for initial in initials)
    return 0 < capitals < 0.6 * len(initials)


def _last_clause(tokens: list[str]) -> list[str]:
    for position in range(len(tokens) - 1, -1, -1):
        if tokens[position] in END_OF_CLAUSE:
            return tokens[position + 1 :]
    return tokens


def is_noun(token: str) -> bool:
    """Whether the token can be a noun that makes a name with the date before it; digits count as one.

    Not words of grammar, verbs, adverbs in -ly, and nouns that belong to a day ("game").
    """
    if token in words.NO_NOUNS:
        return False
    return token[:1].isalnum() and not _VERB_OR_ADVERB.fullmatch(token)


# --- titles -----------------------------------------------------------------------------------------------------------
def begins_title(around: Surroundings) -> bool:
    """Whether the date begins a title: "the film friday", "who directed march of the penguins"."""
    return begins_title_after(around.clause_before)


def begins_title_after(clause: list[str]) -> bool:
    """Whether a title follows: after "the film", "directed", "starred in", "the plot of"; not "was released"."""
    if not clause:
        return False
    if clause[-1] in words.NAMING_WORDS:
        return True
    if clause[-1] in words.WORK_NOUNS:
        # In "which film came out in may" the film has no name.
        return {"which", "what"}.isdisjoint(clause[-3:-1])
    if clause[-1] == "in":
        return clause[-2:-1] != [] and clause[-2] in words.ACTING_VERBS
    if clause[-1] in {"of", "to"}:
        return clause[-2:-1] != [] and clause[-2] in words.WORK_ROLES
    return clause[-1] in words.WORK_VERBS and words.PASSIVE_AUXILIARIES.isdisjoint(clause[-4:])


def is_inside_title(around: Surroundings) -> bool:
    """Whether a title without an article has begun before the date: "who directed born on the fourth of july"."""
    clause = around.clause_before
    for position in range(1, len(clause)):
        goes_on = clause[position] in words.FUNCTION_WORDS | words.WORK_NOUNS | words.SHOW_NOUNS
        if not goes_on and begins_title_after(clause[:position]):
            return True
    return False


def is_all_that_was_made(around: Surroundings) -> bool:
    """Whether a date is the whole title: "who directed next friday?", "the author of first monday in october".

    Words in brackets may follow: "who sang april, 1950 (what a day)?".
    """
    clause = around.clause_before
    if clause[-1:] == ["the"]:
        clause = clause[:-1]
    if around.date.split()[0] in {"between", "from", "since"} or around.after() not in {"", "?", "("}:
        return False
    if not begins_title_after(clause):
        return False

    # Only the subject stands before the verb: not "what did the band that released last week ...".
    asks_for_subject = len(clause) <= 3 and clause[0] in words.ASKING_WORDS
    return asks_for_subject or not words.WORK_ROLES.isdisjoint(clause[-2:-1])
