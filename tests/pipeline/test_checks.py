"""What withholds an answer on the whole way, what the trace says about it, and what an audit learns."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from crag.answering import CaseView, Check, ConfidenceModel, Draft, Feature, LogisticModel
from crag.core.contracts import I_DONT_KNOW, Answer, Classification, Fact, Query, Route, Trace
from crag.core.deadline import Deadline
from crag.facts import PublicData
from crag.router import QuestionRouter
from crag.settings import Settings, load_settings
from tests.pipeline.asking import agent_of, ask, page
from tests.toml_text import toml_table

QUESTION = "who directed rain man?"
PAGE = page("<p>Rain Man is a film of 1988. Barry Levinson directed it.</p>", name="Rain Man")
FALSE_PREMISE = "answering.gates = [{gate='class', field='question_type', classes=['false_premise'], above=0.5}]"


class Classified(QuestionRouter):
    """A router that says the same about every question."""

    def __init__(self, false_premise: float) -> None:
        shares = {"false_premise": false_premise, "simple": 1 - false_premise}
        likeliest = max(shares, key=lambda name: shares[name])
        self._route = Route(question_type=Classification(likeliest, shares))

    def route(self, queries: Sequence[Query], deadline: Deadline) -> list[Route]:
        return [self._route for _ in queries]


class OwnCheck(Check):
    """A check that a user adds."""

    name = "own"

    def __call__(self, case: CaseView, draft: Draft) -> None:
        """Keep the answer."""


def settings_of(replies: Mapping[str, str], *overrides: str) -> Settings:
    lines = [f"language_model.replies = {toml_table(replies)}", "web.extract.workers = 0", *overrides]
    if any("'class'" in line for line in overrides):
        lines.append("router = {engine = 'encoder', classifiers = ['not loaded']}")
    return load_settings("scripted", lines)


def ask_with(settings: Settings, false_premise: float = 0.1) -> tuple[Answer, Trace]:
    """The answer to the question from its page, and its trace."""
    agent = agent_of(settings, None, Classified(false_premise))
    try:
        return ask(agent, QUESTION, PAGE)
    finally:
        agent.close()


def calibrated(tmp_path: Path) -> str:
    """A model whose P(correct) depends on whether the context has the answer."""
    answer_in_context = Feature(mean=0.5, scale=0.5, weight=2.0)
    own = ConfidenceModel(correct=LogisticModel(bias=0.0, features={"answer_in_evidence": answer_in_context}))
    path = tmp_path / "model.json"
    path.write_text(own.model_dump_json(), encoding="utf-8")
    return f"answering.confidence = {{model = {json.dumps(str(path))}}}"


@pytest.mark.parametrize(("replies", "withheld"), [({QUESTION: "Barry Levinson"}, "Barry Levinson"), ({}, I_DONT_KNOW)])
def test_an_audit_gives_the_same_answer_and_learns_what_was_withheld(replies: dict[str, str], withheld: str) -> None:
    answer, trace = ask_with(settings_of(replies, FALSE_PREMISE, "answering.audit = true"), false_premise=0.9)
    assert answer.text == I_DONT_KNOW
    assert [firing.withheld for firing in trace.gates] == [withheld]
    assert trace.answer == answer


@pytest.mark.parametrize(("said", "given"), [("Barry Levinson", True), ("Mike Nichols", False)])
def test_an_answer_is_given_where_it_is_likelier_right_than_wrong(tmp_path: Path, said: str, given: bool) -> None:
    answer, trace = ask_with(settings_of({QUESTION: said}, calibrated(tmp_path)))
    assert answer.text == (said if given else I_DONT_KNOW)
    (candidate,) = trace.candidates
    assert candidate.text == said
    assert candidate.probability is not None
    assert (candidate.probability > 0.5) is given
    if not given:
        assert f"P(correct) is {candidate.probability:.2f}" in answer.reason


class NamedFilm(PublicData):
    """Shipped facts with the film's director."""

    def facts(
        self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline
    ) -> list[tuple[Fact, ...]]:
        return [(Fact("Rain Man was directed by Barry Levinson.", "public data: films"),) for _ in queries]


GATE_ON_PASSAGES = [
    "web.rerank = {top_k = 4}",
    "cross_encoder = {engine = 'onnx', model = 'not loaded'}",
    "answering.gates = [{gate='score', score='top_passage', minimum=0.5}]",
]


@pytest.mark.parametrize("gate", [[], GATE_ON_PASSAGES])
def test_public_data_alone_does_not_open_a_gate_on_the_best_passage(gate: list[str]) -> None:
    agent = agent_of(settings_of({QUESTION: "Barry Levinson"}, *gate), public_data=NamedFilm())
    try:
        answer, trace = ask(agent, QUESTION)
    finally:
        agent.close()
    assert answer.text == (I_DONT_KNOW if gate else "Barry Levinson")
    assert [firing.name for firing in trace.gates] == (["top_passage above 0.5"] if gate else [])


LIAR = page("<p>Rain Man was directed by Mike Nichols, the studio said.</p>", 1)
HONEST = page("<p>Rain Man is a film of 1988. Barry Levinson directed it.</p>", 2)
SILENT = page("<p>Rain Man is a film of 1988 with a famous director.</p>", 3)
EMPTY = page("<p>Rain Man won four prizes as a film.</p>", 4)
LIAR_AGAIN = {
    **page("<p>The studio said: Mike Nichols directed Rain Man.</p>"),
    "page_url": "https://www.site1.example/2",
}
SAID = {"Nichols": "Mike Nichols", "Levinson": "Barry Levinson"}
"""A model that believes the liar as long as it reads him."""


@pytest.mark.parametrize(
    ("pages", "replies", "given"),
    [
        ([LIAR, HONEST, SILENT], SAID, I_DONT_KNOW),
        # One site with several pages is still one voice.
        ([LIAR, LIAR_AGAIN, HONEST, SILENT], SAID, I_DONT_KNOW),
        # The others know nothing, or say the same.
        ([LIAR, SILENT, EMPTY], SAID, "Mike Nichols"),
        ([LIAR, SILENT, EMPTY], {"Nichols": "Mike Nichols", "famous": "Nichols"}, "Mike Nichols"),
        # No other page, only one, or a second site that holds the answer.
        ([LIAR], SAID, "Mike Nichols"),
        ([LIAR, HONEST], SAID, "Mike Nichols"),
        ([LIAR, page("<p>Mike Nichols made Rain Man.</p>", 5), HONEST, SILENT], SAID, "Mike Nichols"),
    ],
)
def test_an_answer_of_one_site_is_not_given_against_the_others(
    pages: list[dict[str, str]], replies: dict[str, str], given: str
) -> None:
    agent = agent_of(settings_of(replies, "answering.other_sites = true"))
    try:
        answer, trace = ask(agent, QUESTION, *pages)
    finally:
        agent.close()
    assert answer.text == given
    withheld = [(firing.name, firing.withheld) for firing in trace.gates]
    assert withheld == ([("other sites", "Mike Nichols")] if given == I_DONT_KNOW else [])


def test_what_the_other_sites_say_counts_only_if_it_would_be_given(tmp_path: Path) -> None:
    # The other answer is nowhere in the pages, so that P(correct) is low.
    replies = {"Nichols": "Mike Nichols", "famous": "Steven Spielberg"}
    agent = agent_of(settings_of(replies, "answering.other_sites = true", calibrated(tmp_path)))
    try:
        answer, trace = ask(agent, QUESTION, LIAR, SILENT, EMPTY)
    finally:
        agent.close()
    assert answer.text == "Mike Nichols"
    assert trace.generations["other sites"].text == "Steven Spielberg"
