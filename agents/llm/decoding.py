"""One batch of prompts through a transformers model, token by token, watching the clock between any two steps."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from transformers import Cache, PreTrainedModel

from agents.deadline import Deadline
from agents.llm.base import FinishReason, Generation, GenerationRequest
from agents.llm.grammar import GrammarError, GrammarMatcher
from agents.llm.pace import Pace
from agents.llm.request_rules import end_before_stop
from agents.llm.tokenizer import ChatTokenizer

FEWEST_PREFILL_TOKENS = 32
"""Prompt tokens (of all prompts together) of a step, however slow the model seems to be: enough to measure it."""


@dataclass(slots=True)
class Row:
    """One prompt of a batch and what was generated for it so far; `limit` is how many tokens may be generated.

    A row that has not ended (`finish_reason` is None) can be run again and goes on where it was.
    """

    request: GenerationRequest
    prompt: Sequence[int]
    limit: int
    matcher: GrammarMatcher | None = None
    tokens: list[int] = field(default_factory=list)
    log_probability: float = 0.0
    finish_reason: FinishReason | None = None
    error: str | None = None


class BatchDecoder:
    """The decoding loop.

    transformers' own `generate` has one temperature, one stop list and one length for a whole batch, gives
    log-probabilities only by keeping all logits, and reads a prompt in one step that nothing can interrupt.

    `prefill_tokens` bounds the prompt tokens (of all prompts together) in one step, and with them how far a step can
    overrun the deadline. Near the deadline steps are made smaller, as the measured pace says; only the clock ends the
    work. Only the newest step's logits are in memory.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: ChatTokenizer,
        pace: Pace,
        end_tokens: frozenset[int],
        prefill_tokens: int,
    ) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._pace = pace
        self._end_tokens = end_tokens
        self._prefill_tokens = prefill_tokens
        self._device = model.get_input_embeddings().weight.device
        # A fixed seed: sampling differs between requests but not between two runs over the same questions.
        self._chance = torch.Generator(self._device).manual_seed(0)

    def run(self, rows: Sequence[Row], deadline: Deadline, share: float = 1.0) -> list[Generation]:
        """Generate for all rows until each has ended or time is up.

        `share` is the part of the time left after reading the prompts that may be used for generating.
        """
        texts = [[*row.prompt, *row.tokens] for row in rows]
        with torch.inference_mode():
            mask = self._left_padded([[1] * len(text) for text in texts])
            logits, cache = self._read(self._left_padded(texts), mask, deadline)
            if logits is not None:
                self._decode(rows, logits, cache, mask, deadline.within(share * deadline.remaining))
        return [self._generation(row) for row in rows]

    def _left_padded(self, sequences: Sequence[Sequence[int]]) -> torch.Tensor:
        width = max(map(len, sequences))
        padded = [[0] * (width - len(sequence)) + list(sequence) for sequence in sequences]
        return torch.tensor(padded, device=self._device)

    def _read(
        self, tokens: torch.Tensor, mask: torch.Tensor, deadline: Deadline
    ) -> tuple[torch.Tensor | None, Cache | None]:
        """Logits of the first new token (rows x vocabulary) and the key-value cache; no logits where time ran out."""
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        rows, width = tokens.shape
        logits, cache, start = None, None, 0
        while start < width:
            if deadline.expired:
                return None, None
            end = start + max(1, self._step_tokens(deadline) // rows)
            part = tokens[:, start:end]
            started = time.perf_counter()
            logits, cache = self._forward(part, mask[:, :end], positions[:, start:end], cache)
            self._pace.note_prefill(part.numel(), time.perf_counter() - started)
            start = end
        return logits, cache

    def _step_tokens(self, deadline: Deadline) -> int:
        """How many prompt tokens to read in one step: half of what seems to fit, for the pace is an estimate."""
        fitting = self._pace.prefill_tokens(deadline.remaining / 2)
        return int(min(self._prefill_tokens, max(FEWEST_PREFILL_TOKENS, fitting)))

    def _decode(
        self, rows: Sequence[Row], logits: torch.Tensor, cache: Cache | None, mask: torch.Tensor, deadline: Deadline
    ) -> None:
        lengths = mask.sum(1, keepdim=True)
        steps, quickest = 0, self._pace.seconds_per_step or math.inf
        started = time.perf_counter()
        while True:
            chosen = self._choose(rows, logits)
            if all(row.finish_reason for row in rows):
                break
            left = deadline.remaining
            if left <= 0 or (steps and quickest > left):
                break  # even a step like the quickest one would end after the deadline
            mask = torch.cat([mask, torch.ones_like(chosen)], dim=1)
            logits, cache = self._forward(chosen, mask, lengths + steps, cache)
            quickest = min(quickest, left - deadline.remaining)
            steps += 1
        self._pace.note_decoding(steps, time.perf_counter() - started)

    def _forward(
        self, tokens: torch.Tensor, mask: torch.Tensor, positions: torch.Tensor, cache: Cache | None
    ) -> tuple[torch.Tensor, Cache]:
        output = self._model(
            input_ids=tokens,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        )
        return output.logits[:, -1].float(), output.past_key_values

    def _choose(self, rows: Sequence[Row], logits: torch.Tensor) -> torch.Tensor:
        """The next token of each row (rows x 1), noted in the rows; 0, which nobody reads, where a row has ended."""
        log_probabilities = torch.log_softmax(logits, dim=-1)
        greedy = logits.argmax(dim=-1).tolist()
        chosen = [0] * len(rows)
        for index, row in enumerate(rows):
            if row.finish_reason:
                continue
            try:
                allowed = row.matcher.allowed() if row.matcher else None
                simple = allowed is None and row.request.temperature == 0
                token = greedy[index] if simple else self._pick(row.request, logits[index], allowed)
                if row.matcher and token not in self._end_tokens:
                    row.matcher.advance(token)
            except GrammarError as error:
                row.finish_reason, row.error = "error", str(error)
                continue
            chosen[index] = token
            row.tokens.append(token)
            row.log_probability += log_probabilities[index, token].item()
            row.finish_reason = self._finish_reason(row)
        return torch.tensor(chosen, device=self._device).unsqueeze(1)

    def _pick(self, request: GenerationRequest, logits: torch.Tensor, allowed: bytes | None) -> int:
        if allowed is not None:
            permitted = torch.zeros_like(logits, dtype=torch.bool)
            mask = torch.frombuffer(bytearray(allowed), dtype=torch.uint8)[: len(permitted)] > 0
            permitted[: len(mask)] = mask.to(permitted.device)
            logits = logits.masked_fill(~permitted, -torch.inf)
        if request.temperature == 0:
            return int(logits.argmax())
        probabilities, order = torch.softmax(logits / request.temperature, dim=-1).sort(descending=True)
        # Top-p keeps the fewest tokens whose probabilities reach p; the first one always stays.
        probabilities[probabilities.cumsum(0) - probabilities >= request.top_p] = 0
        return int(order[torch.multinomial(probabilities, 1, generator=self._chance)])

    def _finish_reason(self, row: Row) -> FinishReason | None:
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

    def _generation(self, row: Row) -> Generation:
        if row.error is not None:
            return Generation.failed(row.error)
        count = len(row.tokens)
        return Generation(
            text=end_before_stop(self._tokenizer.decode(row.tokens), row.request.stop),
            mean_log_probability=row.log_probability / count if count else None,
            prompt_tokens=len(row.prompt),
            completion_tokens=count,
            finish_reason=row.finish_reason or "deadline",
        )
