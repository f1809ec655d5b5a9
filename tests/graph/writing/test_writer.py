"""One call for a batch, one more for what cannot be read, and a question's fault is its own."""

from collections.abc import Callable, Sequence
from random import Random

import pytest

from crag.core.deadline import Deadline
from crag.engines.llm.base import Generation, GenerationRequest, Message
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.graph.language import ErrorKind, Program, parse, render
from crag.graph.schema import Domain
from crag.graph.writing.question_form import domain_and_calls, output_grammar, split_domain
from crag.graph.writing.writer import CallRequest, CallWriter
from crag.settings import KgWriterSettings, ScriptedEngine
from tests.graph.language.sample import random_program

JAWS = CallRequest("when was jaws released?", domain=Domain.MOVIE)
ACME = CallRequest("what is the market cap of acme?", domain=Domain.FINANCE)
GOOD = {"when was jaws released?\nCalls:\n": 'get_movie("jaws")["release_date"]', "market cap of acme": "None"}


class Recorder(ScriptedLanguageModel):
    """The scripted engine, remembering what it was asked."""

    def __init__(self, replies: dict[str, str], **settings: object) -> None:
        super().__init__(ScriptedEngine.model_validate({"engine": "scripted", "replies": replies, **settings}))
        self.rounds: list[list[GenerationRequest]] = []

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        self.rounds.append(list(requests))
        return super().generate(requests, deadline)


def writer(model: Recorder, **settings: object) -> CallWriter:
    return CallWriter(KgWriterSettings.model_validate(settings), model, None)


def test_what_was_written_before_is_not_asked_for_again() -> None:
    model = Recorder(GOOD)
    own = writer(model)
    first = own.write([JAWS, ACME, JAWS], Deadline(10))
    again = own.write([ACME, JAWS], Deadline(10))
    assert [len(requests) for requests in model.rounds] == [2]
    assert [each.program for each in again] == [first[1].program, first[0].program]
    assert first[2].program == first[0].program
    failing = Recorder(GOOD, fault="error")
    own = writer(failing)
    assert [own.write([JAWS], Deadline(10))[0].generation.finish_reason for _ in range(2)] == ["error"] * 2
    assert len(failing.rounds) == 2, "what failed before is asked for again"


def test_a_full_cache_loses_no_calls_of_the_batch_that_empties_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crag.graph.writing.writer._MAX_CACHED", 1)
    own = writer(Recorder(GOOD))
    own.write([JAWS, ACME], Deadline(10))
    written = own.write([JAWS, CallRequest("who directed jaws?", domain=Domain.MOVIE)], Deadline(10))
    assert written[0].program == parse('get_movie("jaws")["release_date"]', Domain.MOVIE)


def test_a_question_like_an_example_is_told_from_one_like_none() -> None:
    shown = CallRequest("on what date was fargo initially released?", domain=Domain.MOVIE)
    strange = CallRequest("does a tomato like its neighbours?", domain=Domain.MOVIE)
    near, far = (each.neighbourhood.similarity for each in writer(Recorder({})).write([shown, strange], Deadline(10)))
    assert near is not None
    assert far is not None
    assert near > 0.99
    assert far < 0.6


def test_what_cannot_be_read_is_asked_once_more_with_its_error_and_the_rest_is_not() -> None:
    replies = {"Corrected calls:": 'get_movie("jaws")["year"]', "jaws released": 'get_movie("jaws")["yeer of"]'}
    model = Recorder(replies | {"market cap of acme": "None"})
    first, second = writer(model).write([JAWS, ACME], Deadline(10))
    assert [len(requests) for requests in model.rounds] == [2, 1]
    assert 'get_movie("jaws")["yeer of"]' in (model.rounds[1][0].prompt or "")
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
    assert len(model.rounds) == rounds
    assert written.repaired is (rounds == 2)
    assert len(written.faults) == 1


@pytest.mark.parametrize("fault", ["error", "empty", "short_list", "garbage"])
def test_an_engine_that_fails_costs_the_programs_and_nothing_else(fault: str) -> None:
    model = Recorder(GOOD, fault=fault, fault_after=1)
    good, bad = writer(model).write([JAWS, ACME], Deadline(10))
    assert good.program is not None
    assert bad.program is None


def test_without_time_or_questions_nothing_is_written() -> None:
    late = writer(Recorder(GOOD)).write([JAWS], Deadline(0))
    assert late[0].program is None
    assert late[0].generation.finish_reason == "deadline"
    assert writer(Recorder(GOOD)).write([], Deadline(10)) == []


TUNED = {
    "market cap": 'finance\nget_stock_info("acme")["marketCap"]',
    "jaws": 'movie\nget_movie("jaws")["release_date"]',
    "soup": "open\nNone",
    "chatty": "The answer is 42.",
}


def test_a_tuned_writer_reads_the_question_alone_and_writes_the_domain_too() -> None:
    model = Recorder(TUNED, adapters={"mine": ""})
    asked = [CallRequest("What is the  market cap of ACME?"), CallRequest("who made jaws?"), CallRequest("a soup?")]
    company, film, nothing = writer(model, form="question", adapter="mine").write(asked, Deadline(10))
    assert [request.messages for request in model.rounds[0]] == [
        (Message("user", "What is the market cap of ACME?"),),
        (Message("user", "who made jaws?"),),
        (Message("user", "a soup?"),),
    ]
    assert all(request.exact_turns and request.adapter == "mine" for request in model.rounds[0])
    assert [each.domain for each in (company, film, nothing)] == [Domain.FINANCE, Domain.MOVIE, Domain.OPEN]
    assert film.program == parse('get_movie("jaws")["release_date"]', Domain.MOVIE)
    assert nothing.program == Program()


def test_a_tuned_writer_is_asked_again_where_it_names_no_domain() -> None:
    model = Recorder({"cannot be read": TUNED["jaws"]} | TUNED)
    (written,) = writer(model, form="question").write([CallRequest("a chatty one?")], Deadline(10))
    assert [fault.kind for fault in written.faults] == [ErrorKind.PROSE]
    assert written.domain is Domain.MOVIE
    assert written.repaired


def test_calls_without_a_domain_are_of_the_known_one() -> None:
    model = Recorder({"jaws": 'get_movie("jaws")["year"]'})
    (written,) = writer(model, form="question").write([JAWS], Deadline(10))
    assert (written.domain, written.program) == (Domain.MOVIE, parse('get_movie("jaws")["year"]', Domain.MOVIE))


def test_the_grammar_of_a_tuned_writer_begins_with_the_domain_if_it_is_known_with_that_one() -> None:
    model = Recorder(TUNED)
    asked = [CallRequest("Who made Jaws?"), CallRequest("Who made Jaws?", domain=Domain.MOVIE)]
    writer(model, form="question").write(asked, Deadline(10))
    free, known = (matcher(request.grammar or "") for request in model.rounds[0])
    assert free('movie\nget_movie("jaws")["year"]')
    assert free('finance\nget_stock_price("kr","today")["close"]')
    assert known('movie\nget_movie("jaws")["year"]')
    assert known("movie\nNone")
    assert not known("finance\nNone")
    assert not free('movie\nget_stock_price("kr","today")["close"]'), "a domain has only its own tables"
    assert not free('get_movie("jaws")["year"]')


def matcher(grammar: str) -> Callable[[str], bool]:
    """Whether a grammar allows a text, by llguidance on bytes."""
    guide = pytest.importorskip("llguidance")
    tokens = guide.LLTokenizer("byte")

    def allows(text: str) -> bool:
        matcher = guide.LLMatcher(tokens, guide.LLMatcher.grammar_from_lark(grammar), log_level=0)
        assert not matcher.is_error(), matcher.get_error()
        ids = tokens.tokenize_str(text)
        return bool(matcher.try_consume_tokens(ids) == len(ids) and matcher.is_accepting())

    return allows


@pytest.mark.parametrize("domain", list(Domain))
def test_what_a_tuned_writer_learns_its_grammar_allows(domain: Domain) -> None:
    allows = matcher(output_grammar(None))
    rng = Random(1)
    for _ in range(60):
        program = random_program(domain, rng)
        learnt = domain_and_calls(domain, program)
        written_domain, calls = split_domain(learnt)
        assert written_domain is domain
        assert allows(learnt), learnt
        assert render(parse(calls, domain)).lower() == render(program).lower()
