"""What in-process engines that run a model step by step share: `transformers` and `openvino`."""

import gc
from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

from llguidance import LLTokenizer

from crag.core.deadline import Deadline
from crag.engines.llm.base import Generation, GenerationRequest, LanguageModelDiedError
from crag.engines.llm.chat_template import read_config
from crag.engines.llm.decoding import BatchDecoder, Slot, StepModel
from crag.engines.llm.grammar import GrammarError, GrammarMatcher
from crag.engines.llm.guesses import TokenIndex
from crag.engines.llm.local_engine import LocalEngine, TokenizedRequest, model_folder
from crag.settings import OpenvinoEngine, TransformersEngine

Engine = TypeVar("Engine", bound=OpenvinoEngine | TransformersEngine)


class StepwiseEngine(LocalEngine[Engine]):
    """Sorts requests by length and runs micro-batches of `settings.batch_size`.

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
        self._text_index = TokenIndex([])

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
        rows: list[Slot] = []
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
    def _config(self) -> dict[str, Any]:
        folder = model_folder(self._settings.model)
        # The second file wins, as it may list more end tokens.
        return read_config(folder, "config.json") | read_config(folder, "generation_config.json")

    @cached_property
    def _end_tokens(self) -> frozenset[int]:
        """Ids of the tokens that end a text, by the model's configuration and by its tokenizer."""
        configured = self._config.get("eos_token_id")
        tokens = configured if isinstance(configured, list) else [configured]
        return frozenset({*tokens, self._tokenizer.end_token} - {None})

    @cached_property
    def _window(self) -> int:
        limit = self._settings.max_model_tokens
        return min(limit, self._config.get("max_position_embeddings") or limit)

    @cached_property
    def _grammar_tokenizer(self) -> LLTokenizer:
        """The tokenizer that all grammars share; building it takes a second."""
        return LLTokenizer(
            self._tokenizer.backend.to_str(),
            n_vocab=self._config["vocab_size"],
            eos_token=sorted(self._end_tokens),
            slices=[],  # the default ones need 0.3 s and 50 MB
        )

    # --- running -----------------------------------------------------------------------------------------------------

    def _build_row(self, index: int, request: GenerationRequest, prompt: Sequence[int]) -> Slot:
        """A fresh row for a request. Raises GrammarError: its grammar is invalid."""
        limit = max(1, min(request.max_tokens, self._window - len(prompt)))
        matcher = None
        if request.grammar is not None:
            matcher = GrammarMatcher(self._grammar_tokenizer, request.grammar)
        likely = self._index_texts(request.likely_texts) if request.likely_texts else None
        return Slot(request, prompt, limit, matcher, likely, index)

    def _index_texts(self, texts: tuple[str, ...]) -> TokenIndex:
        """The tokens of texts, each with an end, so that the end is guessed too; those of the last request are kept."""
        if texts is not self._indexed_texts:
            end = [] if self._tokenizer.end_token is None else [self._tokenizer.end_token]
            encodings = self._tokenizer.backend.encode_batch(list(texts), add_special_tokens=False)
            self._text_index = TokenIndex([[*encoding.ids, *end] for encoding in encodings])
            self._indexed_texts = texts
        return self._text_index

    def _micro_batches(self, rows: list[Slot]) -> list[list[Slot]]:
        """Batches of prompts of similar length, of one adapter each or of several; the shortest first."""
        groups: dict[str | None, list[Slot]] = {}
        for row in sorted(rows, key=lambda row: len(row.prompt)):
            adapter = None if self._mixes_adapters else row.request.adapter
            groups.setdefault(adapter, []).append(row)

        size = self._settings.batch_size
        batches: list[list[Slot]] = []
        for group in groups.values():
            batches.extend(group[start : start + size] for start in range(0, len(group), size))
        return batches

    def _run(self, batch: list[Slot], generations: dict[int, Generation], deadline: Deadline) -> None:
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

    def _decode(self, rows: Sequence[Slot], deadline: Deadline) -> list[Generation]:
        if self._decoder is None or self._model is None:
            raise RuntimeError("the model was closed while it was generating")
        with self._model.adapters([row.request.adapter for row in rows]):
            return self._decoder.run(rows, deadline)
