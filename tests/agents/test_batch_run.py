"""A fault costs one answer, never the batch."""

import logging
import threading
from collections.abc import Sequence

import pytest

from agents import batch_run
from agents.batch_run import BatchRun
from agents.contracts import I_DONT_KNOW, Answer, Decision, Query
from agents.deadline import BatchClock
from agents.llm import LanguageModelDiedError


def run_of(size: int, seconds: float = 60) -> BatchRun:
    queries = [Query(f"id-{number}", f"question {number}?", "", None, ()) for number in range(size)]
    return BatchRun(queries, BatchClock(seconds, 0, {"generate": 1}))


def shout(run: BatchRun) -> dict[int, str]:
    return run.run_isolated("shout", run.clock.whole, lambda some: [run.queries[i].text.upper() for i in some])


def test_results_belong_to_their_questions() -> None:
    run = run_of(3)
    run.settle(1, Answer("done", Decision.ANSWERED, "test", "early"))
    assert shout(run) == {0: "QUESTION 0?", 2: "QUESTION 2?"}


def test_one_question_that_breaks_the_stage_costs_one_answer(caplog: pytest.LogCaptureFixture) -> None:
    run = run_of(4)

    def work(some: Sequence[int]) -> list[str]:
        if 2 in some:
            raise ZeroDivisionError("a page divided by zero")
        return ["fine"] * len(some)

    with caplog.at_level(logging.CRITICAL):
        results = run.run_isolated("work", run.clock.whole, work)
    assert results == {0: "fine", 1: "fine", 3: "fine"}
    assert run.open == [0, 1, 3]
    assert "a page divided by zero" in run.answers[2].reason
    assert "was run alone" in run.traces[0].events[0]


def test_a_stage_with_a_fallback_never_costs_an_answer(caplog: pytest.LogCaptureFixture) -> None:
    run = run_of(2)

    def work(some: Sequence[int]) -> list[str]:
        raise OSError("server gone")

    with caplog.at_level(logging.CRITICAL):
        results = run.run_isolated("look up", run.clock.whole, work, fallback="nothing")
    assert results == {0: "nothing", 1: "nothing"}
    assert run.open == [0, 1]
    assert "server gone" in run.traces[1].events[-1]


def test_too_few_results_are_a_fault_too(caplog: pytest.LogCaptureFixture) -> None:
    run = run_of(2)
    with caplog.at_level(logging.CRITICAL):
        results = run.run_isolated("work", run.clock.whole, lambda some: ["x"] if len(some) > 1 else ["y"])
    assert results == {0: "y", 1: "y"}


def test_a_stuck_stage_is_left_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_run, "GRACE_SECONDS", 0.1)
    run = run_of(2, seconds=0.2)

    def sleep(some: Sequence[int]) -> Sequence[int]:
        threading.Event().wait()
        return some

    assert run.run_isolated("sleep", run.clock.whole, sleep) == {}
    assert [answer.text for answer in run.finish()] == [I_DONT_KNOW, I_DONT_KNOW]


def test_a_dead_engine_is_not_asked_again_for_each_question() -> None:
    run = run_of(5)
    calls: list[int] = []

    def work(some: Sequence[int]) -> list[str]:
        calls.append(len(some))
        raise LanguageModelDiedError("out of memory")

    assert run.run_isolated("answer", run.clock.whole, work) == {}
    assert calls == [5]


def test_what_no_stage_answered_is_an_abstention_with_a_reason() -> None:
    run = run_of(2)
    run.settle(0, Answer("Paris", Decision.ANSWERED, "web", "the model answered"))
    answers = run.finish()
    assert [answer.text for answer in answers] == ["Paris", I_DONT_KNOW]
    assert run.traces[1].answer is answers[1]
    assert answers[1].reason == "no stage answered the question"


def test_questions_tried_alone_share_one_time_limit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(batch_run, "GRACE_SECONDS", 0.1)
    run = run_of(16, seconds=0.5)

    def work(some: Sequence[int]) -> Sequence[int]:
        if len(some) > 1:
            raise ValueError("not as a batch")
        threading.Event().wait()
        return some

    with caplog.at_level(logging.CRITICAL):
        assert run.run_isolated("work", run.clock.whole, work) == {}
    assert len(run.finish()) == 16


def test_a_dead_engine_ends_the_single_tries(caplog: pytest.LogCaptureFixture) -> None:
    run = run_of(5)
    calls: list[int] = []

    def work(some: Sequence[int]) -> Sequence[int]:
        calls.append(len(some))
        if len(some) > 1:
            raise ValueError("not as a batch")
        raise LanguageModelDiedError("gone")

    with caplog.at_level(logging.CRITICAL):
        run.run_isolated("work", run.clock.whole, work)
    assert calls == [5, 1]
    assert run.open == []


class PanicError(BaseException):
    """What a Rust library raises when it panics."""


def test_a_panic_in_a_library_costs_one_answer(caplog: pytest.LogCaptureFixture) -> None:
    run = run_of(3)

    def work(some: Sequence[int]) -> Sequence[int]:
        if 1 in some:
            raise PanicError("index out of bounds")
        return some

    with caplog.at_level(logging.CRITICAL):
        assert run.run_isolated("work", run.clock.whole, work) == {0: 0, 2: 2}
    assert "index out of bounds" in run.answers[1].reason


def test_graces_of_several_stages_do_not_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_run, "GRACE_SECONDS", 0.3)
    run = run_of(1, seconds=0.2)

    def sleep(some: Sequence[int]) -> Sequence[int]:
        threading.Event().wait()
        return some

    for stage in ("one", "two", "three", "four"):
        run.run_isolated(stage, run.clock.whole, sleep, fallback=0)
