"""Turns examples into token ids."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agents.common.text import encodable
from agents.llm.trainable import ChatTokenizer, PromptError
from evaluation.datasets import DatasetError
from training.examples import TrainingExample

IGNORED = -100
"""Label of a token that is read but not learned."""


class TokenExample(NamedTuple):
    """Token ids of a prompt and of its completion, which ends with the model's end token."""

    prompt: list[int]
    completion: list[int]

    @property
    def length(self) -> int:
        """Tokens of both."""
        return len(self.prompt) + len(self.completion)


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

    def tokens(self, examples: Sequence[TrainingExample], max_tokens: int) -> TokenExamples:
        """The examples of at most `max_tokens`, prompt and completion together; longer ones are counted.

        Raises:
            DatasetError: a prompt does not fit this model, or no example is left.
        """
        found = TokenExamples([], Counter(), Counter())
        for example in examples:
            try:
                prompt = self._tokenizer.prompt_tokens(example.request)
            except PromptError as error:
                raise DatasetError(f"{example.place}: {error}") from error
            tokens = TokenExample(prompt, self._completion(example.completion))
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

    def _completion(self, text: str) -> list[int]:
        backend = self._tokenizer.backend
        # A completion that spells out the end token must not teach the model to stop there.
        backend.encode_special_tokens = True
        try:
            ids = backend.encode(encodable(text), add_special_tokens=False).ids
        finally:
            backend.encode_special_tokens = False
        return [*ids, self._end]


def _end_token(folder: Path, tokenizer: ChatTokenizer) -> int:
    """The first end token of the generation config, else of the tokenizer: engines stop at either."""
    config = folder / "generation_config.json"
    ends = json.loads(config.read_text(encoding="utf-8")).get("eos_token_id") if config.is_file() else None
    first = ends[0] if isinstance(ends, list) and ends else ends
    end = first if isinstance(first, int) else tokenizer.end_token
    if end is None:
        raise DatasetError(f"the model in {folder} has no end token: it could not learn where an answer ends")
    return int(end)
