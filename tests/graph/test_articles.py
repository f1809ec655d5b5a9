"""Articles of the encyclopedia: which a question names, and how they are read."""

import pytest

from crag.core.deadline import Deadline
from crag.core.queries import parse_row
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.graph import open_knowledge_graph
from crag.settings import load_settings
from tests.graph.faulty_server import FaultyServer
from tests.pipeline.asking import agent_of, ask, page

ARTICLES_AS_PAGES = [
    'knowledge_graph.articles = "pages"',
    "knowledge_graph.read_facts_of = []",
    "web.after_graph = true",
    "web.context.max_tokens = 150",
    "web.chunk.parent_characters = 200",
    "web.chunk.child_characters = 100",
]


def named_articles(address: str, *questions: str) -> list[list[str]]:
    """The titles of the articles that each question names."""
    settings = load_settings("scripted", ARTICLES_AS_PAGES)
    model = ScriptedLanguageModel(settings.language_model)  # type: ignore[arg-type]
    graph = open_knowledge_graph(settings.knowledge_graph, model, None, address)
    queries = [parse_row("1", question, [], "02/28/2024, 07:00:00 PT") for question in questions]
    pages_by_question = graph.find_articles(queries, Deadline(600.0))
    graph.close()
    return [[found.name for found in pages] for pages in pages_by_question]


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("when did grey abbey lose its roof?", ["Grey Abbey"]),
        ("what's the Grey Abbey's tower height", ["Grey Abbey"]),
        ("which is taller, the tall tower or grey abbey?", ["Tall Tower", "Grey Abbey"]),
        # a part of another title, a part of a word, and a word of any question are no titles
        ("what is an abbey?", ["Abbey"]),
        # a common noun is the subject of some questions, and in passing in others
        ("what is the purpose of abbey?", ["Abbey"]),
        ("which is larger, abbey or castle?", ["Abbey"]),
        ("which abbey in france is the oldest?", []),
        ("who lives in the abbey of foo?", []),
        ("how old was the abbey when it burnt?", ["Abbey"]),
        ("who lives in greyabbey street?", []),
        ("who is the mayor of foo?", []),
        # words in brackets choose
        ("how long is a python?", ["Python"]),
        ("when was the python programming language made?", ["Python (programming language)"]),
        ("?", []),
    ],
)
def test_an_article_is_found_by_its_title_in_the_question(graph_address: str, question: str, titles: list[str]) -> None:
    (found,) = named_articles(graph_address, question)
    assert sorted(found) == sorted(titles)


def test_a_server_that_fails_costs_the_articles_alone() -> None:
    with FaultyServer() as server:
        assert named_articles(server.url, "when did grey abbey lose its roof?") == [[]]


@pytest.mark.parametrize(
    ("question", "calls", "expected"),
    [
        ("which poet wrote of grey abbey in 1602?", 'get_open("grey abbey")', "In 1602 the poet Ann Lee wrote"),
        ("which poet wrote of grey abbey in 1602?", "None", "In 1602 the poet Ann Lee wrote"),
        (
            "what is the tower height of grey abbey?",
            'get_open("grey abbey")',
            "The tower height of Grey Abbey is 61 m.",
        ),
        ("where did the monks of grey abbey go?", "None", "The monks went to Bar."),
    ],
)
def test_what_stands_deep_in_an_article_reaches_the_model(
    graph_address: str, monkeypatch: pytest.MonkeyPatch, question: str, calls: str, expected: str
) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", graph_address)
    replies = f"language_model.replies = {{\"Calls:\" = '{calls}'}}"
    settings = load_settings("scripted", [*ARTICLES_AS_PAGES, replies])
    model = ScriptedLanguageModel(settings.language_model)  # type: ignore[arg-type]
    graph = open_knowledge_graph(settings.knowledge_graph, model, None, graph_address)
    agent = agent_of(settings, model, knowledge_graph=graph)
    _, trace = ask(agent, question, page("<p>Nothing about it.</p>"))
    agent.close()

    assert expected in trace.context
    assert model.count_tokens(trace.context) <= 150
    assert trace.passages[0].page_name == "Grey Abbey"
