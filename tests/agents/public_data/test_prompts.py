import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.deadline import Deadline
from agents.llm import LanguageModelDiedError
from agents.public_data.prompts import MAX_NAMES, PromptFinder, parse_names, without_echoes
from agents.public_data.questions import Mention
from tests.agents.public_data.fakes import SOON, CountedModel, query

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


def test_without_a_domain_nothing_is_asked() -> None:
    model = CountedModel(REPLIES)
    assert PromptFinder(model, 64).find(QUERIES, [None] * len(QUERIES), Deadline(SOON)) == [[] for _ in QUERIES]
    assert model.calls == []


@pytest.mark.parametrize("fault", ["garbage", "error", "empty", "short_list"])
def test_a_failing_model_finds_nothing_and_breaks_nothing(fault: str) -> None:
    finder = PromptFinder(CountedModel(REPLIES, fault=fault), 64)
    assert len(finder.find(QUERIES, MOVIES, Deadline(SOON))) == len(QUERIES)


def test_a_dead_engine_is_reported() -> None:
    with pytest.raises(LanguageModelDiedError):
        PromptFinder(CountedModel(REPLIES, fault="die_after"), 64).find(QUERIES, MOVIES, Deadline(SOON))


def test_the_model_is_not_asked_once_time_is_over() -> None:
    model = CountedModel(REPLIES)
    assert PromptFinder(model, 64).find(QUERIES, MOVIES, Deadline(0)) == [[] for _ in QUERIES]
    assert model.calls == []


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ("heat", ["heat"]),
        ("\n heat && ronin && heat \nQuestion: ...", ["heat", "ronin"]),
        ('"Heat" && **Ronin**.', ["Heat", "Ronin"]),
        ("none", []),
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
