"""Decodes one batch of prompts step by step and checks the clock after each step."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from llguidance import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from crag.core.deadline import Deadline
from crag.engines.llm.base import FinishReason, Generation, GenerationRequest, end_before_stop
from crag.engines.llm.tokenizer import ChatTokenizer

FEWEST_PREFILL_TOKENS = 32
"""Minimum prompt tokens (of all prompts together) in a step, even if the model seems slow: enough to measure it."""
PREFILL_TOKENS_ON_CPU = 256
"""`StepModel.prefill_tokens` of a CPU: a second or two with a 1.5B model on two cores; 512 are no faster."""
GUESSED_TOKENS = 8
"""Tokens of a step, of all prompts together, that are guessed from the prompt and checked by the model."""


class GrammarError(ValueError):
    """llguidance cannot use a grammar; the message is llguidance's."""


class GrammarMatcher:
    """The position of one generation in its Lark grammar.
    Raises GrammarError: the grammar is invalid, or a token does not match it.
    """

    def __init__(self, guide: LLTokenizer, grammar: str) -> None:
        # The prefix marks Lark text; without it llguidance reads a JSON grammar.
        self._matcher = LLMatcher(guide, LLMatcher.grammar_from_lark(grammar), log_level=0)
        self._raise_if_broken()

    def allowed(self) -> bytes:
        """One byte per vocabulary token, 0 if the token is not allowed next."""
        mask = self._matcher.compute_logit_bias()
        self._raise_if_broken()
        return mask

    def advance(self, token: int) -> None:
        """Advance by a generated token."""
        self._matcher.consume_token(token)
        self._raise_if_broken()

    def valid(self, tokens: list[int]) -> list[int]:
        """The longest beginning of these tokens that may follow."""
        return tokens[: self._matcher.validate_tokens(tokens)] if tokens else []

    @property
    def finished(self) -> bool:
        """Whether only the end of the text can follow."""
        return bool(self._matcher.is_stopped())

    def _raise_if_broken(self) -> None:
        if self._matcher.is_error():
            raise GrammarError(self._matcher.get_error().strip())


@dataclass(slots=True)
class Slot:
    """One prompt of a batch and its text so far, at most `limit` tokens."""

    request: GenerationRequest
    prompt: Sequence[int]
    limit: int
    matcher: GrammarMatcher | None = None
    place: int = 0
    """Position in the caller's list of requests."""
    tokens: list[int] = field(default_factory=list)
    log_probability: float = 0.0
    first_entropy: float | None = None
    finish_reason: FinishReason | None = None
    error: str | None = None


Integers = NDArray[np.int64]
Logits = NDArray[np.float32]
Cache = Any
"""Keys and values of the tokens so far; the type is the engine's, None before the first step."""


class StepModel(ABC):
    """A model that reads tokens step by step. The decoder passes its cache back unchanged."""

    prefill_tokens: int
    """Most prompt tokens, of all prompts together, in one step: bounds the overrun of the deadline."""

    def adapter(self, name: str | None) -> AbstractContextManager[None]:
        """Apply an adapter, or none, while the block runs; here: there are none."""
        return nullcontext()

    @abstractmethod
    def step(
        self, tokens: Integers, mask: Integers, positions: Integers, cache: Cache, kept: int = 1
    ) -> tuple[Logits, Cache]:
        """Read `tokens` (rows x new) after those in the cache; with None a new text starts.

        `mask` (rows x all tokens so far) is 0 for padding. Returns the logits after each row's last `kept` tokens (rows
        x kept x vocabulary) and the cache.
        """

    def rehearse(self) -> None:
        """Take the first step, which includes setup costs."""
        tokens = np.ones((1, 4), np.int64)
        self.step(tokens, tokens, tokens.cumsum(1) - 1, None)

    def release(self) -> None:  # noqa: B027 - most have nothing to give back
        """Give the memory of a step that failed back."""


def seen_after(text: Sequence[int], most: int) -> list[int]:
    """The tokens, at most `most`, that followed the last earlier place of the text's ending (3 tokens, else 2)."""
    for size in (3, 2):
        ending = text[-size:]
        for start in range(len(text) - size - 1, -1, -1):
            if text[start : start + size] == ending:
                return list(text[start + size : start + size + most])
    return []


class BatchDecoder:
    """The decoding loop.

    transformers' own `generate` has one temperature, stop list and length for a whole batch, keeps all logits for
    log-probabilities, and reads a prompt in one step that cannot be interrupted.
    Near the deadline steps get smaller than the model's `prefill_tokens`, by the speed of the last one.
    """

    def __init__(self, model: StepModel, tokenizer: ChatTokenizer, end_tokens: frozenset[int]) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._end_tokens = end_tokens
        self._seconds_per_token = 0.0
        # A fixed seed: sampling differs between requests but not between runs over the same questions.
        self._chance = np.random.default_rng(0)

    def run(self, rows: Sequence[Slot], deadline: Deadline) -> list[Generation]:
        """Generate for all rows until each ends or time runs out."""
        tokens, mask = _left_padded([row.prompt for row in rows], max(len(row.prompt) for row in rows))
        logits, cache = self._read(tokens, mask, deadline)
        if logits is not None:
            self._decode(rows, logits, cache, mask, deadline)
        return [self._generation(row) for row in rows]

    def _read(self, tokens: Integers, mask: Integers, deadline: Deadline) -> tuple[Logits | None, Cache]:
        """Read the prompts; returns the next token's logits (None if time ran out) and the cache."""
        rows, width = tokens.shape
        positions, logits, cache, start = _positions(mask), None, None, 0
        while start < width:
            if deadline.expired:
                return None, None
            end = min(width, start + max(1, self._step_tokens(deadline) // rows))
            part, left = tokens[:, start:end], deadline.remaining
            logits, cache = self._model.step(part, mask[:, :end], positions[:, start:end], cache)
            self._seconds_per_token = (left - deadline.remaining) / part.size
            start = end
        return logits, cache

    def _step_tokens(self, deadline: Deadline) -> int:
        """How many prompt tokens to read in one step: half of what seems to fit, because the speed varies."""
        fitting = deadline.remaining / 2 / self._seconds_per_token if self._seconds_per_token else math.inf
        return int(min(self._model.prefill_tokens, max(FEWEST_PREFILL_TOKENS, fitting)))

    def _decode(self, rows: Sequence[Slot], logits: Logits, cache: Cache, mask: Integers, deadline: Deadline) -> None:
        """Choose tokens until every row ends or time runs out.

        The model reads a row's newest token together with a guess of the next ones: they often stand in the prompt
        already (names, examples of calls). Its own choices come after each; wrong guesses are masked. The text is the
        same up to rounding, with fewer steps.
        """
        unread: list[list[int]] = [[] for _ in rows]
        while True:
            for index, row in enumerate(rows):
                guess = unread[index][1:]
                wrong = len(guess) - self._choose(row, logits[index], guess)
                mask[index, mask.shape[1] - wrong :] = 0
            if all(row.finish_reason for row in rows) or deadline.expired:
                return
            unread = [self._newest_and_guess(row, len(rows)) for row in rows]
            tokens, new = _left_padded(unread, max(map(len, unread)))
            mask = np.hstack([mask, new])
            positions = _positions(mask)[:, -tokens.shape[1] :]
            logits, cache = self._model.step(tokens, mask, positions, cache, tokens.shape[1])

    def _newest_and_guess(self, row: Slot, rows: int) -> list[int]:
        """The row's newest token and what may follow it, within the row's limit and grammar; empty if it has ended."""
        if row.finish_reason:
            return []
        most = min(-(-GUESSED_TOKENS // rows), row.limit - len(row.tokens) - 1)
        guess = seen_after([*row.prompt, *row.tokens], most) if most else []
        return [row.tokens[-1], *(row.matcher.valid(guess) if row.matcher else guess)]

    def _choose(self, row: Slot, logits: Logits, guess: Sequence[int]) -> int:
        """Record the next tokens of a row: one, and one more for each right guess; returns how many guesses were right.

        `logits` (the last tokens of the step x vocabulary) end with those after the newest token and after each guess.
        """
        if row.finish_reason:
            return 0
        after, right = logits[-1 - len(guess) :], 0
        token = self._next(row, after[0])
        while not row.finish_reason and right < len(guess) and token == guess[right]:
            right += 1
            token = self._next(row, after[right])
        return right

    def _next(self, row: Slot, logits: Logits) -> int | None:
        """Choose and record the next token of a row; None if its grammar broke."""
        try:
            allowed = row.matcher.allowed() if row.matcher else None
            token = self._pick(row.request, logits, allowed)
            if row.matcher and token not in self._end_tokens:
                row.matcher.advance(token)
        except GrammarError as error:
            row.finish_reason, row.error = "error", str(error)
            return None
        shifted = logits - logits.max()
        log_probabilities = shifted - np.log(np.exp(shifted).sum())
        if not row.tokens:
            row.first_entropy = -float((np.exp(log_probabilities) * log_probabilities).sum())
        row.tokens.append(token)
        row.log_probability += float(log_probabilities[token])
        row.finish_reason = self._finish_reason(row)
        return token

    def _pick(self, request: GenerationRequest, logits: Logits, allowed: bytes | None) -> int:
        if allowed is not None:
            permitted = np.zeros(len(logits), bool)
            permitted[: len(allowed)] = np.frombuffer(allowed, np.uint8)[: len(logits)] > 0
            logits = np.where(permitted, logits, -np.inf)
        if request.temperature == 0:
            return int(logits.argmax())
        order = np.argsort(-logits, kind="stable")
        probabilities = np.exp((logits[order] - logits[order[0]]).astype(np.float64) / request.temperature)
        probabilities /= probabilities.sum()
        # Top-p keeps the fewest tokens whose probabilities reach p, at least the first.
        probabilities[probabilities.cumsum() - probabilities >= request.top_p] = 0
        return int(self._chance.choice(order, p=probabilities / probabilities.sum()))

    def _finish_reason(self, row: Slot) -> FinishReason | None:
        if row.tokens[-1] in self._end_tokens:
            return "stop"
        if row.request.stop:
            text = self._tokenizer.decode(row.tokens)
            if end_before_stop(text, row.request.stop) != text:
                return "stop"
        if row.matcher and row.matcher.finished:
            return "stop"
        if len(row.tokens) >= row.limit:
            return "length"
        return None

    def _generation(self, row: Slot) -> Generation:
        if row.error is not None:
            return Generation.failed(row.error)
        count = len(row.tokens)
        return Generation(
            text=end_before_stop(self._tokenizer.decode(row.tokens), row.request.stop),
            mean_log_probability=row.log_probability / count if count else None,
            prompt_tokens=len(row.prompt),
            completion_tokens=count,
            finish_reason=row.finish_reason or "deadline",
            first_entropy=row.first_entropy,
        )


def _left_padded(texts: Sequence[Sequence[int]], width: int) -> tuple[Integers, Integers]:
    """The texts' tokens as one batch, and its mask: 0 for padding."""
    tokens, mask = np.zeros((2, len(texts), width), np.int64)
    for row, text in enumerate(texts):
        tokens[row, width - len(text) :], mask[row, width - len(text) :] = text, 1
    return tokens, mask


def _positions(mask: Integers) -> Integers:
    """The place of each token in its text."""
    return (mask.cumsum(1) - 1).clip(min=0)
