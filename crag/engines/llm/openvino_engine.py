"""OpenVINO in this process: int8 weights on a CPU, three times as fast as float32 and a third of its memory."""

import ctypes
import mmap
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crag.engines.llm.base import EngineUnavailableError
from crag.engines.llm.decoding import PREFILL_TOKENS_ON_CPU, Integers, Logits, StepModel
from crag.engines.llm.local_engine import model_folder
from crag.engines.llm.stepwise_engine import StepwiseEngine
from crag.settings import OpenvinoEngine
from crag.weights.conversion.int8 import INT8_FILES
from crag.weights.manifest import WeightsMissingError

OPTIONS = {
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_PRECISION_HINT": "f32",
    "KV_CACHE_PRECISION": "f32",  # with less precision, a text depends on how its prompt was split
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": "128",  # as exact as the default of 32, and faster
    "CACHE_MODE": "OPTIMIZE_SIZE",  # what is compiled is kept without the weights: 1 MB
    "CPU_RUNTIME_CACHE_CAPACITY": "128",  # machine code for a prompt's length: with 5,000, each new length adds 1 MB
}
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")  # the same, one library below
_TRIM = getattr(ctypes.pythonapi, "malloc_trim", bool)  # glibc's: freed blocks add up to 200 MB
_RELEASE_SECONDS = 0.05
Rows = NDArray[np.int32]
"""For each row of a step, the row of the key-value cache that it continues."""


class OpenvinoLanguageModel(StepwiseEngine[OpenvinoEngine]):
    """`StepwiseEngine` with int8 weights."""

    def check_weights(self) -> None:
        """See `LocalEngine.check_weights`."""
        super().check_weights()
        folder = model_folder(self._settings.model)
        for name in INT8_FILES:
            if not (folder / name).is_file():
                raise WeightsMissingError(f"{folder / name} is missing: crag models int8 {folder} writes it")

    def _load(self) -> "OpenvinoModel":
        folder = model_folder(self._settings.model)
        try:
            return OpenvinoModel(folder)
        except (ImportError, RuntimeError) as error:
            cause = " ".join(str(error).split())
            raise EngineUnavailableError(
                f"OpenVINO cannot run {folder}/int8 ({cause}); crag models int8 {folder} writes it again, "
                'and engine = "transformers" runs without it'
            ) from error


class OpenvinoModel(StepModel):
    """The cache is in the graph, so only one batch runs at a time."""

    prefill_tokens = PREFILL_TOKENS_ON_CPU

    def __init__(self, folder: Path) -> None:
        import openvino as ov  # beside what others load

        self._tensor = ov.Tensor
        weights, graph = (folder / name for name in INT8_FILES)
        options = OPTIONS | {"CACHE_DIR": str(graph.parent)}
        self._request = ov.Core().compile_model(graph, "CPU", options).create_infer_request()
        with _released(weights):  # the first step repacks the matrices
            self.rehearse()

    def step(
        self, tokens: Integers, mask: Integers, positions: Integers, cache: Rows | None, kept: int = 1
    ) -> tuple[Logits, Rows]:
        """See `StepModel.step`."""
        if cache is None:
            self._request.reset_state()
            _TRIM(0)
            cache = np.arange(len(tokens), dtype=np.int32)
        for name, values in (("input_ids", tokens), ("attention_mask", mask), ("position_ids", positions)):
            self._request.set_tensor(name, self._tensor(np.ascontiguousarray(values)))
        self._request.set_tensor("beam_idx", self._tensor(cache))
        self._request.set_tensor("kept", self._tensor(np.array([kept], np.int64)))
        self._request.infer()
        return self._request.get_tensor("logits").data.copy(), np.arange(len(tokens), dtype=np.int32)


@contextmanager
def _released(path: Path) -> Iterator[None]:
    """Release a mapped file's memory pages again and again while the block reads them, so that few are held at once."""
    done, maps = threading.Event(), Path("/proc/self/maps")
    lines = maps.read_text(encoding="utf-8").splitlines() if maps.is_file() else []
    spans = [[int(end, 16) for end in line.split()[0].split("-")] for line in lines if line.endswith(str(path))]

    def release() -> None:
        while spans:
            last = done.wait(_RELEASE_SECONDS)
            for start, end in spans:
                ctypes.pythonapi.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)
            if last:
                return

    thread = threading.Thread(target=release, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
