"""A progress bar over questions, on a terminal only."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def batches_with_progress(questions: Sequence[T], size: int, done: int = 0) -> Iterator[Sequence[T]]:
    """The questions that are not done, in batches, with a progress bar."""
    with tqdm(total=len(questions), initial=done, unit="question", disable=None) as progress:
        for start in range(done, len(questions), size):
            batch = questions[start : start + size]
            yield batch
            progress.update(len(batch))
