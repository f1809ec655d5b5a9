"""The nearest examples ask the same thing, come best last, and choose the domain."""

from collections.abc import Sequence

import numpy as np
import pytest

from agents.common.deadline import Deadline
from agents.encoders.base import Vectors
from agents.kg.schema import Domain
from agents.kg.writing.bank import load_bank
from agents.kg.writing.choice import MARK, ExampleIndex, QuestionForm

BANK = load_bank()


class LetterEncoder:
    """Counts letters; remembers what it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def warm_up(self) -> None:
        """Nothing to load."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        raise AssertionError("questions are compared with questions, without the instruction of queries")

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        self.seen.extend(texts)
        counts = np.array([[text.count(chr(97 + n)) + 0.01 for n in range(26)] for text in texts], dtype=np.float32)
        return counts / np.linalg.norm(counts, axis=1, keepdims=True), len(texts)


@pytest.fixture(scope="module")
def words() -> ExampleIndex:
    """Without a dense encoder: by words."""
    return ExampleIndex(BANK, None)


@pytest.mark.parametrize(
    ("question", "domain", "table", "key"),
    [
        ("what was wxyz's closing price yesterday?", Domain.FINANCE, "get_stock_price", "close"),
        ("how many grammy awards has max mustermann won?", Domain.MUSIC, "get_grammy_person", "award_count"),
        ("who captained fc nirgendwo in their last game?", Domain.SPORTS, "get_soccer_last_game", "Captain"),
        ("how long is xanadu in minutes?", Domain.MOVIE, "get_movie", "length"),
    ],
)
def test_the_nearest_example_asks_for_the_same_key_even_by_words_alone(
    words: ExampleIndex, question: str, domain: Domain, table: str, key: str
) -> None:
    (found,) = words.nearest([question], [None], 4)
    assert found.domain is domain
    assert len(found.examples) == 4
    assert found.examples[-1].calls.startswith(table)
    assert key in found.examples[-1].calls


def test_a_given_domain_is_kept(words: ExampleIndex) -> None:
    question = "how many grammy awards has max mustermann won?"
    (found,) = words.nearest([question], [Domain.OPEN], 3)
    assert found.domain is Domain.OPEN
    assert {example.domain for example in found.examples} == {Domain.OPEN}


def test_the_dense_encoder_reads_the_bank_once_and_each_question_in_both_forms() -> None:
    encoder = LetterEncoder()
    index = ExampleIndex(BANK, encoder)
    index.warm_up()
    assert len(encoder.seen) == 2 * len(BANK)
    (found,) = index.nearest([BANK[7].question], [None], 2)
    assert found.examples[-1] == BANK[7]
    assert len(encoder.seen) == 2 * len(BANK) + 2
    assert index.nearest([], [], 2) == []


@pytest.fixture(scope="module")
def form() -> QuestionForm:
    return QuestionForm(load_bank())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("who directed rear window?", "who directed gremlins?"),
        ("what was zyxq's closing price yesterday?", "What was Palantir's closing price yesterday?"),
        ("who won best actor in 1971?", "who won best actor in 2019?"),
        ("how many grammy awards has björk won?", "how many grammy awards has wolfmother won?"),
    ],
)
def test_names_and_numbers_make_no_difference(form: QuestionForm, one: str, other: str) -> None:
    assert form.of(one) == form.of(other)
    assert MARK in form.of(one)
