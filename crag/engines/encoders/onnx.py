"""Encoders that run an ONNX export with onnxruntime: no torch, and int8 models for CPUs.

Dynamic int8 quantisation scales activations by the whole batch, padding included, so a text's numbers depend a little
on its batch mates. `batch_size = 1` avoids that and is as fast on CPUs.
"""

import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from crag.core.cores import usable_cores
from crag.engines.encoders.base import BatchedCrossEncoder, BatchedDenseEncoder, Pair, Vectors
from crag.settings import SettingsError
from crag.weights.manifest import WeightsMissingError

MODEL_FILES = ("model.onnx", "onnx/model.onnx")
THREADS_VARIABLE = "OMP_NUM_THREADS"
"""onnxruntime ignores this variable of torch and BLAS, so it is passed on."""


class OnnxTextModel:
    """A tokenizer and an ONNX graph: maps texts to the graph's first output.

    Raises WeightsMissingError: the folder has no graph, or a damaged one.
    """

    def __init__(self, folder: Path, max_tokens: int, device: str) -> None:
        from tokenizers import Tokenizer

        graph_file = _find_graph_file(folder)

        # The tokenizer for batches. It truncates the longer text: the passage, unless the question is very long.
        self._tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(max_tokens, strategy="longest_first")
        self._tokenizer.enable_padding()

        self._folder = folder
        self._session: Any = _open_session(graph_file, device)
        self._input_names = [node.name for node in self._session.get_inputs()]

    @cached_property
    def _offsets_tokenizer(self) -> Any:  # noqa: ANN401 - an untyped library's object
        """The tokenizer for whole texts; read when it is needed, as it takes 6 MB and some encoders never do."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / "tokenizer.json"))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Character span of each token of the text, without special tokens."""
        offsets = self._offsets_tokenizer.encode(text, add_special_tokens=False).offsets
        return [(int(start), int(end)) for start, end in offsets]

    def run(self, texts: Sequence[str] | Sequence[Pair]) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The graph's first output, and the attention mask of shape (texts, tokens)."""
        encodings = self._tokenizer.encode_batch(list(texts))
        ids = [encoding.ids for encoding in encodings]
        mask = [encoding.attention_mask for encoding in encodings]
        type_ids = [encoding.type_ids for encoding in encodings]
        available_inputs = {
            "input_ids": np.array(ids, dtype=np.int64),
            "attention_mask": np.array(mask, dtype=np.int64),
            "token_type_ids": np.array(type_ids, dtype=np.int64),
        }

        # Not every graph has all three inputs.
        inputs = {name: available_inputs[name] for name in self._input_names}
        outputs = self._session.run(None, inputs)
        return np.asarray(outputs[0]), available_inputs["attention_mask"]


def _find_graph_file(folder: Path) -> Path:
    for name in MODEL_FILES:
        if (folder / name).is_file():
            return folder / name
    raise WeightsMissingError(f"{folder} has none of {', '.join(MODEL_FILES)}")


def _open_session(graph_file: Path, device: str) -> Any:  # noqa: ANN401 - an untyped library's session
    """The graph, loaded on a device."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as faults

    options = onnxruntime.SessionOptions()
    # Its arena would keep the largest batch's memory, 13 MB an encoder, and is not faster
    options.enable_cpu_mem_arena = False
    options.intra_op_num_threads = _count_threads()

    providers = ["CPUExecutionProvider"]
    if device.startswith("cuda"):
        providers.insert(0, "CUDAExecutionProvider")

    try:
        return onnxruntime.InferenceSession(str(graph_file), options, providers=providers)
    except (faults.InvalidProtobuf, faults.InvalidArgument, faults.InvalidGraph, faults.Fail) as error:
        cause = " ".join(str(error).split())
        raise WeightsMissingError(f"{graph_file}: damaged, get it again ({cause})") from None


def _count_threads() -> int:
    """Threads of a session; 0 is one on each physical core of the machine.

    The library would take that also where a container has fewer cores, and try to run on others.
    """
    threads = os.environ.get(THREADS_VARIABLE, "")
    if threads.isdigit():
        return int(threads)
    cores = usable_cores()
    return cores if cores < (os.cpu_count() or 1) else 0


class OnnxDenseEncoder(BatchedDenseEncoder):
    """A dense encoder from an ONNX folder (`model.onnx`, `tokenizer.json`)."""

    _pooling: Literal["cls", "mean"]

    def _load(self, folder: Path) -> OnnxTextModel:
        self._pooling = self.settings.pooling or read_pooling(folder, self.settings.model)
        return OnnxTextModel(folder, self.settings.max_tokens, self.settings.device)

    def _encode_batch(self, texts: Sequence[str]) -> Vectors:
        states, mask = self._model.run(texts)  # states: (texts, tokens, dimensions)
        if self._pooling == "cls":
            pooled = states[:, 0]
        else:
            # The mean over the tokens; padding has weight 0.
            weights = mask[:, :, None].astype(np.float32)
            state_sums = (states * weights).sum(axis=1)
            token_counts = weights.sum(axis=1)
            pooled = state_sums / np.maximum(token_counts, 1.0)

        # Scale to unit length; a vector of zeros stays as it is.
        norms = np.linalg.norm(pooled, axis=1, keepdims=True)
        unit_vectors = pooled / np.maximum(norms, 1e-12)
        return np.asarray(unit_vectors, dtype=np.float32)


class OnnxCrossEncoder(BatchedCrossEncoder):
    """A cross-encoder from an ONNX folder whose graph returns one raw logit per pair."""

    def _load(self, folder: Path) -> OnnxTextModel:
        model = OnnxTextModel(folder, self.settings.max_tokens, self.settings.device)
        model.run([("warm up", "warm up")])
        return model

    def _score_batch(self, pairs: Sequence[Pair]) -> list[float]:
        output, _ = self._model.run(pairs)
        # Of a graph with two outputs the last one is the logit of "relevant".
        logits = output.reshape(len(pairs), -1)[:, -1]
        return [float(logit) for logit in logits]


def read_pooling(folder: Path, model: str) -> Literal["cls", "mean"]:
    """The pooling of a sentence-transformers folder.
    Raises SettingsError: the folder does not name it, or names something other than CLS or mean.
    """
    path = folder / "1_Pooling" / "config.json"
    config = {}
    if path.is_file():
        config = json.loads(path.read_text(encoding="utf-8"))

    if config.get("pooling_mode_cls_token"):
        return "cls"
    if config.get("pooling_mode_mean_tokens"):
        return "mean"
    raise SettingsError(
        f'key "dense_encoder.pooling": the folder of {model} does not say how tokens are pooled; allowed: cls, mean'
    )
