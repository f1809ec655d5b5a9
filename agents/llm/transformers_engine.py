"""Hugging Face transformers in this process, with PEFT adapters: what db3 ran in the end, and the default on a CPU."""

import gc
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import torch
from transformers import AutoModelForCausalLM, PreTrainedModel

from agents.deadline import Deadline
from agents.llm.base import EngineUnavailableError, Generation, GenerationRequest, LanguageModelDiedError
from agents.llm.decoding import BatchDecoder, Row
from agents.llm.grammar import GrammarCompiler, GrammarError
from agents.llm.pace import Pace
from agents.llm.request_rules import refuse_unknown_adapter
from agents.llm.tokenizer import ChatTokenizer, PromptError, quiet_transformers
from agents.llm.weights import adapter_folder, check_folders, model_folder
from agents.settings import TransformersEngine

FEWEST_NEW_TOKENS = 8
"""Prompts that would leave no time for so many tokens each are not read together, but half of them first."""
TURN = 0.5
"""Part of the time left that a micro-batch may generate for while others wait. One text that does not end costs the
others no more than that, and texts of ordinary length are finished: a text that the clock cuts off is no answer."""

_PREFILL_TOKENS_ON_CPU = 512
"""Three seconds of a 0.5B model on two cores: a step longer than the reserve of the deadline would be useless."""
_PREFILL_TOKENS_ON_GPU = 8192
_WARM_UP_PROMPT_TOKENS = 128


class _Prepared(NamedTuple):
    """A request that can run: its place in the caller's list and its prompt as token ids."""

    place: int
    request: GenerationRequest
    prompt: list[int]


class TransformersLanguageModel:
    """Requests are grouped by adapter, sorted by length and run in micro-batches of `settings.batch_size`.

    Greedy results do not depend on the batch mates up to rounding: with float32 they are equal in practice, with
    float16 near ties can fall differently. The speed of this machine is measured at warm-up and ever after; where it
    seems too low, micro-batches are halved. Only the clock refuses: what has not been begun or ended by the deadline.
    Prompts longer than `settings.max_model_tokens` fail. Not covered: sharing the work on a common prefix.
    """

    def __init__(self, settings: TransformersEngine) -> None:
        self._settings = settings
        self._decoder: BatchDecoder | None = None
        self._model: Any = None
        self._pace = Pace()

    @cached_property
    def _tokenizer(self) -> ChatTokenizer:
        return ChatTokenizer(model_folder(self._settings.model))

    def check_weights(self) -> None:
        """Raise `WeightsMissingError` at once if a file of the base model or of an adapter is missing."""
        check_folders(self._settings.model, self._settings.adapters)

    def count_tokens(self, text: str) -> int:
        """Number of tokens of plain text."""
        return self._tokenizer.count(text)

    def truncate(self, text: str, max_tokens: int) -> str:
        """The longest beginning with at most `max_tokens` tokens."""
        return self._tokenizer.truncate(text, max_tokens)

    def warm_up(self) -> None:
        """Load the model and its adapters, and measure their speed with a short prompt.

        Raises:
            WeightsMissingError: a file is missing.
            EngineUnavailableError: a package or the device is missing.
        """
        if self._decoder is not None:
            return
        self.check_weights()
        with quiet_transformers():
            self._model = self._with_adapters(self._load_base())
        self._model.eval()
        rehearsal = self._make_decoder(frozenset())
        request = GenerationRequest(prompt="warm-up")
        rehearsal.run([Row(request, [0] * _WARM_UP_PROMPT_TOKENS, 2)], Deadline(60))
        # What is measured counts only from the second time on: the first one pays for kernels and memory.
        self._pace.forget()
        rehearsal.run([Row(request, [0] * _WARM_UP_PROMPT_TOKENS, 4)], Deadline(60))
        self._decoder = self._make_decoder(self._end_tokens)

    def close(self) -> None:
        """Release the model's memory."""
        self._decoder = self._model = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        """Answer all requests; see `LanguageModel.generate`.

        Raises:
            LanguageModelDiedError: the GPU is in a state that only a new process can leave.
        """
        if deadline.expired:
            return [Generation.out_of_time() for _ in requests]
        self.warm_up()
        results: dict[int, Generation] = {}
        runnable: list[_Prepared] = []
        for place, request in enumerate(requests):
            prepared = self._prepare(place, request)
            if isinstance(prepared, Generation):
                results[place] = prepared
            else:
                runnable.append(prepared)
        results.update(self._run_in_turns(self._micro_batches(runnable), deadline))
        return [results.get(place, Generation.out_of_time()) for place in range(len(requests))]

    # --- loading -----------------------------------------------------------------------------------------------------

    def _load_base(self) -> PreTrainedModel:
        device = self._settings.device
        if device != "auto" and torch.device(device).type == "cuda" and not torch.cuda.is_available():
            raise EngineUnavailableError(f"the settings ask for device {device!r}, but torch finds no CUDA GPU here")
        spread = device == "auto" and torch.cuda.is_available()
        model = AutoModelForCausalLM.from_pretrained(
            str(model_folder(self._settings.model)),
            dtype=getattr(torch, self._settings.dtype),
            device_map="auto" if spread else None,
            local_files_only=True,
            use_safetensors=True,
        )
        return model if device == "auto" else model.to(device)

    def _with_adapters(self, base: PreTrainedModel) -> PreTrainedModel:
        if not self._settings.adapters:
            return base
        from peft import PeftModel

        model: PeftModel | None = None
        for name, location in self._settings.adapters.items():
            folder = str(adapter_folder(location))
            # Without autocast_adapter_dtype=False float16 adapters are computed in float32, which T4 does at an eighth.
            if model is None:
                model = PeftModel.from_pretrained(base, folder, adapter_name=name, autocast_adapter_dtype=False)
            else:
                model.load_adapter(folder, adapter_name=name, autocast_adapter_dtype=False)
        return model

    def _make_decoder(self, end_tokens: frozenset[int]) -> BatchDecoder:
        on_gpu = self._model.get_input_embeddings().weight.device.type != "cpu"
        prefill = _PREFILL_TOKENS_ON_GPU if on_gpu else _PREFILL_TOKENS_ON_CPU
        return BatchDecoder(self._model, self._tokenizer, self._pace, end_tokens, prefill)

    @property
    def _end_tokens(self) -> frozenset[int]:
        configured = self._model.generation_config.eos_token_id
        tokens = configured if isinstance(configured, list) else [configured]
        known = [*tokens, self._tokenizer.huggingface.eos_token_id]
        return frozenset(token for token in known if token is not None)

    @contextmanager
    def _adapter(self, name: str | None) -> Iterator[None]:
        if name is not None:
            self._model.set_adapter(name)
            yield
        elif self._settings.adapters:
            with self._model.disable_adapter():
                yield
        else:
            yield

    @cached_property
    def _grammars(self) -> GrammarCompiler:
        vocabulary = self._model.get_input_embeddings().weight.shape[0]
        return GrammarCompiler(self._tokenizer.huggingface, vocabulary, sorted(self._end_tokens))

    # --- running -----------------------------------------------------------------------------------------------------

    def _prepare(self, place: int, request: GenerationRequest) -> _Prepared | Generation:
        refused = refuse_unknown_adapter(request, self._settings.adapters)
        if refused is not None:
            return refused
        try:
            prompt = self._tokenizer.prompt_tokens(request)
            if request.grammar is not None:
                self._grammars.matcher(request.grammar)
        except (PromptError, GrammarError, EngineUnavailableError) as error:
            return Generation.failed(str(error))
        if not prompt:
            return Generation.failed("the prompt is empty")
        if len(prompt) >= self._longest:
            return Generation.failed(
                f"the prompt has {len(prompt)} tokens, but the model takes {self._longest} with the answer"
            )
        return _Prepared(place, request, prompt)

    @property
    def _longest(self) -> int:
        own = getattr(self._model.config, "max_position_embeddings", None)
        return min(self._settings.max_model_tokens, own or self._settings.max_model_tokens)

    def _micro_batches(self, runnable: list[_Prepared]) -> list[list[_Prepared]]:
        """Each with one adapter and prompts of similar length; the shortest first: most answers for their time."""
        ordered = sorted(runnable, key=lambda prepared: (prepared.request.adapter or "", len(prepared.prompt)))
        size = self._settings.batch_size
        groups = [list(group) for _, group in groupby(ordered, key=lambda prepared: prepared.request.adapter)]
        return [group[start : start + size] for group in groups for start in range(0, len(group), size)]

    def _run_in_turns(self, batches: Sequence[list[_Prepared]], deadline: Deadline) -> dict[int, Generation]:
        """Generations by place; a request that could not be begun before the deadline has none.

        While others wait, a micro-batch has its `TURN`; what has not ended in it goes on where it was after the others.
        """
        results: dict[int, Generation] = {}
        rows: dict[int, Row] = {}
        waiting, interrupted = deque(batches), list[list[_Prepared]]()
        while waiting and not deadline.expired:
            batch = self._affordable(waiting, deadline)
            self._run(batch, rows, results, deadline, TURN if waiting else 1.0)
            unfinished = [one for one in batch if one.place in rows and rows[one.place].finish_reason is None]
            if waiting and unfinished:
                interrupted.append(unfinished)
        for batch in interrupted:
            if not deadline.expired:
                self._run(batch, rows, results, deadline)
        return results

    def _affordable(self, waiting: deque[list[_Prepared]], deadline: Deadline) -> list[_Prepared]:
        """The next micro-batch, or what of it seems to fit the time; the rest of it waits.

        One request is always begun: the speed is an estimate that a busy machine spoils, the clock is not.
        """
        batch = waiting.popleft()
        while len(batch) > 1 and not self._seems_to_fit(batch, deadline):
            middle = len(batch) // 2
            waiting.appendleft(batch[middle:])
            batch = batch[:middle]
        return batch

    def _seems_to_fit(self, batch: Sequence[_Prepared], deadline: Deadline) -> bool:
        """Whether the prompts can be read, and a short text be generated, at the measured speed."""
        reading = self._pace.prefill_seconds(len(batch) * max(len(prepared.prompt) for prepared in batch))
        wanted = max(prepared.request.max_tokens for prepared in batch)
        return self._pace.steps_within(deadline.remaining - reading) >= min(FEWEST_NEW_TOKENS, wanted)

    def _run(
        self,
        batch: Sequence[_Prepared],
        rows: dict[int, Row],
        results: dict[int, Generation],
        deadline: Deadline,
        share: float = 1.0,
    ) -> None:
        """Run one micro-batch, or go on with it; `rows` and `results` are by place.

        Where it fails as a whole, each request is tried alone, from its beginning.
        """
        try:
            for prepared in batch:
                rows.setdefault(prepared.place, self._row(prepared))
            generations = self._decode([rows[prepared.place] for prepared in batch], deadline, share)
        except (torch.cuda.OutOfMemoryError, RuntimeError, ValueError, IndexError) as error:
            if isinstance(error, torch.AcceleratorError) and not isinstance(error, torch.cuda.OutOfMemoryError):
                raise LanguageModelDiedError(f"the GPU fails: {error}") from error
            failure = f"{type(error).__name__}: {str(error).strip() or 'no message'}"
        else:
            results.update(zip((prepared.place for prepared in batch), generations, strict=True))
            return
        # Outside the handler, whose traceback would keep the failed batch's memory alive.
        for prepared in batch:
            rows.pop(prepared.place, None)
        if len(batch) == 1:
            results[batch[0].place] = Generation.failed(failure)
            return
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        for prepared in batch:
            if not deadline.expired:
                self._run([prepared], rows, results, deadline, share)

    def _row(self, prepared: _Prepared) -> Row:
        _, request, prompt = prepared
        limit = max(1, min(request.max_tokens, self._longest - len(prompt)))
        matcher = self._grammars.matcher(request.grammar) if request.grammar is not None else None
        return Row(request, prompt, limit, matcher)

    def _decode(self, rows: Sequence[Row], deadline: Deadline, share: float) -> list[Generation]:
        if self._decoder is None:
            raise RuntimeError("the model was closed while it was generating")
        with self._adapter(rows[0].request.adapter):
            generations: list[Generation] = self._decoder.run(rows, deadline, share)
        return generations
