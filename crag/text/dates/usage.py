"""Whether words that could be a date are used as one: "on friday" against "friday night lights".

Weekdays, months, years and days without a year are parts of countless names. They count as a date only where the
sentence says so: after a preposition of time, in a possessive before something that has a day, as the day of a past
event, as the year of an edition. The words around decide (`crag.text.dates.usage_words`), and so does the case where a
question is written in both: "made landfall Wednesday" against "sang Blue Monday".

In doubt it is a name: a question about a name that is taken for one about last week loses its older pages.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from crag.text.dates import usage_words as words
from crag.text.dates.vocabulary import MONTH_NAME, ORDINAL_DAY, STEP, WEEKDAY, YEAR

_CONTEXT_CHARACTERS = 120
"""The characters on each side that are looked at."""

_TOKEN = re.compile(r"'s\b|[\w$%]+(?:[-'](?!s\b)[\w$%]+){0,3}|[^\w\s]")
"""A word, the ending of a possessive or a mark."""

_END_OF_CLAUSE = frozenset(".,;:?!")

_NUMBERED_DAY = "[0-9]{1,2}(?:st|nd|rd|th)?"
_KINDS = {
    "weekday": re.compile(WEEKDAY),
    "month": re.compile(rf"(?:(?:{STEP}) )?{MONTH_NAME}"),
    "day of month": re.compile(
        rf"{MONTH_NAME}[ -]?{_NUMBERED_DAY}|(?:{_NUMBERED_DAY}|{ORDINAL_DAY})(?: of)?[ -]{MONTH_NAME}"
    ),
    "year": re.compile(YEAR),
    "named day": re.compile("(?:day before |day after )?(?:yesterday|tomorrow)|today|tonight"),
}
"""The forms of dates that are also parts of names."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A possible date and the words around it.

    `left` and `right` are lower-case tokens; an empty one stands for the beginning or the end. `written`, `left_written`
    and `right_written` are the date and its neighbours as the asker wrote them.
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
        """The token so many places before the date."""
        return self.left[-distance] if distance <= len(self.left) else ""

    def after(self, distance: int = 1) -> str:
        """The token so many places after the date."""
        return self.right[distance - 1] if distance <= len(self.right) else ""

    @property
    def begins_clause(self) -> bool:
        """Whether one word, such as "on", stands between the date and the beginning of the clause."""
        return self.before(2) == "" or self.before(2) in _END_OF_CLAUSE

    @property
    def is_possessive(self) -> bool:
        """Whether it is "friday's"."""
        return self.after() == "'s"


def is_used_as_date(cased_text: str, start: int, end: int) -> bool:
    """Whether the characters from `start` to `end`, which have the form of a date, are used as one.

    `cased_text` has single spaces and plain quotes. Forms that are nothing but dates are dates wherever they stand.

    >>> text = "who directed friday night lights?"
    >>> is_used_as_date(text, 13, 19)
    False
    """
    around = _look_around(cased_text, start, end)
    if around.is_quoted:
        return False

    kind = next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(around.date)), None)
    if kind is None:
        return not _is_whole_object(around)
    return _USES[kind](around)


def are_linked(between: str) -> bool:
    """Whether two dates with this text between them are one enumeration: "1984 or 2021", "in may and june"."""
    return between.strip(" ") in {"and", "or", "to", ",", ", and", ", or", "&", "vs", "vs.", "versus", "than", "/"}


def _look_around(text: str, start: int, end: int) -> Surroundings:
    before = text[max(0, start - _CONTEXT_CHARACTERS) : start]
    after = text[end : end + _CONTEXT_CHARACTERS]
    left = _TOKEN.findall(before)
    right = _TOKEN.findall(after)
    return Surroundings(
        date=text[start:end].lower(),
        left=[token.lower() for token in left],
        right=[token.lower() for token in right],
        written=text[start:end],
        left_written=left[-1] if left else "",
        right_written=right[0] if right else "",
        has_both_cases=_has_both_cases(text),
        is_quoted=text.count('"', 0, start) % 2 == 1 and '"' in after,
    )


def _has_both_cases(text: str) -> bool:
    """Whether capitals tell names apart: most words begin with a small letter, some with a capital."""
    initials = [word[0] for word in text.split()[1:] if word[0].isalpha()]
    capitals = sum(initial.isupper() for initial in initials)
    return 0 < capitals < 0.6 * len(initials)


# --- titles -----------------------------------------------------------------------------------------------------------
def _is_title(around: Surroundings) -> bool:
    """Whether the date begins a title: "the film friday", "who directed march of the penguins"."""
    return around.before() in words.WORK_NOUNS or _ends_with_work_verb(around.left)


def _ends_with_work_verb(left: list[str]) -> bool:
    """Whether a verb that takes a title comes last; "was released" does not, and "released in" is followed by a time."""
    if left[-2:] and left[-1] == "in" and left[-2] in {"star", "stars", "starred", "starring", "acts", "acted"}:
        return True
    if not left or left[-1] not in words.WORK_VERBS:
        return False
    return not any(token in words.PASSIVE_AUXILIARIES for token in _clause_before(left)[-4:])


def _is_inside_title(around: Surroundings) -> bool:
    """Whether a title without an article has begun before the date: "who directed born on the fourth of july"."""
    clause = _clause_before(around.left)
    for position in range(len(clause) - 1, 0, -1):
        if clause[position] in words.FUNCTION_WORDS:
            continue
        if clause[position - 1] in words.WORK_NOUNS or _ends_with_work_verb(clause[:position]):
            return True
    return False


def _clause_before(left: list[str]) -> list[str]:
    """The tokens since the last mark that ends a clause."""
    for position in range(len(left) - 1, -1, -1):
        if left[position] in _END_OF_CLAUSE:
            return left[position + 1 :]
    return left


def _is_whole_object(around: Surroundings) -> bool:
    """Whether a date of an unmistakable form is all that a verb such as "directed" has: "who directed next friday?"."""
    left = around.left[:-1] if around.before() == "the" else around.left
    return _ends_with_work_verb(left) and around.after() in {"", "?"}


def _is_noun(token: str) -> bool:
    """Whether the token can be a noun that makes a name with the date before it.

    Verbs in -ed and -ing and adverbs in -ly are no nouns.
    """
    if not token or not token[0].isalpha():
        return bool(token) and token[0].isdigit()
    if token in words.FUNCTION_WORDS or token in words.DAY_NOUNS:
        return False
    return not re.fullmatch(r"\w{2,20}(?:ed|ing|ly)", token)


# --- weekdays ---------------------------------------------------------------------------------------------------------
def _is_weekday(around: Surroundings) -> bool:
    if _is_title(around) or around.before() in words.SHOW_NOUNS or _is_followed_by_day_number(around):
        return False
    if around.is_possessive:
        return around.date not in words.SHORT_NAMES and _is_possessive_day(around)

    # "Friday night" is as good as "friday", but "friday night lights" is a name.
    has_time_of_day = around.after() in words.TIMES_OF_DAY
    following = around.after(2) if has_time_of_day else around.after()
    if _is_noun(following) and (has_time_of_day or around.date in words.SHORT_NAMES):
        return False
    if around.has_both_cases and has_time_of_day and around.right_written[0].isupper():
        return False

    if around.before() in words.WEEKDAY_PREPOSITIONS:
        return True
    if around.before() == "of":
        return around.before(2) in words.TIME_NOUNS | words.DAY_NOUNS
    if around.date in words.SHORT_NAMES:
        return False
    if _is_before_day_noun(around, following):
        return around.before() in words.DETERMINERS or around.before() in {"", "'s"}
    return not _is_noun(following) and _follows_event(around)


def _is_followed_by_day_number(around: Surroundings) -> bool:
    """Whether it is the "friday the 13th" of no month."""
    return around.after() == "the" and re.fullmatch("[0-9]{1,2}(?:st|nd|rd|th)", around.after(2)) is not None


def _is_possessive_day(around: Surroundings) -> bool:
    """Whether "friday's" means a day: after words of grammar or an event, not "ruby tuesday's founder"."""
    before = around.before()
    if before in words.EVENT_VERBS or not before or before in _END_OF_CLAUSE:
        return True
    return (
        before in words.FUNCTION_WORDS
        and before not in {"to", "the"} | words.PASSIVE_AUXILIARIES
        or (before in words.FUNCTION_WORDS and around.after(2) in words.DAY_NOUNS)
    )


def _is_before_day_noun(around: Surroundings, following: str) -> bool:
    return around.after() in words.DAY_NOUNS or following in words.DAY_NOUNS


def _follows_event(around: Surroundings) -> bool:
    """Whether the words before tell what happened on the day: "did it close friday", "was arrested monday"."""
    before = around.before()
    if before in words.EVENT_VERBS | words.DIRECTIONS | words.DAY_NOUNS or re.fullmatch(r"\w{3,20}ed", before):
        return True
    if not around.has_both_cases or not around.written[0].isupper() or around.right_written[:1].isupper():
        return False
    # "Made landfall Wednesday": a name would begin with a capital.
    return before.isalpha() and around.left_written.islower() and before not in words.FUNCTION_WORDS


# --- months and days of months ----------------------------------------------------------------------------------------
def _is_month(around: Surroundings) -> bool:
    if _is_title(around):
        return False
    *step, month = around.date.split()
    if (
        month == "may"
        and around.after() in words.AFTER_MAY
        and (step or around.before() not in words.MONTH_PREPOSITIONS)
    ):
        return False
    if step:
        return around.after() != "of" and (step[0] != "this" or not _is_noun(around.after()))
    if around.is_possessive:
        return _is_possessive_month(around)

    before = around.before()
    if before in words.MONTH_PREPOSITIONS or before == "-" and around.before(2) in {"mid", "early", "late"}:
        firm = before in words.FIRM_PREPOSITIONS or around.begins_clause
        return firm and around.after() not in {"of"} or not _is_noun(around.after()) and around.after() != "of"
    if before in {"of", "as"}:
        return around.before(2) in words.TIME_NOUNS or around.before(2)[:1].isdigit()
    if before in {"the", "'s"} or before in words.DETERMINERS:
        return around.after() in words.DAY_NOUNS and month not in words.WORDS_THAT_ARE_ALSO_MONTHS - {
            "march",
            "june",
            "august",
        }
    return False


def _is_possessive_month(around: Surroundings) -> bool:
    if around.before() in words.MONTH_PREPOSITIONS:
        return True
    return around.date not in words.WORDS_THAT_ARE_ALSO_MONTHS and around.before() in words.FUNCTION_WORDS


def _is_day_of_month(around: Surroundings) -> bool:
    if _is_title(around):
        return False
    before = around.before(2) if around.before() == "the" else around.before()
    if before in words.DAY_PREPOSITIONS:
        return not _is_inside_title(around)
    if around.after() in words.DAY_NOUNS or around.is_possessive:
        return True
    return not _is_noun(around.after())


# --- years ------------------------------------------------------------------------------------------------------------
def _is_year(around: Surroundings) -> bool:
    before = around.before()
    after = around.after()
    if _is_title(around) and not (before in words.WORK_NOUNS and after in words.RECURRING_EVENTS):
        return False
    if before in words.YEAR_PREPOSITIONS:
        # "2001: a space odyssey"
        return after != ":" or around.begins_clause
    if before == "-":
        return around.before(2) in {"mid", "pre", "post", "early", "late"}
    if before == "of":
        return _is_year_of(around)
    if before in {"(", ","}:
        return before == "(" or after in {"", "?", ",", "."} and around.before(2).isalpha()
    if before in words.TIME_NOUNS or before in words.RECURRING_EVENTS or after in words.RECURRING_EVENTS:
        return True
    # "Which 2010 film", "the 2024 grammys"; not "the 1975" and not "1917 cast".
    if before in words.DETERMINERS or before in {"", "'s", "'"}:
        return (_is_noun(after) or after in words.DAY_NOUNS) and after not in words.WORK_ROLES
    return False


def _is_year_of(around: Surroundings) -> bool:
    """Whether the year belongs to the noun before: "the best film of 2023", "fall of 2022"; not "class of 1999"."""
    noun = around.before(2)
    if noun in words.TIME_NOUNS:
        return True
    if noun in words.WORK_ROLES or _is_inside_title(around):
        return False

    phrase = [around.before(distance) for distance in range(3, 8)]
    has_determiner = any(token in words.DETERMINERS or token == "'s" or token.endswith("est") for token in phrase)
    is_plural = noun.endswith("s") and not noun.endswith("ss")
    return has_determiner or is_plural


# --- named days -------------------------------------------------------------------------------------------------------
def _is_named_day(around: Surroundings) -> bool:
    """Whether "yesterday" is a day and no title; "the today show" and "USA Today" are names."""
    if _is_whole_object(around) or around.before() in words.WORK_NOUNS and around.before(2) in words.DETERMINERS:
        return False
    if around.before() == "the" and around.date in {"today", "tonight", "yesterday", "tomorrow"}:
        return False
    is_capital = around.has_both_cases and around.written[0].isupper() and bool(around.before())
    return not is_capital or around.before() in _END_OF_CLAUSE


_USES: dict[str, Callable[[Surroundings], bool]] = {
    "weekday": _is_weekday,
    "month": _is_month,
    "day of month": _is_day_of_month,
    "year": _is_year,
    "named day": _is_named_day,
}
