"""The order of examples in which each batch has similar lengths, and large batches in parts."""

import random
from collections.abc import Iterator, Mapping, Sequence

import torch
from torch.utils.data import Sampler


class SimilarLengths(Sampler[int]):  # type: ignore[misc]
    """Indices of all examples, once an epoch: sorted by length, cut into batches, the batches in random order.

    The order depends on seed and epoch only, so that a resumed run goes on in it.
    """

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int) -> None:
        self._lengths = lengths
        self._batch_size = batch_size
        self._seed = seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Called by the trainer before each epoch."""
        self._epoch = epoch

    def __len__(self) -> int:
        return len(self._lengths)

    def __iter__(self) -> Iterator[int]:
        chance = random.Random(f"{self._seed} {self._epoch}")  # noqa: S311 - an order, not a secret
        indices = list(range(len(self._lengths)))
        # Shuffled before the sort, which is stable: examples of one length meet others in each epoch
        chance.shuffle(indices)
        indices.sort(key=lambda index: self._lengths[index])

        starts = range(0, len(indices), self._batch_size)
        batches = [indices[start : start + self._batch_size] for start in starts]
        chance.shuffle(batches)
        # The trainer cuts the order again, so a short batch may only be the last
        batches.sort(key=lambda batch: len(batch) < self._batch_size)
        for batch in batches:
            yield from batch


def in_parts(batch: Mapping[str, torch.Tensor], max_tokens: int) -> Iterator[Mapping[str, torch.Tensor]]:
    """The rows of a batch in parts of at most `max_tokens`, counted with padding; a longer row is a part of its own.

    The tensors are (rows, tokens), padded on the right; "attention_mask" is 1 where a token is. A part has the padding
    that its own rows need.

    Example:
        in_parts({"input_ids": ids, "attention_mask": mask}, 1024)
    """
    lengths: list[int] = batch["attention_mask"].sum(dim=1).tolist()
    parts: list[list[int]] = [[]]
    # From short to long, so that short rows are not padded like the longest
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        is_full = (len(parts[-1]) + 1) * lengths[row] > max_tokens
        if parts[-1] and is_full:
            parts.append([])
        parts[-1].append(row)

    if len(parts) == 1:
        yield batch
        return
    for rows in parts:
        longest = lengths[rows[-1]]
        yield {name: values[rows, :longest] for name, values in batch.items()}
