"""Weights of a Hugging Face folder as 8-bit integers: half the size, and fast to multiply on CPUs.

Each row of a matrix has its own scale, so that its largest value becomes 127 (symmetric, no zero point). Vectors stay
float32. `agents.llm.openvino_graph` reads the file. `models.fetch` writes it; for a folder of your own:

    python -m models.int8 FOLDER
"""

from pathlib import Path

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


def write_int8(folder: Path) -> None:
    """Write `INT8_FILE` from `model.safetensors`, whole or not at all."""
    from safetensors import SafetensorError, safe_open
    from safetensors.numpy import save_file

    tensors: dict[str, NDArray[np.generic]] = {}
    with safe_open(folder / "model.safetensors", "numpy") as source:
        for name in source.keys():  # noqa: SIM118 - no mapping
            values = source.get_tensor(name)
            if values.ndim == 2:
                tensors[name], tensors[name + SCALE] = quantised(values)
            else:
                tensors[name] = values.astype(np.float32)
    part = folder / f"{INT8_FILE}.part"
    part.parent.mkdir(exist_ok=True)
    try:
        save_file(tensors, part)
    except SafetensorError as error:  # the package's error for a full disk
        raise OSError(f"{part}: {error}") from error
    part.chmod(0o644)
    part.replace(folder / INT8_FILE)


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
