"""Arguments and conditions between the brackets of a call."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import chain, repeat

from rapidfuzz import fuzz, process

from agents.kg.language.faults import ErrorKind, KgQueryError, error
from agents.kg.language.program import Argument, Condition, Key, Operator, Previous
from agents.kg.language.syntax import Comparison, Group, Invocation, Slot, Star, Text
from agents.kg.schema import COUNT_KEY, Parameter, ParameterKind, Schema, Table, Type, bare_name

SHOWN_NAMES = 12
"""How many names an error message offers; the repair prompt quotes it and must stay short."""

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_FILLERS = frozenset({"get", "info", "information", "data", "details", "by", "name"})
"""Words that do not distinguish tables."""

_OPERATORS = {
    **dict.fromkeys(("eq", "equal", "equals", "=", "=="), Operator.EQ),
    **dict.fromkeys(("neq", "ne", "notequal", "!=", "<>", "≠"), Operator.NEQ),
    **dict.fromkeys(("ge", "gte", "gt", ">=", ">", "≥"), Operator.GE),
    **dict.fromkeys(("le", "lte", "lt", "<=", "<", "≤"), Operator.LE),
}
"""Spellings of the four operators. No comparison with a value is strict: `gt` and `lt` are read as `ge` and `le`."""

_NOTHING = frozenset({"none", "null"})
_YEAR = re.compile(r"(1[89]|20)[0-9]{2}")
_ORDERED = {Type.NUMBER: "number", Type.MONEY: "number", Type.DATE: "date", Type.YEAR: "date"}
"""Ordered types, by what they compare with. Their values are never key names, so a quoted key stays a key."""


def is_nothing(slot: Slot) -> bool:
    """Whether a slot is empty, `None`, an empty text or an empty list; all mean "any"."""
    if isinstance(slot, Text):
        return not slot.text or (not slot.quoted and slot.text.lower() in _NOTHING)
    return slot is None or (isinstance(slot, Group) and all(map(is_nothing, slot.items)))


class Contents:
    """The names (by place) and conditions in a call's brackets; raises `KgQueryError` if they do not fit the table."""

    def __init__(self, text: str, schema: Schema, table: Table, slots: Iterable[Slot], *, has_previous: bool) -> None:
        self._text = text
        self._schema = schema
        self._table = table
        self._has_previous = has_previous
        self._names: list[Text | Star | Group | None] = []
        self.conditions: list[Condition] = []
        self._collect(slots)

    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of a table, without trailing None."""
        pairs = zip(self._names, chain(self._table.parameters, repeat(None)), strict=False)
        arguments = [self._argument(*pair) for pair in pairs]
        while arguments and arguments[-1] is None:
            arguments.pop()
        return tuple(arguments)

    def order(self) -> tuple[str | None, bool]:
        """The key of a `sort` and whether it is descending."""
        key, descending = None, False
        for name in self._names:
            if name is None or is_nothing(name):
                continue
            if not isinstance(name, Text) or key is not None:
                raise self.wrong("sort takes conditions or None, then one key, with - for descending", name.position)
            if self._take_year(name):
                continue
            bare = name.text.lstrip("-–—−").strip()
            key, descending = self.key(replace(name, text=bare)), bare != name.text
        return key, descending

    def key(self, name: Text) -> str:
        """The canonical name of a key of the table."""
        column = self._table.column(name.text)
        if column is not None:
            return column.name
        if self._table.extra_keys and bare_name(name.text) and not is_nothing(name):
            return name.text
        offered = ", ".join([*nearest(name.text, self._table.columns), COUNT_KEY])
        more = ", ..." if len(self._table.columns) > SHOWN_NAMES else ""
        message = f"{self._table.name} has no key {name.text!r}; it has {offered}{more}"
        raise error(ErrorKind.UNKNOWN_KEY, message, self._text, name.position)

    def wrong(self, message: str, position: int) -> KgQueryError:
        """The error for an argument that does not fit."""
        return error(ErrorKind.WRONG_ARGUMENT, message, self._text, position)

    def _collect(self, slots: Iterable[Slot]) -> None:
        for slot in slots:
            match slot:
                case Invocation():
                    self.conditions.append(self._operation(slot))
                case Comparison():
                    self._comparison(slot)
                case Group(items) if any(isinstance(part, Invocation | Comparison | Group) for part in items):
                    self._collect(part for part in items if not is_nothing(part))
                case _:
                    self._names.append(slot)

    def _operation(self, item: Invocation) -> Condition:
        operator = _OPERATORS.get(bare_name(item.name))
        if operator is None:
            is_call = find_table(self._schema, item.name) or bare_name(item.name) == "sort"
            nested = "a call cannot stand in a call: write it on the line before, and * here"
            unknown = f"{item.name} is no operator: eq, neq, ge, le; names go in quotes"
            raise self.wrong(nested if is_call else unknown, item.position)
        match item.items:
            case (Text() as key, (Text() | Star()) as value) if not item.trailers:
                return self._condition(operator, key, value)
            case _:
                raise self.wrong(f"write {operator}(key,value), one key and one value", item.position)

    def _comparison(self, item: Comparison) -> None:
        """Read a condition such as `year >= 2012`, or a named argument such as `person="x"`."""
        places = {bare_name(parameter.name): index for index, parameter in enumerate(self._table.parameters)}
        place = places.get(bare_name(item.left.text)) if item.operator == "=" else None
        if place is not None and all(name is None for name in self._names[place : place + 1]):
            self._names += [None] * (place + 1 - len(self._names))
            self._names[place] = item.right
        else:
            self.conditions.append(self._condition(_OPERATORS[item.operator], item.left, item.right))

    def _condition(self, operator: Operator, key: Text, value: Text | Star) -> Condition:
        name = self.key(key)
        if isinstance(value, Star):
            return Condition(operator, name, self._previous(value))
        if is_nothing(value):
            raise self.wrong(f"{operator}({name}, ...) needs a value", value.position)
        column, other = self._table.columns.get(name), self._table.column(value.text)
        if column and other and other is not column:
            is_ordered = column.type in _ORDERED and _ORDERED[column.type] == _ORDERED.get(other.type)
            if is_ordered or not value.quoted:
                return Condition(operator, name, Key(other.name))
        is_flag = column is not None and column.type is Type.FLAG
        return Condition(operator, name, value.text.lower() if is_flag else value.text)

    def _argument(self, name: Text | Star | Group | None, parameter: Parameter | None) -> Argument:
        if name is None or is_nothing(name):
            return None
        if isinstance(name, Text) and self._may_be_year(name, parameter) and self._take_year(name):
            return None
        if parameter is None:
            takes = ", ".join(parameter.name for parameter in self._table.parameters)
            raise self.wrong(f"{self._table.name} takes {takes}, then conditions such as eq(key,value)", name.position)
        if isinstance(name, Star):
            return self._previous(name)
        if isinstance(name, Text):
            return name.text
        parts = [part for part in name.items if not is_nothing(part)]
        names = tuple(part.text for part in parts if isinstance(part, Text))
        if len(names) < len(parts):
            raise self.wrong("a list holds names in quotes, or conditions", name.position)
        if len(names) > 1 and not parameter.kind.is_entity:
            raise self.wrong(f"{parameter.name} is one {parameter.kind}, not a list", name.position)
        return names if len(names) > 1 else names[0]

    def _may_be_year(self, name: Text, parameter: Parameter | None) -> bool:
        """Whether a year means a condition: always after the last argument, elsewhere only without quotes.

        The one argument of `get_movie` is always a name: films are called 1917 and 2012.
        """
        if parameter is None:
            return True
        column = self._table.column("year")
        has_years = column is not None and column.type is Type.YEAR
        is_title = parameter.kind is ParameterKind.MOVIE and len(self._table.parameters) == 1
        return has_years and parameter.kind.is_entity and not name.quoted and not is_title

    def _take_year(self, name: Text) -> bool:
        """Turn a year into `eq(year,...)`, if the table has years."""
        column = self._table.column("year")
        if column is None or not _YEAR.fullmatch(name.text):
            return False
        self.conditions.append(Condition(Operator.EQ, column.name, name.text))
        return True

    def _previous(self, star: Star) -> Previous:
        if not self._has_previous:
            message = "* is what the statement before gave, and there is none"
            raise error(ErrorKind.NOTHING_BEFORE, message, self._text, star.position)
        return Previous()


def find_table(schema: Schema, name: str) -> Table | None:
    """The table that is meant, if unambiguous: `GET_MOVIE`, `getMovie`, `get_movie_info` are `get_movie`.

    A name may leave words out, as in `get_market_cap`, if only one table has all its words.
    """
    tables = schema.callable_tables
    words = _words(name)
    exact = [table for table in tables if bare_name(table.name) == bare_name(name)]
    same = [table for table in tables if _words(table.name) == words]
    wider = [table for table in tables if words and words < _words(table.name)]
    candidates = exact or same or wider
    return candidates[0] if len(candidates) == 1 else None


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The most similar names, best first, at most `SHOWN_NAMES`."""
    found = process.extract(name, list(names), scorer=fuzz.WRatio, processor=bare_name, limit=SHOWN_NAMES)
    return [match for match, _, _ in found]


@lru_cache(1024)
def _words(name: str) -> frozenset[str]:
    words = (word.lower().removesuffix("s") for word in _WORDS.findall(name))
    return frozenset(word for word in words if word not in _FILLERS)
