"""vLLM in a process of its own: continuous batching, prefix caching, several adapters in one batch.

A plain child process, which starts vLLM's tensor-parallel workers by vLLM's executor `mp`. So vLLM never imports the
evaluator's main script again, writes nothing to its standard output, needs no network but 127.0.0.1, and a start that
hangs is ended (docs/decisions.md, 26).

For vLLM 0.19.1 (the last for CUDA 12, as on T4 hosts). Run with 0.32.0 (the community's CPU build, also with two
tensor-parallel workers), and with 0.20.2 on an H200 (then in the caller's process): half precision, `TRITON_ATTN`,
adapters (CUDA has none in float32), CUDA graphs. Several cards, AWQ and GPTQ were never run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

from crag.core.deadline import Deadline
from crag.engines.llm.base import (
    EngineUnavailableError,
    FinishReason,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
)
from crag.engines.llm.grammar import GrammarError
from crag.engines.llm.local_engine import LocalEngine, TokenizedRequest, adapter_folder, require_plain
from crag.engines.llm.vllm_process import VllmProcess, VllmProcessError
from crag.settings import VllmEngine
from crag.weights.adapter_files import ADAPTER_CONFIG, Adapter
from crag.weights.manifest import WeightsMissingError

START_SECONDS = 540.0
"""Time limit of a start, below the ten minutes that evaluators of 2025 gave and that `evaluate` gives."""
STOP_SECONDS = 60.0
"""How long vLLM may take to stop at a deadline: many times its longest step."""


class TextToScore(NamedTuple):
    """A text under a grammar whose log-probability is wanted: its request, and the tokens that the model chose."""

    tokenized: TokenizedRequest
    tokens: list[int]


class VllmLanguageModel(LocalEngine[VllmEngine]):
    """All requests enter the engine at once and are stepped until they end or time runs out.

    vLLM's own `LLM.generate` cannot be interrupted. Here unfinished requests are aborted at the deadline and their text
    so far is returned. The same prompt may give another output in another batch.
    """

    more_arguments: ClassVar[Mapping[str, object]] = {}
    """Further arguments of `vllm.LLM`, for benchmarks."""

    def __init__(self, settings: VllmEngine, start_seconds: float = START_SECONDS) -> None:
        super().__init__(settings)
        self._start_seconds = start_seconds
        self._process: VllmProcess | None = None
        self._death: str | None = None
        # Not imported: that takes seconds and a gigabyte, and this process never uses it.
        if find_spec("vllm") is None:
            raise ModuleNotFoundError("No module named 'vllm'")

    def check_weights(self) -> None:
        """See `LocalEngine.check_weights`; also refuse adapters that vLLM would misread, or refuse after its start.

        vLLM 0.19.1 knows one rank and one scale an adapter, and skips the keys of `adapter_config.json` that it does
        not know (`vllm/lora/peft_helper.py`).
        """
        super().check_weights()
        require_plain(self._settings.engine, self._settings.adapters)

        limit = self._settings.max_adapter_rank
        for name, location in self._settings.adapters.items():
            folder = adapter_folder(location)
            adapter = Adapter(folder)
            if adapter.missing_keys:
                raise WeightsMissingError(
                    f"{folder / ADAPTER_CONFIG}: {', '.join(adapter.missing_keys)} is missing, which vLLM needs"
                )
            if adapter.config.r > limit:
                raise WeightsMissingError(
                    f"{folder / ADAPTER_CONFIG}: r is {adapter.config.r}, and language_model.max_adapter_rank {limit}: "
                    f"raise that, or tune the adapter {name} with a lower rank"
                )

    def warm_up(self) -> None:
        """Load the model and run one token through it and through each adapter, which loads the adapters.

        Raises WeightsMissingError: a file is missing. EngineUnavailableError: vLLM did not start, or not in time.
        """
        if self._process is not None or self._death is not None:
            return
        self.check_weights()

        deadline = Deadline(self._start_seconds)
        try:
            self._process = VllmProcess()
            request = {"settings": self._settings.model_dump(mode="json"), "more_arguments": dict(self.more_arguments)}
            self._process.start(request, deadline)

            rehearsal = [
                GenerationRequest(prompt="warm-up", adapter=name, max_tokens=1) for name in (None, *self._adapters)
            ]
            self.generate(rehearsal, deadline)
        except (VllmProcessError, LanguageModelDiedError) as error:
            self.close()
            raise EngineUnavailableError(f"vLLM cannot start: {error}") from None
        except BaseException:
            self.close()
            raise

    @property
    def _adapters(self) -> list[str]:
        return sorted(self._settings.adapters)

    def close(self) -> None:
        """Stop vLLM's processes and release its memory; the next call starts it again."""
        process = self._process
        self._process = None
        self._death = None
        if process is not None:
            process.close()

    def _answer(
        self,
        requests: Sequence[TokenizedRequest],
        generations: dict[int, Generation],
        deadline: Deadline,
    ) -> None:
        described = [self._describe(request) for request in requests]
        if not described:
            return
        tokenized_by_index = {tokenized.request_index: tokenized for tokenized in requests}
        reply = self._call({"do": "generate", "requests": described}, deadline)

        for index, refusal in reply["refusals"]:
            generations[index] = Generation.failed(f"vLLM refuses the request: {refusal}")
        texts_to_score: list[TextToScore] = []
        for text in reply["texts"]:
            index = text["index"]
            request = tokenized_by_index[index].request
            generation = _build_generation(text)
            if request.grammar is not None:
                generation = self._end_with_grammar(request.grammar, generation, text["tokens"])
                if request.with_log_probability and generation.finish_reason in {"stop", "length"}:
                    tokens = text["tokens"][: generation.completion_tokens]
                    texts_to_score.append(TextToScore(tokenized_by_index[index], tokens))
            generations[index] = generation

        if texts_to_score and not deadline.expired:
            self._score(texts_to_score, generations, deadline)

    def _describe(self, tokenized: TokenizedRequest) -> dict[str, Any]:
        """A request as plain data."""
        index, request, prompt = tokenized
        # What the prompt leaves of the window.
        token_limit = self._window - len(prompt)
        return {
            "index": index,
            "prompt": prompt,
            "adapter": request.adapter,
            "grammar": request.grammar,
            "max_tokens": max(1, min(request.max_tokens, token_limit)),
            "temperature": request.temperature,
            "top_p": request.top_p,
            "stop": [string for string in request.stop if string],
        }

    # --- texts under a grammar ----------------------------------------------------------------------------------------

    def _end_with_grammar(self, grammar: str, generation: Generation, tokens: Sequence[int]) -> Generation:
        """The generation as other engines end it: without the end token that the grammar forced, and unscored.

        vLLM masks the logits before it takes their log-probability, whatever its `logprobs_mode`, so its number is that
        of a choice among what the grammar allows (0.19.1 and 0.32.0, `v1/worker/gpu_model_runner.py`).
        """
        generation = replace(generation, mean_log_probability=None)
        try:
            matcher = self._match_grammar(grammar)
            count = matcher.count_until_end(tokens, self._end_tokens)
        except GrammarError:  # vLLM's own llguidance reads it otherwise: the text stays as it is
            return generation

        is_complete = matcher.finished and generation.finish_reason == "length"
        reason: FinishReason = "stop" if is_complete else generation.finish_reason
        return replace(generation, completion_tokens=count, finish_reason=reason)

    def _score(
        self,
        texts: Sequence[TextToScore],
        generations: dict[int, Generation],
        deadline: Deadline,
    ) -> None:
        """Set the mean log-probability of texts, before grammar; of those that the deadline allows.

        Each token is generated again after those before it, with only this token allowed: that limit, unlike a grammar,
        comes after the log-probability. The beginnings are in the prefix cache, so a token costs less than one of its
        blocks, 16 tokens on a GPU. One pass with `prompt_logprobs` would not read that cache, and hold the logits of
        2,048 positions: 2.6 GB with the vocabulary of Llama 3.
        """
        described: list[dict[str, Any]] = []
        for text in texts:
            # The longest first. If its prompt has left the cache it is read once, and then found by the others.
            positions = reversed(range(len(text.tokens)))
            described.extend(self._describe_token(text, position) for position in positions)
        reply = self._call({"do": "generate", "requests": described}, deadline)

        scores: dict[int, list[float]] = {}
        for result in reply["texts"]:
            if result["tokens"]:
                scores.setdefault(result["index"], []).append(result["log_probability"])
        for text in texts:
            index = text.tokenized.request_index
            token_scores = scores.get(index, [])
            if token_scores and len(token_scores) == len(text.tokens):
                mean = sum(token_scores) / len(token_scores)
                generations[index] = replace(generations[index], mean_log_probability=mean)

    def _describe_token(self, text: TextToScore, position: int) -> dict[str, Any]:
        """The request, as plain data, that generates again the token at this position of a text."""
        changes = {
            "prompt": [*text.tokenized.prompt, *text.tokens[:position]],
            "grammar": None,
            "only_token": text.tokens[position],
            "max_tokens": 1,
            "temperature": 0.0,
            "stop": [],
        }
        return self._describe(text.tokenized) | changes

    # --- vLLM's process -----------------------------------------------------------------------------------------------

    def _call(self, message: Mapping[str, object], deadline: Deadline) -> dict[str, Any]:
        """The reply of vLLM's process, which stops writing at the deadline.

        Raises LanguageModelDiedError: now and in all later calls, as loading the weights again takes minutes.
        """
        if self._process is None or self._death is not None:
            raise LanguageModelDiedError(self._death or "vLLM was closed")

        try:
            reply = self._process.request(message, deadline, STOP_SECONDS)
        except VllmProcessError as error:
            self._death = str(error)
        else:
            self._death = reply.get("died")

        if self._death is not None:
            self._process.close()
            raise LanguageModelDiedError(f"vLLM's engine failed: {self._death}")
        return reply


# No reason yet: the request was still running at the deadline.
_FINISH_REASONS: dict[str | None, FinishReason] = {"stop": "stop", "length": "length", None: "deadline"}


def _build_generation(text: Mapping[str, Any]) -> Generation:
    reason = _FINISH_REASONS.get(text["reason"], "error")
    count = len(text["tokens"])
    total = text["log_probability"]

    return Generation(
        text=text["text"],
        mean_log_probability=total / count if count and total is not None else None,
        prompt_tokens=text["prompt_tokens"],
        completion_tokens=count,
        finish_reason=reason,
        error=None if reason != "error" else f"vLLM ended with finish_reason {text['reason']!r}",
    )
