"""Labelled questions for classifiers, and their folds for cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.questions import FIELD_CLASSES
from evaluation.datasets import DatasetError, Split, read_records

Positions = NDArray[np.int64]
"""Places of questions in the data."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Questions with the class numbers of each field, shape (questions,), as indices of `FIELD_CLASSES[field]`."""

    identifiers: tuple[str, ...]
    texts: tuple[str, ...]
    classes: dict[str, NDArray[np.int64]]

    def __len__(self) -> int:
        return len(self.texts)


def read_examples(path: Path, fields: Sequence[str], split: Split | None = None) -> Examples:
    """The questions of a file in any format of `evaluation.datasets`, with their labels for `fields`.

    Raises:
        DatasetError: no such file, or a row lacks `query`, one of CRAG's labels or a split.
    """
    identifiers, texts = [], []
    classes: dict[str, list[int]] = {field: [] for field in fields}
    for record in read_records(path, split=split):
        query = record.data.get("query")
        if not isinstance(query, str) or not query.strip():
            raise DatasetError(f'{record.place}, field "query": expected text, found {query!r}')
        texts.append(query)
        identifiers.append(str(record.data.get("interaction_id", "")))
        for field in fields:
            allowed, found = FIELD_CLASSES[field], record.data.get(field)
            if found not in allowed:
                raise DatasetError(f'{record.place}, field "{field}": found {found!r}, allowed: {", ".join(allowed)}')
            classes[field].append(allowed.index(found))
    if not texts:
        raise DatasetError(f"{path}: no questions")
    return Examples(tuple(identifiers), tuple(texts), {name: np.array(column) for name, column in classes.items()})


def fold_of_each(examples: Examples, folds: int, seed: int = 0) -> NDArray[np.int64]:
    """The fold of each question, stratified by the field with the most classes."""
    from sklearn.model_selection import StratifiedKFold

    column = max(examples.classes.values(), key=lambda classes: len(np.unique(classes)))
    fold = np.zeros(len(examples), dtype=np.int64)
    parts = StratifiedKFold(folds, shuffle=True, random_state=seed).split(column, column)
    for number, (_, held_out) in enumerate(parts):
        fold[held_out] = number
    return fold
