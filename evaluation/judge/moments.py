"""Rules for answers that are dates or lengths of time."""

import re
from datetime import date

from agents.matching import (
    DayOfYear,
    content,
    found_in,
    read_dates,
    read_days_of_year,
    read_durations,
    stem,
    tokens,
    without_dates,
)
from evaluation.judge.case import Case, Finding

_ASKS_DATE = re.compile(r"^when\b|\b(?:what|which) (?:exact )?(?:date|day)\b|\bbirthday\b")


def same_date(case: Case) -> Finding | None:
    """A gold answer that is a whole date: the prediction must hold the same day, in any notation."""
    wanted = read_dates(case.gold)
    rest = [token for token in content(tokens(without_dates(case.gold))) if not found_in(token, case.query_tokens)]
    if len(wanted) != 1 or (rest and not _ASKS_DATE.search(case.query.lower())):
        return None
    found = read_dates(case.prediction)
    day = next(iter(wanted)).isoformat()
    if not found and (part := _asked_part(case, next(iter(wanted)))):
        said = part in case.prediction_tokens
        return Finding(said, f"the question asks for a part of {day}: {part} is {'there' if said else 'not there'}")
    if not found and _asks_of_year(case, next(iter(wanted))):
        said = DayOfYear(next(iter(wanted)).month, next(iter(wanted)).day) in read_days_of_year(case.prediction)
        return Finding(said, f"the question names the year, and the prediction {'holds' if said else 'lacks'} {day}")
    if not found and not case.prediction_numbers:
        return Finding(False, f"the prediction holds no date, the gold answer is {day}")
    return Finding(wanted <= found, f"the prediction {'holds' if wanted <= found else 'does not hold'} {day}")


def same_dates(case: Case) -> Finding | None:
    """A gold answer that is a list of whole dates: the prediction must hold all, and no others but the question's."""
    wanted = read_dates(case.gold)
    if len(wanted) < 2 or content(tokens(without_dates(case.gold))):
        return None
    found = read_dates(case.prediction)
    if not found:
        return None
    if missing := wanted - found:
        return Finding(False, f"of {len(wanted)} dates the prediction lacks {min(missing).isoformat()}")
    if others := found - wanted - read_dates(case.query):
        return Finding(False, f"the prediction adds {min(others).isoformat()}")
    return Finding(True, f"the prediction holds all {len(wanted)} dates")


def _asks_of_year(case: Case, day: date) -> bool:
    return str(day.year) in case.query_tokens


def _asked_part(case: Case, day: date) -> str | None:
    """The year or the month, as a token, where the question asks for that alone."""
    asked = _ASKS_PART.search(case.query.lower())
    if asked is None:
        return None
    return str(day.year) if asked["part"] == "year" else stem(f"{day:%B}".lower())


_ASKS_PART = re.compile(r"\b(?:what|which) (?P<part>year|month)\b")


def same_duration(case: Case) -> Finding | None:
    """A gold answer of hours, minutes and seconds: the prediction must come to the same time within 1 %."""
    wanted, rest = read_durations(case.gold)
    if len(wanted) != 1 or any(token not in case.query_tokens for token in content(tokens(rest))):
        return None
    found, _ = read_durations(case.prediction)
    if not found:
        return None
    same = any(abs(seconds - wanted[0]) <= 0.01 * wanted[0] for seconds in (found[0], found[-1]))
    return Finding(same, f"the gold answer is {wanted[0]:g} seconds, the prediction says {found[0]:g}")
