"""The canonical form: one text per program, and the program comes back from it."""

import pytest

from agents.kg.language import Average, Call, Condition, Key, Operator, Previous, Program, Sort, parse, render
from agents.kg.schema import Domain
from benchmarks.language_fuzz import round_trips


def test_a_thousand_random_programs_come_back() -> None:
    assert round_trips(1000, seed=3) == []


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        (Call("get_movie", ("a\n b\t",)), 'get_movie("a b")'),
        (Call("get_movie", ('"\\',)), r'get_movie("\"\\")'),
        (Call("get_movie"), "get_movie()"),
        (Call("no_such_table", (), (Condition(Operator.EQ, "a", "b"),)), 'no_such_table(eq(a,"b"))'),
        (Call("get_movie", (Previous(),), take="all", count=True), 'ALL get_movie(*)["len"]'),
        (
            Call("get_stock_price", ("x",), (Condition(Operator.GE, "close", Key("open")),), take=2),
            'get_stock_price("x",None,None,ge(close,open))[:2]',
        ),
        (Sort(key="population total", descending=True), 'sort(None,"-population total")'),
        (Sort((Condition(Operator.EQ, "and", Previous()),)), 'sort(eq("and",*))'),
        (Average(), "average"),
    ],
)
def test_what_a_hand_made_statement_looks_like(statement: Call | Sort | Average, text: str) -> None:
    assert render(Program((statement,))) == text


def test_awkward_keys_of_an_info_box_come_back() -> None:
    for key in ("None", "and", "-x", "a,b", "a]b", 'say "x"', "2012", "área (km2)", "eq(a,b)", "len"):
        call = Call("get_open", ("x",), (Condition(Operator.EQ, key, "1"),), select=None if key == "len" else key)
        program = Program((call, Sort(key=key.lstrip("-"), descending=True)))
        assert parse(render(program), Domain.OPEN) == program


def test_nothing_is_none() -> None:
    assert render(Program()) == "None"
