"""What in-process engines that run a model step by step share: `transformers` and `openvino`."""

import gc
import json
from abc import abstractmethod
from collections import deque
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

import torch

from agents.common.deadline import Deadline
from agents.llm.base import EngineUnavailableError, Generation, GenerationRequest, LanguageModelDiedError
from agents.llm.decoding import BatchDecoder, GrammarError, GrammarMatcher, Pace, Row, StepModel, grammar_tokenizer
from agents.llm.local_engine import LocalEngine, TokenizedRequest, model_folder
from agents.settings import OpenvinoEngine, TransformersEngine

if TYPE_CHECKING:
    from llguidance import LLTokenizer

StepwiseSettings = TypeVar("StepwiseSettings", bound=OpenvinoEngine | TransformersEngine)

FEWEST_NEW_TOKENS = 8
"""A micro-batch without time for this many tokens each is halved."""
TURN = 0.5
"""Share of the remaining time that a micro-batch may generate for while others wait. Texts of usual length end in it; a
longer one does not block the others."""

_PREFILL_TOKENS_ON_CPU = 512
"""Takes three seconds with a 0.5B model on two cores, less than the deadline's reserve."""
_PREFILL_TOKENS_ON_GPU = 8192
_WARM_UP_PROMPT_TOKENS = 128


class StepwiseEngine(LocalEngine[StepwiseSettings]):
    """Groups requests by adapter, sorts them by length and runs micro-batches of `settings.batch_size`.

    Greedy results depend on batch mates only by rounding: none in practice with float32; near ties can differ with
    float16. Micro-batches that seem too slow are halved; only the clock refuses requests. Prompts longer than
    `settings.max_model_tokens` fail.
    """

    def __init__(self, settings: StepwiseSettings) -> None:
        super().__init__(settings)
        self._decoder: BatchDecoder | None = None
        self._model: StepModel | None = None
        self._pace = Pace()

    def warm_up(self) -> None:
        """Load the model and its adapters, and measure their speed with a short prompt.
        Raises WeightsMissingError: a file is missing; EngineUnavailableError: a package or the device is missing.
        """
        if self._decoder is not None:
            return
        self.check_weights()
        model = self._model = self._load()
        rehearsal = self._make_decoder(model, frozenset())
        request = GenerationRequest(prompt="warm-up")
        for tokens in (2, 4):
            self._pace.forget()  # the first run includes setup costs
            rehearsal.run([Row(request, [0] * _WARM_UP_PROMPT_TOKENS, tokens)], Deadline(60))
        self._decoder = self._make_decoder(model, self._end_tokens)

    def close(self) -> None:
        """Release the model's memory."""
        self._decoder = self._model = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def _answer(self, requests: Sequence[TokenizedRequest], results: dict[int, Generation], deadline: Deadline) -> None:
        rows: list[Row] = []
        for place, request, prompt in requests:
            try:
                rows.append(self._row(place, request, prompt))
            except (GrammarError, EngineUnavailableError) as error:
                results[place] = Generation.failed(str(error))
        self._run_in_turns(deque(self._micro_batches(rows)), results, deadline)

    # --- loading -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def _load(self) -> StepModel:
        """The model with its adapters. Raises EngineUnavailableError: a package or the device is missing."""

    def _make_decoder(self, model: StepModel, end_tokens: frozenset[int]) -> BatchDecoder:
        prefill = _PREFILL_TOKENS_ON_GPU if model.device.type != "cpu" else _PREFILL_TOKENS_ON_CPU
        guesses = self._settings.guessed_tokens
        return BatchDecoder(model, self._tokenizer, self._pace, end_tokens, prefill, guesses)

    def _config(self, name: str) -> dict[str, Any]:
        path = model_folder(self._settings.model) / name
        config: dict[str, Any] = json.loads(path.read_bytes()) if path.is_file() else {}
        return config

    @cached_property
    def _end_tokens(self) -> frozenset[int]:
        configured = (self._config("config.json") | self._config("generation_config.json")).get("eos_token_id")
        tokens: list[int | None] = configured if isinstance(configured, list) else [configured]
        known = [*tokens, self._tokenizer.huggingface.eos_token_id]
        return frozenset(token for token in known if token is not None)

    @cached_property
    def _window(self) -> int:
        limit = self._settings.max_model_tokens
        own: int = self._config("config.json").get("max_position_embeddings") or limit
        return min(limit, own)

    @cached_property
    def _guide(self) -> "LLTokenizer":
        if self._model is None:
            raise RuntimeError("the model was closed")
        return grammar_tokenizer(self._tokenizer, self._model.vocabulary, sorted(self._end_tokens))

    # --- running -----------------------------------------------------------------------------------------------------

    def _row(self, place: int, request: GenerationRequest, prompt: Sequence[int]) -> Row:
        limit = max(1, min(request.max_tokens, self._window - len(prompt)))
        matcher = GrammarMatcher(self._guide, request.grammar) if request.grammar is not None else None
        return Row(request, prompt, limit, matcher, place)

    def _micro_batches(self, rows: list[Row]) -> list[list[Row]]:
        """Each has one adapter and prompts of similar length; the shortest first, as they are the fastest."""
        ordered = sorted(rows, key=lambda row: (row.request.adapter or "", len(row.prompt)))
        size = self._settings.batch_size
        groups = [list(group) for _, group in groupby(ordered, key=lambda row: row.request.adapter)]
        return [group[start : start + size] for group in groups for start in range(0, len(group), size)]

    def _run_in_turns(self, waiting: deque[list[Row]], results: dict[int, Generation], deadline: Deadline) -> None:
        """Fill `results` by position; a request that was not started before the deadline gets none.

        While others wait, a micro-batch gets its `TURN`; unfinished rows continue after the others.
        """
        interrupted: list[list[Row]] = []
        while waiting and not deadline.expired:
            batch = self._affordable(waiting, deadline)
            ended = self._run(batch, results, deadline, TURN if waiting else 1.0)
            unfinished = [row for row in ended if row.finish_reason is None]
            if waiting and unfinished:
                interrupted.append(unfinished)
        for batch in interrupted:
            if not deadline.expired:
                self._run(batch, results, deadline)

    def _affordable(self, waiting: deque[list[Row]], deadline: Deadline) -> list[Row]:
        """The next micro-batch, or the part of it that seems to fit the time left; the rest waits.

        At least one request is started: a busy machine spoils the speed estimate.
        """
        batch = waiting.popleft()
        while len(batch) > 1 and not self._seems_to_fit(batch, deadline):
            middle = len(batch) // 2
            waiting.appendleft(batch[middle:])
            batch = batch[:middle]
        return batch

    def _seems_to_fit(self, batch: Sequence[Row], deadline: Deadline) -> bool:
        """Whether the prefill and a short text fit into the time left, at the measured speed."""
        reading = self._pace.prefill_seconds(len(batch) * max(len(row.prompt) for row in batch))
        wanted = max(row.request.max_tokens for row in batch)
        return self._pace.steps_within(deadline.remaining - reading) >= min(FEWEST_NEW_TOKENS, wanted)

    def _run(
        self, batch: list[Row], results: dict[int, Generation], deadline: Deadline, share: float = 1.0
    ) -> list[Row]:
        """Run or continue one micro-batch; returns the rows that did not fail.

        If it fails as a whole, each request is retried alone from its start.
        """
        try:
            generations = self._decode(batch, deadline, share)
        except (torch.cuda.OutOfMemoryError, RuntimeError, ValueError, IndexError) as error:
            if isinstance(error, torch.AcceleratorError) and not isinstance(error, torch.cuda.OutOfMemoryError):
                raise LanguageModelDiedError(f"the GPU fails: {error}") from error
            failure = f"{type(error).__name__}: {str(error).strip() or 'no message'}"
        else:
            results.update(zip((row.place for row in batch), generations, strict=True))
            return batch
        # Outside the handler: its traceback would keep the failed batch's memory.
        if len(batch) == 1:
            results[batch[0].place] = Generation.failed(failure)
            return []
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        ended: list[Row] = []
        for row in batch:
            if not deadline.expired:
                ended += self._run([self._row(row.place, row.request, row.prompt)], results, deadline, share)
        return ended

    def _decode(self, rows: Sequence[Row], deadline: Deadline, share: float) -> list[Generation]:
        if self._decoder is None or self._model is None:
            raise RuntimeError("the model was closed while it was generating")
        with self._model.adapter(rows[0].request.adapter):
            return self._decoder.run(rows, deadline, share)
