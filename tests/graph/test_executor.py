"""The executor against a real server, a failing one, and a naive twin that reads the graph's tables itself."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from crag.core.deadline import Deadline
from crag.graph.client import KgClient
from crag.graph.executor import Executor, ProgramResult, Task
from crag.graph.language import Call, Program, render
from crag.graph.results import Status
from crag.graph.schema import Domain, load_schema
from tests.graph.conftest import WEDNESDAY, Run
from tests.graph.faulty_server import FaultyServer, unused_address
from tests.graph.language.sample import random_program as any_program
from tests.graph.naive import naive, random_program, table_of


def run_against(address: str, domain: str, program: str) -> ProgramResult:
    with KgClient(address) as client:
        return Executor(client).run_batch([Task(Domain(domain), program, WEDNESDAY)], Deadline(600.0))[0]


def statuses(outcome: ProgramResult) -> list[str]:
    return [str(result.status) for result in outcome.results]


# States


def test_each_question_of_a_batch_gets_its_own_outcome(executor: Executor) -> None:
    programs = [
        'get_person("ann lee")["birthday"]',
        'get_person("nobody")',
        "what?",
        'get_person("cy dee")["birthday"]',
    ] * 9
    outcomes = executor.run_batch([Task(Domain.MOVIE, program, WEDNESDAY) for program in programs], Deadline(600.0))
    assert [statuses(outcome) for outcome in outcomes] == [["ok"], ["not_found"], ["invalid"], ["ok"]] * 9
    # One for each name, and one for other spellings of the unknown one
    assert sum(outcome.request_count for outcome in outcomes) == 4
    assert executor.run_batch([], Deadline(600.0)) == []


@pytest.mark.parametrize("fault", [KeyError("name"), TypeError("None"), ValueError("x"), RecursionError()])
@pytest.mark.parametrize(
    "part", ["crag.graph.tables.movie.find_person", "crag.graph.program_run.verbalise", "crag.graph.executor.parse"]
)
def test_a_fault_of_ours_is_neither_a_silent_graph_nor_an_invalid_call(
    executor: Executor, monkeypatch: pytest.MonkeyPatch, part: str, fault: Exception
) -> None:
    def broken(*arguments: Any, **options: Any) -> None:
        raise fault

    monkeypatch.setattr(part, broken)
    programs = ['get_person("ann lee")', "what?"]
    with pytest.raises(type(fault)):
        executor.run_batch([Task(Domain.MOVIE, program, None) for program in programs], Deadline(600.0))


def test_a_fault_of_ours_in_a_condition_comes_through(executor: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crag.graph.conditions.normalise_name", lambda name: name.no_such_attribute)
    task = Task(Domain.MOVIE, 'get_movie_person_cast("red kite",None,ge(character,"a"))', None)
    with pytest.raises(AttributeError):
        executor.run_batch([task], Deadline(600.0))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ('get_person("nobody")["birthday"]\nsort(None,-birthday)["name"]', ["not_found", "not_found"]),
        ('get_person("nobody")["birthday"]\naverage', ["not_found", "not_found"]),
        ('get_person("nobody")["name"]\nget_person(*)["birthday"]', ["not_found", "not_found"]),
        ('get_movie("red kite")["title"]\naverage', ["ok", "invalid"]),  # a 2 in a title is not a number
        ('get_person("nobody")\nget_person("ann lee")["birthday"]', ["not_found", "ok"]),
        ('get_movie(["red kite","no such film"])["title"]', ["not_found"]),
        ('get_movie_person_cast(["red kite","borough"],["ann lee","bob ray"])["name"]', ["invalid"]),
    ],
)
def test_what_comes_after_a_failure(run: Run, program: str, expected: list[str]) -> None:
    assert statuses(run("movie", program)) == expected


# Chains


def test_a_star_passes_over_names_that_are_not_known(run: Run) -> None:
    result = run(
        "movie", 'ALL get_movie_person_oscar(None,None,eq(year,"2001"))["film"]\nget_movie(*)["year"]'
    ).results[-1]
    assert result.values == (2000,)
    names = 'ALL get_movie_person_oscar(None,None,[ge(year,"2000"),le(year,"2001")])["name"]\nget_person(*)["name"]'
    result = run("movie", names).results[-1]
    assert result.values == ("Cy Dee", "Bob Ray")
    assert any("Set Decoration" in remark for remark in result.explanation)


# A server that fails


@pytest.mark.parametrize("domain", [domain.value for domain in Domain])
def test_a_dead_server_is_never_an_empty_answer(domain: str) -> None:
    address = unused_address()
    for table in load_schema(domain).callable_tables:
        for count in (False, True):
            argument = "2018" if table.parameters[0].kind.value == "year" else "abc"
            call = Call(table.name, (argument,), count=count, take="all")
            assert statuses(run_against(address, domain, render(Program((call,))))) == ["kg_down"]


def refuse(*names: object) -> Any:
    """A table of films and their years in which some cannot be read: the server answers them with the wrong shape."""
    films = {
        number: {"title": f"Film {number}", "id": number, "release_date": f"200{number}-01-01"} for number in range(4)
    }
    return lambda payload: 5 if payload["query"] in names else films[payload["query"]]


@pytest.fixture
def films() -> Iterator[FaultyServer]:
    with FaultyServer() as server:
        server.results["/movie/get_person_info"] = [{"name": "Ann Lee", "id": 1, "acted_movies": [0, 1, 2, 3]}]
        yield server


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ('ALL get_movie_person_cast(None,"ann lee",eq(year,"2001"))["movie_name"]', ["kg_down"]),  # the unread one
        ('ALL get_movie_person_cast(None,"ann lee")["movie_name"]\nsort(eq(year,"2001"),year)["movie_name"]',
         ["ok", "kg_down"]),
    ],
)  # fmt: skip
def test_what_could_not_be_read_is_not_taken_for_missing(
    films: FaultyServer, program: str, expected: list[str]
) -> None:
    films.results["/movie/get_movie_info_by_id"] = refuse(1)
    outcome = run_against(films.url, "movie", program)
    assert statuses(outcome) == expected
    assert outcome.results[-1].values == ()
    assert outcome.results[-1].partial
    assert "1 of 4 records could not be read" in " ".join(outcome.results[-1].explanation)


def test_a_count_without_the_unread_records_is_the_least_that_it_can_be(films: FaultyServer) -> None:
    films.results["/movie/get_movie_info_by_id"] = refuse(1)
    (result,) = run_against(films.url, "movie", 'get_movie_person_cast(None,"ann lee",ge(year,"2001"))["len"]').results
    assert (result.status, result.values, result.partial) == (Status.OK, (2,), True)
    assert "is at least 2." in result.text


def test_running_out_of_calls_is_not_having_found_nothing(films: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    films.results["/movie/get_movie_info_by_id"] = refuse()
    program = 'ALL get_movie_person_cast(None,"ann lee",eq(year,"2003"))["movie_name"]\nget_movie("x")'
    monkeypatch.setattr("crag.graph.executor.MAX_REQUESTS", 3)
    outcome = run_against(films.url, "movie", program)
    assert statuses(outcome) == ["kg_down", "kg_down"]
    assert outcome.request_count == 3
    assert "used up its requests" in " ".join(outcome.results[1].explanation)


def test_more_rows_than_allowed_are_cut_and_reported(graph_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crag.graph.program_run.MAX_ROWS", 3)
    outcome = run_against(graph_address, "finance", 'get_stock_price("abc")["open"]')
    assert len(outcome.results[0].values) == 3
    assert "only the first 3 of 4 days were looked at" in outcome.results[0].explanation


# The same, computed naively


WEDNESDAY_EVENING = WEDNESDAY.replace(hour=20)
"""All sessions of the small graph are over."""


def results_of(executor: Executor, programs: Sequence[tuple[Domain, Program]]) -> list[tuple[object, ...]]:
    tasks = [Task(domain, program, WEDNESDAY_EVENING) for domain, program in programs]
    outcomes = executor.run_batch(tasks, Deadline(600.0))
    allowed = {Status.OK, Status.NOT_FOUND}
    assert all(result.status in allowed for outcome in outcomes for result in outcome.results)
    return [outcome.results[-1].values for outcome in outcomes]


def test_random_programs_give_what_a_naive_executor_gives(executor: Executor) -> None:
    rng = Random(7)
    programs = [random_program(rng) for _ in range(300)]
    found = results_of(executor, programs)
    expected = [naive(program, load_schema(domain).tables[table_of(program)].take.replace("first", "1"))
                for domain, program in programs]  # fmt: skip
    wrong = [
        (render(program), ours, theirs)
        for (_, program), ours, theirs in zip(programs, found, expected, strict=True)
        if ours != theirs
    ]
    assert not wrong
    assert sum(map(bool, expected)) > 100  # most are about something


def test_nothing_that_can_be_written_breaks_the_executor(executor: Executor) -> None:
    rng = Random(3)
    names = ["The Red Kite", "Ann Lee", "Zoe Vox", "Hello Moon", "ABC", "Everton", "Chicago Bulls", "Tall Tower"]
    kinds = {
        p.kind: names for d in Domain for t in load_schema(d).callable_tables for p in t.parameters if p.kind.is_entity
    }
    tasks = [Task(domain, any_program(domain, rng, kinds), WEDNESDAY) for domain in Domain for _ in range(60)]
    outcomes = executor.run_batch(tasks, Deadline(600.0))
    results = [result for outcome in outcomes for result in outcome.results]
    assert {result.status for result in results} >= {Status.OK, Status.NOT_FOUND, Status.INVALID}
    assert all(len(result.text) < 4000 for result in results)
    assert all(bool(result.text) is (result.status is Status.OK) for result in results)
