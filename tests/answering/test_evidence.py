"""Which sentence is shown as the evidence of an answer."""

import pytest

from crag.answering import find_evidence
from crag.core.contracts import (
    GRAPH,
    WEB,
    Answer,
    Decision,
    Evidence,
    Fact,
    Passage,
    PassageKind,
    Trace,
    abstain,
)
from crag.engines.llm import Generation

PAGE = "https://films.example/a"


def trace_of(answer: Answer, *passages: str, facts: tuple[str, ...] = (), by_model: bool = True) -> Trace:
    read = [Passage(text, PAGE, "Films", rank, PassageKind.PAGE, 0, 1) for rank, text in enumerate(passages)]
    known = [Fact(text, f"knowledge graph: call {number}") for number, text in enumerate(facts)]
    generations = {"graph_answer": Generation.failed("x")} if by_model else {}
    query = "who directed the film jaws in 1975?"
    return Trace("id", query, "", passages=read, facts=known, answer=answer, generations=generations)


def said(text: str, source: str = WEB) -> Answer:
    return Answer(text, Decision.ANSWERED, source, "the model answered")


@pytest.mark.parametrize(
    ("answer", "passages", "sentence"),
    [
        (
            "Steven Spielberg",
            ["Jaws is old. Dr. Steven Spielberg made it. So be it.", "Steven Spielberg!"],
            "Dr. Steven",
        ),
        ("Steven Spielberg", ["Spielberg alone.", "By Steven Spielberg."], "By Steven Spielberg."),
        (
            "Spielberg",
            ["He, Spielberg, ate.\nSpielberg directed the film.", "Spielberg directed jaws."],
            "Spielberg dir",
        ),
        ("1975", ["The film of 1975."], "The film of 1975."),
        (
            "June 20",
            ["It came on Fri. 20 June 1975 to Ft. Moe. It rained."],
            "It came on Fri. 20 June 1975 to Ft. Moe.",
        ),
        ("Steven Allan Spielberg", ["Allan was here."], None),
        ("yes", ["Spielberg directed it."], None),
    ],
)
def test_it_has_most_of_the_answer_in_the_best_passage(answer: str, passages: list[str], sentence: str | None) -> None:
    found = find_evidence(trace_of(said(answer), *passages))
    assert (found is None) == (sentence is None)
    if found and sentence:
        assert found.sentence.startswith(sentence)
        assert (found.source, found.url) == ("Films", PAGE)


def test_an_answer_of_the_graph_rests_on_its_call() -> None:
    facts = ("jaws: director Steven Spielberg", "jaws: year 1975")
    page = "Steven Spielberg made it."
    assert find_evidence(trace_of(said("Steven Spielberg", GRAPH), page, facts=facts)) == Evidence(
        facts[0], "knowledge graph: call 0"
    )
    assert find_evidence(trace_of(said("2", GRAPH), page, facts=facts)) is None, "a model's number"
    both = find_evidence(trace_of(said("2", GRAPH), page, facts=facts, by_model=False))
    assert both == Evidence(" ".join(facts), "knowledge graph: call 0; knowledge graph: call 1")


def test_an_abstention_has_none() -> None:
    assert find_evidence(trace_of(abstain("no"), "I don't know.")) is None
