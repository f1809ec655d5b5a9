"""Random programs: repeatable, over all of a domain, with the names that are given."""

from random import Random

import pytest

from agents.kg.language import Average, Call, Condition, Key, Operator, Previous, Sort
from agents.kg.language.sample import random_program
from agents.kg.schema import Domain, ParameterKind, load_schema


@pytest.mark.parametrize("domain", list(Domain))
def test_every_table_operator_and_form_is_drawn(domain: Domain) -> None:
    rng = Random(1)
    statements = [statement for _ in range(600) for statement in random_program(domain, rng).statements]
    calls = [statement for statement in statements if isinstance(statement, Call)]
    assert {call.table for call in calls} == {table.name for table in load_schema(domain).callable_tables}
    conditions: list[Condition] = [condition for call in calls for condition in call.conditions]
    assert {condition.operator for condition in conditions} == set(Operator)
    assert {type(condition.value) for condition in conditions} == {str, Key, Previous}
    assert {type(statement) for statement in statements} == {Call, Sort, Average}
    assert any(isinstance(argument, tuple) for call in calls for argument in call.arguments)


def test_the_same_seed_gives_the_same_program() -> None:
    assert [random_program("movie", Random(5)) for _ in range(2)] == [random_program("movie", Random(5))] * 2


def test_given_names_are_used() -> None:
    rng = Random(1)
    names = {ParameterKind.TITLE: ("Sirius",)}
    arguments = {
        argument
        for _ in range(50)
        for statement in random_program(Domain.OPEN, rng, names).statements
        if isinstance(statement, Call)
        for argument in statement.arguments
    }
    assert arguments - {Previous()} == {"Sirius", ("Sirius", "Sirius")}
