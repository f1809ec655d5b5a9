"""OpenVINO in this process: int8 weights on a CPU, three times as fast as float32 and a third of its memory."""

import ctypes
from pathlib import Path

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from agents.llm.base import EngineUnavailableError
from agents.llm.decoding import PREFILL_TOKENS_ON_CPU, Integers, Logits, StepModel
from agents.llm.local_engine import model_folder
from agents.llm.openvino_graph import MappedWeights, UnknownArchitectureError, build_graph
from agents.llm.stepwise_engine import StepwiseEngine
from agents.settings import OpenvinoEngine
from models.int8 import INT8_FILE
from models.manifest import WeightsMissingError

OPTIONS = {
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_PRECISION_HINT": "f32",
    "KV_CACHE_PRECISION": "f32",  # with less precision, a text depends on how its prompt was split
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": "128",  # as exact as the default of 32, and faster
}
_TRIM = getattr(ctypes.pythonapi, "malloc_trim", bool)  # glibc's: freed blocks add up to 200 MB
Rows = NDArray[np.int32]
"""For each row of a step, the row of the key-value cache that it continues."""


class OpenvinoLanguageModel(StepwiseEngine[OpenvinoEngine]):
    """`StepwiseEngine` with int8 weights."""

    def check_weights(self) -> None:
        """See `LocalEngine.check_weights`."""
        super().check_weights()
        folder = model_folder(self._settings.model)
        if not (folder / INT8_FILE).is_file():
            raise WeightsMissingError(f"{folder / INT8_FILE} is missing: python -m models.int8 {folder} writes it")

    def _load(self) -> "OpenvinoModel":
        folder = model_folder(self._settings.model)
        try:
            return OpenvinoModel(folder)
        except UnknownArchitectureError as error:
            raise EngineUnavailableError(str(error)) from error
        except (ValueError, KeyError, RuntimeError) as error:
            raise EngineUnavailableError(
                f"OpenVINO cannot run {folder / INT8_FILE} ({error}); python -m models.int8 {folder} writes it again, "
                'and engine = "transformers" runs without it'
            ) from error


class OpenvinoModel(StepModel):
    """The cache is in the graph, so only one batch runs at a time."""

    prefill_tokens = PREFILL_TOKENS_ON_CPU

    def __init__(self, folder: Path) -> None:
        weights = MappedWeights(folder / INT8_FILE)
        compiled = ov.Core().compile_model(build_graph(folder, weights), "CPU", OPTIONS)
        self._weights = weights  # the compiled model uses them for its whole life
        self._request = compiled.create_infer_request()
        with weights.released():  # the first step repacks the matrices
            one = np.ones((1, 1), np.int64)
            self.step(0 * one, one, 0 * one, None)

    def step(
        self, tokens: Integers, mask: Integers, positions: Integers, cache: Rows | None, kept: int = 1
    ) -> tuple[Logits, Rows]:
        """See `StepModel.step`."""
        if cache is None:
            self._request.reset_state()
            _TRIM(0)
            cache = np.arange(len(tokens), dtype=np.int32)
        for name, values in (("input_ids", tokens), ("attention_mask", mask), ("position_ids", positions)):
            self._request.set_tensor(name, ov.Tensor(np.ascontiguousarray(values)))
        self._request.set_tensor("beam_idx", ov.Tensor(cache))
        self._request.set_tensor("kept", ov.Tensor(np.array([kept], np.int64)))
        self._request.infer()
        return self._request.get_tensor("logits").data.copy(), np.arange(len(tokens), dtype=np.int32)
