"""Labelled questions: read, checked, divided."""

import json
from pathlib import Path

import numpy as np
import pytest

from evaluation.datasets import DatasetError
from tests.training.router.toy import toy_rows, write_toy
from training.router.examples import fold_of_each, read_examples


@pytest.mark.parametrize(
    ("change", "message"),
    [({"domain": "cooking"}, r'line 2, field "domain": found \'cooking\''), ({"query": ""}, 'line 2, field "query"')],
)
def test_a_row_that_cannot_be_learnt_from_is_named(tmp_path: Path, change: dict[str, str], message: str) -> None:
    rows = toy_rows(3)
    rows[1] |= change
    path = tmp_path / "toy.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        read_examples(path, ["domain"])


def test_folds_are_even_stratified_and_the_same_every_time(tmp_path: Path) -> None:
    examples = read_examples(write_toy(tmp_path / "toy.jsonl", 60), ["domain"])
    fold = fold_of_each(examples, 4)
    assert np.bincount(fold).tolist() == [15, 15, 15, 15]
    for number in range(4):
        assert np.bincount(examples.classes["domain"][fold == number]).tolist()[1:] == [5, 5, 0, 5]
    assert (fold == fold_of_each(examples, 4)).all()
