"""A fault costs one answer, never the batch."""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from crag.core.contracts import WEB, Answer, Decision, Lost, Query, Stage, abstain
from crag.core.deadline import BatchClock, Deadline
from crag.graph import Lookup
from crag.graph.results import Status
from crag.pipeline import isolation
from crag.pipeline.batch_run import BatchRun, Step
from crag.pipeline.case import Case
from crag.pipeline.turn_run import Turn, TurnContext
from crag.web import RetrievedPassages


def run_of(size: int, seconds: float = 60) -> BatchRun:
    queries = [Query(f"id-{number}", f"question {number}?", "", None, ()) for number in range(size)]
    return BatchRun(queries, BatchClock(seconds, 0, {"generate": 1}))


def run_step(run: BatchRun, function: Callable[[Sequence[int]], Sequence[Any]]) -> dict[int, Any]:
    """The kept results of a step that does what a function does with the numbers of the questions."""
    results: dict[int, Any] = {}

    class ByNumber(Step[Any]):
        def run(self, cases: Sequence[Case], deadline: Deadline) -> Sequence[Any]:
            return function([run.cases.index(case) for case in cases])

        def store(self, case: Case, result: Any) -> Answer | None:
            results[run.cases.index(case)] = result
            return result if isinstance(result, Answer) else None

    run.run_step(Stage.GENERATE, ByNumber())
    return results


class PanicError(BaseException):
    """What a Rust library raises when it panics."""


@pytest.mark.parametrize("error", [ZeroDivisionError("divided by zero"), PanicError("divided by zero")])
def test_one_question_that_breaks_the_stage_costs_one_answer(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    run = run_of(4)

    def work(numbers: Sequence[int]) -> list[str]:
        if 2 in numbers:
            raise error
        return ["fine"] * len(numbers)

    with caplog.at_level(logging.CRITICAL):
        results = run_step(run, work)
    assert results == {0: "fine", 1: "fine", 3: "fine"}
    assert "divided by zero" in run.cases[2].fault
    assert "was run alone" in run.cases[0].trace.events[0]


def test_questions_tried_alone_share_one_time_limit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(isolation, "GRACE_SECONDS", 0.1)
    run = run_of(16, seconds=0.5)

    def work(numbers: Sequence[int]) -> Sequence[int]:
        if len(numbers) > 1:
            raise ValueError("not as a batch")
        threading.Event().wait()
        return numbers

    with caplog.at_level(logging.CRITICAL):
        assert run_step(run, work) == {}
    assert len(run.finish()[0]) == 16


class Blank(Turn):
    """Finds two pages without a word for each question, and fails for the second one."""

    source = WEB
    author = "nobody"
    nothing_to_read = "the pages are empty"
    review = Stage.REVIEW

    def build_context(self, case: Case) -> TurnContext:
        if case.query.interaction_id == "id-1":
            raise ValueError("no context")
        retrieved = RetrievedPassages("", passages=(), pages_read=2, events=("two pages",), top_probability=None)
        return TurnContext("", has_graph_facts=False, retrieved=retrieved)


def test_pages_are_in_the_traces_of_the_questions_whose_context_was_built(caplog: pytest.LogCaptureFixture) -> None:
    run = run_of(2)
    no_model: Any = None
    with caplog.at_level(logging.CRITICAL):
        run.run_turn(Stage.GENERATE, Blank(no_model, checks=()))
    answers, (built, failed) = run.finish()
    assert [answer.reason for answer in answers] == ["the pages are empty", run.cases[1].fault]
    assert (built.pages_read, built.events.count("two pages")) == (2, 1)
    assert (failed.pages_read, failed.events.count("two pages")) == (0, 0)


def test_an_abstention_after_a_dead_graph_is_lost_and_an_answer_is_not() -> None:
    run = run_of(3)
    for case in run.cases[:2]:
        case.lookup = Lookup(calls=("get_movie",), statuses=(Status.KG_DOWN,))
    settled = [abstain("nothing found"), Answer("x", Decision.ANSWERED, "web", "pages"), abstain("unsure")]
    run_step(run, lambda numbers: [settled[number] for number in numbers])
    answers, traces = run.finish()
    assert [trace.lost for trace in traces] == [Lost.GRAPH, None, None]
    assert answers[0].reason == "the knowledge graph did not reply; nothing found"


def test_a_lost_answer_names_the_fault_and_the_line_of_it(caplog: pytest.LogCaptureFixture) -> None:
    run = run_of(2)

    def own_source(numbers: Sequence[int]) -> Sequence[str]:
        if 1 in numbers:
            raise KeyError("capital")
        return ["fine"] * len(numbers)

    with caplog.at_level(logging.CRITICAL):
        run_step(run, own_source)
    line = own_source.__code__.co_firstlineno + 2
    run_step(run, lambda numbers: [abstain("the model does not know") for _ in numbers])
    answers, traces = run.finish()
    cause = f"generate failed: KeyError: 'capital', in test_batch_run.py, line {line}"
    assert answers[1].reason == f"{cause}; the model does not know"
    assert traces[1].answer == answers[1]
    assert answers[0].reason == "the model does not know"
