"""Reads one call by its table: the arguments and conditions in its brackets, and the brackets after it."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, repeat
from typing import TypeGuard

from lark import Token, Tree
from rapidfuzz import fuzz, process

from crag.graph.language.faults import ErrorKind, KgQueryError, error
from crag.graph.language.program import Argument, Condition, Key, Operator, Previous, Take
from crag.graph.language.syntax import Node, parts, position
from crag.graph.schema import COUNT_KEY, Parameter, ParameterKind, Schema, Table, Type, bare_name

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
_NUMBER = re.compile(r"[0-9]{1,9}")
_FROM_FIRST = "rows are counted from the first: [:n]"
_YEAR = re.compile(r"(1[89]|20)[0-9]{2}")
_ORDERED = {Type.NUMBER: "number", Type.MONEY: "number", Type.DATE: "date", Type.YEAR: "date"}
"""Ordered types, by what they compare with. Their values are never key names, so a quoted key stays a key."""


def is_nothing(slot: Node) -> bool:
    """Whether a slot is empty, `None`, an empty text or an empty list; all mean "any"."""
    if isinstance(slot, Token):
        return not slot or (slot.type == "WORD" and slot.lower() in _NOTHING)
    return slot.data in {"slot", "group"} and all(map(is_nothing, slot.children))


class BoundCall:
    """A call or sort bound to a table; raises `KgQueryError` if it does not fit.

    `rest` are the brackets after a key that holds another table's rows.
    """

    def __init__(self, text: str, schema: Schema, table: Table, body: Tree[Token], *, has_previous: bool) -> None:
        self._text = text
        self._schema = schema
        self._has_previous = has_previous
        self._names: list[Node] = []
        self.table = table
        self.position = position(body)
        self.conditions: list[Condition] = []
        self.select: str | None = None
        self.count = False
        self.take: Take = None
        self.rest: list[Node] = []
        _, slots, trailers = body.children
        self._collect(parts(slots))
        self._trailers = parts(trailers)

    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of a table, without trailing None."""
        pairs = zip(self._names, chain(self.table.parameters, repeat(None)), strict=False)
        arguments = [self._argument(*pair) for pair in pairs]
        while arguments and arguments[-1] is None:
            arguments.pop()
        return tuple(arguments)

    def order(self) -> tuple[str | None, bool]:
        """The key of a `sort` and whether it is descending."""
        key, descending = None, False
        for name in self._names:
            if is_nothing(name):
                continue
            if not _is_text(name) or key is not None:
                raise self._wrong("sort takes conditions or None, then one key, with - for descending", name)
            if self._take_year(name):
                continue
            bare = name.lstrip("-–—−").strip()
            key, descending = self._key(name.update(value=bare)), bare != name
        return key, descending

    def read_trailers(self, take: str) -> None:
        """Read the word before the call and the brackets after it."""
        if take:
            self.take = "all" if take.lower() == "all" else self._number(take, self.position)
        for place, trailer in enumerate(self._trailers):
            value, *others = parts(trailer)
            if isinstance(trailer, Tree) and trailer.data == "sliced":
                if value is not None and value != "0":
                    raise self._wrong(_FROM_FIRST, trailer)
                self.take = "all" if others[0] is None else self._number(str(others[0]), position(others[0]))
            elif others or not _is_text(value):
                raise self._wrong(self._one_key, trailer)
            elif value.type == "WORD" and value.lstrip("-").isdecimal():
                if value != "0":
                    raise self._wrong(_FROM_FIRST, trailer)
                self.take = 1
            elif self.count:
                raise self._wrong(f'{self._one_key}, then ["len"] or [:n]', trailer)
            elif bare_name(value) == COUNT_KEY and self.table.column(value) is None:
                self.count = True
            elif self.select is None:
                self.select = self._key(value)
            elif self.select in self.table.columns and self.table.columns[self.select].rows_of:
                self.rest = self._trailers[place:]
                return
            else:
                raise self._wrong(f'{self._one_key}, then ["len"] or [:n]', trailer)

    @property
    def _one_key(self) -> str:
        return f'one key in brackets, such as ["{next(iter(self.table.columns))}"]'

    def _number(self, digits: str, place: int) -> int:
        if not _NUMBER.fullmatch(digits) or int(digits) < 1:
            raise error(ErrorKind.WRONG_ARGUMENT, "the number of rows must be 1 or more", self._text, place)
        return int(digits)

    def _key(self, name: Token) -> str:
        """The canonical name of a key of the table."""
        column = self.table.column(name)
        if column is not None:
            return column.name
        if self.table.extra_keys and bare_name(name) and not is_nothing(name):
            return str(name)
        offered = ", ".join([*nearest(name, self.table.columns), COUNT_KEY])
        more = ", ..." if len(self.table.columns) > SHOWN_NAMES else ""
        message = f"{self.table.name} has no key {str(name)!r}; it has {offered}{more}"
        raise error(ErrorKind.UNKNOWN_KEY, message, self._text, position(name))

    def _wrong(self, message: str, node: Node) -> KgQueryError:
        return error(ErrorKind.WRONG_ARGUMENT, message, self._text, position(node))

    def _collect(self, slots: Iterable[Node]) -> None:
        for slot in slots:
            match slot:
                case Tree(data="invocation", children=[Token() as name, *_]):
                    self.conditions.append(self._operation(name, slot))
                case Tree(data="comparison", children=[Token() as left, Token() as operator, Token() as right]):
                    self._comparison(left, operator, right)
                case Tree(data="group") if any(isinstance(part, Tree) and part.data != "slot" for part in parts(slot)):
                    self._collect(part for part in parts(slot) if not is_nothing(part))
                case _:
                    self._names.append(slot)

    def _operation(self, name: Token, item: Tree[Token]) -> Condition:
        operator = _OPERATORS.get(bare_name(name))
        if operator is None:
            is_call = find_table(self._schema, name) or bare_name(name) == "sort"
            nested = "a call cannot stand in a call: write it on the line before, and * here"
            unknown = f"{name} is no operator: eq, neq, ge, le; names go in quotes"
            raise self._wrong(nested if is_call else unknown, item)
        match [parts(each) for each in item.children[1:]]:
            case [[Token() as key, Token() as value], []] if key.type != "STAR":
                return self._condition(operator, key, value)
            case _:
                raise self._wrong(f"write {operator}(key,value), one key and one value", item)

    def _comparison(self, left: Token, operator: Token, right: Token) -> None:
        """Read a condition such as `year >= 2012`, or a named argument such as `person="x"`."""
        places = {bare_name(parameter.name): index for index, parameter in enumerate(self.table.parameters)}
        place = places.get(bare_name(left)) if operator == "=" else None
        if place is not None and all(map(is_nothing, self._names[place : place + 1])):
            self._names += [Tree("slot", [])] * (place + 1 - len(self._names))
            self._names[place] = right
        else:
            self.conditions.append(self._condition(_OPERATORS[operator], left, right))

    def _condition(self, operator: Operator, key: Token, value: Token) -> Condition:
        name = self._key(key)
        if value.type == "STAR":
            return Condition(operator, name, self._previous(value))
        if is_nothing(value):
            raise self._wrong(f"{operator}({name}, ...) needs a value", value)
        column, other = self.table.columns.get(name), self.table.column(value)
        if column and other and other is not column:
            is_ordered = column.type in _ORDERED and _ORDERED[column.type] == _ORDERED.get(other.type)
            if is_ordered or value.type == "WORD":
                return Condition(operator, name, Key(other.name))
        is_flag = column is not None and column.type is Type.FLAG
        return Condition(operator, name, value.lower() if is_flag else str(value))

    def _argument(self, name: Node, parameter: Parameter | None) -> Argument:
        if is_nothing(name):
            return None
        if _is_text(name) and self._may_be_year(name, parameter) and self._take_year(name):
            return None
        if parameter is None:
            takes = ", ".join(parameter.name for parameter in self.table.parameters)
            raise self._wrong(f"{self.table.name} takes {takes}, then conditions such as eq(key,value)", name)
        if isinstance(name, Token):
            return self._previous(name) if name.type == "STAR" else str(name)
        given = [part for part in name.children if not is_nothing(part)]
        names = tuple(str(part) for part in given if _is_text(part))
        if len(names) < len(given):
            raise self._wrong("a list holds names in quotes, or conditions", name)
        if len(names) > 1 and not parameter.kind.is_entity:
            raise self._wrong(f"{parameter.name} is one {parameter.kind}, not a list", name)
        return names if len(names) > 1 else names[0]

    def _may_be_year(self, name: Token, parameter: Parameter | None) -> bool:
        """Whether a year means a condition: always after the last argument, elsewhere only without quotes.

        The one argument of `get_movie` is always a name: films are called 1917 and 2012.
        """
        if parameter is None:
            return True
        column = self.table.column("year")
        has_years = column is not None and column.type is Type.YEAR
        is_title = parameter.kind is ParameterKind.MOVIE and len(self.table.parameters) == 1
        return has_years and parameter.kind.is_entity and name.type == "WORD" and not is_title

    def _take_year(self, name: Token) -> bool:
        """Turn a year into `eq(year,...)`, if the table has years."""
        column = self.table.column("year")
        if column is None or not _YEAR.fullmatch(name):
            return False
        self.conditions.append(Condition(Operator.EQ, column.name, str(name)))
        return True

    def _previous(self, star: Token) -> Previous:
        if not self._has_previous:
            message = "* is what the statement before gave, and there is none"
            raise error(ErrorKind.NOTHING_BEFORE, message, self._text, position(star))
        return Previous()


def _is_text(node: Node) -> TypeGuard[Token]:
    return isinstance(node, Token) and node.type != "STAR"


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
