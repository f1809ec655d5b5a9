import pytest

from agents.deadline import Deadline
from agents.public_data.questions import Mention
from agents.public_data.spans import SpanFinder
from tests.agents.public_data.fakes import SOON, entity, query

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


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("who directed the godfather part ii?", ["the godfather part ii"]),
        ("when was godfather part ii filmed", ["godfather part ii"]),
        ("who stars in schindlers list?", ["schindlers list"]),
        ("who stars in schindler's list?", ["schindler list"]),
        ("which movie is longer, titanic or the godfather?", ["titanic", "the godfather"]),
        ("who won best actor in 1994?", ["best actor"]),
        ("what's apple's stock price?", ["apple"]),
        ("p/e ratio of cbt?", ["cbt"]),
        ("how long is the movie 2012?", ["2012"]),
        ('who wrote the film "it"?', ["it"]),
    ],
)
def test_names_are_found_the_longest_first(question: str, names: list[str]) -> None:
    assert [mention.text for mention in found(question)] == names


@pytest.mark.parametrize(
    "question",
    [
        "how deep did the titanic sink?",  # nothing shows a domain that has tables
        "when is it on at the cinema?",
        "what is the stock price of xyz on friday?",
        "which movie was released in 2012?",
        "how does the movie seven samurai reach the end?",
        "who directed emma goldman: a dangerous woman?",  # part of a longer name
        'who sings "emma, forgive me", the song?',
    ],
)
def test_words_that_are_no_names_here_are_left_alone(question: str) -> None:
    assert found(question) == []


def test_the_words_of_the_question_choose_between_namesakes() -> None:
    assert found("who sang the song frozen?") == [Mention("frozen", "music")]
    assert found("which actor speaks in frozen?") == [Mention("frozen", "movie")]


def test_a_known_domain_is_believed() -> None:
    assert found("how long is titanic?") == []
    assert found("how long is titanic?", "movie") == [Mention("titanic", "movie")]
    assert found("how old is adele, the singer?", "sports") == []


def test_nothing_is_done_without_time() -> None:
    assert SpanFinder(ENTITIES).find([query("who directed titanic?")], [None], Deadline(0)) == [[]]
