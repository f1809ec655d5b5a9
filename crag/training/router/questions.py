"""The questions that a classifier learns from, with their labels as class numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crag.core.files import DatasetError
from crag.evaluation.datasets import read_records
from crag.evaluation.question_fields import question_of
from crag.evaluation.split import Split
from crag.router import FIELD_CLASSES

Positions = NDArray[np.int64]
"""Indices of questions in the data."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Questions with the class numbers of each field, shape (questions,), as indices of `FIELD_CLASSES[field]`."""

    texts: tuple[str, ...]
    classes: dict[str, NDArray[np.int64]]
    groups: tuple[str, ...]
    """No fold trains on a group that it tests: a row's `group`, such as its template; without one, its `query`."""


def read_labelled_questions(
    path: Path,
    fields: Sequence[str],
    split: Split | None = None,
) -> Examples:
    """The questions of a file in any format of `crag.evaluation.datasets`, with their labels for `fields`.

    Raises DatasetError: no such file, or a row lacks `query`, one of CRAG's labels or a split.
    """
    texts: list[str] = []
    groups: list[str] = []
    classes: dict[str, list[int]] = {name: [] for name in fields}

    for record in read_records(path, split=split):
        query = question_of(record)
        texts.append(query)
        # Without a group the same question, asked twice, still stays in one fold
        groups.append(str(record.data.get("group", query)))

        for name in fields:
            label = record.data.get(name)
            allowed = FIELD_CLASSES[name]
            if label not in allowed:
                listed = ", ".join(allowed)
                raise record.fault(name, f"found {label!r}, allowed: {listed}")
            classes[name].append(allowed.index(label))

    if not texts:
        raise DatasetError(f"{path}: no questions")
    columns = {name: np.array(numbers) for name, numbers in classes.items()}
    return Examples(tuple(texts), columns, tuple(groups))
