"""vLLM in a process of its own: continuous batching, prefix caching, several adapters in one batch.

A plain child process, which starts vLLM's tensor-parallel workers by vLLM's executor `mp`. So vLLM never imports the
evaluator's main script again, writes nothing to its standard output, needs no network but 127.0.0.1, and a start that
hangs is ended (docs/decisions.md, 26).

For vLLM 0.19.1 (the last for CUDA 12, as on T4 hosts). Run with 0.32.0 (the community's CPU build, also with two
tensor-parallel workers), and with 0.20.2 on an H200 (then in the caller's process): half precision, `TRITON_ATTN`,
adapters (CUDA has none in float32), CUDA graphs. Several cards, AWQ and GPTQ were never run.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, ClassVar

from crag.core.deadline import Deadline
from crag.engines.llm.base import (
    EngineUnavailableError,
    FinishReason,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
)
from crag.engines.llm.local_engine import LocalEngine, TokenizedRequest
from crag.engines.llm.vllm_process import VllmProcess, VllmProcessError
from crag.settings import VllmEngine

START_SECONDS = 540.0
"""Time limit of a start, below the ten minutes that evaluators of 2025 gave and that `evaluate` gives."""
STOP_SECONDS = 60.0
"""How long vLLM may take to stop at a deadline: many times its longest step."""


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
        reply = self._call({"do": "generate", "requests": described}, deadline)

        for index, refusal in reply["refusals"]:
            generations[index] = Generation.failed(f"vLLM refuses the request: {refusal}")
        for text in reply["texts"]:
            generations[text["index"]] = _build_generation(text)

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
    count = text["completion_tokens"]
    total = text["log_probability"]

    return Generation(
        text=text["text"],
        mean_log_probability=total / count if count and total is not None else None,
        prompt_tokens=text["prompt_tokens"],
        completion_tokens=count,
        finish_reason=reason,
        error=None if reason != "error" else f"vLLM ended with finish_reason {text['reason']!r}",
    )
