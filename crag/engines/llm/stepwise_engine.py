"""What in-process engines that run a model step by step share: `transformers` and `openvino`."""

import gc
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeVar

from crag.core.deadline import Deadline
from crag.engines.llm.base import Generation, GenerationRequest, LanguageModelDiedError
from crag.engines.llm.decoding import BatchDecoder, BatchRow, StepModel
from crag.engines.llm.grammar import GrammarError
from crag.engines.llm.guesses import TokenIndex
from crag.engines.llm.local_engine import LocalEngine, TokenizedRequest
from crag.engines.llm.prefixes import FEWEST_SHARED_TOKENS
from crag.settings import OpenvinoEngine, TransformersEngine

Engine = TypeVar("Engine", bound=OpenvinoEngine | TransformersEngine)


class StepwiseEngine(LocalEngine[Engine]):
    """Sorts requests by length and runs micro-batches of at most `settings.batch_size` and `settings.batch_tokens`.

    Greedy results depend on batch mates only by rounding: none in practice with float32; near ties can differ with
    float16. Only the clock refuses requests. Prompts longer than `settings.max_model_tokens` fail.
    """

    _mixes_adapters = False
    """Whether the rows of a micro-batch may have different adapters."""

    def __init__(self, settings: Engine) -> None:
        super().__init__(settings)
        self._decoder: BatchDecoder | None = None
        self._model: StepModel | None = None
        self._indexed_texts: tuple[str, ...] = ()
        self._text_index = TokenIndex()

    def warm_up(self) -> None:
        """Load the model and its adapters.

        Raises WeightsMissingError: a file is missing; EngineUnavailableError: a package or the device is missing.
        """
        if self._decoder is not None:
            return
        self.check_weights()
        model = self._load()
        self._model = model
        self._decoder = BatchDecoder(model, self._tokenizer, self._end_tokens)

    def close(self) -> None:
        """Release the model's memory."""
        model = self._model
        self._decoder = None
        self._model = None
        gc.collect()
        if model is not None:
            model.release()

    def _answer(
        self,
        requests: Sequence[TokenizedRequest],
        generations: dict[int, Generation],
        deadline: Deadline,
    ) -> None:
        rows: list[BatchRow] = []
        for index, request, prompt in requests:
            try:
                rows.append(self._build_row(index, request, prompt))
            except GrammarError as error:
                generations[index] = Generation.failed(str(error))

        for batch in self._micro_batches(rows):
            if deadline.expired:
                break
            self._run(batch, generations, deadline)

    # --- loading -----------------------------------------------------------------------------------------------------

    @abstractmethod
    def _load(self) -> StepModel:
        """The model with its adapters, rehearsed. Raises EngineUnavailableError: a package or the device is missing."""

    @cached_property
    def _window(self) -> int:
        limit = self._settings.max_model_tokens
        return min(limit, self._config.get("max_position_embeddings") or limit)

    # --- running -----------------------------------------------------------------------------------------------------

    def _build_row(self, index: int, request: GenerationRequest, prompt: Sequence[int]) -> BatchRow:
        """A fresh row for a request. Raises GrammarError: its grammar is invalid."""
        limit = max(1, min(request.max_tokens, self._window - len(prompt)))
        matcher = self._match_grammar(request.grammar) if request.grammar is not None else None

        row = BatchRow(
            request,
            prompt,
            limit,
            matcher,
            prefix=self._find_prefix(request, prompt),
            request_index=index,
        )

        if request.likely_texts:
            row.likely = self._index_texts(request.likely_texts)
        if request.similar_text:
            row.expect(self._tokens_with_end([request.similar_text])[0])
        return row

    def _find_prefix(self, request: GenerationRequest, prompt: Sequence[int]) -> tuple[int, ...]:
        """The first tokens of a prompt that are worth keeping for others; at least one token is left to read."""
        if self._model is None or not self._model.keeps_prefixes or not request.shared_prefix:
            return ()
        # What one step reads, so that no clock decides how it is cut.
        count = min(self._tokenizer.count_shared(request), self._model.prefill_tokens, len(prompt) - 1)
        return tuple(prompt[:count]) if count >= FEWEST_SHARED_TOKENS else ()

    def _index_texts(self, texts: tuple[str, ...]) -> TokenIndex:
        """The tokens of texts, each with an end, so that the end is guessed too; those of the last request are kept."""
        if texts is not self._indexed_texts:
            self._text_index = TokenIndex(self._tokens_with_end(texts))
            self._indexed_texts = texts
        return self._text_index

    def _tokens_with_end(self, texts: Sequence[str]) -> list[list[int]]:
        end = [] if self._tokenizer.end_token is None else [self._tokenizer.end_token]
        encodings = self._tokenizer.backend.encode_batch(list(texts), add_special_tokens=False)
        return [[*encoding.ids, *end] for encoding in encodings]

    def _micro_batches(self, rows: list[BatchRow]) -> list[list[BatchRow]]:
        """Batches of prompts of similar length with the same prefix, of one adapter or of several; the shortest first.

        A prefix was read with one adapter.
        """
        groups: dict[tuple[str | None, tuple[int, ...]], list[BatchRow]] = {}
        for row in sorted(rows, key=lambda row: len(row.prompt)):
            adapter = None if self._mixes_adapters and not row.prefix else row.request.adapter
            groups.setdefault((adapter, row.prefix), []).append(row)

        batches: list[list[BatchRow]] = []
        for group in groups.values():
            batches.extend(self._split(group))
        return batches

    def _split(self, rows: Sequence[BatchRow]) -> Iterator[list[BatchRow]]:
        """Micro-batches of rows sorted by length: at most `batch_size` rows, and `batch_tokens` with padding."""
        most_tokens = self._settings.batch_tokens or math.inf
        batch: list[BatchRow] = []
        for row in rows:
            # The newest row is the longest, so all others are padded to its length.
            tokens = (len(batch) + 1) * len(row.prompt)
            if batch and (len(batch) == self._settings.batch_size or tokens > most_tokens):
                yield batch
                batch = []
            batch.append(row)
        if batch:
            yield batch

    def _run(self, batch: list[BatchRow], generations: dict[int, Generation], deadline: Deadline) -> None:
        """Run one micro-batch; if it fails as a whole, try each request alone."""
        try:
            decoded = self._decode(batch, deadline)
        except LanguageModelDiedError:
            raise
        except (RuntimeError, ValueError, IndexError) as error:  # out of memory among them
            failure = f"{type(error).__name__}: {str(error).strip() or 'no message'}"
        else:
            for row, generation in zip(batch, decoded, strict=True):
                generations[row.request_index] = generation
            return

        # Outside the handler: its traceback would keep the failed batch's memory.
        if len(batch) == 1:
            generations[batch[0].request_index] = Generation.failed(failure)
            return
        if self._model is not None:
            self._model.release()
        for row in batch:
            if not deadline.expired:
                # The failed run may have left tokens in the old row, and moved its grammar.
                fresh_row = self._build_row(row.request_index, row.request, row.prompt)
                self._run([fresh_row], generations, deadline)

    def _decode(self, rows: Sequence[BatchRow], deadline: Deadline) -> list[Generation]:
        if self._decoder is None or self._model is None:
            raise RuntimeError("the model was closed while it was generating")
        return self._decoder.run(rows, deadline)
