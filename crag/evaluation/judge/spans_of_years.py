"""The rule for gold answers of several years: a century, or a part of a decade, which a year in it answers."""

import re

from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision

_CENTURY = re.compile(
    r"(?:in )?(?:the )?(?:(?P<part>early|mid|late)[ -](?:the )?)?(?P<number>1?\d|2[01])th century(?: ad| ce)?[ .]*"
)
_PART_OF_DECADE = re.compile(r"(?:in )?(?:the )?(?P<part>early|mid|late)[ -](?:the )?(?P<decade>\d{3}0)'?s[ .]*")
_PARTS = {"early": (0.0, 0.5), "mid": (0.3, 0.8), "late": (0.5, 1.0), None: (0.0, 1.0)}
"""Beginning and end as shares of the whole. People differ about the borders, so the parts overlap."""


def in_span_of_years(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer such as "19th century" or "early 1990s": the years of the prediction must lie in it.

    A prediction that names a century or a decade itself is left to the other rules, as is one without a year.
    """
    years = _read_span(claim.gold_reading.plain)
    if years is None or any(number.decade or number.ordinal or number.era for number in claim.prediction_numbers):
        return None

    predicted = {int(number.value) for number in claim.prediction_numbers if number.year_like}
    predicted.update(day.year for day in claim.prediction_reading.dates)
    if not predicted:
        return None
    is_inside = all(year in years for year in predicted)
    where = "inside" if is_inside else "outside"
    return is_inside, f"the gold answer is {years.start} to {years.stop - 1}, the prediction names a year {where}"


def _read_span(gold: str) -> range | None:
    """The years of a century or of a part of one or of a decade; None for any other text."""
    century = _CENTURY.fullmatch(gold)
    decade = _PART_OF_DECADE.fullmatch(gold)
    if century is not None:
        # The 1800s and the 19th century are the same to most people, so both their edges count
        return _part_of_years(100 * (int(century["number"]) - 1), 100, century["part"])
    if decade is not None:
        return _part_of_years(int(decade["decade"]), 9, decade["part"])
    return None


def _part_of_years(first: int, length: int, part: str | None) -> range:
    begin, end = _PARTS[part]
    return range(first + int(begin * length + 0.5), first + int(end * length + 0.5) + 1)
