"""OpenVINO in this process: int8 weights on a CPU, three times as fast as float32 and a third of its memory."""

import ctypes
import mmap
import os
import platform
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crag.core.heap import map_large_blocks, trim_heap
from crag.engines.llm.base import EngineUnavailableError
from crag.engines.llm.decoding import GUESSED_TOKENS, PREFILL_TOKENS_ON_CPU, Integers, Logits, StepModel
from crag.engines.llm.local_engine import adapter_folder, model_folder, require_plain
from crag.engines.llm.openvino_cache import Compiled, compile_with_adapters
from crag.engines.llm.prefixes import KeysAndValues
from crag.engines.llm.stepwise_engine import StepwiseEngine
from crag.settings import OpenvinoEngine
from crag.weights.conversion.int8 import INT8_FILES
from crag.weights.manifest import WeightsMissingError

WEIGHTS_FILE, GRAPH_FILE = INT8_FILES
_ARM_MACHINES = {"aarch64", "arm64"}
"""As Linux and macOS name 64-bit ARM processors."""
_ALL_INPUTS = str(2**64 - 1)
"""A group of activations without end: each token has one scale."""

OPTIONS = {
    "PERFORMANCE_HINT": "LATENCY",
    "INFERENCE_PRECISION_HINT": "f32",
    # With less precision, a text depends on how its prompt was split.
    "KV_CACHE_PRECISION": "f32",
    # 128 are as exact as the default of 32, and faster. ARM multiplies int8 by whole tokens only: in groups each weight
    # would take eight bytes.
    "DYNAMIC_QUANTIZATION_GROUP_SIZE": _ALL_INPUTS if platform.machine() in _ARM_MACHINES else "128",
    # What is compiled is stored without the weights: 1 MB.
    "CACHE_MODE": "OPTIMIZE_SIZE",
    # Machine code for a prompt's length. With 5,000, each new length adds 1 MB; with 32, calls take a tenth longer.
    "CPU_RUNTIME_CACHE_CAPACITY": "128",
}
"""Options of OpenVINO's CPU plugin."""

# oneDNN, the library below OpenVINO, has the same cache; it reads the variable when it is loaded.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")

_RELEASE_SECONDS = 0.01
"""Time between two releases of a mapped file's pages: a fast disk gives 30 MB in it."""

_TOKENS_PER_RELEASE = 32
"""After so many tokens the file's pages are released: for the embedding of one the system maps 64 KB to 1 MB."""

_FEW_TOKENS = 1024
"""Of all prompts of a batch. With more, the blocks that the growing cache of keys and values leaves behind add up to
as much memory as the cache itself."""

Rows = NDArray[np.int32]
"""For each row of a step, the row of the key-value cache that it continues."""
Span = tuple[int, int]
"""First and last address of memory."""


class OpenvinoLanguageModel(StepwiseEngine[OpenvinoEngine]):
    """`StepwiseEngine` with int8 weights and adapters."""

    _mixes_adapters = True

    def check_weights(self) -> None:
        """See `LocalEngine.check_weights`."""
        super().check_weights()
        folder = model_folder(self._settings.model)
        for name in INT8_FILES:
            if not (folder / name).is_file():
                raise WeightsMissingError(f"{folder / name} is missing: crag models int8 {folder} writes it")

        require_plain(self._settings.engine, self._settings.adapters)

    def _load(self) -> "OpenvinoModel":
        folder = model_folder(self._settings.model)
        try:
            return OpenvinoModel(folder, self._settings.adapters)
        except (ImportError, RuntimeError) as error:
            cause = " ".join(str(error).split())
            raise EngineUnavailableError(
                f"OpenVINO cannot run {folder}/int8 ({cause}); crag models int8 {folder} writes it again, "
                'and engine = "transformers" runs without it'
            ) from error


class OpenvinoModel(StepModel):
    """A compiled graph, see `crag.weights.conversion.openvino_graph`.

    The cache of keys and values is in the graph, so only one batch runs at a time.
    """

    prefill_tokens = PREFILL_TOKENS_ON_CPU
    keeps_prefixes = True

    def __init__(self, folder: Path, adapters: Mapping[str, str] | None = None) -> None:
        import openvino as ov  # here: only this engine pays for the import

        map_large_blocks()
        trim_heap()  # reading the tokenizer leaves 40 MB of freed blocks
        self._tensor_class = ov.Tensor
        self._adapters = list(adapters or {})
        self._adapters_of_rows: Sequence[str | None] = ()

        if adapters:
            adapter_folders = [adapter_folder(location) for location in adapters.values()]
            self._compiled = compile_with_adapters(folder, adapter_folders, OPTIONS)
        else:
            graph = folder / GRAPH_FILE
            options = OPTIONS | {"CACHE_DIR": str(graph.parent)}
            self._compiled = Compiled(ov.Core().compile_model(graph, "CPU", options), None)
        self._request = self._compiled.graph.create_infer_request()

        self._mapped_weights = mapped_spans(folder / WEIGHTS_FILE)
        self._looked_up_tokens = 0
        with _releasing_pages(self._mapped_weights):  # the first step repacks the matrices
            for name in (None, *self._adapters):
                with self.adapters([name]):
                    self.rehearse()

    @contextmanager
    def adapters(self, names: Sequence[str | None]) -> Iterator[None]:
        """See `StepModel.adapters`; here the rows may have different ones."""
        self._adapters_of_rows = names
        try:
            yield
        finally:
            self._adapters_of_rows = ()

    def step(
        self,
        tokens: Integers,
        mask: Integers,
        positions: Integers,
        cache: Rows | None,
        logits_to_keep: int = 1,
    ) -> tuple[Logits, Rows]:
        """See `StepModel.step`; here the cache only says which rows continue."""
        same_rows = np.arange(len(tokens), dtype=np.int32)
        if cache is None:
            self._forget()
            cache = same_rows

        self._set_input("input_ids", np.ascontiguousarray(tokens))
        self._set_input("attention_mask", np.ascontiguousarray(mask))
        self._set_input("position_ids", np.ascontiguousarray(positions))
        self._set_input("beam_idx", cache)
        self._set_input("kept", np.array([logits_to_keep], np.int64))
        if self._adapters:
            self._set_adapters()
        self._request.infer()
        self._looked_up_tokens += tokens.size
        if self._looked_up_tokens > _TOKENS_PER_RELEASE:
            self._release_weights()

        is_prompt = tokens.shape[1] > GUESSED_TOKENS + 1
        if is_prompt and mask.size > _FEW_TOKENS:
            trim_heap()

        logits: Logits = self._request.get_tensor("logits").data
        return logits, same_rows

    def copy_state(self) -> KeysAndValues:
        """See `StepModel.copy_state`."""
        return [state.state.data.copy() for state in self._request.query_state()]

    def resume(self, state: KeysAndValues, row_count: int) -> Rows:
        """See `StepModel.resume`."""
        self._forget()
        for variable, values in zip(self._request.query_state(), state, strict=True):
            variable.state = self._tensor_class(values)
        return np.zeros(row_count, np.int32)  # all rows continue the only one

    def select_rows(self, cache: Rows, rows: Sequence[int]) -> Rows:
        """See `StepModel.select_rows`."""
        self._adapters_of_rows = [self._adapters_of_rows[row] for row in rows]
        selected: Rows = cache[list(rows)]
        return selected

    def _forget(self) -> None:
        """Drop what the batch before leaves: keys and values, freed blocks, embeddings of its words."""
        self._request.reset_state()
        trim_heap()
        self._release_weights()

    def _release_weights(self) -> None:
        release_pages(self._mapped_weights)
        self._looked_up_tokens = 0

    def _set_adapters(self) -> None:
        """Tell the graph which rows use which adapter."""
        used = [(row, name) for row, name in enumerate(self._adapters_of_rows) if name is not None]
        gates = np.zeros((len(used), 1, len(self._adapters)), np.float32)
        for index, (_, name) in enumerate(used):
            gates[index, 0, self._adapters.index(name)] = 1
        self._set_input("adapted_rows", np.array([row for row, _ in used], np.int64))
        self._set_input("adapter_gates", gates)

    def _set_input(self, name: str, values: NDArray[Any]) -> None:
        self._request.set_tensor(name, self._tensor_class(values))


@contextmanager
def _releasing_pages(spans: Sequence[Span]) -> Iterator[None]:
    """Release a mapped file's memory pages again and again while the block reads them, so that few are held at once."""
    done = threading.Event()

    def release_until_done() -> None:
        finished = not spans
        while not finished:
            # The last round comes after the end of the block, for the pages read since the one before.
            finished = done.wait(_RELEASE_SECONDS)
            release_pages(spans)

    thread = threading.Thread(target=release_until_done, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def release_pages(spans: Sequence[Span]) -> None:
    """Take a mapped file's pages out of this process; what is read again comes from the file."""
    for start, end in spans:
        ctypes.pythonapi.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), mmap.MADV_DONTNEED)


def mapped_spans(path: Path) -> list[Span]:
    """First and last address of each mapping of a file in this process; none on systems without `/proc`."""
    maps = Path("/proc/self/maps")
    if not maps.is_file():
        return []

    mapped_path = str(path.resolve())  # the system names no symbolic links
    spans: list[Span] = []
    for line in maps.read_text(encoding="utf-8").splitlines():
        if line.endswith(mapped_path):
            # A line begins with both addresses in hexadecimal digits: 7f0c2e000000-7f0c2e021000 r--p ...
            start, end = line.split()[0].split("-")
            spans.append((int(start, 16), int(end, 16)))
    return spans
