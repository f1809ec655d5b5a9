from pathlib import Path

import pytest

from agents.web.needs import needed


@pytest.mark.parametrize("part", [0, "", [], Path(), False])
def test_a_part_that_is_there_is_given_back_even_if_it_counts_as_false(part: object) -> None:
    assert needed(part, "tokenizer", "web.context") is part


def test_an_absent_part_is_named_with_the_setting_that_needs_it() -> None:
    with pytest.raises(ValueError, match=r"^web\.rerank needs a cross-encoder, but none was given$"):
        needed(None, "cross-encoder", "web.rerank")
