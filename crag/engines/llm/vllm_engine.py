"""vLLM in this process: continuous batching, prefix caching, several adapters in one batch.

For vLLM 0.19.1 (the last for CUDA 12, as on T4 hosts). Run with 0.32.0 (the community's CPU build), and with 0.20.2 on
an H200: half precision, `TRITON_ATTN`, adapters (CUDA has none in float32), CUDA graphs. Tensor parallelism, Ray, AWQ
and GPTQ were never run.
"""

import gc
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from crag.core.deadline import Deadline
from crag.core.text import encodable
from crag.engines.llm.base import FinishReason, Generation, GenerationRequest, LanguageModelDiedError
from crag.engines.llm.local_engine import LocalEngine, TokenizedRequest, adapter_folder, model_folder
from crag.engines.llm.tokenizer import quiet_transformers
from crag.settings import VllmEngine

if TYPE_CHECKING:
    from vllm import RequestOutput, SamplingParams
    from vllm.lora.request import LoRARequest

_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    # In this process: a child process would run the evaluator's unguarded main module again.
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
}
"""Set before vLLM is imported, unless the user has set another value."""

_TOKENS_PER_STEP = 2048
"""Prompt and answer tokens of all requests in one step; bounds the overrun of the deadline."""

_SETTINGS_WITH_SAME_NAME = {"dtype", "quantization", "tensor_parallel_size", "gpu_memory_utilization", "enforce_eager"}
"""Settings that vLLM has under the same names."""


class VllmLanguageModel(LocalEngine[VllmEngine]):
    """All requests enter the engine at once and are stepped until they end or time runs out.

    vLLM's own `LLM.generate` cannot be interrupted. Here unfinished requests are aborted at the deadline and their text
    so far is returned. The same prompt may give another output in another batch.
    """

    def __init__(self, settings: VllmEngine) -> None:
        super().__init__(settings)
        self._llm: Any = None
        self._adapters: dict[str, LoRARequest] = {}
        self._request_count = 0
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        # Imported only to fail here, with the name of the requirements file, and not at the first question.
        import vllm  # noqa: F401

    def warm_up(self) -> None:
        """Load the model and run one token through it and through each adapter, which loads the adapters.
        Raises WeightsMissingError: a file is missing.
        """
        if self._llm is not None:
            return
        self.check_weights()

        from vllm import LLM
        from vllm.lora.request import LoRARequest

        with quiet_transformers():
            self._llm = LLM(**self._engine_arguments())

        # The prefix cache is keyed by adapter: keep names, numbers and paths for the engine's life.
        self._adapters = {
            name: LoRARequest(name, number, str(adapter_folder(location)))
            for number, (name, location) in enumerate(sorted(self._settings.adapters.items()), start=1)
        }

        rehearsal = [
            GenerationRequest(prompt="warm-up", adapter=name, max_tokens=1) for name in (None, *self._adapters)
        ]
        self.generate(rehearsal, Deadline(600))

    def close(self) -> None:
        """Stop the engine's processes and release its memory."""
        if self._llm is None:
            return
        self._llm.llm_engine.engine_core.shutdown()
        self._llm = None
        gc.collect()

        from vllm.distributed.parallel_state import cleanup_dist_env_and_memory

        cleanup_dist_env_and_memory()

    def _answer(
        self,
        requests: Sequence[TokenizedRequest],
        generations: dict[int, Generation],
        deadline: Deadline,
    ) -> None:
        index_by_id: dict[str, int] = {}
        for index, request, prompt in requests:
            # A number is used once: late output of an aborted request must not reach a new one.
            self._request_count += 1
            request_id = str(self._request_count)
            adapter = self._adapters[request.adapter] if request.adapter is not None else None
            try:
                self._llm.llm_engine.add_request(
                    request_id,
                    {"prompt_token_ids": prompt},
                    _sampling_parameters(request, self._window - len(prompt)),
                    lora_request=adapter,
                )
            except (ValueError, TypeError, _vllm_error()) as error:
                generations[index] = Generation.failed(f"vLLM refuses the request: {error}")
            else:
                index_by_id[request_id] = index

        for request_id, output in self._step_until(deadline, list(index_by_id)).items():
            if request_id in index_by_id:
                generations[index_by_id[request_id]] = _build_generation(output)

    # --- the engine ---------------------------------------------------------------------------------------------------

    def _engine_arguments(self) -> dict[str, Any]:
        from vllm.platforms import current_platform

        settings = self._settings
        on_cpu = current_platform.is_cpu()
        arguments: dict[str, Any] = {
            **settings.model_dump(include=_SETTINGS_WITH_SAME_NAME),
            "model": str(model_folder(settings.model)),
            "max_model_len": settings.max_model_tokens,
            "max_num_batched_tokens": _TOKENS_PER_STEP,
            "enable_prefix_caching": True,
            # Reads Lark grammars directly; vLLM's other backend converts them, older versions not always correctly.
            "structured_outputs_config": {"backend": "guidance"},
            "use_tqdm_on_load": False,
            "seed": 0,
        }

        if settings.attention_backend is not None and not on_cpu:
            arguments["attention_backend"] = settings.attention_backend

        if not settings.enforce_eager and not on_cpu:
            # CUDA graphs of decoding steps. Without torch.compile, so that a start stays short.
            arguments["compilation_config"] = {
                "mode": 0,
                "cudagraph_mode": "FULL_DECODE_ONLY",
                "cudagraph_capture_sizes": [1, 2, 4, 8, 16, 32],
            }

        if settings.distributed_executor is not None:
            arguments["distributed_executor_backend"] = settings.distributed_executor

        if settings.adapters:
            # On a CPU, vLLM 0.32.0 adds the last slot's adapter to requests without one, if other requests of the batch
            # use one (pull requests 48421 and 49656). An extra, empty slot avoids that.
            empty_slots = 1 if on_cpu else 0
            arguments["enable_lora"] = True
            arguments["max_loras"] = len(settings.adapters) + empty_slots
            arguments["max_lora_rank"] = settings.max_adapter_rank
        return arguments

    def _step_until(self, deadline: Deadline, request_ids: Sequence[str]) -> dict[str, "RequestOutput"]:
        """The latest output of each request, finished or not.

        Raises LanguageModelDiedError: the engine failed.
        """
        engine = self._llm.llm_engine
        outputs: dict[str, RequestOutput] = {}
        try:
            while engine.has_unfinished_requests() and not deadline.expired:
                for output in engine.step():
                    outputs[output.request_id] = output

            unfinished = [name for name in request_ids if name not in outputs or not outputs[name].finished]
            if unfinished:
                engine.abort_request(unfinished)
        except Exception as error:  # after any exception the engine's state is unknown
            raise LanguageModelDiedError(f"vLLM's engine failed: {type(error).__name__}: {error}") from error
        return outputs


def _vllm_error() -> type[Exception]:
    """The base of vLLM's exceptions; in 0.19.1 they are all ValueErrors."""
    from vllm import exceptions

    error: type[Exception] = getattr(exceptions, "VLLMError", ValueError)
    return error


def _sampling_parameters(request: GenerationRequest, token_limit: int) -> "SamplingParams":
    """The parameters of one request; `token_limit` is what the prompt leaves of the window."""
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    grammar = StructuredOutputsParams(grammar=request.grammar) if request.grammar is not None else None
    return SamplingParams(
        max_tokens=max(1, min(request.max_tokens, token_limit)),
        temperature=request.temperature,
        top_p=request.top_p,
        stop=[string for string in request.stop if string],
        structured_outputs=grammar,
        logprobs=0,  # of the chosen token only
    )


# No reason yet: the request was still running at the deadline.
_FINISH_REASONS: dict[str | None, FinishReason] = {"stop": "stop", "length": "length", None: "deadline"}


def _build_generation(output: "RequestOutput") -> Generation:
    completion = output.outputs[0]
    reason = _FINISH_REASONS.get(completion.finish_reason, "error")
    count = len(completion.token_ids)
    total = completion.cumulative_logprob

    return Generation(
        text=encodable(completion.text),
        mean_log_probability=total / count if count and total is not None else None,
        prompt_tokens=len(output.prompt_token_ids or ()),
        completion_tokens=count,
        finish_reason=reason,
        error=None if reason != "error" else f"vLLM ended with finish_reason {completion.finish_reason!r}",
    )
