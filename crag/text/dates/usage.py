"""Whether words that could be a date are used as one: "on friday" against "friday night lights".

Weekdays, months, years and days without a year are parts of countless names. They count as a date only where the
sentence says so: after a preposition of time, in a possessive before something that has a day, as the day of a past
event, as the year of an edition. The words around decide (`crag.text.dates.usage_words`), and so does the case where a
question is written in both: "made landfall Wednesday" against "sang Blue Monday".

In doubt it is a name: a question about a name that is taken for one about last week loses its older pages.
"""

import re
from collections.abc import Callable

from crag.text.dates import usage_words as words
from crag.text.dates.surroundings import (
    END_OF_CLAUSE,
    Surroundings,
    begins_title,
    begins_title_after,
    is_all_that_was_made,
    is_inside_title,
    is_noun,
    look_around,
)
from crag.text.dates.vocabulary import DAY_WITH_ENDING, MONTH_NAME, ORDINAL_DAY, STEP, WEEKDAY, YEAR
from crag.text.number_words import YEAR_IN_WORDS

_ORDINAL_WORD = re.compile(rf"\b{ORDINAL_DAY}\b")
_ENDS_WITH_ORDINAL = re.compile(rf" {ORDINAL_DAY}$")
_YEAR_IN_WORDS = re.compile(YEAR_IN_WORDS)
_PAST_VERB = re.compile(r"\w{3,20}ed")

_KINDS = {
    "weekday": re.compile(WEEKDAY),
    "month": re.compile(rf"(?:(?:{STEP}) )?{MONTH_NAME}"),
    "day of month": re.compile(
        rf"{MONTH_NAME}(?:(?:[ -]?| the ){DAY_WITH_ENDING}| (?:the )?{ORDINAL_DAY})"
        rf"|(?:{DAY_WITH_ENDING}|{ORDINAL_DAY})(?: of)?[ -]{MONTH_NAME}"
    ),
    "year": re.compile(YEAR),
    "short year": re.compile("'[0-9]{2}"),
    "century": re.compile(r".{0,20} century"),
    "year in words": re.compile(rf"(?:.{{1,60}}[ -])??{YEAR_IN_WORDS}"),
    "named day": re.compile("(?:day before |day after )?(?:yesterday|tomorrow)|today|tonight"),
}
"""The forms of dates that are also parts of names."""


def is_used_as_date(text: str, start: int, end: int) -> bool:
    """Whether the characters from `start` to `end`, which have the form of a date, are used as one.

    `text` is in the asker's case, with single spaces and plain quotes. Forms that are nothing but dates, such as
    "march 5, 2024", are dates wherever they stand, but for quotes and "who directed next friday?".

    >>> is_used_as_date("who directed friday night lights?", 13, 19)
    False
    """
    around = look_around(text, start, end)
    if around.is_quoted:
        return False

    for kind, pattern in _KINDS.items():
        if pattern.fullmatch(around.date):
            return _USES[kind](around)
    return not is_all_that_was_made(around)


def are_linked(between: str) -> bool:
    """Whether two dates with this text between them are enumerated, so that both or none is a date: "1984 or 2021"."""
    return between.strip(" ") in {"and", "or", "to", "vs", "vs.", "versus", "than", ",", ", and", ", or", "&", "/"}


def _is_announced(around: Surroundings) -> bool:
    """Whether the preposition before the date means time: "on friday", "in may"; not "on friday night lights"."""
    # "In february apple sold ...": at the beginning the noun is the next part of the sentence.
    if around.before() in words.FIRM_PREPOSITIONS or len(around.clause_before) == 1:
        return True
    return not is_noun(around.after()) and not is_inside_title(around)


# --- weekdays ---------------------------------------------------------------------------------------------------------
def _is_weekday(around: Surroundings) -> bool:
    # "Every friday" is no day, but all of them
    if begins_title(around) or around.before() in words.SHOW_NOUNS | {"every", "each"} or _is_in_longer_name(around):
        return False
    if around.is_possessive:
        return around.date not in words.SHORT_NAMES and _is_possessive_day(around)
    if around.before() in words.WEEKDAY_PREPOSITIONS:
        return _is_announced(around)
    if around.date in words.SHORT_NAMES:
        return False
    if around.before() == "of":
        return around.before(2) in words.TIME_NOUNS | words.DAY_NOUNS
    return _is_day_of_noun(around) or _is_day_of_event(around)


def _is_in_longer_name(around: Surroundings) -> bool:
    """Whether a name goes on after the weekday: "friday night lights", "sun microsystems"."""
    # "Friday night" is as good as "friday", but a noun behind it makes a name.
    if around.after() in words.TIMES_OF_DAY:
        if around.after(2) == "'s":
            return around.after(3) not in words.DAY_NOUNS
        is_name = around.is_capitalised and around.right_written[0].isupper()
        return is_name or is_noun(around.after(2))
    return around.date in words.SHORT_NAMES and is_noun(around.after())


def _is_possessive_day(around: Surroundings) -> bool:
    """Whether "friday's" means a day: "at friday's close", "won tuesday's jackpot"; not "tgi friday's founder"."""
    before = around.before()
    if not before or before in words.EVENT_VERBS | END_OF_CLAUSE:
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
    if is_noun(following):
        return False

    before = around.before()
    if before in words.EVENT_VERBS | words.DIRECTIONS | words.DAY_NOUNS:
        return True
    if _PAST_VERB.fullmatch(before):
        # In "who loved friday" and "which actress played wednesday" the weekday is the object.
        asks_for_subject = len(around.clause_before) <= 3 and around.clause_before[0] in words.ASKING_WORDS
        return not asks_for_subject
    # "Made landfall Wednesday": a name of several words would begin with a capital, "Ash Wednesday".
    if not around.is_capitalised or around.right_written[:1].isupper():
        return False
    return before.isalpha() and around.left_written.islower() and before not in words.FUNCTION_WORDS


# --- months and days of months ----------------------------------------------------------------------------------------
def _is_month(around: Surroundings) -> bool:
    *step, month = around.date.split()
    # "March of the penguins", "july morning"
    if begins_title(around) or around.after() in words.TIMES_OF_DAY | {"of"}:
        return False
    if month == "may" and around.after() in words.AFTER_MAY:  # the verb
        return around.before() in words.FIRM_PREPOSITIONS
    if step:
        return step[0] != "this" or not is_noun(around.after())
    if around.is_possessive:
        return _is_possessive_month(around)
    return _is_month_of_noun(around, month) or _is_announced_month(around)


def _is_month_of_noun(around: Surroundings, month: str) -> bool:
    """Whether a noun says that it is a month: "the end of march", "the march deliveries"; not "the ides of march"."""
    if around.before() in {"of", "as"}:
        return around.before(2) in words.TIME_NOUNS or around.before(2)[:1].isdigit()
    has_article = around.before() in words.DETERMINERS or around.before() == "'s"
    return has_article and around.after() in words.DAY_NOUNS and month not in words.SHORT_NAMES


def _is_announced_month(around: Surroundings) -> bool:
    """Whether a preposition stands before the month, and no noun after it: "in may"; not "in november rain"."""
    before = around.before()
    if before == "-":  # "mid-march"
        return around.before(2) in words.FIRM_PREPOSITIONS
    if before not in words.MONTH_PREPOSITIONS:
        return False
    return _is_announced(around)


def _is_possessive_month(around: Surroundings) -> bool:
    if around.before() in words.MONTH_PREPOSITIONS:
        return True
    return around.date not in words.WORDS_THAT_ARE_ALSO_MONTHS and around.before() in words.FUNCTION_WORDS


def _is_day_of_month(around: Surroundings) -> bool:
    """Whether "july 4" is a day: "on july 4", "the july 4 game", "close july 4?"; not "the september 11 attacks"."""
    clause = around.clause_before
    if clause[-1:] == ["the"]:
        clause = clause[:-1]
    if begins_title_after(clause):
        return False

    # "On may second street": the ordinal belongs to the noun.
    if _ENDS_WITH_ORDINAL.search(around.date) and is_noun(around.after()):
        return False

    before = " ".join(clause[-1:])
    if before in words.DAY_PREPOSITIONS and not (before in words.LOOSE_PREPOSITIONS and is_noun(around.after())):
        return not is_inside_title(around) and not (" of " in around.date and _lacks_subject(around))
    if is_noun(around.after()) and around.after() not in words.RECURRING_EVENTS:
        return False
    # "The fourth of july" alone is the name of a holiday, and "who scored in may first?" means no day.
    return around.is_possessive or around.after() in words.DAY_NOUNS or not _ORDINAL_WORD.search(around.date)


def _lacks_subject(around: Surroundings) -> bool:
    """Whether a title begins with a participle: "when was born on july 4 released?"; not "who was born on july 4?"."""
    before_preposition = [word for word in around.clause_before if word != "the"][:-1]
    asking_word, auxiliary, participle = ["", "", "", *before_preposition][-3:]
    if participle not in words.PARTICIPLES:
        return False
    if auxiliary in {"is", "was"}:
        return asking_word in {"", "when", "where", "what", "long"}
    # "Presidents born on ..." have their subject before the participle.
    return auxiliary not in words.PASSIVE_AUXILIARIES and not auxiliary.endswith("s")


# --- years ------------------------------------------------------------------------------------------------------------
def _is_year(around: Surroundings) -> bool:
    if begins_title(around) or _has_subtitle(around) or _is_title_of_role(around) or _is_work_of_award(around):
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


def _is_title_of_role(around: Surroundings) -> bool:
    """Whether someone plays a part in it, now: "who plays the pilot in 1917"; not "who played it in 1917"."""
    return around.before() == "in" and not words.ROLE_VERBS.isdisjoint(around.clause_before)


def _is_work_of_award(around: Surroundings) -> bool:
    """Whether it is the work that won: "an oscar for 1917", "what did she win for 1989"; not "the prize for 2019"."""
    if around.before() != "for" or is_noun(around.after()):
        return False
    noun = around.before(2)
    if noun not in words.AWARDS:
        return noun in words.PARTS_OF_WORKS | words.WINNING_VERBS

    for word in reversed(around.left[-7:-2]):
        if word in words.DETERMINERS_OF_EDITIONS:
            return False
        # Before it, another part of the sentence
        if word in words.FUNCTION_WORDS | words.WINNING_VERBS:
            break
    return True


def _is_announced_year(around: Surroundings) -> bool:
    before = around.before(2) if around.before() == "-" else around.before()  # "pre-1875", "mid-2023"
    if before == "to":
        return around.before(2) in words.WORDS_BEFORE_TO or around.before(2).isdigit()
    return before in words.YEAR_PREPOSITIONS | words.TIME_NOUNS


def _is_year_of_edition(around: Surroundings) -> bool:
    """Whether the year tells events of a kind apart: "super bowl 2018", "euro 2022 final", "who won skating 2018"."""
    if around.before() in words.RECURRING_EVENTS:
        return True
    for token in around.right[:3]:
        if token in words.RECURRING_EVENTS:
            return True
        if token in words.FUNCTION_WORDS | words.CONTEST_WORDS or not token.isalnum():
            break

    is_last = around.after() in {"", "?"}
    return is_last and not words.CONTEST_WORDS.isdisjoint(around.clause_before)


def _is_year_before_noun(around: Surroundings) -> bool:
    """Whether the year describes a noun: "which 2010 film", "his 2017 album"; not "the 1975" and not "1917 cast"."""
    following = around.after()
    is_verb = following in words.WORK_VERBS | words.EVENT_VERBS | words.BARE_VERBS | words.CONTEST_WORDS
    if is_verb or not following.isalpha() or following in words.FUNCTION_WORDS | words.WORK_ROLES:
        return False
    return around.before() in words.DETERMINERS | {"", "'s", "'"} or around.before().endswith("ing")


def _is_year_aside(around: Surroundings) -> bool:
    """Whether the year stands in brackets or between commas: "the award (2014)", "dune, 1984 or 2021"."""
    if around.before() == "(":
        return True
    return around.before() == "," and not is_noun(around.after())


def _is_year_after_of(around: Surroundings) -> bool:
    """Whether the year belongs to the noun before: "the best film of 2023", "games of 2022"; not "class of 1999"."""
    noun = around.before(2)
    if noun in words.TIME_NOUNS:
        return True
    if noun in words.WORK_ROLES or is_inside_title(around):
        return False

    for word in reversed(around.left[-7:-2]):
        if word in words.DETERMINERS - {"what"} or word.endswith("est"):
            return True
        # Before it, another part of the sentence
        if word in words.FUNCTION_WORDS:
            break
    # "Games of 2022", but not "class of 1999"
    return noun.endswith("s") and not noun.endswith("ss")


def _is_year_in_words(around: Surroundings) -> bool:
    """Whether "nineteen ninety-nine" is a year: "in nineteen ninety-nine"; not "nineteen ninety-nine-cent stores".

    A noun behind it is what is counted, unless that is one work or event: "the twenty twenty election".
    """
    is_alone = _YEAR_IN_WORDS.fullmatch(around.date) is not None
    if is_alone and around.before() in words.DETERMINERS | {"'s"}:
        return not (words.WORK_NOUNS | words.SINGLE_EVENTS).isdisjoint(around.right[:2])
    following = around.after()
    if following == "-" or following in words.DAY_NOUNS or is_noun(following):
        return False

    # Beside a month or another year it needs no preposition.
    if not is_alone:
        return True
    can_be_count = "hundred" in around.date or "thousand" in around.date
    return _is_year(around) and not (can_be_count and around.before() in words.PREPOSITIONS_OF_COUNTS)


def _is_short_year(around: Surroundings) -> bool:
    """Whether "'99" is a year: "in '99"; not the quoted '99', nor "summer of '69", which are names."""
    return around.after() != "'" and not begins_title(around) and _is_announced_year(around)


def _is_century(around: Surroundings) -> bool:
    """Whether it is the time: "of the 20th century"; not "20th century studios"."""
    return not (begins_title(around) or is_inside_title(around) or is_noun(around.after()))


# --- named days -------------------------------------------------------------------------------------------------------
def _is_named_day(around: Surroundings) -> bool:
    """Whether "yesterday" is a day and no title; "the song yesterday", "the today show" and "USA Today" are names."""
    if is_all_that_was_made(around):
        return False
    if around.before() == "the":
        return " " in around.date  # "the day before yesterday"
    is_title = around.before() in words.WORK_NOUNS and around.before(2) in words.DETERMINERS
    is_in_name = around.is_capitalised and around.before() not in END_OF_CLAUSE | {""}
    return not is_title and not is_in_name


_USES: dict[str, Callable[[Surroundings], bool]] = {
    "weekday": _is_weekday,
    "month": _is_month,
    "day of month": _is_day_of_month,
    "year": _is_year,
    "short year": _is_short_year,
    "century": _is_century,
    "year in words": _is_year_in_words,
    "named day": _is_named_day,
}
