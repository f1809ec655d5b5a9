"""Comparison questions: which is more, whether one is more, and by how much."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from crag.graph.derive.games import number_of_games, part_of_games
from crag.graph.derive.infobox import compared_numbers
from crag.graph.derive.near_misses import compares_lives
from crag.graph.derive.readings import (
    DATE_TYPES,
    Amount,
    Derived,
    Reading,
    RuleInputs,
    compare_amounts,
    derive_amount,
    names_that_differ,
    read_amount,
    time_between,
    write_amount,
)
from crag.graph.masked_question import WHICH
from crag.graph.schema import Column, NumberKind, Type
from crag.text.matching import PERCENT
from crag.text.reasoning import CalendarDate, Quantity, in_words

# --- words of comparison ----------------------------------------------------------------------------------------------
_MORE_OR_LESS = re.compile(
    r"""
    \b(?:
        (?P<more>
            more | most | higher | highest | greater | greatest
          | larger | largest | bigger | biggest | longer | longest | taller | tallest | heavier
          | better | best | richer | wealthier | pricier
          | reigns?\ supreme | c[ao]mes?\ out\ on\ top | ahead | outscored? | exceed(?:s|ed)?
        )
      | (?P<less>
            less | least | fewer | fewest | lower | lowest
          | smaller | smallest | shorter | shortest | lighter
          | cheaper | cheapest | worse | worst
        )
    )\b
    """,
    re.VERBOSE,
)
_IDIOMS_OF_AMOUNT = re.compile(r"\b(?:most recent(?:ly)?|at (?:most|least)|more or less)\b")
"""Phrases with such a word that compare nothing."""

_LATER_OR_EARLIER = re.compile(
    r"""
    \b(?:
        (?P<later>
            later | latest | newer | newest | younger | youngest
          | more\ recent(?:ly)? | most\ recent(?:ly)? | after | last
        )
      | (?P<earlier>
            earlier | earliest | first | older | oldest | elder | sooner | before
          | longer\ history | around\ longer
        )
    )\b
    """,
    re.VERBOSE,
)
_IDIOMS_OF_TIME = re.compile(r"\b(?:at first|first time|last (?:year|month|week|name|trading day))\b")
"""Phrases with such a word that name no order in time."""

_BUY = r"\b(?:buy|purchase|get|afford|acquire)\b"
_MANY_FOR_THE_MONEY = re.compile(
    rf"""
    \bmore\ shares\b .{{,200}} {_BUY}    # the lower price buys more shares
  | {_BUY} .{{,200}} \bmore\ shares\b
    """,
    re.VERBOSE,
)
_GOOD_OR_BAD = re.compile(r"\b(?:better|best|worse|worst)\b")
_OF_MONEY = re.compile(
    r"\bbox office\b|\bgross|\bearn|\brevenue|\bmoney\b|\bfinancial|\bperform|\bcommercial|\bsales?\b"
)
_LOSS = re.compile(r"\b(?:los[et]s?|losing|loss(?:es)?|deficits?)\b")
_PROFIT = re.compile(r"\bprofit(?:s|able|ability)?\b")
_BARGAIN = re.compile(r"\b(?:attractive|undervalued|better value|cheaper|better deal)\b")

# --- words about the question -----------------------------------------------------------------------------------------
_NEGATED = re.compile(r"\bnot\b|n't\b|\bneither\b|\bexcept\b|\bboth\b")
_UNTIL = re.compile(
    r"""
    \b(?: until | before | after | since | as\ of | by )\b
    [^?]{,200}?                          # not over the end of the question
    \b(?P<year>(?:19|20)[0-9]{2})\b
    """,
    re.VERBOSE,
)
_HOW_MANY_TIMES = re.compile(r"\bhow many times\b")
_AS_OR_THAN = re.compile(r"\b(?:as|than)\b")
_DIFFERENCE = re.compile(r"\bdifference\b|\bby (?:what|how)\b")
_HOW_MUCH = re.compile(r"\bhow (?:much|many)\b")
_DIFFERS = re.compile(
    r"""
    \b(?:
        more | less | fewer | higher | lower | longer | shorter | older | younger
      | bigger | larger | smaller | earlier | later
      | between | apart | passed | separate
    )\b
    """,
    re.VERBOSE,
)
_HOW_LONG = re.compile(r"\bhow (?:long|far apart)\b")
_PERCENT = re.compile(r"\bpercent(?:age)?\b|%")
_CHANGE = re.compile(
    r"""
    \b(?:
        chang | ris | rose | increas | gain | gr[eo]w
      | decreas | f[ae]ll | drop | loss | lost | declin
      | return | perform
    )\w*                                 # any ending: "changed", "rising"
  | \b(?:went|go|gone|going)\ (?:up|down)\b
    """,
    re.VERBOSE,
)
_SIDE_BY_SIDE = re.compile(r"\bcompared? (?:to|with)\b|\bversus\b|\bvs\b")
_COMPARES_TO = re.compile(r"\b(?:than|before|after)\b")
_TIME_UNIT = re.compile(r"\b(?P<unit>days|weeks|months|years)\b")


@dataclass(frozen=True, slots=True)
class _Comparison:
    """The compared names as the question writes them, their amounts in the same order, and the direction."""

    names: Sequence[str]
    amounts: Sequence[Amount]
    largest_wins: bool

    def wins(self, index: int, rival: int) -> bool:
        """Whether the name at `index` exceeds the one at `rival` in the requested direction."""
        sign = compare_amounts(self.amounts[index], self.amounts[rival])
        winning_sign = 1 if self.largest_wins else -1
        return sign == winning_sign


@dataclass(frozen=True, slots=True)
class _Pair:
    """The names and amounts of two calls that differ in one name, and the column of both amounts."""

    names: Sequence[str]
    """As the calls write them."""
    first: Amount
    second: Amount
    column: Column


@dataclass(frozen=True, slots=True)
class _NameOrder:
    """Which of two names comes first in the question (0 or 1), and the text between the names."""

    first: int
    between: str

    @property
    def second(self) -> int:
        """The index of the other name."""
        return 1 - self.first


# --- rules ------------------------------------------------------------------------------------------------------------
def which_is_more(inputs: RuleInputs) -> Derived | None:
    """The entity with the largest or smallest value; None for a tie."""
    asks_for_name = WHICH.search(inputs.question) or " or " in inputs.question
    # "By how much is A larger" wants the difference, not a name
    if inputs.is_yes_or_no or not asks_for_name or _asks_by_how_much(inputs.question):
        return None
    comparison = _read_comparison(inputs)
    if comparison is None:
        return None

    # The winner exceeds every other one, so a tie has none.
    indices = range(len(comparison.names))
    winners: list[int] = []
    for index in indices:
        rivals = [rival for rival in indices if rival != index]
        if all(comparison.wins(index, rival) for rival in rivals):
            winners.append(index)
    if len(winners) != 1:
        return None

    compared: list[str] = []
    for name, amount in zip(comparison.names, comparison.amounts, strict=True):
        compared.append(f"{name}: {in_words(amount)}")
    extreme = "largest" if comparison.largest_wins else "smallest"
    return Derived(comparison.names[winners[0]], f"the {extreme} of {', '.join(compared)}")


def whether_one_is_more(inputs: RuleInputs) -> Derived | None:
    """Yes or no to "did A ... more than B", with A before the comparing word and B after "than"."""
    if not inputs.is_yes_or_no or len(inputs.readings) != 2 or " or " in inputs.question:
        return None

    comparison = _read_comparison(inputs)
    if comparison is None or _is_vague_tie(inputs, comparison.amounts):
        return None
    name_order = _find_name_order(inputs, comparison.names)
    # "Than" between the names tells which of them must exceed the other
    if name_order is None or not _COMPARES_TO.search(name_order.between):
        return None

    first = in_words(comparison.amounts[name_order.first])
    second = in_words(comparison.amounts[name_order.second])
    sign = ">" if comparison.largest_wins else "<"
    answer = "yes" if comparison.wins(name_order.first, name_order.second) else "no"
    return Derived(answer, f"whether {first} {sign} {second}")


def how_much_more(inputs: RuleInputs) -> Derived | None:
    """A difference, a ratio or a percent change of two values; None if "A than B" is the wrong way round."""
    question = inputs.question
    pair = _read_pair(inputs)
    if pair is None or _NEGATED.search(question) or _is_wrong_way_round(inputs, pair):
        return None

    # Two dates or two quantities; a mixture cannot be compared.
    first = pair.first
    second = pair.second
    if isinstance(first, CalendarDate) and isinstance(second, CalendarDate):
        return _how_long_between(question, first, second)
    if not isinstance(first, Quantity) or not isinstance(second, Quantity):
        return None

    if _PERCENT.search(question):
        return _percent_change(
            inputs,
            pair.names,
            first,
            second,
        )
    return _difference_or_ratio(
        question,
        first,
        second,
        pair.column,
    )


def put_side_by_side(inputs: RuleInputs) -> Derived | None:
    """Both numbers and the higher one, for questions about one "compared to" the other."""
    pair = _read_pair(inputs)
    if pair is None or not _SIDE_BY_SIDE.search(inputs.question):
        return None
    # Questions with "higher", "less" and the like are for the other rules
    if _MORE_OR_LESS.search(inputs.question):
        return None
    order = compare_amounts(pair.first, pair.second)
    # No order (None) or no difference (0): neither is the higher one
    if pair.column.type in DATE_TYPES or not order:
        return None

    # The name with its amount, the higher one first.
    written_names = [inputs.masked.written(name) for name in pair.names]
    amounts = [write_amount(amount, pair.column.unit) for amount in (pair.first, pair.second)]
    if order == -1:
        written_names.reverse()
        amounts.reverse()

    higher_name, lower_name = written_names
    higher, lower = amounts
    text = f"{higher_name} has the higher {pair.column.label}: {higher}, against {lower} of {lower_name}"
    return Derived(text, f"{higher} > {lower}")


# --- what is compared -------------------------------------------------------------------------------------------------
def _read_pair(inputs: RuleInputs) -> _Pair | None:
    """The two amounts; None for a yes-or-no question, or unless there are two comparable calls."""
    if len(inputs.readings) != 2 or inputs.is_yes_or_no:
        return None
    names = names_that_differ(inputs.readings)
    column = inputs.readings[0].column
    first = read_amount(inputs.masked, inputs.readings[0])
    second = read_amount(inputs.masked, inputs.readings[1])
    if not names or column is None or first is None or second is None:
        return None
    return _Pair(
        names,
        first,
        second,
        column,
    )


def _read_comparison(inputs: RuleInputs) -> _Comparison | None:
    """The names and numbers that the question compares, if all are known."""
    if len(inputs.readings) < 2 or _NEGATED.search(inputs.question) or compares_lives(inputs):
        return None

    # The question must name everything that is compared.
    names = names_that_differ(inputs.readings)
    if not names or not all(inputs.masked.mark(name) for name in names):
        return None

    # Numbers of the info boxes of articles, or else the values of the calls.
    amounts: Sequence[Amount]
    infobox_numbers = compared_numbers(inputs)
    if infobox_numbers is not None:
        amounts = infobox_numbers
        # The oldest year and the brightest magnitude are the smallest numbers
        largest_wins: bool | None = False
    else:
        amounts = _read_amounts(inputs)
        largest_wins = _largest_wins(inputs)

    if largest_wins is None or len(amounts) != len(names):
        return None
    if any(compare_amounts(amounts[0], amount) is None for amount in amounts):
        return None  # of different kinds, such as a number and a date

    written_names = [inputs.masked.written(name) for name in names]
    return _Comparison(written_names, amounts, largest_wins)


def _is_vague_tie(inputs: RuleInputs, amounts: Sequence[Amount]) -> bool:
    """Whether two dates agree in what both say, and a day is missing: 1997 is neither before nor after May 1997."""
    column = inputs.readings[0].column
    first, second = amounts
    if column is None or column.type is not Type.DATE or compare_amounts(first, second) != 0:
        return False
    return not all(isinstance(amount, CalendarDate) and amount.exact for amount in amounts)


def _read_amounts(inputs: RuleInputs) -> list[Amount]:
    """The amounts of all readings; unknown ones are left out. Games are counted where the question counts them."""
    amounts: list[Amount] = []
    for reading in inputs.readings:
        # "Who won more" compares numbers of games, not the cells of their rows
        games = number_of_games(inputs, reading)
        if games is not None:
            amounts.append(Quantity(Fraction(games)))
            continue

        amount = read_amount(inputs.masked, part_of_games(inputs, reading))
        if amount is not None:
            amounts.append(amount)
    return amounts


def _largest_wins(inputs: RuleInputs) -> bool | None:
    """Whether the question asks for the largest value; None if the words are ambiguous."""
    question = inputs.question
    reading = inputs.readings[0]
    column = reading.column
    # Dates have words of their own, such as "older" and "first"
    if column is not None and column.type in DATE_TYPES and not reading.counted:
        return _is_single_direction(_LATER_OR_EARLIER, _IDIOMS_OF_TIME.sub("", question), "later")
    if _is_lower_better(question, reading):
        return False
    if _is_beyond_the_data(question, reading):
        return None

    asks_for_more = _is_single_direction(_MORE_OR_LESS, _IDIOMS_OF_AMOUNT.sub("", question), "more")
    is_rank = column is not None and column.kind is NumberKind.RANK
    if asks_for_more is not None and is_rank:
        return not asks_for_more  # the best rank is the smallest
    return asks_for_more


def _is_lower_better(question: str, reading: Reading) -> bool:
    """Whether the lower price is the better one."""
    is_price = reading.column is not None and reading.column.type is Type.MONEY
    if is_price and _MANY_FOR_THE_MONEY.search(question):
        return True
    # A share is undervalued if its price is low in relation to its earnings
    return reading.table.name == "get_stock_pe_ratio" and bool(_BARGAIN.search(question))


def _is_beyond_the_data(question: str, reading: Reading) -> bool:
    """Whether the amounts cannot answer the question."""
    # The count of all awards does not hold up to an earlier year.
    until = _UNTIL.search(question)
    if until and reading.key == "award_count":
        last_year = reading.table.last_year
        if last_year is None or int(until["year"]) < last_year:
            return True

    # The lower ratio is a bargain and the higher one a favourite: "better" can mean both
    if reading.table.name == "get_stock_pe_ratio" and _GOOD_OR_BAD.search(question):
        return True
    # Of two losses the larger is the smaller number, and what a film earned is not its profit
    if reading.key != "result" and _LOSS.search(question):
        return True
    if reading.key in {"revenue", "budget"} and _PROFIT.search(question):
        return True
    # A film that earned more is not the better one
    if reading.key == "revenue" and _GOOD_OR_BAD.search(question) and not _OF_MONEY.search(question):
        return True

    # Prices do not show which share rose more.
    is_price = reading.column is not None and reading.column.kind is NumberKind.PRICE
    return is_price and bool(_CHANGE.search(question))


def _is_single_direction(pattern: re.Pattern[str], question: str, direction: str) -> bool | None:
    """Whether all words of comparison have the direction (a group of the pattern); None if there are both, or none."""
    # The two directions are the only groups of a pattern, so `lastgroup` names the direction
    directions = {match.lastgroup for match in pattern.finditer(question)}
    if len(directions) != 1:
        return None
    return directions == {direction}


def _is_wrong_way_round(inputs: RuleInputs, pair: _Pair) -> bool:
    """Whether the question takes for granted what is false: "how much longer is A than B" of a shorter A."""
    name_order = _find_name_order(inputs, pair.names)
    if name_order is None or " than " not in name_order.between:
        return False

    largest_wins = _largest_wins(inputs)
    amounts = (pair.first, pair.second)
    sign = compare_amounts(amounts[name_order.first], amounts[name_order.second])
    return largest_wins is not None and sign == (-1 if largest_wins else 1)


def _find_name_order(inputs: RuleInputs, names: Sequence[str]) -> _NameOrder | None:
    """The order of two names in the question; None if it lacks one of them, or if both are the same words."""
    maybe_positions = [inputs.masked.find_position(name) for name in names]
    positions = [position for position in maybe_positions if position is not None]
    if len(positions) != 2 or positions[0] == positions[1]:
        return None

    start = min(positions)
    end = max(positions)
    return _NameOrder(positions.index(start), inputs.question[start:end])


# --- what the question asks for ---------------------------------------------------------------------------------------
def _asks_by_how_much(question: str) -> bool:
    """Whether it asks for a difference or a ratio. "How many awards" alone asks for a count."""
    if _DIFFERENCE.search(question):
        return True
    return _asks_how_many_times(question) or _is_followed_by(question, _HOW_MUCH, _DIFFERS)


def _asks_how_many_times(question: str) -> bool:
    """Whether it asks for a ratio: "how many times as much as"."""
    return _is_followed_by(question, _HOW_MANY_TIMES, _AS_OR_THAN)


def _is_followed_by(question: str, words: re.Pattern[str], later_words: re.Pattern[str]) -> bool:
    """Whether the later words are anywhere after the words. One pattern for both would take quadratic time."""
    match = words.search(question)
    return match is not None and later_words.search(question, match.end()) is not None


# --- how much more ----------------------------------------------------------------------------------------------------
def _difference_or_ratio(
    question: str,
    first: Quantity,
    second: Quantity,
    column: Column,
) -> Derived | None:
    """How many times the smaller one fits into the larger, or how much larger it is, in the unit of both."""
    larger = first
    smaller = second
    if compare_amounts(first, second) == -1:
        larger = second
        smaller = first

    # There is no ratio to 0
    if _asks_how_many_times(question) and smaller.number:
        ratio = Quantity(larger.number / smaller.number)
        return derive_amount(ratio, f"computed {in_words(larger)} / {in_words(smaller)}", "times")
    if not _asks_by_how_much(question):
        return None
    difference = Quantity(larger.number - smaller.number, first.unit)
    return derive_amount(
        difference,
        f"computed {in_words(larger)} - {in_words(smaller)}",
        column.unit,
    )


def _how_long_between(question: str, first: CalendarDate, second: CalendarDate) -> Derived | None:
    """Days, weeks, months or years between two dates.

    Whole years only if they equal the difference of the calendar years: people may mean either.
    """
    if not _asks_by_how_much(question) and not _HOW_LONG.search(question):
        return None
    # Without a unit in the question, people mean years
    unit_match = _TIME_UNIT.search(question)
    unit = unit_match["unit"] if unit_match else "years"

    span = time_between(first, second, unit)
    if span is None:
        return None
    calendar_years = abs(first.year - second.year)
    if unit == "years" and span.number != calendar_years:
        return None
    return derive_amount(span, f"computed {unit} between {first} and {second}")


def _first_day(reading: Reading) -> str:
    """The day of a reading's first row; empty if it has none."""
    if not reading.rows:
        return ""
    return str(reading.rows[0].cells.get("time", ""))


def _percent_change(
    inputs: RuleInputs,
    names: Sequence[str],
    first: Quantity,
    second: Quantity,
) -> Derived | None:
    """The change from the earlier day to the later, or by how many percent A exceeds B."""
    first_day, second_day = map(_first_day, inputs.readings)
    # Two days: the change in between. Else two names: how far one exceeds the other
    if first_day and second_day and first_day != second_day:
        if not _CHANGE.search(inputs.question):
            return None
        is_from_first = first_day < second_day
    else:
        name_order = _find_name_order(inputs, names)
        if name_order is None or " than " not in name_order.between:
            return None
        is_from_first = name_order.first == 1  # "by how many percent is A more than B": from B to A

    before = first if is_from_first else second
    after = second if is_from_first else first
    # A percentage of nothing, or of a loss, means nothing
    if before.number <= 0:
        return None
    change = Quantity((after.number - before.number) / before.number * 100, PERCENT)
    return derive_amount(change, f"computed percent change from {in_words(before)} to {in_words(after)}")
