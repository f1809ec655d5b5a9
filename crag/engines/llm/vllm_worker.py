"""vLLM's side of `crag.engines.llm.vllm_engine`: the process that holds the engine and its tensor-parallel workers.

Messages are JSON over a pipe. The parent sends `settings` once; the worker reports each step of its start, then
``{"ready": true}`` or ``{"failed": ...}``. After that each ``{"do": ...}`` gets one reply. A message that arrives while
texts are written ends them: it is the parent's ``stop`` at the deadline, or the end of the pipe.
"""

import contextlib
import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NoReturn

from crag.core.text import encodable
from crag.engines.llm.local_engine import adapter_folder, model_folder
from crag.engines.llm.tokenizer import quiet_transformers
from crag.settings import VllmEngine

if TYPE_CHECKING:
    from vllm import RequestOutput, SamplingParams

_TOKENS_PER_STEP = 2048
"""Prompt and answer tokens of all requests in one step; bounds the overrun of the deadline."""

_SETTINGS_WITH_SAME_NAME = {"dtype", "quantization", "tensor_parallel_size", "gpu_memory_utilization", "enforce_eager"}
"""Settings that vLLM has under the same names."""

_ORPHAN_SECONDS = 5.0
"""How long a worker without a parent may take to end in order; then it is killed with all its processes."""


class LoopbackError(OSError):
    """Processes of this machine cannot connect to each other."""


def main(descriptor: int) -> None:
    """Start the engine and serve it until the other end of the connection is closed."""
    # An interrupt from the keyboard is for the parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, args=(os.getppid(),), daemon=True).start()
    connection = Connection(descriptor)

    # The parent has closed its end, or has died: there is nobody to report to.
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        request = _receive(connection)
        engine = _start_or_report(connection, request)
        try:
            _serve(connection, engine)
        finally:
            engine.close()
            # The ordinary end of an interpreter with torch takes seconds, and nothing is left to release.
            os._exit(0)


def _start_or_report(connection: Connection, request: Mapping[str, Any]) -> "_Engine":
    """Start the engine. If that fails, send the cause to the parent process, then raise the error again."""
    settings = VllmEngine.model_validate(request["settings"])
    try:
        return _start(connection, settings, request["more_arguments"])
    except Exception as error:  # whatever vLLM raises, the parent reports it as one line
        # The parent looks for the cause in the log as soon as it has the message
        sys.stdout.flush()
        sys.stderr.flush()
        _send(connection, {"failed": f"{type(error).__name__}: {error}"})
        raise


def _serve(connection: Connection, engine: "_Engine") -> NoReturn:
    """Reply to each message of the parent. Raises EOFError: the parent has closed its end."""
    _send(connection, {"ready": True})
    while True:
        request = _receive(connection)
        # A stop that came too late: the texts had just ended.
        if request["do"] != "stop":
            _send(connection, engine.reply(request))


def _start(connection: Connection, settings: VllmEngine, more_arguments: Mapping[str, object]) -> "_Engine":
    """The running engine; each step is reported before it begins."""
    _send(connection, {"step": "connect to 127.0.0.1"})
    _require_loopback()

    _send(connection, {"step": "import vllm"})
    import vllm  # noqa: F401

    count = settings.tensor_parallel_size
    processes = f"join {count} processes and " if count > 1 else ""
    _send(connection, {"step": f"{processes}load {settings.model}"})
    return _Engine(connection, settings, more_arguments)


def _require_loopback() -> None:
    """Raise LoopbackError unless processes of this machine can connect to each other.

    Without a route all else still works; without loopback vLLM's processes would wait for each other for ever.
    """
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=10).close()
    except OSError as error:
        raise LoopbackError(
            f"this machine cannot connect to 127.0.0.1 ({error.strerror or error}), by which vLLM's processes find "
            "each other: ip link set lo up"
        ) from error


class _Engine:
    """vLLM's engine with its adapters."""

    def __init__(self, connection: Connection, settings: VllmEngine, more_arguments: Mapping[str, object]) -> None:
        from vllm import LLM
        from vllm.lora.request import LoRARequest

        self._connection = connection
        self._request_count = 0
        with quiet_transformers():
            self._llm: Any = LLM(**build_arguments(settings), **more_arguments)

        # The prefix cache is keyed by adapter: keep names, numbers and paths for the engine's life.
        self._adapters: dict[str, LoRARequest] = {
            name: LoRARequest(name, number, str(adapter_folder(location)))
            for number, (name, location) in enumerate(sorted(settings.adapters.items()), start=1)
        }

    def reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to a message of the parent."""
        match request["do"]:
            case "generate":
                return self._generate(request["requests"])
            case "reset_prefix_cache":
                self._llm.reset_prefix_cache()
                return {}
            case "count_cached_tokens":
                cache = self._llm.llm_engine.vllm_config.cache_config
                return {"tokens": cache.num_gpu_blocks * cache.block_size}
            case unknown:
                return {"died": f"there is no message {unknown!r}"}

    def close(self) -> None:
        """Stop vLLM's workers and remove its shared memory."""
        self._llm.llm_engine.engine_core.shutdown()

    def _generate(self, requests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Texts and refusals by the requests' indexes; a request without either was not begun in time."""
        refusals: dict[int, str] = {}
        index_by_id: dict[str, int] = {}
        for request in requests:
            # A number is used once: late output of an aborted request must not reach a new one.
            self._request_count += 1
            request_id = str(self._request_count)
            adapter = self._adapters[request["adapter"]] if request["adapter"] is not None else None
            try:
                self._llm.llm_engine.add_request(
                    request_id,
                    {"prompt_token_ids": request["prompt"]},
                    _sampling_parameters(request),
                    lora_request=adapter,
                )
            except (ValueError, TypeError, _vllm_error()) as error:
                refusals[request["index"]] = str(error)
            else:
                index_by_id[request_id] = request["index"]

        try:
            outputs = self._step_until_stopped(list(index_by_id))
        except Exception as error:  # noqa: BLE001 - after any exception the engine's state is unknown
            return {"died": f"{type(error).__name__}: {error}"}

        texts = [
            {"index": index_by_id[request_id], **_describe_output(output)}
            for request_id, output in outputs.items()
            if request_id in index_by_id
        ]
        return {"texts": texts, "refusals": list(refusals.items())}

    def _step_until_stopped(self, request_ids: Sequence[str]) -> dict[str, "RequestOutput"]:
        """The latest output of each request, finished or not."""
        engine = self._llm.llm_engine
        outputs: dict[str, RequestOutput] = {}
        while engine.has_unfinished_requests() and not self._connection.poll():
            for output in engine.step():
                outputs[output.request_id] = output

        unfinished = [name for name in request_ids if name not in outputs or not outputs[name].finished]
        if unfinished:
            engine.abort_request(unfinished)
        return outputs


def build_arguments(settings: VllmEngine) -> dict[str, Any]:
    """The arguments of `vllm.LLM`."""
    from vllm.platforms import current_platform

    on_cpu = current_platform.is_cpu()
    arguments: dict[str, Any] = {
        **settings.model_dump(include=_SETTINGS_WITH_SAME_NAME),
        "model": str(model_folder(settings.model)),
        "max_model_len": settings.max_model_tokens,
        "max_num_batched_tokens": _TOKENS_PER_STEP,
        "enable_prefix_caching": True,
        # Named, because vLLM would choose Ray where it finds a cluster of it.
        "distributed_executor_backend": "mp" if settings.tensor_parallel_size > 1 else "uni",
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

    if settings.adapters:
        # On a CPU, vLLM 0.32.0 adds the last slot's adapter to requests without one, if other requests of the batch
        # use one (pull requests 48421 and 49656). An extra, empty slot avoids that.
        empty_slots = 1 if on_cpu else 0
        arguments["enable_lora"] = True
        arguments["max_loras"] = len(settings.adapters) + empty_slots
        arguments["max_lora_rank"] = settings.max_adapter_rank
    return arguments


def _vllm_error() -> type[Exception]:
    """The base of vLLM's exceptions; in 0.19.1 they are all ValueErrors."""
    from vllm import exceptions

    error: type[Exception] = getattr(exceptions, "VLLMError", ValueError)
    return error


def _sampling_parameters(request: Mapping[str, Any]) -> "SamplingParams":
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    grammar = StructuredOutputsParams(grammar=request["grammar"]) if request["grammar"] is not None else None
    only_token = request.get("only_token")
    return SamplingParams(
        max_tokens=request["max_tokens"],
        temperature=request["temperature"],
        top_p=request["top_p"],
        stop=request["stop"],
        structured_outputs=grammar,
        allowed_token_ids=[only_token] if only_token is not None else None,
        logprobs=0,  # of the chosen token only
    )


def _describe_output(output: "RequestOutput") -> dict[str, Any]:
    """One text as plain data; its reason is None if it was still being written."""
    completion = output.outputs[0]
    return {
        "text": encodable(completion.text),
        "log_probability": completion.cumulative_logprob,
        "prompt_tokens": len(output.prompt_token_ids or ()),
        "tokens": list(completion.token_ids),
        "reason": completion.finish_reason,
    }


def _die_with_parent(parent: int) -> None:
    """End this process and vLLM's workers, which are in its group, soon after the parent's end."""
    while os.getppid() == parent:
        time.sleep(1)
    time.sleep(_ORPHAN_SECONDS)
    os.killpg(0, signal.SIGKILL)


def _receive(connection: Connection) -> Any:  # noqa: ANN401 - JSON
    return json.loads(connection.recv_bytes())


def _send(connection: Connection, message: Mapping[str, object]) -> None:
    connection.send_bytes(json.dumps(message).encode())
