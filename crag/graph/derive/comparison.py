"""Comparison questions: which is more, whether one is more, and by how much."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from crag.graph.derive.games import number_of_games, part_of_games
from crag.graph.derive.infobox import compared_entry
from crag.graph.derive.readings import (
    Amount,
    Derived,
    GraphEvidence,
    amount,
    answer,
    differing,
    order,
    time_between,
    with_unit,
)
from crag.graph.masked_question import WHICH
from crag.graph.schema import Column, NumberKind, Type
from crag.text.matching import PERCENT
from crag.text.reasoning import CalendarDate, Quantity, in_words

_AMOUNTS = re.compile(
    r"\b(?:(?P<more>more|most|higher|highest|larger|largest|bigger|biggest|greater|greatest|longer|longest|taller"
    r"|tallest|heavier|better|best|richer|wealthier|pricier|reigns? supreme|c[ao]mes? out on top|ahead|outscored?"
    r"|exceed(?:s|ed)?)|(?P<less>less|least|fewer|fewest|lower|lowest|smaller|smallest|shorter|shortest|cheaper"
    r"|cheapest|lighter|worse|worst))\b"
)
_TIMES = re.compile(
    r"\b(?:(?P<later>later|latest|newer|newest|younger|youngest|more recent(?:ly)?|most recent(?:ly)?|after|last)"
    r"|(?P<earlier>earlier|earliest|first|older|oldest|elder|sooner|before|longer history|around longer))\b"
)
_NO_AMOUNT = re.compile(r"\b(?:most recent(?:ly)?|at (?:most|least)|more or less)\b")
_NO_TIME = re.compile(r"\b(?:at first|first time|last (?:year|month|week|name|trading day))\b")
_BUY = r"\b(?:buy|purchase|get|afford|acquire)\b"
_MANY_FOR_THE_MONEY = re.compile(rf"\bmore shares\b.{{,200}}{_BUY}|{_BUY}.{{,200}}\bmore shares\b")
_BARGAIN = re.compile(r"\b(?:attractive|undervalued|better value|cheaper|better deal)\b")
_NEGATED = re.compile(r"\bnot\b|n't\b|\bneither\b|\bexcept\b|\bboth\b")
_UNTIL = re.compile(r"\b(?:until|before|after|since|as of|by)\b[^?]{,200}?\b(?P<year>(?:19|20)[0-9]{2})\b")
_BY_HOW_MUCH = re.compile(
    r"\bdifference\b|\bby (?:what|how)\b|\bhow many times\b.*\b(?:as|than)\b"
    r"|\bhow (?:much|many)\b.*?\b(?:more|less|fewer|higher|lower|longer|shorter|older|younger|bigger|larger|smaller"
    r"|earlier|later|between|apart|passed|separate)\b"
)
_PERCENT = re.compile(r"\bpercent(?:age)?\b|%")
_CHANGE = re.compile(
    r"\b(?:chang|ris|rose|increas|decreas|f[ae]ll|drop|gr[eo]w|gain|loss|lost|declin|return|perform)\w*"
    r"|\b(?:went|go|gone|going) (?:up|down)\b"
)
_SIDE_BY_SIDE = re.compile(r"\bcompared? (?:to|with)\b|\bversus\b|\bvs\b")
_SPAN = re.compile(r"\b(?P<unit>days|weeks|months|years)\b")
_MOMENTS = frozenset({Type.DATE, Type.YEAR})


@dataclass(frozen=True, slots=True)
class _Compared:
    """The compared names as the question writes them, their numbers or dates, and the direction."""

    names: Sequence[str]
    amounts: Sequence[Amount]
    largest: bool

    def holds(self, one: int, other: int) -> bool:
        """Whether one exceeds the other in the requested direction."""
        return order(self.amounts[one], self.amounts[other]) == (1 if self.largest else -1)


def which_is_more(case: GraphEvidence) -> Derived | None:
    """The entity with the largest or smallest value; None for a tie."""
    asks = WHICH.search(case.text) or " or " in case.text
    if case.asked.is_yes_or_no or not asks or _BY_HOW_MUCH.search(case.text):
        return None
    compared = _compared(case)
    if compared is None:
        return None
    places = range(len(compared.names))
    best = [one for one in places if all(compared.holds(one, other) for other in places if other != one)]
    if len(best) != 1:
        return None
    listed = ", ".join(f"{name}: {in_words(each)}" for name, each in zip(compared.names, compared.amounts, strict=True))
    return Derived(compared.names[best[0]], f"the {'largest' if compared.largest else 'smallest'} of {listed}")


def whether_one_is_more(case: GraphEvidence) -> Derived | None:
    """Yes or no to "did A ... more than B", with A before the comparing word and B after "than"."""
    compared = _compared(case) if case.asked.is_yes_or_no and len(case.readings) == 2 else None
    in_order = _in_order(case, compared.names) if compared else None
    if compared is None or in_order is None or " or " in case.text:
        return None
    first, second, between = in_order
    if not re.search(r"\b(?:than|before|after)\b", between):
        return None
    sides = in_words(compared.amounts[first]), in_words(compared.amounts[second])
    reason = f"whether {sides[0]} {'>' if compared.largest else '<'} {sides[1]}"
    return Derived("yes" if compared.holds(first, second) else "no", reason)


def how_much_more(case: GraphEvidence) -> Derived | None:
    """A difference, a ratio or a percent change of two values."""
    two = _two_amounts(case)
    if two is None or _NEGATED.search(case.text):
        return None
    names, (one, other), column = two
    if isinstance(one, CalendarDate) and isinstance(other, CalendarDate):
        return _time_between(case.text, one, other)
    if not isinstance(one, Quantity) or not isinstance(other, Quantity):
        return None
    if _PERCENT.search(case.text):
        return _percent(case, names, one, other)
    larger, smaller = (other, one) if order(one, other) == -1 else (one, other)
    both = in_words(larger), in_words(smaller)
    if re.search(r"\bhow many times\b.*\b(?:as|than)\b", case.text) and smaller.number:
        return answer(Quantity(larger.number / smaller.number), f"computed {both[0]} / {both[1]}", "times")
    difference = Quantity(larger.number - smaller.number, one.unit)
    asks = _BY_HOW_MUCH.search(case.text)
    return answer(difference, f"computed {both[0]} - {both[1]}", column.unit) if asks else None


def put_side_by_side(case: GraphEvidence) -> Derived | None:
    """Both numbers and the higher one, for questions about one "compared to" the other."""
    two = _two_amounts(case)
    if two is None or not _SIDE_BY_SIDE.search(case.text) or _AMOUNTS.search(case.text):
        return None
    names, amounts, column = two
    pairs = [
        (case.asked.written(name), with_unit(each, column.unit)) for name, each in zip(names, amounts, strict=True)
    ]
    comparison = order(*amounts)
    if column.type in _MOMENTS or not comparison:
        return None
    (name, higher), (other, lower) = pairs if comparison == 1 else reversed(pairs)
    text = f"{name} has the higher {column.label}: {higher}, against {lower} of {other}"
    return Derived(text, f"{higher} > {lower}")


def _two_amounts(case: GraphEvidence) -> tuple[Sequence[str], tuple[Amount, Amount], Column] | None:
    """The names, numbers and common column of two calls that differ in one name; None for a yes-or-no question."""
    names = differing(case.readings) if len(case.readings) == 2 and not case.asked.is_yes_or_no else None
    amounts = [amount(case.asked, reading) for reading in case.readings]
    column = case.readings[0].column
    if not names or column is None or amounts[0] is None or amounts[1] is None:
        return None
    return names, (amounts[0], amounts[1]), column


def _compared(case: GraphEvidence) -> _Compared | None:
    """The names and numbers that the question compares, if all are known."""
    names = differing(case.readings) if len(case.readings) > 1 else None
    if not names or _NEGATED.search(case.text) or not all(map(case.asked.mark, names)):
        return None
    amounts: Sequence[Amount]
    largest: bool | None
    entries = compared_entry(case)
    if entries is not None:
        amounts, largest = entries, False
    else:
        games = [number_of_games(case, reading) for reading in case.readings]
        known = [
            amount(case.asked, part_of_games(case, reading)) if number is None else Quantity(Fraction(number))
            for reading, number in zip(case.readings, games, strict=True)
        ]
        amounts, largest = [each for each in known if each is not None], _largest_wins(case)
    if largest is None or len(amounts) != len(names) or any(order(amounts[0], each) is None for each in amounts):
        return None
    return _Compared([case.asked.written(name) for name in names], amounts, largest)


def _largest_wins(case: GraphEvidence) -> bool | None:
    """Whether the largest value is wanted; None if the words are ambiguous."""
    reading = case.readings[0]
    column = reading.column
    if column is not None and column.type in _MOMENTS and not reading.counted:
        words = {found.lastgroup for found in _TIMES.finditer(_NO_TIME.sub("", case.text))}
        return words == {"later"} if len(words) == 1 else None
    if column is not None and column.type is Type.MONEY and _MANY_FOR_THE_MONEY.search(case.text):
        return False
    if reading.table.name == "get_stock_pe_ratio" and _BARGAIN.search(case.text):
        return False
    until, last_year = _UNTIL.search(case.text), reading.table.last_year
    if reading.key == "award_count" and until and (last_year is None or int(until["year"]) < last_year):
        return None  # the count of all awards does not hold up to that year
    kind = column.kind if column is not None else None
    if kind is NumberKind.PRICE and _CHANGE.search(case.text):  # prices do not show which share rose more
        return None
    words = {found.lastgroup for found in _AMOUNTS.finditer(_NO_AMOUNT.sub("", case.text))}
    return (words == {"more"}) is not (kind is NumberKind.RANK) if len(words) == 1 else None


def _in_order(case: GraphEvidence, names: Sequence[str]) -> tuple[int, int, str] | None:
    """The first of two names in the question, the second, and the text between them."""
    places = [place for name in names if (place := case.asked.place(name)) is not None]
    if len(places) != 2 or places[0] == places[1]:
        return None
    first = places.index(min(places))
    return first, 1 - first, case.text[min(places) : max(places)]


def _time_between(text: str, one: CalendarDate, other: CalendarDate) -> Derived | None:
    """Days, weeks, months or years between two dates.

    Whole years only if they equal the difference of the calendar years: people may mean either.
    """
    if not _BY_HOW_MUCH.search(text) and not re.search(r"\bhow (?:long|far apart)\b", text):
        return None
    named = _SPAN.search(text)
    unit = named["unit"] if named else "years"
    span = time_between(one, other, unit)
    if span is None or (unit == "years" and span.number != abs(one.year - other.year)):
        return None
    return answer(span, f"computed {unit} between {one} and {other}")


def _percent(case: GraphEvidence, names: Sequence[str], one: Quantity, other: Quantity) -> Derived | None:
    """The change from the earlier day to the later, or by how many percent A exceeds B."""
    days = [str(reading.rows[0].cells.get("time", "")) if reading.rows else "" for reading in case.readings]
    if all(days) and days[0] != days[1]:
        before, after = (one, other) if days[0] < days[1] else (other, one)
        if not _CHANGE.search(case.text):
            return None
    else:
        in_order = _in_order(case, names)
        if in_order is None or " than " not in in_order[2]:
            return None
        after, before = (one, other)[in_order[0]], (one, other)[in_order[1]]
    if before.number <= 0:
        return None
    change = Quantity((after.number - before.number) / before.number * 100, PERCENT)
    return answer(change, f"computed percent change from {in_words(before)} to {in_words(after)}")
