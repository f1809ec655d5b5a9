"""Reads one call by its table: the arguments and conditions in its brackets, and the brackets after it."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeGuard

from lark import Token, Tree
from rapidfuzz import fuzz, process

from crag.graph.language.faults import ErrorKind, KgQueryError, error
from crag.graph.language.program import Argument, Condition, Key, Operator, Previous, Take
from crag.graph.language.syntax import Node, parts, position
from crag.graph.schema import COUNT_KEY, Column, Parameter, ParameterKind, Schema, Table, Type, bare_name

MAX_NAMES_OFFERED = 12
"""How many names an error message offers; the repair prompt quotes it and must stay short."""

_WORDS = re.compile(
    r"""
    [A-Z]?[a-z]+          # a word in small letters, also one of camel case
    | [A-Z]+(?![a-z])     # capitals, without the first letter of the next word: "GET" in "GETMovie"
    | [0-9]+
    """,
    re.VERBOSE,
)
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
    """Whether a slot is empty, `None`, an empty string or an empty list; all mean "any"."""
    if isinstance(slot, Token):
        is_word_for_nothing = slot.type == "WORD" and slot.lower() in _NOTHING
        return not slot or is_word_for_nothing
    if slot.data not in {"slot", "group"}:
        return False
    return all(map(is_nothing, slot.children))


def _holds_conditions(group: Tree[Token]) -> bool:
    """Whether a list has an entry that is neither a name nor empty."""
    return any(isinstance(part, Tree) and part.data != "slot" for part in parts(group))


class BoundCall:
    """A call or sort bound to a table; raises `KgQueryError` if it does not fit.

    The constructor sorts what is in the brackets into names and `conditions`. `take_years_of_arguments` or
    `take_years_of_order` then makes conditions of the years among the names; `arguments` (of a table) or `order` (of a
    sort) reads the other names. `read_trailers` reads the brackets after the call: `select`, `count` and `take`. `rest`
    are the brackets after a key that holds another table's rows.
    """

    def __init__(
        self,
        text: str,
        schema: Schema,
        table: Table,
        body: Tree[Token],
        *,
        has_previous: bool,
    ) -> None:
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

        # The name before the brackets has led the caller to the table
        _, slots, trailers = body.children
        self._trailers = parts(trailers)
        self._collect(parts(slots))

    # --- names and conditions -----------------------------------------------------------------------------------------

    def take_years_of_arguments(self) -> None:
        """Move the years among the arguments of a table to the conditions."""
        for index, name in enumerate(self._names):
            if _is_text(name) and self._may_be_year(name, self._parameter(index)):
                self._take_year(index, name)

    def take_years_of_order(self) -> None:
        """Move the years before the key of a `sort` to the conditions."""
        for index, name in enumerate(self._names):
            if is_nothing(name):
                continue
            if not _is_text(name) or not self._take_year(index, name):
                return

    def _take_year(self, index: int, name: Token) -> bool:
        """Make `eq(year,...)` of a name if it is a year and the table has years; its place is then empty."""
        column = self.table.column("year")
        if column is None or not _YEAR.fullmatch(name):
            return False
        self.conditions.append(Condition(Operator.EQ, column.name, str(name)))
        self._names[index] = Tree("slot", [])
        return True

    def arguments(self) -> tuple[Argument, ...]:
        """The arguments of a table, without trailing None."""
        arguments = [self._argument(name, self._parameter(index)) for index, name in enumerate(self._names)]

        # `get_x("a", None)` and `get_x("a")` must give equal programs
        while arguments and arguments[-1] is None:
            arguments.pop()
        return tuple(arguments)

    def order(self) -> tuple[str | None, bool]:
        """The key of a `sort` and whether it is descending."""
        key: str | None = None
        descending = False
        for name in self._names:
            if is_nothing(name):
                continue
            if not _is_text(name) or key is not None:
                raise self._wrong("sort takes conditions or None, then one key, with - for descending", name)

            # Models write dashes and minus signs for the hyphen
            without_sign = name.lstrip("-–—−").strip()
            key = self._key(name.update(value=without_sign))
            descending = without_sign != name
        return key, descending

    def _collect(self, slots: Iterable[Node]) -> None:
        """Sort what is in the brackets into conditions and names. A list of conditions is read like its content."""
        for slot in slots:
            match slot:
                case Tree(data="invocation", children=[Token() as name, *_]):
                    self.conditions.append(self._operation(name, slot))
                case Tree(data="comparison", children=[Token() as left, Token() as operator, Token() as right]):
                    self._comparison(left, operator, right)
                case Tree(data="group") if _holds_conditions(slot):
                    # Empty entries are slips of the writer: `[eq(a,b),]`
                    filled_slots = [part for part in parts(slot) if not is_nothing(part)]
                    self._collect(filled_slots)
                case _:
                    self._names.append(slot)

    def _operation(self, name: Token, item: Tree[Token]) -> Condition:
        """Read a condition such as `ge(year,"2012")`."""
        bare = bare_name(name)
        operator = _OPERATORS.get(bare)
        if operator is None:
            # Each mistake gets advice of its own, which the repair prompt shows
            is_call = bare == "sort" or find_table(self._schema, name) is not None
            if is_call:
                raise self._wrong("a call cannot stand in a call: write it on the line before, and * here", item)
            raise self._wrong(f"{name} is not an operator: eq, neq, ge, le; names go in quotes", item)

        _, slots_node, trailers_node = item.children
        slots = parts(slots_node)
        trailers = parts(trailers_node)
        match slots:
            case [Token() as key, Token() as value] if key.type != "STAR" and not trailers:
                return self._condition(operator, key, value)
            case _:
                raise self._wrong(f"write {operator}(key,value), one key and one value", item)

    def _comparison(self, left: Token, operator: Token, right: Token) -> None:
        """Read a condition such as `year >= 2012`, or a named argument such as `person="x"`."""
        # A named argument only if a parameter has this name and no value yet
        index = self._parameter_index(left) if operator == "=" else None
        is_free = index is not None and all(map(is_nothing, self._names[index : index + 1]))
        if index is None or not is_free:
            self.conditions.append(self._condition(_OPERATORS[operator], left, right))
            return

        # Arguments that are left out before it are empty.
        missing = index + 1 - len(self._names)
        self._names += [Tree("slot", [])] * missing
        self._names[index] = right

    def _parameter(self, index: int) -> Parameter | None:
        """The parameter of an argument; None for an argument too many."""
        parameters = self.table.parameters
        return parameters[index] if index < len(parameters) else None

    def _parameter_index(self, name: Token) -> int | None:
        for index, parameter in enumerate(self.table.parameters):
            if bare_name(parameter.name) == bare_name(name):
                return index
        return None

    def _condition(self, operator: Operator, key: Token, value: Token) -> Condition:
        name = self._key(key)
        if value.type == "STAR":
            return Condition(operator, name, self._previous(value))
        if is_nothing(value):
            raise self._wrong(f"{operator}({name}, ...) needs a value", value)

        column = self.table.columns.get(name)
        other_key = self._compared_key(column, value)
        if other_key is not None:
            return Condition(operator, name, other_key)

        # `True` and `true` must give equal programs
        is_flag = column is not None and column.type is Type.FLAG
        return Condition(operator, name, value.lower() if is_flag else str(value))

    def _compared_key(self, column: Column | None, value: Token) -> Key | None:
        """The key that a condition compares with, if its value is one: in quotes only where no value can be meant."""
        second_column = self.table.column(value)
        if column is None or second_column is None or second_column is column:
            return None

        are_ordered_alike = column.type in _ORDERED and _ORDERED[column.type] == _ORDERED.get(second_column.type)
        if are_ordered_alike or value.type == "WORD":
            return Key(second_column.name)
        return None

    def _argument(self, name: Node, parameter: Parameter | None) -> Argument:
        """Read one argument; `parameter` is None for one too many."""
        if is_nothing(name):
            return None
        if parameter is None:
            takes = ", ".join(parameter.name for parameter in self.table.parameters)
            raise self._wrong(f"{self.table.name} takes {takes}, then conditions such as eq(key,value)", name)
        if isinstance(name, Token):
            return self._previous(name) if name.type == "STAR" else str(name)
        return self._list_argument(name, parameter)

    def _list_argument(self, node: Tree[Token], parameter: Parameter) -> Argument:
        """The names of a list; a list of one name is that name."""
        names: list[str] = []
        for entry in node.children:
            if is_nothing(entry):
                continue
            if not _is_text(entry):
                raise self._wrong("a list holds names in quotes, or conditions", node)
            names.append(str(entry))

        if len(names) == 1:
            return names[0]
        if not parameter.kind.is_entity:
            raise self._wrong(f"{parameter.name} is one {parameter.kind}, not a list", node)
        return tuple(names)

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

    def _previous(self, star: Token) -> Previous:
        if not self._has_previous:
            message = "* is what the statement before gave, and there is none"
            raise error(ErrorKind.NOTHING_BEFORE, message, self._text, position(star))
        return Previous()

    # --- the brackets after the call ----------------------------------------------------------------------------------

    def read_trailers(self, take: str) -> None:
        """Read the word before the call and the brackets after it."""
        # `ALL get_x(...)` or `3 get_x(...)`
        if take:
            self.take = "all" if take.lower() == "all" else self._row_count(take, self.position)

        for index, trailer in enumerate(self._trailers):
            if isinstance(trailer, Tree) and trailer.data == "sliced":
                self._read_slice(trailer)
                continue

            # `["a","b"]` asks for two keys, and a statement gives only one
            value, *further_values = parts(trailer)
            if further_values or not _is_text(value):
                raise self._wrong(self._one_key, trailer)
            if self._is_row_number(value):
                self._read_row_number(value, trailer)
                continue

            # After a key that holds another table's rows, the rest is about those rows.
            has_key = self.select is not None and not self.count
            if has_key and not self._is_count(value) and self._selects_rows():
                self.rest = self._trailers[index:]
                return
            self._read_key(value, trailer)

    def _read_slice(self, trailer: Tree[Token]) -> None:
        """Read `[:3]`, `[0:3]` or `[:]`."""
        start, end = trailer.children
        if start is not None and start != "0":
            raise self._wrong(_FROM_FIRST, trailer)
        self.take = "all" if end is None else self._row_count(str(end), position(end))

    def _is_row_number(self, value: Token) -> bool:
        return value.type == "WORD" and value.lstrip("-").isdecimal()

    def _read_row_number(self, value: Token, trailer: Node) -> None:
        """Read `[0]`, the first row; other rows have no numbers."""
        if value != "0":
            raise self._wrong(_FROM_FIRST, trailer)
        self.take = 1

    def _is_count(self, value: Token) -> bool:
        """Whether it is `len`, unless a key of the table is called so."""
        return bare_name(value) == COUNT_KEY and self.table.column(value) is None

    def _selects_rows(self) -> bool:
        """Whether the selected key holds rows of another table."""
        column = self.table.columns.get(self.select or "")
        return column is not None and bool(column.rows_of)

    def _read_key(self, value: Token, trailer: Node) -> None:
        """Read `["key"]` or `["len"]`, in this order and each once."""
        if self.count:
            raise self._wrong(f'{self._one_key}, then ["len"] or [:n]', trailer)
        if self._is_count(value):
            self.count = True
        elif self.select is None:
            self.select = self._key(value)
        else:
            raise self._wrong(f'{self._one_key}, then ["len"] or [:n]', trailer)

    @property
    def _one_key(self) -> str:
        return f'one key in brackets, such as ["{next(iter(self.table.columns))}"]'

    def _row_count(self, digits: str, index: int) -> int:
        if not _NUMBER.fullmatch(digits) or int(digits) < 1:
            raise error(ErrorKind.WRONG_ARGUMENT, "the number of rows must be 1 or more", self._text, index)
        return int(digits)

    # --- keys and errors ----------------------------------------------------------------------------------------------

    def _key(self, name: Token) -> str:
        """The canonical name of a key of the table."""
        column = self.table.column(name)
        if column is not None:
            return column.name
        # An info box may have any key, so no name can be called wrong
        if self.table.extra_keys and bare_name(name) and not is_nothing(name):
            return str(name)

        offered = ", ".join([*nearest(name, self.table.columns), COUNT_KEY])
        ellipsis = ", ..." if len(self.table.columns) > MAX_NAMES_OFFERED else ""
        message = f"{self.table.name} has no key {str(name)!r}; it has {offered}{ellipsis}"
        raise error(ErrorKind.UNKNOWN_KEY, message, self._text, position(name))

    def _wrong(self, message: str, node: Node) -> KgQueryError:
        return error(ErrorKind.WRONG_ARGUMENT, message, self._text, position(node))


def _is_text(node: Node) -> TypeGuard[Token]:
    return isinstance(node, Token) and node.type != "STAR"


def find_table(schema: Schema, name: str) -> Table | None:
    """The table that is meant, if unambiguous: `GET_MOVIE`, `getMovie`, `get_movie_info` are `get_movie`.

    A name may leave words out, as in `get_market_cap`, if only one table has all its words.
    """
    tables = schema.callable_tables
    bare = bare_name(name)
    words = _words(name)

    # From the strictest comparison to the loosest; the first that finds anything decides.
    candidates = [table for table in tables if bare_name(table.name) == bare]
    if not candidates:
        candidates = [table for table in tables if _words(table.name) == words]
    if not candidates and words:
        candidates = [table for table in tables if words < _words(table.name)]

    if len(candidates) != 1:
        return None
    return candidates[0]


def nearest(name: str, names: Iterable[str]) -> list[str]:
    """The most similar names, best first, at most `MAX_NAMES_OFFERED`."""
    matches = process.extract(
        name,
        list(names),
        scorer=fuzz.WRatio,
        processor=bare_name,
        limit=MAX_NAMES_OFFERED,
    )
    return [match for match, _, _ in matches]


@lru_cache(1024)
def _words(name: str) -> frozenset[str]:
    """The words of a table's name, in the singular and without fillers."""
    words = {word.lower().removesuffix("s") for word in _WORDS.findall(name)}
    return frozenset(words - _FILLERS)
