"""Decodes one batch of prompts step by step and checks the clock after each step."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crag.core.deadline import Deadline
from crag.engines.llm.base import FinishReason, Generation, GenerationRequest, end_before_stop
from crag.engines.llm.grammar import GrammarError, GrammarMatcher
from crag.engines.llm.guesses import LONGEST_ENDING, TokenIndex, guess_tokens
from crag.engines.llm.prefixes import KeptPrefixes, KeysAndValues
from crag.engines.llm.tokenizer import ChatTokenizer

FEWEST_PREFILL_TOKENS = 32
"""Minimum prompt tokens (of all prompts together) in a step, even if the model seems slow: enough to measure it."""
PREFILL_TOKENS_ON_CPU = 128
"""`StepModel.prefill_tokens` of a CPU: half a second of a 1.5B model on two cores; 256 take 40 MB more and no less."""
GUESSED_TOKENS = 12
"""Tokens of a step, of all prompts together, that are guessed and checked by the model."""
_GUESSED_IN_PADDING = 8
"""Of one prompt, in place of its padding: the logits after each take 0.6 MB."""
_GUESSED_OF_FREE_TEXT = 4
"""Of one prompt without a grammar: fewer of its guesses are right."""

Integers = NDArray[np.int64]
Logits = NDArray[np.float32]
Cache = Any
"""Keys and values of the tokens so far; the type is the engine's, None before the first step."""


@dataclass(slots=True)
class BatchRow:
    """One prompt of a batch and its text so far, at most `limit` tokens."""

    request: GenerationRequest
    prompt: Sequence[int]
    limit: int
    matcher: GrammarMatcher | None = None
    likely: TokenIndex | None = None
    """The tokens of `request.likely_texts`."""
    prefix: tuple[int, ...] = ()
    """The first tokens of the prompt, if other prompts share them. All rows of a batch have the same."""
    request_index: int = 0
    """Position in the caller's list of requests."""
    tokens: list[int] = field(default_factory=list)
    """What was generated, with the end-of-text token."""
    log_probability: float = 0.0
    """Sum over `tokens`, in nats."""
    first_entropy: float | None = None
    finish_reason: FinishReason | None = None
    error: str | None = None
    resembles_text: bool = False
    """Whether `expect` has a text that the answer resembles: then its first tokens can be guessed."""
    _index: TokenIndex = field(default_factory=TokenIndex)
    _indexed_count: int = 1

    def expect(self, tokens: Sequence[int]) -> None:
        """Take guesses also from these tokens of a text, which the answer probably resembles from its beginning."""
        # Behind the end of the prompt, so that the first token follows something
        last_tokens = self.prompt[-LONGEST_ENDING:]
        self._index.add([*last_tokens, *tokens], len(last_tokens))
        self.resembles_text = True

    def index_own_text(self) -> TokenIndex:
        """What followed what in the prompt, in the tokens so far, and in the text that they may resemble."""
        text = [*self.prompt, *self.tokens]
        self._index.add(text, self._indexed_count)
        self._indexed_count = len(text)
        return self._index


class StepModel(ABC):
    """A model that reads tokens step by step. The decoder passes its cache back unchanged."""

    prefill_tokens: int
    """Most prompt tokens, of all prompts together, in one step: bounds the overrun of the deadline."""

    def adapters(self, names: Sequence[str | None]) -> AbstractContextManager[None]:
        """Apply to each row of a batch its adapter, or none, while the block runs. The default knows no adapters."""
        return nullcontext()

    @abstractmethod
    def step(
        self,
        tokens: Integers,
        mask: Integers,
        positions: Integers,
        cache: Cache,
        logits_to_keep: int = 1,
    ) -> tuple[Logits, Cache]:
        """Read `tokens` (rows x new tokens) after those in the cache; with None a new text starts.

        `mask` (rows x all tokens so far) is 0 for padding; `positions` has the shape of `tokens`. Returns the logits
        after each row's last `logits_to_keep` tokens (rows x `logits_to_keep` x vocabulary), and the cache. The next
        step may overwrite the logits.
        """

    keeps_prefixes = False
    """Whether `copy_state` and `resume` are there."""

    def copy_state(self) -> KeysAndValues:
        """A copy of the keys and values of the text just read, the only one of its batch."""
        raise NotImplementedError

    def resume(self, state: KeysAndValues, row_count: int) -> Cache:
        """The cache of new texts that all begin with the text of `state`."""
        raise NotImplementedError

    @abstractmethod
    def select_rows(self, cache: Cache, rows: Sequence[int]) -> Cache:
        """The cache of these rows of the batch alone: the next steps read only them."""

    def rehearse(self) -> None:
        """Take the first step, which includes setup costs."""
        tokens = np.ones((1, 4), np.int64)
        mask = tokens
        self.step(tokens, mask, _positions(mask), None)

    def release(self) -> None:  # noqa: B027 - most have nothing to release
        """Release the memory of a failed step."""


class BatchDecoder:
    """The decoding loop.

    transformers' own `generate` has one temperature, stop list and length for a whole batch, keeps all logits for
    log-probabilities, and reads a prompt in one step that cannot be interrupted.

    Near the deadline steps get smaller than the model's `prefill_tokens`, by the speed of the step before.
    """

    def __init__(self, model: StepModel, tokenizer: ChatTokenizer, end_tokens: frozenset[int]) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._end_tokens = end_tokens
        self._seconds_per_token = 0.0
        self._prefixes = KeptPrefixes()
        # A fixed seed: sampling differs between requests but not between runs over the same questions.
        self._random = np.random.default_rng(0)

    def run(self, rows: Sequence[BatchRow], deadline: Deadline) -> list[Generation]:
        """Generate for all rows until each ends or time runs out."""
        if not deadline.expired:
            cache = self._resume_prefix(rows)
            with self._model.adapters([row.request.adapter for row in rows]):
                self._continue(rows, cache, deadline)

        return [self._build_generation(row) for row in rows]

    def _continue(self, rows: Sequence[BatchRow], cache: Cache, deadline: Deadline) -> None:
        """Read what follows the prefix, then generate."""
        prefix_length = len(rows[0].prefix)
        prompts = [row.prompt[prefix_length:] for row in rows]
        width = max(map(len, prompts))
        guesses: list[list[int]] = []
        for row, prompt in zip(rows, prompts, strict=True):
            # The guess for a shorter prompt costs nothing: padding would be read in its place.
            padding = width - len(prompt)
            limit = min(padding, _GUESSED_IN_PADDING) if row.resembles_text else 0
            guesses.append(self._guess(row, limit))

        # Padding on the left: all texts end in the same column, so one step gives the next token of each.
        unread = [[*prompt, *guess] for prompt, guess in zip(prompts, guesses, strict=True)]
        tokens, mask = _pad_left(unread, width)
        mask = np.hstack([np.ones((len(rows), prefix_length), np.int64), mask])

        logits_to_keep = max(map(len, guesses)) + 1
        logits, cache = self._read_prompts(tokens, mask, cache, deadline, logits_to_keep)
        if logits is not None:
            self._decode(rows, guesses, logits, cache, mask, deadline)

    # --- prompts -----------------------------------------------------------------------------------------------------

    def _resume_prefix(self, rows: Sequence[BatchRow]) -> Cache:
        """The cache of texts that begin with the rows' prefix; None without one.

        A prefix is always read alone, in one step, and always continued from a copy. So rounding is the same, and with
        it every text, whether the prefix was kept or not.
        """
        prefix = rows[0].prefix
        if not prefix:
            return None

        adapter = rows[0].request.adapter
        state = self._prefixes.find(adapter, prefix)
        if state is None:
            tokens, mask = _pad_left([prefix], len(prefix))
            with self._model.adapters([adapter]):
                self._model.step(tokens, mask, _positions(mask), None)
            state = self._model.copy_state()
            self._prefixes.keep(adapter, prefix, state)
        return self._model.resume(state, len(rows))

    def _read_prompts(
        self, tokens: Integers, mask: Integers, cache: Cache, deadline: Deadline, logits_to_keep: int
    ) -> tuple[Logits | None, Cache]:
        """Read the prompts after what is in the cache; returns the logits after the last tokens, and the new cache.

        The mask has columns for the cache too. No logits if time ran out.
        """
        row_count, width = tokens.shape
        cached_count = mask.shape[1] - width
        positions = _positions(mask)[:, cached_count:]
        logits: Logits | None = None

        start = 0
        while start < width:
            if deadline.expired:
                return None, None
            # A step reads the same columns of all prompts, at least one of them.
            columns = max(1, self._affordable_tokens(deadline) // row_count)
            end = width
            # The last step reads all tokens whose logits are kept.
            if width - start > max(columns, logits_to_keep):
                end = min(start + columns, width - logits_to_keep)

            seconds_before = deadline.remaining
            part = tokens[:, start:end]
            part_mask = mask[:, : cached_count + end]
            logits_of_part = logits_to_keep if end == width else 1
            logits, cache = self._model.step(part, part_mask, positions[:, start:end], cache, logits_of_part)
            # Padding costs as much as any token, so it counts here.
            self._seconds_per_token = (seconds_before - deadline.remaining) / part.size

            start = end
        return logits, cache

    def _affordable_tokens(self, deadline: Deadline) -> int:
        """How many prompt tokens to read in one step: half of what seems to fit, because the speed varies."""
        if not self._seconds_per_token:  # nothing was measured yet
            return self._model.prefill_tokens
        fitting = deadline.remaining / 2 / self._seconds_per_token
        return int(min(self._model.prefill_tokens, max(FEWEST_PREFILL_TOKENS, fitting)))

    # --- answers -----------------------------------------------------------------------------------------------------

    def _decode(
        self,
        rows: Sequence[BatchRow],
        guesses: Sequence[Sequence[int]],
        logits: Logits,
        cache: Cache,
        mask: Integers,
        deadline: Deadline,
    ) -> None:
        """Choose tokens until every row ends or time runs out; `guesses` are those that were read with the prompts.

        The model reads a row's newest token together with a guess of the next tokens, which a grammar may force, and
        which often are in the prompt already (names, examples of calls). The logits after each of them tell how far the
        guess is right; wrong guesses are masked. The text is the same up to rounding, with fewer steps.
        """
        while True:
            for index, (row, guess) in enumerate(zip(rows, guesses, strict=True)):
                right = self._choose_tokens(row, logits[index], guess)
                wrong = len(guess) - right
                # Wrong guesses stay in the cache, at the end of the row; masked, no later token sees them.
                mask[index, mask.shape[1] - wrong :] = 0

            running = [index for index, row in enumerate(rows) if not row.finish_reason]
            if not running or deadline.expired:
                return
            if len(running) < len(rows):
                # Rows that have ended would cost as much as the others.
                rows = [rows[index] for index in running]
                mask = mask[running]
                cache = self._model.select_rows(cache, running)

            share = -(-GUESSED_TOKENS // len(rows))  # rounded up
            guesses = [self._guess(row, share) for row in rows]
            width = max(map(len, guesses)) + 1
            unread = [[row.tokens[-1], *guess] for row, guess in zip(rows, guesses, strict=True)]
            tokens, new_mask = _pad_left(unread, width)
            mask = np.hstack([mask, new_mask])
            positions = _positions(mask)[:, -width:]
            logits, cache = self._model.step(tokens, mask, positions, cache, width)

    def _guess(self, row: BatchRow, limit: int) -> list[int]:
        """At most `limit` tokens that may follow in a row that has not ended, within its own limit and grammar."""
        if row.matcher is None:
            limit = min(limit, _GUESSED_OF_FREE_TEXT)
        # Less one, because a step yields one token more than it guesses right.
        limit = min(limit, row.limit - len(row.tokens) - 1)
        if not limit:
            return []

        guess = row.matcher.forced()[:limit] if row.matcher else []
        text = [*row.prompt, *row.tokens, *guess]
        indexes = [row.index_own_text()]
        if row.likely is not None:
            indexes.append(row.likely)
        guess += guess_tokens(text, limit - len(guess), indexes, self._end_tokens)
        return row.matcher.valid(guess) if row.matcher else guess

    def _choose_tokens(self, row: BatchRow, logits: Logits, guess: Sequence[int]) -> int:
        """Record the next tokens of a row: one, and one more for each right guess; returns how many guesses were right.

        `logits` (the last tokens of the step x vocabulary) end with those after the newest token and after each guess.
        """
        logits_after = logits[-1 - len(guess) :]
        right = 0
        token = self._choose_token(row, logits_after[0])
        while not row.finish_reason and right < len(guess) and token == guess[right]:
            right += 1
            token = self._choose_token(row, logits_after[right])
        return right

    def _choose_token(self, row: BatchRow, logits: Logits) -> int | None:
        """Choose and record the next token of a row; None if its grammar broke."""
        try:
            token = self._next_token(row, logits)
            if row.matcher and token not in self._end_tokens:
                row.matcher.advance(token)
        except GrammarError as error:
            row.finish_reason = "error"
            row.error = str(error)
            return None

        # The model's own probabilities: before grammar, temperature and top-p.
        # The shift keeps the exponentials from overflowing and changes no probability.
        shifted = logits - logits.max()
        log_probabilities = shifted - np.log(np.exp(shifted).sum())
        if not row.tokens:
            row.first_entropy = -float((np.exp(log_probabilities) * log_probabilities).sum())

        row.tokens.append(token)
        row.log_probability += float(log_probabilities[token])
        row.finish_reason = self._finish_reason(row)
        return token

    def _next_token(self, row: BatchRow, logits: Logits) -> int:
        """The token that the model prefers, or with a temperature a sample, among those that the grammar allows."""
        is_greedy = row.request.temperature == 0
        if row.matcher:
            likeliest = int(logits.argmax())
            # To check one token takes microseconds, to list all that may follow milliseconds
            if is_greedy and row.matcher.valid([likeliest]):
                return likeliest
            logits = _forbid(logits, row.matcher.allowed())

        return int(logits.argmax()) if is_greedy else self._sample(row.request, logits)

    def _sample(self, request: GenerationRequest, logits: Logits) -> int:
        """A token drawn by the request's temperature and top-p."""
        order = np.argsort(-logits, kind="stable")
        # In float64, because `choice` checks closely that the sum is 1.
        probabilities = np.exp((logits[order] - logits[order[0]]).astype(np.float64) / request.temperature)
        probabilities /= probabilities.sum()

        # Top-p keeps the fewest tokens whose probabilities reach p, at least the first.
        probability_before = probabilities.cumsum() - probabilities
        probabilities[probability_before >= request.top_p] = 0
        return int(self._random.choice(order, p=probabilities / probabilities.sum()))

    # --- ends --------------------------------------------------------------------------------------------------------

    def _finish_reason(self, row: BatchRow) -> FinishReason | None:
        """Why the row ends with its newest token, or None."""
        if row.tokens[-1] in self._end_tokens:
            return "stop"

        if row.request.stop:
            # A stop text may span several tokens, so look at the whole text.
            text = self._tokenizer.decode(row.tokens)
            if end_before_stop(text, row.request.stop) != text:
                return "stop"

        if row.matcher and row.matcher.finished:
            return "stop"
        if len(row.tokens) >= row.limit:
            return "length"
        return None

    def _build_generation(self, row: BatchRow) -> Generation:
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


def _forbid(logits: Logits, allowed: bytes) -> Logits:
    """The logits with -inf for tokens whose byte is 0, and for those behind the bytes: a model may have more logits."""
    is_allowed = np.zeros(len(logits), bool)
    is_allowed[: len(allowed)] = np.frombuffer(allowed, np.uint8)[: len(logits)] > 0
    return np.where(is_allowed, logits, -np.inf)


def _pad_left(texts: Sequence[Sequence[int]], width: int) -> tuple[Integers, Integers]:
    """The texts' tokens as one batch, and its mask: 0 for padding; both (texts x width)."""
    tokens = np.zeros((len(texts), width), np.int64)
    mask = np.zeros((len(texts), width), np.int64)
    for row, text in enumerate(texts):
        start = width - len(text)
        tokens[row, start:] = text
        mask[row, start:] = 1
    return tokens, mask


def _positions(mask: Integers) -> Integers:
    """The position of each token in its text, without the padding before it."""
    return (mask.cumsum(1) - 1).clip(min=0)
