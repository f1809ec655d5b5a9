"""db3's presets do what the paper says: which texts are searched, which are read, and who answers first.

How calls, entities and domains are asked for is tested elsewhere.
"""

from collections.abc import Callable, Iterator

import pytest

from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION
from crag.engines.llm import GenerationRequest
from tests.papers.pipeline import (
    FixedRoute,
    Pipeline,
    documents,
    fifty_pages,
    paragraphs,
    pipeline,
    text_of,
    word,
    words,
)
from tests.pipeline.asking import page

PRESETS = ("db3_task1", "db3_task23")
QUESTION = "when was the godfather released?"
CALLS = 'get_movie("the godfather")["release_date"]'
FILMS = FixedRoute(domain="movie")
FACT, PAGE = "1972-03-24", "The Godfather came to the cinemas in March 1972."


def speaking(
    from_web: str = "in 1972", from_graph: str = "1972-03-24", calls: str = CALLS
) -> Callable[[GenerationRequest], str]:
    """A model that answers from pages, answers from the graph's facts, writes calls, and names no entity."""

    def says(request: GenerationRequest) -> str:
        text = text_of(request)
        if "<doc source=" in text:
            return from_graph if '<doc source="knowledge graph' in text else from_web
        return calls if "get_" in text else "none"

    return says


@pytest.fixture(params=PRESETS)
def db3(request: pytest.FixtureRequest) -> Iterator[Pipeline]:
    with pipeline(request.param, speaking()) as built:
        yield built


def answering(built: Pipeline) -> list[GenerationRequest]:
    """The requests whose prompts hold material."""
    return [request for request in built.model.requests if "<doc source=" in text_of(request)]


# --- section 2.2: parents and children, recall_k, reranker_k ----------------------------------------------------------


def test_children_of_200_characters_are_searched_and_parents_of_700_are_reranked_and_read(db3: Pipeline) -> None:
    text = [f"Line {word(number)} tells of {words(10 * number, 8)}." for number in range(60)]
    db3.ask(QUESTION, page(paragraphs(*text)))
    children, parents = [text for call in db3.dense.calls for text in call], db3.cross.texts
    assert max(map(len, children)) <= 200 < max(map(len, parents)) <= 700
    assert all(any(child in parent for parent in parents) for child in children)
    assert set(documents(text_of(answering(db3)[-1]))) <= set(parents)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_fifty_best_children_bring_their_parents_and_the_ten_best_parents_are_read(preset: str) -> None:
    """recall_k is 50, counted in children; reranker_k is 10, counted in parents."""
    line = "This line is about the number {0}. " + "It goes on. " * 52
    pages = [
        page(paragraphs(*(line.format(word(20 * number + turn)) for turn in range(20))), number) for number in range(5)
    ]
    rank = {word(number): number for number in range(100)}

    def place(text: str) -> int | None:
        return next((number for name, number in rank.items() if f" {name}." in text), None)

    def cosine(text: str) -> float:
        return 0.0 if (number := place(text)) is None else 0.1 + number / 200

    def logit(_: str, text: str) -> float:
        return -float(place(text) or 0)

    with pipeline(preset, speaking(), cosine=cosine, logit=logit) as db3:
        db3.ask(QUESTION, *pages)
        assert sorted(place(text) or 0 for text in db3.cross.texts) == list(range(50, 100))
        read = documents(text_of(answering(db3)[-1]))
        assert [place(text) for text in read] == list(range(50, 60)), "in the order of the reranker, best first"


def test_the_context_ends_at_4000_tokens() -> None:
    """Section 2.4: chunks are counted in characters, the context in the answering model's tokens."""
    pages = [page(paragraphs(*("a b c d e f g h i " + word(9 * n + k) for k in range(400))), n) for n in range(5)]
    for preset in PRESETS:
        with pipeline(preset, speaking(), "web.chunk.parent_characters=2000", "web.rerank.top_k=50") as db3:
            _, trace = db3.ask(QUESTION, *pages)
            assert 3900 < db3.model.count_tokens(trace.context) <= 4000


# --- section 2.4: the answer's prompt ---------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_the_controlled_prompt_is_a_chat_with_time_and_limit_then_context_then_question(preset: str) -> None:
    """Named here, because a preset with a tuned adapter may answer by the basic one."""
    with pipeline(preset, speaking(), "answering.prompt=controlled") as db3:
        db3.ask(QUESTION, page(paragraphs(PAGE)))
        request = answering(db3)[-1]
        system, user = request.messages
        assert (system.role, user.role) == ("system", "user")
        assert "03/05/2024, 23:18:31 PT" in system.content
        assert "75 words" in system.content
        assert user.content.index(PAGE) < user.content.index(INVALID_QUESTION) < user.content.index(QUESTION)
        assert I_DONT_KNOW in user.content
        assert user.content.endswith(f"Question: {QUESTION}\nAnswer:")
        assert (request.temperature, request.max_tokens) == (0.0, 75)


def test_the_basic_prompt_always_asks_for_an_answer(db3: Pipeline) -> None:
    """What the tuned model is asked with: it learnt when to abstain."""
    db3.ask(QUESTION, page(paragraphs(PAGE)))
    user = answering(db3)[-1].messages[-1].content
    assert I_DONT_KNOW not in user
    assert INVALID_QUESTION not in user
    assert user.endswith(f"Question: {QUESTION}\nAnswer:")


# --- section 3.1: the graph first, then the web; five of fifty pages --------------------------------------------------


def test_an_answer_of_the_graph_is_accepted_and_the_pages_are_not_asked(graph: str) -> None:
    with pipeline("db3_task23", speaking(), route=FILMS, graph=graph) as db3:
        answer, trace = db3.ask(QUESTION, page(paragraphs(PAGE)))
        assert (answer.text, answer.source) == (FACT, "knowledge graph")
        (request,) = answering(db3)
        assert FACT in text_of(request)
        assert PAGE not in text_of(request)
        assert trace.calls == [CALLS]


def test_where_the_graph_does_not_know_the_pages_answer_by_themselves(graph: str) -> None:
    with pipeline("db3_task23", speaking(from_graph="I don't know."), route=FILMS, graph=graph) as db3:
        answer, _ = db3.ask(QUESTION, page(paragraphs(PAGE)))
        assert (answer.text, answer.source) == ("in 1972", "web")
        first, second = (text_of(request) for request in answering(db3))
        assert FACT in first
        assert PAGE not in first
        assert PAGE in second
        assert FACT not in second, "the two answers are kept apart"


def test_an_invalid_question_of_the_graph_is_an_answer(graph: str) -> None:
    with pipeline("db3_task23", speaking(from_graph="invalid question"), route=FILMS, graph=graph) as db3:
        answer, _ = db3.ask(QUESTION, page(paragraphs(PAGE)))
        assert (answer.text, answer.source) == (INVALID_QUESTION, "knowledge graph")


def test_where_the_graph_finds_nothing_its_answerer_is_told_what_was_asked(graph: str) -> None:
    """Section 3.3: so the tuned answerer can call the question invalid. A base model learns nothing from it."""
    calls = 'get_movie("the zeppelin of oz")["release_date"]'
    speaks = speaking(from_graph="invalid question", calls=calls)
    with pipeline("db3_task23", speaks, route=FILMS, graph=graph) as db3:
        answer, trace = db3.ask(QUESTION, page(paragraphs(PAGE)))
        assert (answer.text, answer.source, trace.graph_state) == (INVALID_QUESTION, "knowledge graph", "not_found")
        (read,) = documents(text_of(answering(db3)[0]))
        assert read.startswith("Not found:")
        assert "the zeppelin of oz" in read
    with pipeline("db3_task23", speaks, "tuned=false", route=FILMS, graph=graph) as db3:
        assert db3.ask(QUESTION, page(paragraphs(PAGE)))[0].text == "in 1972"


def test_calls_are_run_as_written_where_the_preset_says_so(graph: str) -> None:
    calls = 'get_movie_person_oscar(None,None,[eq(year,"1973"),eq(winner,"true")])["film"]'
    for change, dropped in (("drop_doubtful_calls=false", False), ("drop_doubtful_calls=true", True)):
        with pipeline(
            "db3_task23", speaking(calls=calls), f"knowledge_graph.{change}", route=FILMS, graph=graph
        ) as db3:
            _, trace = db3.ask("who won an oscar?", page(paragraphs(PAGE)))
            assert trace.calls == ([] if dropped else [calls])
            assert any("no reason" in event for event in trace.events) is dropped


def test_of_fifty_pages_the_five_are_read_whose_snippets_the_reranker_likes_best() -> None:
    best = [0, 7, 19, 33, 48]
    pages = fifty_pages(PAGE, "when was the godfather released", "the godfather was released", best)
    with pipeline("db3_task23", speaking()) as db3:
        _, trace = db3.ask(QUESTION, *pages)
        assert db3.cross.calls[0] == [(QUESTION, each["page_snippet"]) for each in pages]
        assert trace.pages_read == 5
        assert {passage.page_rank for passage in trace.passages} == set(best)


@pytest.mark.parametrize("preset", PRESETS)
def test_five_pages_are_all_read_and_not_ranked(preset: str) -> None:
    with pipeline(preset, speaking()) as db3:
        _, trace = db3.ask(QUESTION, *(page(paragraphs(f"{PAGE} {word(number)}"), number) for number in range(5)))
        assert trace.pages_read == 5
        assert len([call for call in db3.cross.calls if call]) == 1, "the only ranking is that of the chunks"
