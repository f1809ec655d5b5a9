"""Writes the int8 weights of a model and the OpenVINO graph that reads them."""

import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

INT8_FILES = ("int8/model.bin", "int8/model.xml")
"""Weights and graph, in a separate folder: OpenVINO keeps what it compiles beside them."""
_LARGEST = 127


def quantise(matrix: NDArray[np.floating]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Rows as integers from -127 to 127, and the scale (rows, 1) to multiply each row with."""
    values = matrix.astype(np.float32)
    largest = np.abs(values).max(axis=1, keepdims=True)
    scale = (largest / _LARGEST).astype(np.float16)
    scale[scale == 0] = 1  # a row of zeros

    # Rounding the scale to half precision may push a value over the largest integer.
    integers = np.rint(values / scale.astype(np.float32))
    return integers.clip(-_LARGEST, _LARGEST).astype(np.int8), scale


def write_int8(folder: Path, weights: Iterable[tuple[str, NDArray[Any]]] | None = None) -> None:
    """Write `INT8_FILES` from `config.json` and weights by name, or those of `model.safetensors`.

    Matrices become int8, vectors float32.
    Raises ValueError: a model of another family; OSError: a full disk.
    """
    import openvino as ov

    from crag.weights.conversion.openvino_graph import SCALE, build_graph

    config = json.loads((folder / "config.json").read_bytes())
    tensors: dict[str, NDArray[Any]] = {}
    for name, values in weights or _read_tensors(folder / "model.safetensors"):
        # Biases and norms are tiny, and rounding them would cost more than it saves
        if values.ndim == 2:
            tensors[name], tensors[name + SCALE] = quantise(values)
        else:
            tensors[name] = values.astype(np.float32)

    graph = build_graph(config, tensors)
    # Written beside it and renamed: an interrupted conversion never looks complete
    unfinished = folder / "int8.part"
    try:
        # Not compressed: that would round the float32 norms and biases to half precision, and OpenVINO 2026.4.1 clips
        # large ones (findings/openvino_saved_constants_are_clipped.sh)
        ov.save_model(graph, unfinished / "model.xml", compress_to_fp16=False)
    except RuntimeError as error:
        raise OSError(f"{unfinished}: {error}") from error

    shutil.rmtree(folder / "int8", ignore_errors=True)
    unfinished.rename(folder / "int8")


def _read_tensors(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    """Name and values of the tensors of a file, one at a time."""
    from safetensors import safe_open

    with safe_open(path, "numpy") as file:
        for name in file.keys():  # noqa: SIM118 - no mapping
            yield name, file.get_tensor(name)
