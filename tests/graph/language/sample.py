"""Random programs for tests and fuzzing, each of which `parse` reads back from its canonical form."""

from collections.abc import Mapping, Sequence
from random import Random

from crag.graph.language.constraint import MAX_WRITTEN_STATEMENTS
from crag.graph.language.program import (
    Argument,
    Average,
    Call,
    Condition,
    Key,
    Operator,
    Previous,
    Program,
    Sort,
    Statement,
    Take,
)
from crag.graph.schema import Column, Domain, Parameter, ParameterKind, Schema, Table, Type, load_schema

Names = Mapping[ParameterKind, Sequence[str]]
"""What a call may name, by kind of argument."""

_AWKWARD_NAMES = (
    *("a", "two words", "Upper Case", "o'neill's", 'the "inner" quote', "back\\slash", "comma, (bracket) [list]"),
    *("1917", "None", "café 東京", "eq(year,2012)"),
)
_DATES = ("2024", "2024-02", "2024-02-28", "yesterday", "last friday")
_YEARS = ("1999", "2012")
_VALUES = {
    Type.NUMBER: ("0", "7.5", "1000000"),
    Type.MONEY: ("0", "12.50"),
    Type.DATE: _DATES,
    Type.YEAR: _YEARS,
    Type.YEARS: _YEARS,
    Type.FLAG: ("true", "false"),
}


def random_program(domain: Domain | str, rng: Random, names: Names | None = None) -> Program:
    """A well-formed program over any tables, keys and operators of a domain; most such programs find nothing.

    Without `names`, it uses names that are awkward to write.
    """
    return _Sampler(load_schema(domain), rng, names or {}).program()


class _Sampler:
    def __init__(self, schema: Schema, rng: Random, names: Names) -> None:
        self._schema = schema
        self._rng = rng
        self._names = names
        self._texts = [name for kind, group in names.items() if kind.is_entity for name in group] or _AWKWARD_NAMES
        self._rows: Table | None = None
        self._is_first = True

    def program(self) -> Program:
        return Program(tuple(self._statement() for _ in range(self._rng.randint(0, MAX_WRITTEN_STATEMENTS))))

    def _statement(self) -> Statement:
        kind = self._rng.choice(["call", "call", "sort", "average"])
        if self._rows is None or kind == "call":
            return self._call(self._rng.choice(self._schema.callable_tables))
        if kind == "sort":
            return self._sort(self._rows)
        self._rows = None
        return Average()

    def _call(self, table: Table) -> Call:
        conditions = self._conditions(table)
        arguments = [self._argument(parameter) for parameter in table.parameters]
        while arguments and arguments[-1] is None:
            arguments.pop()
        if not arguments and not conditions:
            arguments = [self._name(table.parameters[0])]
        self._is_first = False
        select = self._rng.choice([None, *table.columns])
        leads_to = table.columns[select].rows_of if select else None
        self._rows = self._schema.tables[leads_to] if leads_to else table
        return Call(table.name, tuple(arguments), conditions, select, self._one_in(4), self._take())

    def _sort(self, table: Table) -> Sort:
        keys = [column.name for column in table.columns.values() if column.type is not Type.ROWS]
        key, select = self._rng.choice([None, *keys]), self._rng.choice([None, *keys])
        descending = key is not None and self._one_in(2)
        return Sort(self._conditions(table), key, descending, select, self._one_in(4), self._take())

    def _take(self) -> Take:
        return self._rng.choice([None, "all", self._rng.randint(1, 20)])

    def _argument(self, parameter: Parameter) -> Argument:
        if self._one_in(3):
            return None
        if self._one_in(6) and not self._is_first:
            return Previous()
        if self._one_in(6) and parameter.kind.is_entity:
            return (self._name(parameter), self._name(parameter))
        return self._name(parameter)

    def _name(self, parameter: Parameter) -> str:
        usual = {ParameterKind.DATE: _DATES, ParameterKind.YEAR: _YEARS}.get(parameter.kind, _AWKWARD_NAMES)
        return self._rng.choice(self._names.get(parameter.kind) or usual)

    def _conditions(self, table: Table) -> tuple[Condition, ...]:
        columns = [column for column in table.columns.values() if column.type is not Type.ROWS]
        count = self._rng.choice([0, 0, 1, 2, 3])
        return tuple(self._condition(self._rng.choice(columns), columns) for _ in range(count))

    def _condition(self, column: Column, columns: Sequence[Column]) -> Condition:
        operator = self._rng.choice(list(Operator))
        others = [other.name for other in columns if other.type is column.type and other is not column]
        if others and self._one_in(4):
            return Condition(operator, column.name, Key(self._rng.choice(others)))
        if self._one_in(6) and not self._is_first:
            return Condition(operator, column.name, Previous())
        return Condition(operator, column.name, self._rng.choice(_VALUES.get(column.type, self._texts)))

    def _one_in(self, count: int) -> bool:
        return self._rng.randrange(count) == 0
