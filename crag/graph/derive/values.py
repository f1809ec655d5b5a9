"""Answers from the values of one call: a count, a total, a yes or no, the start of a span."""

import re

from crag.graph.derive.near_misses import counts_others
from crag.graph.derive.readings import (
    BEGIN_OF_LIFE,
    BIRTH_KEYS,
    END_OF_LIFE,
    Derived,
    Reading,
    RuleInputs,
    compare_amounts,
    derive_amount,
    read_amount,
    time_between,
)
from crag.graph.language import Key
from crag.graph.masked_question import AVERAGE, HOW_MANY, WHICH, meant_rows
from crag.graph.results import UNKNOWN_END
from crag.graph.schema import Type
from crag.graph.wording import readable
from crag.text.matching import normalise_name
from crag.text.reasoning import CalendarDate

MAX_DAYS = 6
"""More dates do not fit into 75 tokens: a tokenizer that splits digits needs ten per date."""

# --- titles and languages ---------------------------------------------------------------------------------------------
_ORIGINAL = re.compile(r"\b(?:original(?:ly)?|initial(?:ly)?|at first|first|official(?:ly)?)\b")
_NAMED = re.compile(r"\b(?:title[ds]?|names?|named|called|known)\b")
_ANOTHER = re.compile(r"\b(?:another|other|different|before|prior to|change[ds]?|differ)\b")
_ANY_LANGUAGE = re.compile(r"\b(?:an|another|any) (?:\w+ )?language\b")

# --- counts -----------------------------------------------------------------------------------------------------------
_ANY = re.compile(r"\b(?:any|ever|at least one|a single)\b")
_NOT_ALL = re.compile(r"\b(?:than|as (?:many|much)|other|except|not)\b|n't\b")
_UP_TO = re.compile(
    r"""
    \b(?: until | up\ to | by | through | before )\b
    [^?]{,200}?                          # not over the end of the question
    \b(?P<year>(?:19|20)[0-9]{2})\b
    """,
    re.VERBOSE,
)
_SEVERAL = re.compile(r"\b(?:more|most|than|same|both|or)\b")

# --- days and prices --------------------------------------------------------------------------------------------------
_WHICH_DAYS = re.compile(r"\b(?:which|what) (?:trading )?(?:days?|dates?)\b|\bthe (?:days|dates)\b")
_SINGLE_DAYS = re.compile(r"\b(?:average|mean|daily|each|every|per day|highest|lowest|most|least|which|on what)\b")
_VOLUME = re.compile(r"\bvolume\b|\bshares\b")

# --- lives ------------------------------------------------------------------------------------------------------------
_ASKS_FOR_TIME = re.compile(r"(?:[io]n )?(?:when|(?:what|which) (?:year|day|date))\b")
_WHAT_YEAR = re.compile(r"\b(?:what|which) year\b")
_AGE = re.compile(r"\bhow old (?:is|was|were|would)\b|\bwhat age\b|\bage of\b|\bat what age\b")
_AGE_TODAY = re.compile(r"\bhow old is\b|\b(?:age of|current age)\b")
_AT_OTHER_TIME = re.compile(r"\b(?:when|at the time|in [0-9]{4})\b")


# --- titles and languages ---------------------------------------------------------------------------------------------
def original_title(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """Whether A is the original title, or whether there was a different one."""
    question = inputs.question
    if reading.key != "original_title" or len(reading.values) != 1:
        return None
    if not inputs.is_yes_or_no or WHICH.search(question):
        return None
    if not _ORIGINAL.search(question) or not _NAMED.search(question):
        return None

    original = str(reading.values[0])
    is_same = normalise_name(original) == normalise_name(reading.requested_name)
    asks_for_another = bool(_ANOTHER.search(question))
    # "Is A the original title" and "was there another title before A" have opposite answers
    answer = "yes" if is_same is not asks_for_another else "no"
    likeness = "just as" if is_same else "other than"
    return Derived(answer, f"the original title is {original}, {likeness} {reading.requested_name}")


def original_language(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The original language, for questions whether there was one: every film has one."""
    if reading.key != "original_language" or len(reading.values) != 1:
        return None
    if not inputs.is_yes_or_no or not _ANY_LANGUAGE.search(inputs.question):
        return None
    language = readable(reading.values[0], reading.column)
    return Derived(language, f"the original language is {language}")


# --- counts -----------------------------------------------------------------------------------------------------------
def count_of_rows(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The number of rows, for questions of how often or whether any."""
    if not reading.counted or len(reading.values) != 1:
        return None
    number = reading.values[0]
    if number == len(reading.rows):  # the rows are known, so the question's words can filter them
        number = len(meant_rows(inputs.masked, reading.rows, reading.filtered_keys))

    # An incomplete table is no proof that there is none.
    if number == 0 and not reading.table.complete:
        return None
    # "More than three" or "other than A": the number of all rows is not an answer
    if _NOT_ALL.search(inputs.question) or counts_others(inputs, reading):
        return None

    if inputs.is_yes_or_no and _ANY.search(inputs.question):
        answer = "yes" if number else "no"
        return Derived(answer, f"the graph knows {number} of them")
    if not inputs.is_yes_or_no and HOW_MANY.search(inputs.question):
        return Derived(str(number), f"counted {number} rows")
    return None


def awards_up_to(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The number of Grammys up to a year: those with known years, or all if the table ends before that year."""
    limit = _UP_TO.search(inputs.question)
    if limit is None or not HOW_MANY.search(inputs.question) or inputs.is_yes_or_no:
        return None
    year = int(limit["year"])
    # "Up to 2010" includes that year, "before 2010" does not
    if limit.group().startswith("before"):
        year -= 1

    if reading.key == "award_date" and not reading.counted:
        award_years = [int(str(value)) for value in reading.values if str(value).isdecimal()]
        number = sum(award_year <= year for award_year in award_years)
        return Derived(str(number), f"of the award years {award_years} {number} are not after {year}")

    # The total holds up to that year if no award of the table is later.
    last_year = reading.table.last_year
    if reading.key != "award_count" or len(reading.values) != 1:
        return None
    if last_year is None or year < last_year:
        return None
    return Derived(str(reading.values[0]), f"the table of awards ends with {last_year}")


def several_years(inputs: RuleInputs) -> Derived | None:
    """The winners of one award over several years, in the order of the calls."""
    readings = inputs.readings
    if len(readings) < 2 or inputs.is_yes_or_no:
        return None
    if any(reading.table.name != "get_grammy_year" for reading in readings):
        return None

    requests = {(reading.key, reading.conditions, reading.counted) for reading in readings}
    if len(requests) != 1 or not readings[0].key:
        return None
    # "Who won in both years" does not want all of the winners
    if not WHICH.search(inputs.question) or _SEVERAL.search(inputs.question):
        return None

    names: list[str] = []
    for reading in readings:
        # The winners of one year are missing
        if not reading.values:
            return None
        names += map(str, reading.values)
    # Each winner once, even if it won in several years.
    distinct_names = dict.fromkeys(names)
    return Derived(", ".join(distinct_names), f"the values of {len(readings)} years together")


def confirmed_name(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """For "who has 21 awards": a name that is not in the question and has that number."""
    if not inputs.question.startswith("who is"):
        return None
    if inputs.masked.find_position(reading.requested_name) is not None:
        return None
    if reading.column is None or reading.column.type is not Type.NUMBER:
        return None
    if len(reading.values) != 1 or not reading.rows:
        return None

    number = str(reading.values[0])
    # As a whole word: 2 is not in "21"
    if not re.search(rf"\b{re.escape(number)}\b", inputs.question):
        return None
    return Derived(reading.rows[0].entity, f"the number in the question, {number}, is theirs")


# --- days and prices --------------------------------------------------------------------------------------------------
def days_that_meet(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The days on which one price exceeded another, by the calls' conditions."""
    if reading.column is None or reading.column.type is not Type.DATE or not reading.values:
        return None
    if not any(isinstance(condition.value, Key) for condition in reading.conditions):
        return None
    if not _WHICH_DAYS.search(inputs.question) or inputs.is_yes_or_no:
        return None
    if len(reading.values) > MAX_DAYS:
        return None

    days = ", ".join(map(str, reading.values))
    return Derived(days, f"{len(reading.values)} of the days meet the condition")


def volume_of_days(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The shares traded in a span of days, in total unless the question asks for single days."""
    question = inputs.question
    if reading.key != "volume" or len(reading.values) < 2:
        return None
    if inputs.is_yes_or_no or not _VOLUME.search(question):
        return None
    if AVERAGE.search(question) or _SINGLE_DAYS.search(question):
        return None

    volume = read_amount(inputs.masked, reading)
    if volume is None:
        return None
    unit = reading.column.unit if reading.column else ""
    return derive_amount(volume, f"the sum over {len(reading.values)} days", unit)


# --- lives ------------------------------------------------------------------------------------------------------------
def life_span(inputs: RuleInputs, reading: Reading) -> Derived | None:
    """The start or the end of a band or a life."""
    question = inputs.question
    if reading.key != "lifespan" or len(reading.values) != 2:
        return None
    if not _ASKS_FOR_TIME.match(question):
        return None

    asks_for_begin = bool(BEGIN_OF_LIFE.search(question))
    asks_for_end = bool(END_OF_LIFE.search(question))
    # "From when until when" wants both
    if asks_for_begin == asks_for_end:
        return None

    begin, end = map(str, reading.values)
    day = begin if asks_for_begin else end
    if day == UNKNOWN_END:
        return None
    if _WHAT_YEAR.search(question):
        day = day[:4]
    which_day = "beginning" if asks_for_begin else "end"
    return Derived(day, f"the {which_day} of the life span")


def age(inputs: RuleInputs) -> Derived | None:
    """Somebody's age today, or at the time of something else that was looked up.

    If one of the two dates is only a year, the difference of the years is the usual age.
    """
    if not _AGE.search(inputs.question):
        return None

    # One birth, and at most one other event; each with one date.
    births = [reading for reading in inputs.readings if reading.key in BIRTH_KEYS]
    events = [reading for reading in inputs.readings if reading.key not in BIRTH_KEYS]
    has_single_dates = all(len(reading.values) == 1 for reading in inputs.readings)
    if len(births) != 1 or len(events) > 1 or not has_single_dates:
        return None

    birth = read_amount(inputs.masked, births[0])
    day = read_amount(inputs.masked, events[0]) if events else _today_if_meant(inputs)
    if not isinstance(birth, CalendarDate) or not isinstance(day, CalendarDate):
        return None
    # Born after the event: one of the dates belongs to something else
    if compare_amounts(birth, day) == 1:
        return None

    years = time_between(birth, day, "years")
    if not years:
        return None
    return derive_amount(years, f"the age on {day} of somebody born {birth}")


def _today_if_meant(inputs: RuleInputs) -> CalendarDate | None:
    """The day of asking, for a question about somebody's present age."""
    today = inputs.today
    if today is None:
        return None
    if _AT_OTHER_TIME.search(inputs.question) or not _AGE_TODAY.search(inputs.question):
        return None
    return CalendarDate(today.year, today.month, today.day)
