"""Turns examples into token ids, and orders them for training."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.common.text import encodable
from agents.llm.trainable import ChatTokenizer, PromptError
from evaluation.datasets import DatasetError
from training.examples import TrainingExample

Positions = NDArray[np.int64]

IGNORED = -100
"""Label of a token that is read but not learned."""

STEPS_PER_SLICE = 16
"""Examples are sorted by length inside slices of this many steps, to reduce padding."""


@dataclass(frozen=True, slots=True)
class TokenExample:
    """Token ids of a prompt, of its completion and of a worse one; both completions end with the model's end token."""

    prompt: list[int]
    completion: list[int]
    rejected: list[int] | None = None

    @property
    def length(self) -> int:
        """Tokens of the prompt with its longer completion."""
        return len(self.prompt) + max(len(self.completion), len(self.rejected or ()))

    @property
    def read(self) -> int:
        """Tokens read in training: each completion is read with the prompt."""
        return sum(len(self.prompt) + len(one) for one in (self.completion, self.rejected) if one is not None)


class TokenExamples(NamedTuple):
    """The kept examples, and the numbers of kept and of too long ones by source."""

    kept: list[TokenExample]
    sources: Counter[str]
    too_long: Counter[str]


class ExampleTokenizer:
    """Tokenizes prompts as the engines do; adds the model's end token to completions."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = ChatTokenizer(folder)
        self._end = _end_token(folder, self._tokenizer)

    def tokens(
        self, examples: Sequence[TrainingExample], max_tokens: int, *, preferences: bool = False
    ) -> TokenExamples:
        """The examples whose prompt and longer completion have at most `max_tokens`; longer ones are counted.

        With `preferences` each example needs a rejected completion; else it is not read.

        Raises:
            DatasetError: a prompt does not fit this model, no example is left, or a rejected completion is missing.
        """
        found = TokenExamples([], Counter(), Counter())
        for example in examples:
            tokens = self._one(example, preferences=preferences)
            if tokens.length > max_tokens:
                found.too_long[example.source] += 1
            else:
                found.sources[example.source] += 1
                found.kept.append(tokens)
        if not found.kept:
            raise DatasetError(
                f"nothing to learn from: none of {len(examples)} examples has at most {max_tokens} tokens"
            )
        return found

    def _one(self, example: TrainingExample, *, preferences: bool) -> TokenExample:
        if preferences and example.rejected is None:
            raise DatasetError(f'{example.place}: learning from preferences needs the field "rejected"')
        try:
            prompt = self._tokenizer.prompt_tokens(example.request)
        except PromptError as error:
            raise DatasetError(f"{example.place}: {error}") from error
        rejected = None if not preferences or example.rejected is None else self._completion(example.rejected)
        return TokenExample(prompt, self._completion(example.completion), rejected)

    def _completion(self, text: str) -> list[int]:
        backend = self._tokenizer.huggingface.backend_tokenizer
        # A completion that spells out the end token must not teach the model to stop there.
        backend.encode_special_tokens = True
        try:
            ids = backend.encode(encodable(text), add_special_tokens=False).ids
        finally:
            backend.encode_special_tokens = False
        return [*ids, self._end]


def training_order(lengths: Sequence[int], per_step: int, epochs: int, seed: int) -> list[int]:
    """Positions of examples in training order, all epochs in one list; the same seed gives the same order.

    Each run of `per_step` positions is a step; its examples are of similar length, and steps come in random order.
    """
    random = np.random.default_rng(seed)
    seen = np.concatenate([random.permutation(len(lengths)) for _ in range(epochs)])
    steps = list(_steps(seen, np.asarray(lengths), per_step))
    whole = [step for step in steps if len(step) == per_step]
    rest = [step for step in steps if len(step) < per_step]
    # Steps are shuffled slice by slice, so that examples stay near their epoch.
    ordered: list[Positions] = []
    for start in range(0, len(whole), STEPS_PER_SLICE):
        part = whole[start : start + STEPS_PER_SLICE]
        ordered += [part[place] for place in random.permutation(len(part))]
    return [int(position) for step in (*ordered, *rest) for position in step]


def _steps(seen: Positions, lengths: Positions, per_step: int) -> Iterator[Positions]:
    size = per_step * STEPS_PER_SLICE
    for start in range(0, len(seen), size):
        part = seen[start : start + size]
        part = part[np.argsort(lengths[part], kind="stable")]
        for first in range(0, len(part), per_step):
            yield part[first : first + per_step]


def _end_token(folder: Path, tokenizer: ChatTokenizer) -> int:
    """The first end token of the generation config, else of the tokenizer: engines stop at either."""
    config = folder / "generation_config.json"
    ends = json.loads(config.read_text(encoding="utf-8")).get("eos_token_id") if config.is_file() else None
    first = ends[0] if isinstance(ends, list) and ends else ends
    end = first if isinstance(first, int) else tokenizer.huggingface.eos_token_id
    if end is None:
        raise DatasetError(f"the model in {folder} has no end token: it could not learn where an answer ends")
    return int(end)
