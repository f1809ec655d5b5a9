"""Which rows conditions let through, and in what order rows stand."""

import ast

import pytest

from crag.core.deadline import Deadline
from crag.graph.client import KgClient, KgSession
from crag.graph.conditions import Comparer
from crag.graph.context import LookupContext
from crag.graph.language import Condition, Key, Operator
from crag.graph.results import Cell, Row
from crag.graph.schema import load_schema
from crag.text.dates import Calendar
from tests.graph.conftest import WEDNESDAY
from tests.graph.faulty_server import unused_address

EQ, NEQ, GE, LE = Operator.EQ, Operator.NEQ, Operator.GE, Operator.LE


def comparer(domain: str, table: str) -> Comparer:
    """No server is asked by a comparison."""
    with KgClient(unused_address()) as client:
        context = LookupContext(KgSession(client.batch(Deadline(600.0)), 0), WEDNESDAY)
    return Comparer(load_schema(domain).tables[table], context, Calendar.CIVIL)


def passes(domain: str, table: str, cells: dict[str, Cell], condition: Condition) -> bool:
    return bool(comparer(domain, table).matching([Row("x", cells)], [condition]))


CASES = """
get_movie release_date | "2020-05-17" | eq 2020 | True
get_movie release_date | "2020-05-17" | eq 2020-06 | False
get_movie release_date | "2020-05-17" | neq 2020-06 | True
get_movie release_date | "2020" | eq 2020 | True
get_movie release_date | "2020" | eq 2020-05-17 | False
get_movie release_date | "2020" | ge 2020-05 | False
get_movie release_date | "2020" | le 2020-05 | False
get_movie release_date | "2020" | ge 2020 | True
get_movie release_date | "2020-02" | le 2020-02-29 | True
get_movie release_date | "2024-02-27" | eq yesterday | True
get_movie release_date | "2024-02-20" | eq last week | True
get_movie release_date | "not known" | eq 2020 | False
get_movie release_date | "2023-02-30" | eq 2023 | False
get_movie release_date | None | neq 2020 | False
get_movie revenue | 900 | ge 900 | True
get_movie revenue | 900 | le 899.9 | False
get_movie revenue | 2_500_000 | ge 2.5 million | True
get_movie revenue | 2_500_000 | ge $2,500,001 | False
get_movie revenue | 2_500_000 | ge 2.5M | True
get_movie revenue | 2_500_000 | ge $2.6m | False
get_movie revenue | 2_500_000_000 | ge 15B | False
get_movie revenue | 2_500_000 | ge 2.4e6 | True
get_movie revenue | 2_500_000 | ge 3 lakh | True
get_movie revenue | 2_500_000 | le 3 millions | True
get_movie revenue | 2_500_000 | ge 1 bn | False
get_movie length | 95 | ge 90m | True
get_movie rating | 0.4 | le .5 | True
get_movie revenue | -2 | ge -$1.25 | False
get_movie revenue | -2 | le ($1.25) | True
get_movie revenue | -2 | le −1.25 | True
get_movie revenue | "73,601" | eq 73601 | True
get_movie revenue | 900 | neq 900 | False
get_movie revenue | None | le 5 | False
get_movie_person_cast name | "Ann Lee" | eq ann lee | True
get_movie_person_cast name | "Ann Lee" | neq lee | False
get_movie_person_cast name | "Ann Leeds" | eq lee | False
get_movie_person_cast name | "Ann Leeds" | neq lee | True
get_movie_person_cast character | "James Bond (007)" | eq james bond | True
get_movie_person_cast gender | "female" | eq actress | True
get_movie_person_cast gender | "male" | eq 1 | False
get_movie_person_cast genres | ("Drama", "Science Fiction") | eq science fiction | True
get_movie_person_cast genres | ("Drama",) | neq comedy | True
get_movie_person_oscar winner | True | eq True | True
get_movie_person_oscar winner | True | eq false | False
get_movie_person_oscar winner | True | neq false | True
get_movie_person_oscar category | "DIRECTING" | eq best director | True
"""


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_a_cell_meets_a_condition(case: str) -> None:
    column, cell, condition, expected = case.split(" | ")
    table, key = column.split()
    operator, wanted = condition.split(" ", 1)
    cells = {key: ast.literal_eval(cell)}
    assert str(passes("movie", table, cells, Condition(Operator(operator), key, wanted))) == expected


@pytest.mark.parametrize(
    ("ours", "operator", "theirs", "expected"),
    [
        (1, GE, 1, False),  # strict between two keys
        (2, GE, 1, True),
        (1, LE, 2, True),
        ("1", EQ, 1, True),  # soccer mixes types
        ("10", GE, "9", True),
        ("1", NEQ, 1, False),
        (1, EQ, None, False),
    ],
)
def test_two_cells_of_a_row_are_compared_as_numbers_and_strictly(
    ours: Cell, operator: Operator, theirs: Cell, expected: bool
) -> None:
    cells = {"GF": ours, "GA": theirs}
    assert passes("sports", "get_soccer_on_date", cells, Condition(operator, "GF", Key("GA"))) is expected


@pytest.mark.parametrize(
    ("key", "descending", "order"),
    [
        ("revenue", True, "20341"),
        ("revenue", False, "43021"),
        ("release_date", False, "31204"),
        ("date", True, "02134"),  # by another name of the key
    ],
)
def test_ties_go_by_release_date_and_rows_without_the_key_come_last(key: str, *, descending: bool, order: str) -> None:
    films = [(5, "2000-05"), (None, "1999"), (70, "2000"), (5, "1998-01-01"), (5, None)]
    rows = [Row(str(place), {"revenue": a, "release_date": b}) for place, (a, b) in enumerate(films)]
    found = comparer("movie", "get_movie").ordered(rows, key, descending=descending)
    assert "".join(row.entity for row in found) == order
