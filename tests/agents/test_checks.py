"""What withholds an answer on the whole way, what the trace says about it, and what an audit learns."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from agents.answering import Answerer, ConfidenceModel, Draft, Feature, LogisticModel
from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION, WEB, Answer, Decision, Query, Route, Trace
from agents.common.deadline import Deadline
from agents.llm import Generation, LanguageModel, load_language_model
from agents.pipeline.case import Case
from agents.pipeline.stages import PagesAlone, find_false_premises
from agents.questions import QuestionRouter
from agents.settings import AloneSettings, ConfidenceSettings, Settings, load_settings
from agents.web import WebPath
from tests.agents.asking import ASKED_AT, agent_of, ask, page

QUESTION = "who directed rain man?"
PAGE = page("<p>Rain Man is a film of 1988. Barry Levinson directed it.</p>", name="Rain Man")
FALSE_PREMISE = "answering.gates = [{gate='class', field='question_type', classes=['false_premise'], above=0.5}]"


class Classified(QuestionRouter):
    """A router that says the same about every question."""

    def __init__(self, false_premise: float) -> None:
        shares = {"false_premise": false_premise, "simple": 1 - false_premise}
        likeliest = max(shares, key=lambda name: shares[name])
        self._route: Route = {"question_type": {"label": likeliest, "probabilities": shares}}

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        return [self._route for _ in queries]


def settings_of(replies: Mapping[str, str], *overrides: str) -> Settings:
    table = ", ".join(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in replies.items())
    lines = [f"language_model.replies = {{ {table} }}", "web.extract.workers = 0", *overrides]
    if any("'class'" in line for line in overrides):
        lines.append("router = {engine = 'encoder', classifiers = ['not loaded']}")
    return load_settings("scripted", lines)


def asked(settings: Settings, false_premise: float = 0.1, model: LanguageModel | None = None) -> tuple[Answer, Trace]:
    agent = agent_of(settings, model, Classified(false_premise))
    try:
        return ask(agent, QUESTION, PAGE)
    finally:
        agent.close()


def calibrated(tmp_path: Path, *, correct: float = 0.0, invalid: float | None = None) -> str:
    """A model whose P(correct) depends on whether the evidence has the answer; with biases in logits."""

    def model(name: str, bias: float, weight: float) -> LogisticModel:
        return LogisticModel(bias=bias, features={name: Feature(mean=0.5, scale=0.5, weight=weight)})

    own = ConfidenceModel(
        correct=model("answer_in_evidence", correct, 2.0),
        invalid=None if invalid is None else model("question_type=false_premise", invalid, 2.0),
    )
    path = tmp_path / "model.json"
    path.write_text(own.model_dump_json(), encoding="utf-8")
    return f"answering.confidence = {{model = {json.dumps(str(path))}}}"


@pytest.mark.parametrize(("replies", "withheld"), [({QUESTION: "Barry Levinson"}, "Barry Levinson"), ({}, I_DONT_KNOW)])
def test_an_audit_gives_the_same_answer_and_learns_what_was_withheld(replies: dict[str, str], withheld: str) -> None:
    answer, trace = asked(settings_of(replies, FALSE_PREMISE, "answering.audit = true"), false_premise=0.9)
    assert answer.text == I_DONT_KNOW
    assert [firing.withheld for firing in trace.gates] == [withheld]
    assert trace.answer == answer


@pytest.mark.parametrize("audit", ["true", "false"])
def test_a_gate_has_the_last_word_with_and_without_an_audit(tmp_path: Path, audit: str) -> None:
    overrides = (FALSE_PREMISE, f"answering.audit = {audit}", calibrated(tmp_path, correct=-9.0, invalid=5.0))
    answer, trace = asked(settings_of({QUESTION: "Barry Levinson"}, *overrides), false_premise=0.9)
    assert answer.text == I_DONT_KNOW
    assert INVALID_QUESTION not in [firing.withheld for firing in trace.gates]


@pytest.mark.parametrize(("said", "given"), [("Barry Levinson", True), ("Mike Nichols", False)])
def test_an_answer_is_given_where_it_is_likelier_right_than_wrong(tmp_path: Path, said: str, given: bool) -> None:
    answer, trace = asked(settings_of({QUESTION: said}, calibrated(tmp_path)))
    assert answer.text == (said if given else I_DONT_KNOW)
    (candidate,) = trace.candidates
    assert candidate.text == said
    assert candidate.probability is not None
    assert (candidate.probability > 0.5) is given
    if not given:
        assert f"P(correct) is {candidate.probability:.2f}" in answer.reason


@pytest.mark.parametrize(
    ("false_premise", "said", "text"),
    [
        (0.9, "Mike Nichols", INVALID_QUESTION),
        (0.2, "Mike Nichols", I_DONT_KNOW),
        (0.9, "Barry Levinson", "Barry Levinson"),
        (0.9, I_DONT_KNOW, INVALID_QUESTION),
    ],
)
def test_a_false_premise_is_an_answer_of_its_own(tmp_path: Path, false_premise: float, said: str, text: str) -> None:
    answer, trace = asked(settings_of({QUESTION: said}, calibrated(tmp_path, correct=1.5, invalid=1.0)), false_premise)
    assert answer.text == text
    assert trace.candidates[-1].text == INVALID_QUESTION


@pytest.mark.parametrize(
    ("state", "invalid"),
    [(None, False), ("not_found", False), ("no_call", False), ("denied", True), ("empty_calendar", True)],
)
def test_the_style_of_a_question_needs_evidence_to_make_it_invalid(state: str | None, *, invalid: bool) -> None:
    weights = {"question_type=false_premise": 2.0, "graph=not_found": 5.0, "graph=no_call": 5.0}
    model = LogisticModel(
        bias=0, features={name: Feature(mean=0, scale=1, weight=own) for name, own in weights.items()}
    )
    query = Query("1", QUESTION, ASKED_AT, None, ())
    case = Case(
        query, Trace("1", QUESTION, ASKED_AT, Classified(0.8).route([query], Deadline(1))[0], graph_state=state)
    )
    step = find_false_premises(model, ConfidenceSettings(model="none"))
    assert bool(step.keep(case, step.work([case], Deadline(1))[0])) is invalid


def test_a_low_threshold_of_answers_does_not_lower_that_of_false_premises(tmp_path: Path) -> None:
    low = "answering.confidence.threshold = 0.01"
    overrides = (calibrated(tmp_path, correct=0.5, invalid=0.0), low)
    answer, trace = asked(settings_of({QUESTION: I_DONT_KNOW}, *overrides), 0.4)
    likely = trace.candidates[-1].probability
    assert likely is not None
    assert 0.01 < likely < 0.5
    assert answer.text == I_DONT_KNOW


def test_pages_are_also_read_alone_and_p_correct_knows_how_many_agree() -> None:
    first = page("<p>Rain Man is a film of 1988. Barry Levinson directed it.</p>", 1)
    second = page("<p>Rain Man, a film of 1988: Barry Levinson was its director.</p>", 2)
    third = page("<p>Rain Man was directed in 1987 by Mike Nichols.</p>", 3)
    replies = {"Levinson": "Barry Levinson", "Nichols": "Mike Nichols"}
    agent = agent_of(settings_of(replies, "answering.alone = {pages = 3}"))
    try:
        _, trace = ask(agent, QUESTION, first, second, third)
    finally:
        agent.close()
    alone = sorted(trace.generations[f"alone {n}"].text for n in (1, 2, 3))
    assert alone == ["Barry Levinson", "Barry Levinson", "Mike Nichols"]
    assert trace.candidates[0].features["pages_for"] == 2.0


def test_a_page_that_the_clock_left_unread_is_no_voice_against_the_answer() -> None:
    settings = settings_of({}, "answering.alone = {}")
    model = load_language_model(settings.language_model)
    web = WebPath(settings.web, None, None, model)
    check = PagesAlone(Answerer(settings.answering, model), web, AloneSettings(), None)
    read = Generation("Barry Levinson", None, 1, 1, "stop")
    replies = {"alone 1": read, "alone 2": Generation("", None, 0, 0, "deadline")}
    draft = Draft(Answer("Barry Levinson", Decision.ANSWERED, WEB, ""), generation=read, replies=replies)
    case = Case(Query("1", QUESTION, ASKED_AT, None, ()), Trace("1", QUESTION, ASKED_AT))
    assert check.read(case, draft).alone == ("Barry Levinson",)
