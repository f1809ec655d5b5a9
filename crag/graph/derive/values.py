"""Answers from the values of one call: a count, a total, a yes or no, the start of a span."""

import re

from crag.graph.derive.readings import Derived, GraphEvidence, Reading, amount, answer, order, time_between
from crag.graph.language import Key
from crag.graph.masked_question import AVERAGE, HOW_MANY, WHICH, meant_rows
from crag.graph.schema import Type
from crag.graph.wording import readable
from crag.text.matching import normalise_name
from crag.text.reasoning import CalendarDate

MOST_DAYS = 6
"""More dates do not fit into 75 tokens: a tokenizer that splits digits needs ten per date."""

_ANY = re.compile(r"\b(?:any|ever|at least one|a single)\b")
_NOT_ALL = re.compile(r"\b(?:than|as (?:many|much)|other|except|not)\b|n't\b")
_ANOTHER = re.compile(r"\b(?:another|other|different|before|prior to|change[ds]?|differ)\b")
_ORIGINAL = re.compile(r"\b(?:original(?:ly)?|initial(?:ly)?|at first|first|official(?:ly)?)\b")
_NAMED = re.compile(r"\b(?:title[ds]?|names?|named|called|known)\b")
_WHICH_DAYS = re.compile(r"\b(?:which|what) (?:trading )?(?:days?|dates?)\b|\bthe (?:days|dates)\b")
_BEGIN = re.compile(r"\b(?:start(?:ed)?|beg[iau]n|form(?:ed)?|found(?:ed)?|come together|came together|active since)\b")
_END = re.compile(r"\b(?:end(?:ed)?|break up|broke up|split|disband(?:ed)?|stop(?:ped)?|die[ds]?|until)\b")
_UP_TO = re.compile(r"\b(?:until|up to|by|through|before)\b[^?]{,200}?\b(?P<year>(?:19|20)[0-9]{2})\b")
_SINGLE_DAYS = re.compile(r"\b(?:average|mean|daily|each|every|per day|highest|lowest|most|least|which|on what)\b")
_AGE = re.compile(r"\bhow old (?:is|was|were|would)\b|\bwhat age\b|\bage of\b|\bat what age\b")
_BIRTHS = frozenset({"birthday", "birth_date"})


def original_title(case: GraphEvidence, reading: Reading) -> Derived | None:
    """Whether A is the original title, or whether there was a different one."""
    if reading.key != "original_title" or len(reading.values) != 1 or not case.asked.is_yes_or_no:
        return None
    if not (_ORIGINAL.search(case.text) and _NAMED.search(case.text)) or WHICH.search(case.text):
        return None
    first = str(reading.values[0])
    same = normalise_name(first) == normalise_name(reading.name)
    said = "yes" if same is not bool(_ANOTHER.search(case.text)) else "no"
    return Derived(said, f"the original title is {first}, {'just as' if same else 'other than'} {reading.name}")


def original_language(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The original language, for questions whether there was one: every film has one."""
    if reading.key != "original_language" or len(reading.values) != 1:
        return None
    if not case.asked.is_yes_or_no or not re.search(r"\b(?:an|another|any) (?:\w+ )?language\b", case.text):
        return None
    said = readable(reading.values[0], reading.column)
    return Derived(said, f"the original language is {said}")


def count(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The number of rows, for questions of how often or whether any."""
    if not reading.counted or len(reading.values) != 1:
        return None
    number = reading.values[0]
    if number == len(reading.rows):
        number = len(meant_rows(case.asked, reading.rows, reading.decided))
    if _NOT_ALL.search(case.text) or (number == 0 and not reading.table.complete):
        return None
    if case.asked.is_yes_or_no:
        said = "yes" if number else "no"
        return Derived(said, f"the graph knows {number} of them") if _ANY.search(case.text) else None
    return Derived(str(number), f"counted {number} rows") if HOW_MANY.search(case.text) else None


def awards_up_to(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The number of Grammys up to a year: those with known years, or all if the table ends before that year."""
    limit = _UP_TO.search(case.text)
    if limit is None or not HOW_MANY.search(case.text) or case.asked.is_yes_or_no:
        return None
    year = int(limit["year"]) - (limit.group().startswith("before"))
    if reading.key == "award_date" and not reading.counted:
        years = [int(str(value)) for value in reading.values if str(value).isdecimal()]
        number = sum(one <= year for one in years)
        return Derived(str(number), f"of the award years {years} {number} are not after {year}")
    last = reading.table.last_year
    if reading.key == "award_count" and len(reading.values) == 1 and last is not None and year >= last:
        return Derived(str(reading.values[0]), f"the table of awards ends with {last}")
    return None


def days_that_meet(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The days on which one price exceeded another, by the calls' conditions."""
    if reading.column is None or reading.column.type is not Type.DATE or not reading.values:
        return None
    if not any(isinstance(condition.value, Key) for condition in reading.conditions):
        return None
    if not _WHICH_DAYS.search(case.text) or case.asked.is_yes_or_no or len(reading.values) > MOST_DAYS:
        return None
    days = ", ".join(str(value) for value in reading.values)
    return Derived(days, f"{len(reading.values)} of the days meet the condition")


def volume_of_days(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The shares traded in a span of days, in total unless the question asks for single days."""
    if reading.key != "volume" or len(reading.values) < 2 or _SINGLE_DAYS.search(case.text):
        return None
    if case.asked.is_yes_or_no or AVERAGE.search(case.text) or not re.search(r"\bvolume\b|\bshares\b", case.text):
        return None
    volume = amount(case.asked, reading)
    unit = reading.column.unit if reading.column else ""
    return answer(volume, f"the sum over {len(reading.values)} days", unit) if volume else None


def life_span(case: GraphEvidence, reading: Reading) -> Derived | None:
    """The start of a band or a life."""
    asks = case.text.startswith(("when", "what year", "which year", "in what year", "in which year"))
    if reading.key != "lifespan" or not reading.values or not asks:
        return None
    if not _BEGIN.search(case.text) or _END.search(case.text):
        return None
    return Derived(str(reading.values[0]), "the beginning of the life span")


def age(case: GraphEvidence) -> Derived | None:
    """Somebody's age today, or at the time of something else that was looked up.

    If one of the two dates is only a year, the difference of the years is the usual age.
    """
    if not _AGE.search(case.text):
        return None
    births = [reading for reading in case.readings if reading.key in _BIRTHS]
    moments = [reading for reading in case.readings if reading.key not in _BIRTHS]
    if len(births) != 1 or len(moments) > 1 or len(births[0].values) != 1:
        return None
    born, on = amount(case.asked, births[0]), None
    if moments:
        on = amount(case.asked, moments[0]) if len(moments[0].values) == 1 else None
    elif re.search(r"\b(?:when|at the time|in [0-9]{4})\b", case.text):
        return None
    elif case.today and re.search(r"\bhow old is\b|\b(?:age of|current age)\b", case.text):
        on = CalendarDate(case.today.year, case.today.month, case.today.day)
    if not isinstance(born, CalendarDate) or not isinstance(on, CalendarDate) or order(born, on) == 1:
        return None
    years = time_between(born, on, "years")
    return answer(years, f"the age on {on} of somebody born {born}") if years else None


def several_years(case: GraphEvidence) -> Derived | None:
    """The winners of one award over several years, in the order of the calls."""
    readings = case.readings
    if len(readings) < 2 or case.asked.is_yes_or_no or any(r.table.name != "get_grammy_year" for r in readings):
        return None
    keys = {(reading.key, reading.conditions, reading.counted) for reading in readings}
    if len(keys) != 1 or not readings[0].key or not all(reading.values for reading in readings):
        return None
    if not WHICH.search(case.text) or re.search(r"\b(?:more|most|than|same|both|or)\b", case.text):
        return None
    names = [str(value) for reading in readings for value in reading.values]
    return Derived(", ".join(dict.fromkeys(names)), f"the values of {len(readings)} years together")


def confirmed_name(case: GraphEvidence, reading: Reading) -> Derived | None:
    """For "who has 21 awards": a name that is not in the question and has that number."""
    if not case.text.startswith("who is") or case.asked.place(reading.name) is not None:
        return None
    if reading.column is None or reading.column.type is not Type.NUMBER or len(reading.values) != 1:
        return None
    if not re.search(rf"\b{re.escape(str(reading.values[0]))}\b", case.text) or not reading.rows:
        return None
    return Derived(reading.rows[0].entity, f"the number in the question, {reading.values[0]}, is theirs")
