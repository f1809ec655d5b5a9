"""A reply of the graph in an unexpected form costs its call at most. It is never reported as a fault of our code.

Each value of each reply of the small graph is replaced by another kind of JSON, and the call is run again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from crag.graph.client import KgSession, RequestResult, read_result
from crag.graph.derive import CallResults, answer_from_values
from crag.graph.endpoints import Json, Request
from crag.graph.language import parse
from crag.graph.program_run import ProgramRun
from crag.graph.results import KgError, KgReplyError, Status
from crag.graph.schema import Domain
from crag.mock_api.answers import build_answers
from crag.mock_api.tables import load_tables
from tests.graph.conftest import WEDNESDAY
from tests.graph.faulty_server import FaultyServer
from tests.graph.language.cases import lines
from tests.graph.small_graph import write_graph
from tests.graph.test_executor import run_against, statuses

STRANGE = [
    "null", "true", "5", "-1", "1.5", "1e999", "9" * 400, '""', '"x"', '"\u00b2\u00b2\u00b2\u00b2"', '"2024-02-30"',
    f'"{"9" * 5000}"', "[]", "[[]]", "[null]", '["x"]', "[1]", "[{}]", "{}", '{"a": 1}', '{"a": {}}', '[{"name": []}]',
]  # fmt: skip
TRIED_PER_VALUE = 2
CALLS = Path(__file__).parent / "tables/calls.txt"
PLACEHOLDER = "what is replaced"
ALLOWED = {Status.OK, Status.NOT_FOUND, Status.KG_DOWN}

Position = tuple[str | int, ...]


class Graph(KgSession):
    """A session without a server: the small graph's replies, one of which is changed at a position."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.replies: dict[Request, Json] = {}
        self.changed: tuple[Request, Position, str] | None = None

    def get_all(self, requests: Sequence[Request]) -> list[RequestResult]:
        return [self._result(request) for request in requests]

    def _result(self, request: Request) -> RequestResult:
        try:
            reply: Json = self.answers[request.endpoint](**dict(request.payload))
            text = json.dumps(reply, allow_nan=False)
        except ValueError:
            return KgReplyError("status 500")

        self.replies[request] = json.loads(text)
        if self.changed is not None and self.changed[0] == request:
            _, position, strange = self.changed
            with_gap = json.dumps(_replaced(json.loads(text), position))
            text = with_gap.replace(f'"{PLACEHOLDER}"', strange)
        try:
            return read_result(request.endpoint, f'{{"result": {text}}}'.encode())
        except KgError as error:
            return error


def _positions(value: Json, position: Position = ()) -> Iterator[Position]:
    """The value itself and all values in it; of long lists the first."""
    yield position
    entries: Sequence[tuple[str | int, Json]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list):
        entries = list(enumerate(value))[:2]
    for key, entry in entries:
        yield from _positions(entry, (*position, key))


def _replaced(value: Any, position: Position) -> Any:
    """The value with a placeholder at a position."""
    if not position:
        return PLACEHOLDER
    key, *rest = position
    value[key] = _replaced(value[key], tuple(rest))
    return value


def _programs(domain: Domain) -> list[str]:
    if domain is Domain.OPEN:
        return ['get_open("tall tower")', 'get_open("tall tower")["height"]', 'get_open("tower tall")["summary"]']
    cases = [line for domain_of_line, line in lines(CALLS) if domain_of_line is domain]
    return [case.replace("⏎", "\n").rpartition(" ==> ")[0] for case in cases]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    folder = tmp_path_factory.mktemp("strange")
    write_graph(folder)
    return build_answers(load_tables(folder))


@pytest.mark.parametrize("domain", list(Domain))
def test_a_strange_value_anywhere_in_a_reply_costs_the_call_at_most(answers: Mapping[str, Any], domain: Domain) -> None:
    rng = Random(11)
    seen: set[Status] = set()
    for text in _programs(domain):
        program = parse(text, domain)
        graph = Graph(answers)
        ProgramRun(domain, WEDNESDAY, graph).run(program)

        for request, reply in list(graph.replies.items()):
            for position in _positions(reply):
                for strange in rng.sample(STRANGE, TRIED_PER_VALUE):
                    graph.changed = (request, position, strange)
                    results = ProgramRun(domain, WEDNESDAY, graph).run(program)
                    answer_from_values(CallResults("how many?", domain, program, results, WEDNESDAY.date()))
                    seen |= {result.status for result in results}
    assert seen == ALLOWED


@pytest.mark.parametrize(
    ("path", "result"),
    [
        ("/movie/get_movie_info", None),
        ("/movie/get_movie_info", "Jaws"),
        ("/movie/get_movie_info", [None]),
        ("/movie/get_movie_info", [{"title": ["Jaws"]}]),
        ("/movie/get_movie_info", [{"title": "Jaws", "cast": ["Ann Lee"]}]),
        ("/movie/get_movie_info", [{"title": "Jaws", "cast": "Ann Lee"}]),
    ],
)
def test_the_next_call_after_a_strange_reply_is_run(path: str, result: object) -> None:
    with FaultyServer() as server:
        server.results[path] = result
        server.results["/movie/get_person_info"] = [{"name": "Ann Lee"}]
        outcome = run_against(server.url, "movie", 'get_movie("jaws")["title"]\nget_person("ann lee")["name"]')
    assert statuses(outcome) == ["kg_down", "ok"]
    assert path in outcome.results[0].explanation[0]


def test_missing_values_in_any_form_are_no_strange_reply() -> None:
    with FaultyServer() as server:
        film: dict[str, object] = {
            "title": "Jaws",
            "cast": "",
            "crew": None,
            "genres": {},
            "oscar_awards": 0,
            "revenue": None,
        }
        server.results["/movie/get_movie_info"] = [film, {"title": None}, {}]
        outcome = run_against(server.url, "movie", 'get_movie("jaws")["title"]')
    assert statuses(outcome) == ["ok"]
