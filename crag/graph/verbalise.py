"""Turns rows into sentences for a language model: "The <attribute> of <entity> is <value>." (db3 2.3, 3.2).

Part of the record accompanies the value, so the model can see if it is irrelevant. Many rows come with sums, averages
and tallies, because small models neither count nor add.
"""

import re
from collections import Counter
from collections.abc import Sequence
from statistics import fmean

from crag.graph.conditions import exact_number
from crag.graph.entities import shipped_list
from crag.graph.language import Condition, Key, Operator
from crag.graph.results import Cell, Row, Value
from crag.graph.schema import Column, NumberKind, Table, Type

MOST_CHARACTERS = 3_000
"""A longer text is cut; important parts, such as the number of rows, come first."""
_MOST_DETAILS = 8
_DETAIL_CHARACTERS = 120
_TEXT_CHARACTERS = 1_500
_UNSAID = frozenset({"order", "ceremony", "text", "summary", "game_id", "season", "symbol"})
"""Cells that no sentence mentions."""
_PREPOSITIONS = {"date": "on ", "opponent": "against "}
_VENUES = {"Home": "at home", "Away": "away"}
_TO_VALUE = {Operator.EQ: "is", Operator.NEQ: "is not", Operator.GE: "is at least", Operator.LE: "is at most"}
_TO_DATE = {**_TO_VALUE, Operator.GE: "is not before", Operator.LE: "is not after"}
_TO_KEY = {**_TO_VALUE, Operator.GE: "is above the", Operator.LE: "is below the"}
MOST_LISTED = 25
"""Maximum number of list items written out; the rest are counted."""
_CODES = {"birth_place": "countries", "release_country": "countries", "original_language": "languages"}
_RESULTS = {"W": "win", "D": "draw", "L": "loss"}
_CAPITAL = re.compile(r"\b[A-Z](?=[a-z])")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def verbalise(
    table: Table,
    rows: Sequence[Row],
    taken: Sequence[Row],
    key: str | None,
    *,
    conditions: Sequence[Condition] = (),
    count: Value = None,
    partial: bool = False,
) -> str:
    """The result of a statement in sentences.

    `rows` match the `conditions`, `taken` were selected. `key` is None for whole records. `partial`: see `Result`.
    """
    speaker = _Speaker(table, conditions, partial)
    if count is not None:
        text = speaker.counted(rows, taken, key, count)
    elif not taken:
        text = ""
    elif len(taken) > 1:
        text = speaker.tally(taken) + speaker.many(rows, taken, key)
    else:
        left = len(rows) - 1
        more = f" ({left:,} more {speaker.noun} match.)" if left > 0 and table.take != "all" else ""
        text = (speaker.value(taken[0], key) if key is not None else speaker.record(taken[0])) + more
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS].rsplit(' ', 1)[0]} ..."


def say_average(mean: float, values: int, rows: Sequence[Row]) -> str:
    """The sentence of `average`."""
    which = "this 1 value" if values == 1 else f"these {values:,} values"
    return f"The average of {which}{_of_entity(rows)} is {grouped(mean)}."


def say_nothing_found(table: Table, asked: Sequence[Row], key: str | None, conditions: Sequence[Condition]) -> str:
    """Why there are no values: no row meets the conditions, or the matching rows lack the key."""
    if not asked:
        return f"there are no {table.noun} of this kind"
    where = _Speaker(table, conditions, partial=False).where(asked)
    if key is not None and not where:
        return f"the graph does not know the {label(table, key)} of {_entity(asked)}"
    return f"among the {len(asked):,} {table.noun} of {_entity(asked)} there is none{where}"


class _Speaker:
    """Verbalises rows of one table under the conditions of one statement."""

    def __init__(self, table: Table, conditions: Sequence[Condition], partial: bool) -> None:
        self._table = table
        self._partial = partial
        won = [
            condition
            for condition in conditions
            if table.noun == "Oscar nominations" and condition.key == "winner" and condition.operator is Operator.EQ
            if str(condition.value).casefold() in {"true", "yes", "1"}
        ]
        self.noun = "Oscar wins" if won else table.noun
        self._conditions = [condition for condition in conditions if condition not in won]

    def value(self, row: Row, key: str) -> str:
        """One value with its record."""
        if key == "summary":
            return self.record(row)
        value, column = row.cells.get(key), self._table.columns.get(key)
        subject = self._subject(row, without=key)
        said = f"The {label(self._table, key)} of {subject} {verb(value, column)} {readable(value, column)}."
        others = [name for name in row.cells if name not in {key, *self._table.identity}]
        details = self._listed(row, others, most=_MOST_DETAILS)
        return said + (f" (Also known: {details}.)" if details else "")

    def record(self, row: Row) -> str:
        """All of one record."""
        keys = [key for key in row.cells if key not in self._table.identity]
        said = self._listed(row, keys, most=3 * _MOST_DETAILS)
        text = row.cells.get("text")
        if isinstance(text, str) and text:  # an article
            return f"{row.entity}: {text[:_TEXT_CHARACTERS]}" + (f" Its facts: {said}." if said else "")
        return f"{self._subject(row)}: {said}." if said else f"{self._subject(row)} is known, without details."

    def many(self, rows: Sequence[Row], taken: Sequence[Row], key: str | None) -> str:
        """How many rows; then each row's value with its identity and statistics, or each row's short cells."""
        items = []
        several = len({row.entity for row in taken}) > 1
        for row in taken[:MOST_LISTED]:
            name = self._name(row, taken, without=key)
            if key is not None:
                name = name or (row.entity if several else "")
                text = readable(row.cells.get(key), self._table.columns.get(key))
                items.append(f"{text} ({name})" if name else text)
                continue
            keys = [own for own in row.cells if own not in self._table.identity and own in self._table.columns]
            details = self._listed(row, keys, separator=", ", most=_MOST_DETAILS)
            items.append(f"{name or row.entity}: {details}" if details else name or row.entity)
        each = f"The {label(self._table, key)} of each: " if key is not None else ""
        statistics = self._statistics(taken, key) if key is not None else ""
        return f"{self._head(rows, taken)} {each}{'; '.join(items)}{_rest(taken)}.{statistics}"

    def counted(self, rows: Sequence[Row], taken: Sequence[Row], key: str | None, count: Value) -> str:
        """A number and what it counts."""
        column = self._table.columns.get(key) if key is not None else None
        is_list = column is not None and column.type in {Type.TEXTS, Type.YEARS}
        what = label(self._table, key) if key is not None and is_list else self.noun
        number = grouped(count) if isinstance(count, int | float) else count
        least = "at least " if self._partial else ""
        said = f"The number of {what}{_of_entity(rows)}{self.where(rows)} is {least}{number}."
        if key is not None and is_list and taken:
            return f"{said} They are: {readable(taken[0].cells.get(key), column)}."
        if not any(map(self._name, rows)):
            return said
        names = [self._name(row, rows) or row.entity for row in rows[:MOST_LISTED]]
        return f"{said} {'It is' if len(rows) == 1 else 'They are'}: {'; '.join(names)}{_rest(rows)}."

    def tally(self, rows: Sequence[Row]) -> str:
        """Wins, losses and points over several games of a team."""
        if not {"result", "opponent", "GF"} <= set(self._table.columns) or len({row.entity for row in rows}) > 1:
            return ""
        parts = []
        for letter, word in (("W", "won"), ("D", "drew"), ("L", "lost")):
            games = [row for row in rows if row.cells.get("result") == letter]
            home = sum(row.cells.get("venue") == "Home" for row in games)
            times = Counter(str(row.cells.get("opponent")) for row in games).items()
            names = ", ".join(f"{name} {count} times" if count > 1 else name for name, count in times)
            if games:
                parts.append(f"{word} {len(games)} ({home} at home, {len(games) - home} away; against {names})")
        played = [row for row in rows if row.cells.get("result")]
        scored, conceded = (sum(exact_number(row.cells.get(key)) or 0 for row in played) for key in ("GF", "GA"))
        totals = f"In total {grouped(scored)} scored and {grouped(conceded)} conceded."
        return f"Of {len(rows)} games {rows[0].entity} {', '.join(parts)}. {totals} " if parts else ""

    def where(self, rows: Sequence[Row]) -> str:
        """The conditions in words, except those in the entity's name: "the 2012 Academy Awards"."""
        entity = _entity(rows)
        said = []
        for condition in self._conditions:
            value, column = condition.value, self._table.column(condition.key)
            if f" {value} " in f" {entity} ":
                continue
            words = _TO_DATE if column is not None and column.type is Type.DATE else _TO_VALUE
            if isinstance(value, Key):
                words, value = _TO_KEY, label(self._table, value.name)
            shown = value if isinstance(value, str) else "as found before"
            said.append(f"{label(self._table, condition.key)} {words[condition.operator]} {shown}")
        return f" where the {' and the '.join(said)}" if said else ""

    def _head(self, rows: Sequence[Row], taken: Sequence[Row]) -> str:
        """How many rows of how many, whose, what they all share, and under which conditions."""
        number = f"{len(taken):,}" if len(taken) == len(rows) else f"{len(taken):,} of {len(rows):,}"
        keys = [key for key in self._table.identity if key in _shared_keys(rows)]
        shared = [self._identity(rows[0], key) for key in keys if str(rows[0].cells[key]) not in _entity(rows)]
        about = f" ({', '.join(shared)})" if shared else ""
        some = "At least " if self._partial and len(taken) == len(rows) else ""
        return f"{some}{number} {self.noun} of {_entity(rows)}{about}{self.where(rows)}."

    def _statistics(self, rows: Sequence[Row], key: str) -> str:
        column = self._table.columns.get(key)
        if column is None or column.type not in {Type.NUMBER, Type.MONEY} or column.kind is NumberKind.RANK:
            return ""
        numbers = [number for row in rows if (number := exact_number(row.cells.get(key))) is not None]
        if len(numbers) < 2:
            return ""
        mean, low, high = (readable(number, column) for number in (fmean(numbers), min(numbers), max(numbers)))
        total = "" if column.kind is not NumberKind.AMOUNT else f"sum is {readable(sum(numbers), column)}, the "
        return f" The {total}average {'' if total else 'is '}{mean}, the lowest {low}, the highest {high}."

    def _listed(self, row: Row, keys: Sequence[str], separator: str = "; ", most: int = 99) -> str:
        """Short cells of a record: "length 180 minutes; genres Drama and History"."""
        cells = [
            f"{label(self._table, key)} {text}"
            for key in keys
            if key not in _UNSAID and _worth_saying(row.cells.get(key))
            if key in self._table.columns or " " in key or self._table.extra_keys
            if key != "original_title" or row.cells[key] not in {row.cells.get("title"), row.cells.get("movie_name")}
            if len(text := readable(row.cells[key], self._table.columns.get(key))) <= _DETAIL_CHARACTERS
        ]
        return separator.join(cells[:most])

    def _subject(self, row: Row, without: str | None = None) -> str:
        """The subject of a sentence about a row."""
        name = self._name(row, without=without)
        if name and self._table.identity == ("time",):
            return f"{row.entity} on {name}"
        return f"{row.entity} ({name})" if name else row.entity

    def _name(self, row: Row, among: Sequence[Row] = (), without: str | None = None) -> str:
        """What identifies a row: a title and year, a day and an opponent; nothing that all rows share."""
        shared = _shared_keys(among) if len(among) > 1 else frozenset()
        return ", ".join(
            self._identity(row, key)
            for key in self._table.identity
            if key != without and key not in shared and _worth_saying(row.cells.get(key))
            if len(among) > 1 or str(row.cells[key]) not in row.entity
        )

    def _identity(self, row: Row, key: str) -> str:
        text = readable(row.cells[key], self._table.columns.get(key))
        if "opponent" in self._table.columns:
            return _VENUES.get(text, _PREPOSITIONS.get(key, "") + text)
        return text


def _shared_keys(rows: Sequence[Row]) -> frozenset[str]:
    """The keys with the same value in all rows."""
    said = ((key, value) for key, value in rows[0].cells.items() if _worth_saying(value))
    return frozenset(key for key, value in said if all(row.cells.get(key) == value for row in rows[1:]))


def _entity(rows: Sequence[Row]) -> str:
    names = list(dict.fromkeys(row.entity for row in rows))
    rest = f" and {len(names) - 3:,} others" if len(names) > 3 else ""
    return (", " if rest else " and ").join(names[:3]) + rest


def _of_entity(rows: Sequence[Row]) -> str:
    return f" of {_entity(rows)}" if rows else ""


def _rest(rows: Sequence[Row]) -> str:
    return f" and {len(rows) - MOST_LISTED:,} more" if len(rows) > MOST_LISTED else ""


def _worth_saying(value: Cell) -> bool:
    return value not in (None, "", ()) and not (isinstance(value, tuple) and isinstance(value[0], Row))


def readable(value: Cell, column: Column | None = None) -> str:
    """A value in readable form: thousands separators, dollar signs, joined lists, codes and flags in words."""
    if not isinstance(value, tuple):
        return _one(value, column)
    shown = [_one(one, column) for one in value[:MOST_LISTED] if not isinstance(one, Row)]
    if column is not None and column.name == "lifespan":
        return " to ".join(shown)
    *first, last = [*shown, f"{len(value) - MOST_LISTED:,} more"] if len(value) > MOST_LISTED else shown or [""]
    return f"{', '.join(first)} and {last}" if first else last


def label(table: Table, key: str) -> str:
    """A key in words: "closing price", "full-time employees"."""
    column = table.columns.get(key)
    if column is not None:
        return _title(column)
    words = " ".join(_CAMEL.sub(" ", key).replace("_", " ").split())
    return _CAPITAL.sub(lambda letter: letter.group().lower(), words)


def verb(value: Cell, column: Column | None) -> str:
    """The form of "to be" for the value and its label."""
    if column is None or column.name == "lifespan":
        return "is"
    is_plural = re.split(r" of | to |,", _title(column), maxsplit=1)[0].endswith("s")
    if isinstance(value, tuple):
        return "are" if is_plural or len(value) > 1 else "is"
    return "are" if is_plural and column.type is Type.NUMBER else "is"


def grouped(number: float) -> str:
    """12,345 or 3.12 or 0.0341: thousands separators, no trailing decimals, four digits of a small number."""
    if number == int(number) and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.3f}".rstrip("0").rstrip(".") if abs(number) >= 1 else f"{number:.4g}"


def money(number: float) -> str:
    """$1,234.50 or $0.0341 or -$5."""
    whole = number == int(number) or abs(number) < 1
    return f"{'-' if number < 0 else ''}${grouped(abs(number)) if whole else f'{abs(number):,.2f}'}"


def _title(column: Column) -> str:
    """The label; for a label in camel case, the column's meaning."""
    return column.meaning if column.label == column.name and _CAMEL.search(column.name) else column.label


def _one(value: Value, column: Column | None) -> str:
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    kind = column.type if column is not None else Type.TEXT
    if kind in {Type.YEAR, Type.YEARS}:
        return str(value)
    number = exact_number(value) if isinstance(value, int | float) or kind in {Type.NUMBER, Type.MONEY} else None
    if column is None or number is None:
        return grouped(number) if number is not None else _words(str(value), column.name if column else "")
    if kind is Type.MONEY:
        return money(number)
    return f"{grouped(number)} {column.unit}" if column.unit else grouped(number)


def _words(text: str, key: str) -> str:
    """Codes in words. The code itself stays, since a question may ask for it."""
    if key == "result":
        return _RESULTS.get(text, text)
    name = shipped_list("codes")[_CODES[key]].get(text) if key in _CODES else None
    return f"{name} ({text})" if name else text
