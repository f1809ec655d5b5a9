"""Weights of a Hugging Face folder as 8-bit integers: half the size, and fast to multiply on CPUs.

Each row of a matrix has its own scale, so that its largest value becomes 127 (symmetric, no zero point). Vectors stay
float32. `agents.llm.openvino_graph` reads the file. `models.fetch` writes it; for a folder of your own:

    python -m models.int8 FOLDER
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

INT8_FILE = "int8/model.safetensors"
"""In a separate folder: vLLM reads every safetensors file beside the configuration."""
SCALE = ".scale"
"""Appended to a matrix's name: float16, (rows, 1)."""
_LARGEST = 127


def quantised(matrix: NDArray[np.floating]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Rows as integers from -127 to 127, and the number (rows, 1) to multiply each row with."""
    values = matrix.astype(np.float32)
    scale = (np.abs(values).max(axis=1, keepdims=True) / _LARGEST).astype(np.float16)
    scale[scale == 0] = 1
    integers = np.rint(values / scale.astype(np.float32)).clip(-_LARGEST, _LARGEST)
    return integers.astype(np.int8), scale


def write_int8(folder: Path, weights: Iterable[tuple[str, NDArray[Any]]] | None = None) -> None:
    """Write `INT8_FILE` from weights by name, or from `model.safetensors`."""
    tensors: dict[str, NDArray[Any]] = {}
    for name, values in weights or _stored(folder / "model.safetensors"):
        if values.ndim == 2:
            tensors[name], tensors[name + SCALE] = quantised(values)
        else:
            tensors[name] = values.astype(np.float32)
    save_tensors(folder / INT8_FILE, tensors)


def _stored(path: Path) -> Iterator[tuple[str, NDArray[Any]]]:
    from safetensors import safe_open

    with safe_open(path, "numpy") as source:
        yield from ((name, source.get_tensor(name)) for name in source.keys())  # noqa: SIM118 - no mapping


def save_tensors(path: Path, tensors: dict[str, NDArray[Any]], metadata: dict[str, str] | None = None) -> None:
    """Write a safetensors file, whole or not at all; raises OSError."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    part = path.with_name(f"{path.name}.part")
    part.parent.mkdir(exist_ok=True)
    try:
        save_file(tensors, part, metadata)
    except SafetensorError as error:  # the package's error for a full disk
        raise OSError(f"{part}: {error}") from error
    part.chmod(0o644)  # safetensors writes 0600, which another user (the container's) could not read
    part.replace(path)


def main() -> None:
    """The command."""
    from crag.command import parser_of

    parser = parser_of("python -m models.int8", "Write int8 weights beside a model.")
    parser.add_argument("folder", type=Path, help="folder with model.safetensors")
    folder = parser.parse_args().folder
    if not (folder / "model.safetensors").is_file():
        parser.error(f"{folder / 'model.safetensors'} is missing")
    write_int8(folder)


if __name__ == "__main__":
    main()
