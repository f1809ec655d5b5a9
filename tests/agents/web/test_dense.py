from collections.abc import Sequence

import numpy as np

from agents.deadline import Deadline
from agents.encoders.base import Vectors
from agents.web.dense import cosines
from tests.agents.web.fakes import HashedWords


def test_every_distinct_text_of_the_batch_is_encoded_once_in_one_call() -> None:
    encoder = HashedWords()
    found = cosines(encoder, {0: "red", 1: "blue"}, {0: ["red", "blue"], 1: ["blue", "blue", "green"]}, Deadline(9))
    assert [sorted(call) for call in encoder.calls] == [["blue", "green", "red"]]
    np.testing.assert_allclose(found[0], [1.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(found[1], [1.0, 1.0, 0.0], atol=1e-6)


def test_what_the_deadline_did_not_allow_is_not_a_number_and_first_places_come_first() -> None:
    found = cosines(HashedWords(at_most=2), {0: "red", 1: "blue"}, {0: ["a", "b"], 1: ["c", "d"]}, Deadline(9))
    assert [list(np.isnan(own)) for own in found.values()] == [[False, True], [False, True]]


def test_no_texts() -> None:
    assert [len(own) for own in cosines(HashedWords(), {0: "red"}, {0: []}, Deadline(9)).values()] == [0]


def test_a_vector_that_is_no_number_is_unlike_everything_but_was_encoded() -> None:
    class Overflowing(HashedWords):
        def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
            vectors, encoded = super().encode_passages(texts, deadline)
            vectors[0] = np.nan
            return vectors, encoded

    assert list(cosines(Overflowing(), {0: "red"}, {0: ["blue", "green"]}, Deadline(9))[0]) == [-1.0, 0.0]
