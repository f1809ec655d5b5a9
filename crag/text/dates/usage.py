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
from crag.text.dates.vocabulary import DAY_WITH_ENDING, MONTH_NAME, ORDINAL_DAY, STEP, WEEKDAY, YEAR

_CONTEXT_CHARACTERS = 120
"""The characters on each side that are looked at."""

_TOKEN = re.compile(r"'s\b|[\w$%]+(?:[-'](?!s\b)[\w$%]+){0,3}|[^\w\s]")
"""A word, the ending of a possessive or a mark."""

_END_OF_CLAUSE = frozenset(".,;:?!")
_VERB_OR_ADVERB = re.compile(r"\w{2,20}(?:ed|ing|ly)")
_PAST_VERB = re.compile(r"\w{3,20}ed")

_KINDS = {
    "weekday": re.compile(WEEKDAY),
    "month": re.compile(rf"(?:(?:{STEP}) )?{MONTH_NAME}"),
    "day of month": re.compile(
        rf"{MONTH_NAME}(?:[ -]?| the ){DAY_WITH_ENDING}|(?:{DAY_WITH_ENDING}|{ORDINAL_DAY})(?: of)?[ -]{MONTH_NAME}"
    ),
    "year": re.compile(YEAR),
    "named day": re.compile("(?:day before |day after )?(?:yesterday|tomorrow)|today|tonight"),
}
"""The forms of dates that are also parts of names."""


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


def is_used_as_date(text: str, start: int, end: int) -> bool:
    """Whether the characters from `start` to `end`, which have the form of a date, are used as one.

    `text` is in the asker's case, with single spaces and plain quotes. Forms that are nothing but dates, such as
    "march 5, 2024", are dates wherever they stand, but for quotes and "who directed next friday?".

    >>> is_used_as_date("who directed friday night lights?", 13, 19)
    False
    """
    around = _look_around(text, start, end)
    if around.is_quoted:
        return False

    for kind, pattern in _KINDS.items():
        if pattern.fullmatch(around.date):
            return _USES[kind](around)
    return not _is_all_that_was_made(around)


def are_linked(between: str) -> bool:
    """Whether two dates with this text between them are enumerated, so that both or none is a date: "1984 or 2021"."""
    return between.strip(" ") in {"and", "or", "to", "vs", "vs.", "versus", "than", ",", ", and", ", or", "&", "/"}


def _look_around(text: str, start: int, end: int) -> Surroundings:
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


def _has_both_cases(text: str) -> bool:
    """Whether capitals tell names apart: most words begin with a small letter, some with a capital."""
    initials = [word[0] for word in text.split()[1:] if word[0].isalpha()]
    capitals = sum(initial.isupper() for initial in initials)
    return 0 < capitals < 0.6 * len(initials)


def _last_clause(tokens: list[str]) -> list[str]:
    for position in range(len(tokens) - 1, -1, -1):
        if tokens[position] in _END_OF_CLAUSE:
            return tokens[position + 1 :]
    return tokens


def _is_noun(token: str) -> bool:
    """Whether the token can be a noun that makes a name with the date before it; digits count as one.

    Not words of grammar, verbs in -ed and -ing, adverbs in -ly, and nouns that belong to a day ("game").
    """
    if token in words.FUNCTION_WORDS or token in words.DAY_NOUNS:
        return False
    return token[:1].isalnum() and not _VERB_OR_ADVERB.fullmatch(token)


# --- titles -----------------------------------------------------------------------------------------------------------
def _begins_title(around: Surroundings) -> bool:
    """Whether the date begins a title: "the film friday", "who directed march of the penguins"."""
    return around.before() in words.WORK_NOUNS or _ends_with_work_verb(around.clause_before)


def _ends_with_work_verb(clause: list[str]) -> bool:
    """Whether a verb that takes a title comes last: "directed", "starred in"; not "was released"."""
    if not clause:
        return False
    if clause[-1] == "in":
        return len(clause) > 1 and clause[-2] in words.ACTING_VERBS
    return clause[-1] in words.WORK_VERBS and words.PASSIVE_AUXILIARIES.isdisjoint(clause[-4:])


def _is_inside_title(around: Surroundings) -> bool:
    """Whether a title without an article has begun before the date: "who directed born on the fourth of july"."""
    clause = around.clause_before
    for position in range(1, len(clause)):
        token = clause[position]
        if token in words.FUNCTION_WORDS | words.WORK_NOUNS | words.SHOW_NOUNS:
            continue
        if clause[position - 1] in words.WORK_NOUNS or _ends_with_work_verb(clause[:position]):
            return True
    return False


def _is_all_that_was_made(around: Surroundings) -> bool:
    """Whether the date is the only object of the verb: "who directed next friday?"; not "who wrote last week's letter?"."""
    clause = around.clause_before
    if clause[-1:] == ["the"]:
        clause = clause[:-1]
    if around.date.split()[0] in {"between", "from", "since"} or around.after() not in {"", "?"}:
        return False
    return len(clause) <= 3 and clause[:1] in (["who"], ["which"], ["what"], ["who's"]) and _ends_with_work_verb(clause)


# --- weekdays ---------------------------------------------------------------------------------------------------------
def _is_weekday(around: Surroundings) -> bool:
    if _begins_title(around) or around.before() in words.SHOW_NOUNS or _is_in_longer_name(around):
        return False
    if around.is_possessive:
        return around.date not in words.SHORT_NAMES and _is_possessive_day(around)
    if around.before() in words.WEEKDAY_PREPOSITIONS:
        return True
    if around.before() == "of":
        return around.before(2) in words.TIME_NOUNS | words.DAY_NOUNS
    return around.date not in words.SHORT_NAMES and (_is_day_of_noun(around) or _is_day_of_event(around))


def _is_in_longer_name(around: Surroundings) -> bool:
    """Whether a name goes on after the weekday: "friday night lights", "friday the 13th", "sun microsystems"."""
    if around.after() == "the" and re.fullmatch(DAY_WITH_ENDING, around.after(2)):
        return True

    # "Friday night" is as good as "friday", but a noun behind it makes a name.
    if around.after() in words.TIMES_OF_DAY:
        is_name = around.is_capitalised and around.right_written[0].isupper()
        return is_name or _is_noun(around.after(2))
    return around.date in words.SHORT_NAMES and _is_noun(around.after())


def _is_possessive_day(around: Surroundings) -> bool:
    """Whether "friday's" means a day: "at friday's close", "won tuesday's jackpot"; not "tgi friday's founder"."""
    before = around.before()
    if not before or before in words.EVENT_VERBS | _END_OF_CLAUSE:
        return True
    if around.after(2) in words.DAY_NOUNS:
        return before in words.FUNCTION_WORDS or before == "'s"
    return before in words.WEEKDAY_PREPOSITIONS | {"in", "at", "of"}


def _is_day_of_noun(around: Surroundings) -> bool:
    """Whether the weekday describes something that has a day: "the friday game"; not "a good friday game"."""
    belongs = around.after() in words.DAY_NOUNS
    if around.after() in words.TIMES_OF_DAY:
        belongs = around.after(2) in words.DAY_NOUNS
    return belongs and (around.before() in words.DETERMINERS or around.before() in {"", "'s"})


def _is_day_of_event(around: Surroundings) -> bool:
    """Whether the words before tell what happened on the day: "did it close friday", "was arrested monday"."""
    following = around.after(2) if around.after() in words.TIMES_OF_DAY else around.after()
    if _is_noun(following):
        return False

    before = around.before()
    if before in words.EVENT_VERBS | words.DIRECTIONS | words.DAY_NOUNS or _PAST_VERB.fullmatch(before):
        return True
    # "Made landfall Wednesday": a name of several words would begin with a capital, "Ash Wednesday".
    if not around.is_capitalised or around.right_written[:1].isupper():
        return False
    return before.isalpha() and around.left_written.islower() and before not in words.FUNCTION_WORDS


# --- months and days of months ----------------------------------------------------------------------------------------
def _is_month(around: Surroundings) -> bool:
    if _begins_title(around) or around.after() == "of":  # "march of the penguins", "the last march of the ents"
        return False

    *step, month = around.date.split()
    if month == "may" and around.after() in words.AFTER_MAY:
        return around.before() in words.FIRM_PREPOSITIONS
    if step:
        return step[0] != "this" or not _is_noun(around.after())
    if around.is_possessive:
        return _is_possessive_month(around)
    if around.before() in {"of", "as"}:
        return around.before(2) in words.TIME_NOUNS or around.before(2)[:1].isdigit()
    if around.before() in words.DETERMINERS or around.before() == "'s":
        return around.after() in words.DAY_NOUNS and month not in words.SHORT_NAMES
    return _is_announced_month(around)


def _is_announced_month(around: Surroundings) -> bool:
    """Whether a preposition stands before the month, and no noun after it: "in may"; not "in november rain"."""
    before = around.before()
    if before == "-":  # "mid-march"
        return around.before(2) in words.FIRM_PREPOSITIONS
    if before not in words.MONTH_PREPOSITIONS:
        return False

    # "In february apple sold ...": at the beginning the noun is the next part of the sentence.
    begins_clause = len(around.clause_before) == 1
    return begins_clause or before in words.FIRM_PREPOSITIONS or not _is_noun(around.after())


def _is_possessive_month(around: Surroundings) -> bool:
    if around.before() in words.MONTH_PREPOSITIONS:
        return True
    return around.date not in words.WORDS_THAT_ARE_ALSO_MONTHS and around.before() in words.FUNCTION_WORDS


def _is_day_of_month(around: Surroundings) -> bool:
    """Whether "july 4" is a day: "on july 4", "the july 4 game", "close july 4?"; not "the september 11 attacks"."""
    if _begins_title(around):
        return False
    before = around.before(2) if around.before() == "the" else around.before()
    if before in words.DAY_PREPOSITIONS:
        return not _is_inside_title(around)
    return around.is_possessive or not _is_noun(around.after())


# --- years ------------------------------------------------------------------------------------------------------------
def _is_year(around: Surroundings) -> bool:
    if _begins_title(around) or _has_subtitle(around):
        return False
    return (
        _is_announced_year(around)
        or _is_year_of_edition(around)
        or _is_year_before_noun(around)
        or _is_year_aside(around)
        or (around.before() == "of" and _is_year_after_of(around))
    )


def _has_subtitle(around: Surroundings) -> bool:
    """Whether it is the beginning of "2001: a space odyssey"."""
    return around.after() == ":" and around.after(2) in words.DETERMINERS


def _is_announced_year(around: Surroundings) -> bool:
    before = around.before(2) if around.before() == "-" else around.before()  # "pre-1875", "mid-2023"
    return before in words.YEAR_PREPOSITIONS | words.TIME_NOUNS


def _is_year_of_edition(around: Surroundings) -> bool:
    """Whether the year tells events of a kind apart: "super bowl 2018", "euro 2022 final", "who won skating 2018"."""
    if around.before() in words.RECURRING_EVENTS or not words.RECURRING_EVENTS.isdisjoint(around.right[:3]):
        return True
    is_last = around.after() in {"", "?"}
    return is_last and not words.CONTEST_WORDS.isdisjoint(around.clause_before)


def _is_year_before_noun(around: Surroundings) -> bool:
    """Whether the year describes a noun: "which 2010 film", "his 2017 album"; not "the 1975" and not "1917 cast"."""
    following = around.after()
    if not following.isalpha() or following in words.FUNCTION_WORDS | words.WORK_ROLES:
        return False
    return around.before() in words.DETERMINERS | {"", "'s", "'"} or around.before().endswith("ing")


def _is_year_aside(around: Surroundings) -> bool:
    """Whether the year stands in brackets or between commas: "the award (2014)", "dune, 1984 or 2021"."""
    if around.before() == "(":
        return True
    return around.before() == "," and not _is_noun(around.after())


def _is_year_after_of(around: Surroundings) -> bool:
    """Whether the year belongs to the noun before: "the best film of 2023", "games of 2022"; not "class of 1999"."""
    noun = around.before(2)
    if noun in words.WORK_ROLES or _is_inside_title(around):
        return False

    phrase = around.left[-7:-2]
    has_determiner = any(word in words.DETERMINERS or word == "'s" or word.endswith("est") for word in phrase)
    is_plural = noun.endswith("s") and not noun.endswith("ss")
    return has_determiner or is_plural


# --- named days -------------------------------------------------------------------------------------------------------
def _is_named_day(around: Surroundings) -> bool:
    """Whether "yesterday" is a day and no title; "the song yesterday", "the today show" and "USA Today" are names."""
    if _is_all_that_was_made(around):
        return False
    if around.before() == "the":
        return " " in around.date  # "the day before yesterday"
    is_title = around.before() in words.WORK_NOUNS and around.before(2) in words.DETERMINERS
    is_in_name = around.is_capitalised and around.before() not in _END_OF_CLAUSE | {""}
    return not is_title and not is_in_name


_USES: dict[str, Callable[[Surroundings], bool]] = {
    "weekday": _is_weekday,
    "month": _is_month,
    "day of month": _is_day_of_month,
    "year": _is_year,
    "named day": _is_named_day,
}
