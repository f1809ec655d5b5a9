"""Comparison questions: which is more, whether one is more, and by how much."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agents.kg.derive.games import number_of_games, part_of_games
from agents.kg.derive.infobox import compared_entry
from agents.kg.derive.readings import Derived, GraphEvidence, Reading, amount, differing, shown, value_of, worked_out
from agents.kg.masked_question import WHICH
from agents.kg.schema import Column, NumberKind, Table, Type
from agents.reasoning import Quantity, in_words, read_value

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
_MANY_FOR_THE_MONEY = re.compile(rf"\bmore shares\b.*{_BUY}|{_BUY}.*\bmore shares\b")
_BARGAIN = re.compile(r"\b(?:attractive|undervalued|better value|cheaper|better deal)\b")
_NEGATED = re.compile(r"\bnot\b|n't\b|\bneither\b|\bexcept\b|\bboth\b")
_UNTIL = re.compile(r"\b(?:until|before|after|since|as of|by)\b[^?]*?\b(?P<year>(?:19|20)[0-9]{2})\b")
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
_THRESHOLD = re.compile(
    r"\b(?:(?P<more>(?:more|higher|greater|larger|longer) than|over|above|exceed(?:s|ed)?)|(?P<least>at least)"
    r"|(?P<less>(?:less|fewer|lower|smaller|shorter) than|under|below)|(?P<most>at most)) (?=[$0-9])"
)
_SYMBOLS = {"more": ">", "least": ">=", "less": "<", "most": "<="}
_MOMENTS = frozenset({Type.DATE, Type.YEAR})


@dataclass(frozen=True, slots=True)
class _Compared:
    """The compared names as the question writes them, their numbers as formulas, and the direction."""

    names: Sequence[str]
    amounts: Sequence[str]
    symbol: str

    def holds(self, one: int, other: int) -> bool:
        """Whether one exceeds the other in the requested direction."""
        return value_of(f"{self.amounts[one]} {self.symbol} {self.amounts[other]}") is True


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
    listed = ", ".join(f"{name}: {shown(said)}" for name, said in zip(compared.names, compared.amounts, strict=True))
    return Derived(compared.names[best[0]], f"the {'largest' if compared.symbol == '>' else 'smallest'} of {listed}")


def whether_one_is_more(case: GraphEvidence) -> Derived | None:
    """Yes or no to "did A ... more than B", with A before the comparing word and B after "than"."""
    compared = _compared(case) if case.asked.is_yes_or_no and len(case.readings) == 2 else None
    order = _in_order(case, compared.names) if compared else None
    if compared is None or order is None or " or " in case.text:
        return None
    first, second, between = order
    if not re.search(r"\b(?:than|before|after)\b", between):
        return None
    said = "yes" if compared.holds(first, second) else "no"
    sides = f"{shown(compared.amounts[first])} {compared.symbol} {shown(compared.amounts[second])}"
    return Derived(said, f"whether {sides}")


def whether_beyond_a_number(case: GraphEvidence, reading: Reading) -> Derived | None:
    """Yes or no to "did A make more than $100 million"."""
    found = _THRESHOLD.search(case.text)
    if found is None or not case.asked.is_yes_or_no or _NEGATED.search(case.text):
        return None
    known, limit = amount(case.asked, reading), read_value(case.text, found.end())
    if known is None or limit is None or reading.kind is NumberKind.RANK or reading.column is None:
        return None
    if reading.column.type in _MOMENTS:
        return None
    symbol = next(_SYMBOLS[name] for name in _SYMBOLS if found[name])
    return worked_out(f"{known} {symbol} {case.text[found.end() : limit.end]}")


def how_much_more(case: GraphEvidence) -> Derived | None:
    """A difference, a ratio or a percent change of two values."""
    two = _two_amounts(case)
    if two is None or _NEGATED.search(case.text):
        return None
    names, (one, other), column = two
    if column.type in _MOMENTS and not case.readings[0].counted:
        return _time_between(case.text, one, other)
    if _PERCENT.search(case.text):
        return _percent(case, names, one, other)
    larger, smaller = (one, other) if value_of(f"{one} >= {other}") is True else (other, one)
    if re.search(r"\bhow many times\b.*\b(?:as|than)\b", case.text):
        return worked_out(f"{larger} / {smaller}", "times")
    return worked_out(f"{larger} - {smaller}", column.unit) if _BY_HOW_MUCH.search(case.text) else None


def put_side_by_side(case: GraphEvidence) -> Derived | None:
    """Both numbers and the higher one, for questions about one "compared to" the other."""
    two = _two_amounts(case)
    if two is None or not _SIDE_BY_SIDE.search(case.text) or _AMOUNTS.search(case.text):
        return None
    names, amounts, column = two
    if column.type in _MOMENTS:
        return None
    pairs = [(case.asked.written(name), text) for name, text in zip(names, amounts, strict=True)]
    if value_of(f"{amounts[0]} < {amounts[1]}") is True:
        pairs.reverse()
    (name, higher), (other, lower) = pairs
    values = value_of(higher), value_of(lower)
    if values[0] is None or values[1] is None or values[0] == values[1]:
        return None
    said = f"{name} has the higher {column.label}: {in_words(values[0])}, against {in_words(values[1])} of {other}"
    return Derived(said, f"{shown(higher)} > {shown(lower)}")


def _two_amounts(case: GraphEvidence) -> tuple[Sequence[str], Sequence[str], Column] | None:
    """The names, numbers and common column of two calls that differ in one name; None for a yes-or-no question."""
    names = differing(case.readings) if len(case.readings) == 2 and not case.asked.is_yes_or_no else None
    amounts = [text for reading in case.readings if (text := amount(case.asked, reading)) is not None]
    column = case.readings[0].column
    return (names, amounts, column) if names and len(amounts) == 2 and column is not None else None


def _compared(case: GraphEvidence) -> _Compared | None:
    """The names and numbers that the question compares, if all are known."""
    names = differing(case.readings) if len(case.readings) > 1 else None
    if not names or _NEGATED.search(case.text) or not all(map(case.asked.mark, names)):
        return None
    largest: bool | None
    entry = compared_entry(case)
    if entry is not None:
        amounts, largest = entry
    else:
        numbers = [number_of_games(case, one) or amount(case.asked, part_of_games(case, one)) for one in case.readings]
        amounts, largest = [text for text in numbers if text is not None], _largest_wins(case)
    if largest is None or len(amounts) != len(names):
        return None
    if any(value_of(f"{amounts[0]} < {text}") is None for text in amounts):
        return None
    return _Compared([case.asked.written(name) for name in names], amounts, ">" if largest else "<")


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
    if reading.key == "award_count" and not _is_covered(case.text, reading.table):
        return None
    if reading.kind is NumberKind.PRICE and _CHANGE.search(case.text):  # prices do not show which share rose more
        return None
    words = {found.lastgroup for found in _AMOUNTS.finditer(_NO_AMOUNT.sub("", case.text))}
    return (words == {"more"}) is not (reading.kind is NumberKind.RANK) if len(words) == 1 else None


def _is_covered(text: str, table: Table) -> bool:
    """Whether the count of all awards also holds up to the year in the question."""
    found = _UNTIL.search(text)
    return found is None or (table.last_year is not None and int(found["year"]) >= table.last_year)


def _in_order(case: GraphEvidence, names: Sequence[str]) -> tuple[int, int, str] | None:
    """The first of two names in the question, the second, and the text between them."""
    places = [place for name in names if (place := case.asked.place(name)) is not None]
    if len(places) != 2 or places[0] == places[1]:
        return None
    first = places.index(min(places))
    return first, 1 - first, case.text[min(places) : max(places)]


def _time_between(text: str, one: str, other: str) -> Derived | None:
    """Days, weeks, months or years between two dates.

    Whole years only if they equal the difference of the calendar years: people may mean either.
    """
    if not _BY_HOW_MUCH.search(text) and not re.search(r"\bhow (?:long|far apart)\b", text):
        return None
    unit = _SPAN.search(text)
    span = worked_out(f"{unit['unit'] if unit else 'years'} between {one} and {other}")
    if span is None or (unit and unit["unit"] != "years"):
        return span
    years = value_of(f"years between {one[:4]} and {other[:4]}")
    return span if isinstance(years, Quantity) and in_words(years) == span.text else None


def _percent(case: GraphEvidence, names: Sequence[str], one: str, other: str) -> Derived | None:
    """The change from the earlier day to the later, or by how many percent A exceeds B."""
    days = [str(reading.rows[0].cells.get("time", "")) if reading.rows else "" for reading in case.readings]
    if all(days) and days[0] != days[1]:
        before, after = (one, other) if days[0] < days[1] else (other, one)
        return worked_out(f"percent change from {before} to {after}") if _CHANGE.search(case.text) else None
    order = _in_order(case, names)
    if order is None or " than " not in order[2]:
        return None
    return worked_out(f"percent change from {(one, other)[order[1]]} to {(one, other)[order[0]]}")
