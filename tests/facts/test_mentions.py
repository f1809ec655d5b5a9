"""What a question is about, found by the names of the tables and by the language model; and its years."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.core.contracts import Query
from crag.core.deadline import Deadline
from crag.engines.llm import LanguageModelDiedError
from crag.facts.mentions import Mention, find_years
from crag.facts.prompt_finder import MAX_NAMES, PromptFinder, parse_names, without_echoes
from crag.facts.span_finder import SpanFinder
from tests.facts.fakes import SOON, CountedModel, entity, query

ENTITIES = [
    entity("The Godfather"),
    entity("The Godfather Part II"),
    entity("Schindler's List"),
    entity("Titanic"),
    entity("Emma"),
    entity("It"),
    entity("2012"),
    entity("The End"),
    entity("Best Actor", "movie", 1994),
    entity("Frozen", "movie"),
    entity("Frozen", "music"),
    entity("Adele", "music"),
    entity("Apple Inc.", "finance", names=("apple", "AAPL")),
    entity("ON Semiconductor", "finance", names=("on",)),
    entity("Cabot", "finance", names=("CBT",)),
]


def found(text: str, domain: str | None = None) -> list[Mention]:
    return SpanFinder(ENTITIES).find([query(text)], [domain], Deadline(SOON))[0]


NAMED = {
    "who directed the godfather part ii?": ["the godfather part ii"],
    "who stars in schindlers list?": ["schindlers list"],
    "who stars in schindler's list?": ["schindler list"],
    "who won best actor in 1994?": ["best actor"],
    "what's apple's stock price?": ["apple"],
    "how long is the movie 2012?": ["2012"],
    'who wrote the film "it"?': ["it"],
    "how deep did the titanic sink?": [],  # nothing shows a domain that has tables
    "when is it on at the cinema?": [],
    "what is the stock price of xyz on friday?": [],
    "how does the movie seven samurai reach the end?": [],
    "who directed emma goldman: a dangerous woman?": [],  # part of a longer name
}


@pytest.mark.parametrize("question", NAMED)
def test_names_are_found_the_longest_first_and_other_words_left_alone(question: str) -> None:
    assert [mention.text for mention in found(question)] == NAMED[question]


REPLIES = {
    "longer, jaws or e.t.?\nNames:": 'jaws && "e.t. the extra-terrestrial"\nQuestion: more',
    "p/e of ibm?\nNames:": "IBM",
}
QUERIES = [query(text) for text in ("is longer, jaws or e.t.?", "capital of peru?", "who won the cup?", "p/e of ibm?")]
MOVIES = ["movie"] * len(QUERIES)


def test_one_call_serves_the_batch_and_only_domains_with_tables_are_asked() -> None:
    model = CountedModel(REPLIES)
    found = PromptFinder(model, 64).find(QUERIES, ["movie", "open", "sports", "finance"], Deadline(SOON))
    movie = [Mention("jaws", "movie"), Mention("e.t. the extra-terrestrial", "movie")]
    assert found == [movie, [], [], [Mention("IBM", "finance")]]
    assert model.calls == [2]


def test_a_failing_model_finds_nothing_and_a_dead_engine_is_reported() -> None:
    for fault in ("garbage", "error", "empty", "short_list"):
        finder = PromptFinder(CountedModel(REPLIES, fault=fault), 64)
        assert len(finder.find(QUERIES, MOVIES, Deadline(SOON))) == len(QUERIES)
    with pytest.raises(LanguageModelDiedError):
        PromptFinder(CountedModel(REPLIES, fault="die_after"), 64).find(QUERIES, MOVIES, Deadline(SOON))


def test_the_model_is_asked_only_about_known_domains_and_in_time() -> None:
    model = CountedModel(REPLIES)
    finder = PromptFinder(model, 64)
    assert finder.find(QUERIES, [None] * len(QUERIES), Deadline(SOON)) == [[] for _ in QUERIES]
    assert finder.find(QUERIES, MOVIES, Deadline(0)) == [[] for _ in QUERIES]
    assert model.calls == []


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ("\n heat && ronin && heat \nQuestion: ...", ["heat", "ronin"]),
        ('"Heat" && **Ronin**.', ["Heat", "Ronin"]),
        ("I don't know.", []),
        ("&& &&", []),
        ("the question asks about many things, so that I cannot give one name alone for it now", []),
        (" && ".join(map(str, range(MAX_NAMES + 1))), []),
    ],
)
def test_names_are_read_from_what_models_write(reply: str, names: list[str]) -> None:
    assert parse_names(reply) == names


def test_names_copied_from_the_examples_are_dropped() -> None:
    names = ["notting hill", "Roman Holiday, jaws", "jaws"]
    assert without_echoes(names, "how long is jaws?", "movie") == ["jaws"]
    assert without_echoes(names, "was notting hill shown before jaws?", "movie") == ["notting hill", "jaws"]


@given(st.text())
def test_whatever_the_model_writes_gives_a_few_names_at_most(reply: str) -> None:
    assert len(parse_names(reply)) <= MAX_NAMES


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("who won best actor in 1994?", (1994,)),
        ("which won first, in 2001 or in 1999?", (2001, 1999)),
        ("who hosted the 80th academy awards?", (2008,)),
        ("who opened the 62nd annual Grammy awards (2019)?", (2020,)),
        ("what won the oscar this year?", (2024,)),
        ("who are the 10000 maniacs?", ()),
    ],
)
def test_years_are_read_as_people_say_them(text: str, years: tuple[int, ...]) -> None:
    assert find_years(Query("1", text, "", datetime(2024, 3, 5), ())) == years
