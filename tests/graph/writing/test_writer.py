"""One call for a batch, one more for what cannot be read, and a question's fault is its own."""

from collections.abc import Sequence
from datetime import datetime

import pytest

from crag.core.deadline import Deadline
from crag.engines.llm.base import Generation, GenerationRequest
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.graph.language import ErrorKind, parse, render
from crag.graph.schema import Domain
from crag.graph.writing.writer import CallRequest, CallWriter, invented_dates
from crag.settings import KgWriterSettings, ScriptedEngine

JAWS = CallRequest("when was jaws released?", domain=Domain.MOVIE)
ACME = CallRequest("what is the market cap of acme?", domain=Domain.FINANCE)
GOOD = {"when was jaws released?\nCalls:\n": 'get_movie("jaws")["release_date"]', "market cap of acme": "None"}


class Recorder(ScriptedLanguageModel):
    """The scripted engine, remembering what it was asked."""

    def __init__(self, replies: dict[str, str], **settings: object) -> None:
        super().__init__(ScriptedEngine.model_validate({"engine": "scripted", "replies": replies, **settings}))
        self.calls: list[list[GenerationRequest]] = []

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        self.calls.append(list(requests))
        return super().generate(requests, deadline)


def writer(model: Recorder, **settings: object) -> CallWriter:
    return CallWriter(KgWriterSettings.model_validate(settings), model, None)


def test_what_was_written_before_is_not_asked_for_again() -> None:
    model = Recorder(GOOD)
    own = writer(model)
    first = own.write([JAWS, ACME, JAWS], Deadline(600))
    again = own.write([ACME, JAWS], Deadline(600))
    assert [len(requests) for requests in model.calls] == [2]
    assert [each.program for each in again] == [first[1].program, first[0].program]
    assert first[2].program == first[0].program
    failing = Recorder(GOOD, fault="error")
    own = writer(failing)
    assert [own.write([JAWS], Deadline(600))[0].generation.finish_reason for _ in range(2)] == ["error"] * 2
    assert len(failing.calls) == 2, "what failed before is asked for again"


def test_a_question_like_an_example_is_told_from_one_like_none() -> None:
    shown = CallRequest("on what date was fargo initially released?", domain=Domain.MOVIE)
    strange = CallRequest("does a tomato like its neighbours?", domain=Domain.MOVIE)
    near, far = (each.near.similarity for each in writer(Recorder({})).write([shown, strange], Deadline(600)))
    assert near is not None
    assert far is not None
    assert near > 0.99
    assert far < 0.6


def test_what_cannot_be_read_is_asked_once_more_with_its_error_and_the_rest_is_not() -> None:
    replies = {"Corrected calls:": 'get_movie("jaws")["year"]', "jaws released": 'get_movie("jaws")["yeer of"]'}
    model = Recorder(replies | {"market cap of acme": "None"})
    first, second = writer(model).write([JAWS, ACME], Deadline(600))
    assert [len(requests) for requests in model.calls] == [2, 1]
    assert 'get_movie("jaws")["yeer of"]' in (model.calls[1][0].prompt or "")
    assert [fault.kind for fault in first.faults] == [ErrorKind.UNKNOWN_KEY]
    assert first.repaired
    assert first.program is not None
    assert render(first.program) == 'get_movie("jaws")["year"]'
    assert not second.repaired


@pytest.mark.parametrize(("repair", "left", "rounds"), [(False, 100.0, 1), (True, 0.0, 1), (True, 1.0, 2)])
def test_a_repair_is_begun_where_it_is_wanted_and_there_is_time(*, repair: bool, left: float, rounds: int) -> None:
    now = 0.0
    deadline = Deadline(20.0 + left, lambda: now)

    class Slow(Recorder):
        def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
            nonlocal now
            generations = super().generate(requests, deadline)
            now += 20.0
            return generations

    model = Slow({"Corrected calls:": 'get_movie("jaws")["year"]', "jaws released": "get_movie("})
    (written,) = writer(model, repair=repair).write([JAWS], deadline)
    assert len(model.calls) == rounds
    assert written.repaired is (rounds == 2)
    assert len(written.faults) == 1


@pytest.mark.parametrize("fault", ["error", "empty", "short_list", "garbage"])
def test_an_engine_that_fails_costs_the_programs_and_nothing_else(fault: str) -> None:
    model = Recorder(GOOD, fault=fault, fault_after=1)
    good, bad = writer(model).write([JAWS, ACME], Deadline(600))
    assert good.program is not None
    assert bad.program is None


def test_time_that_is_over_and_no_questions_at_all() -> None:
    late = writer(Recorder(GOOD)).write([JAWS], Deadline(0))
    assert late[0].program is None
    assert late[0].generation.finish_reason == "deadline"
    assert writer(Recorder(GOOD)).write([], Deadline(600)) == []


ASKED = datetime(2024, 3, 13, 10, 0)


CASES = """
sports | the lakers last night? | get_nba_on_date("lakers","2023-01-28")["GF"] | 2023-01-28
sports | did the lakers win yesterday? | get_nba_on_date("lakers","2024-03-12")["result"] | -
sports | lakers on january 5, 2023? | get_nba_on_date("lakers","2023-01-05")["result"] | -
sports | lakers wins in the 2023 season? | get_nba_on_date("lakers","2023")["result"] | -
finance | what does kr cost? | get_stock_price("kr","latest")["close"] | -
finance | what did kr close at last friday? | get_stock_price("kr","last friday")["close"] | -
music | songs by tool? | get_person("tool")["music"] ⏎ sort(eq(release_date,"2018"),release_date)["name"] | 2018
music | best new artist from 2016 to 2018? | get_grammy_year("2017")["best_new_artist"] | -
music | best new artist at the 56th grammys? | get_grammy_year("2013")["best_new_artist"] | -
movie | best picture of 2012? | get_movie_person_oscar(None,None,eq(year,"2013"))["film"] | -
movie | who directed heat? | get_movie_person_crew("heat",None,eq(job,"Director"))["name"] | -
"""
"""Domain, question, calls, the dates that are invented."""


@pytest.mark.parametrize("case", CASES.strip("\n").split("\n"))
def test_dates_need_a_reason_in_the_question(case: str) -> None:
    domain, question, calls, invented = (part.strip() for part in case.split("|"))
    program = parse(calls.replace(" ⏎ ", "\n"), Domain(domain))
    assert invented_dates(question, Domain(domain), program, ASKED) == [
        date for date in invented.split() if date != "-"
    ]
