"""Compiles int8 weights with adapters for OpenVINO, and keeps what was compiled beside the weights."""

import hashlib
import io
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crag.core.files import write_whole
from crag.core.log_lines import one_line
from crag.weights.adapter_files import ADAPTER_CONFIG, ADAPTER_WEIGHTS, Adapter
from crag.weights.conversion.int8 import INT8_FILES

if TYPE_CHECKING:
    import openvino as ov

log = logging.getLogger(__name__)

_PREFIX = "adapters-"
_SUFFIX = ".compiled"
"""Of the names of the files written here, beside those of OpenVINO's own cache."""
_FORMAT = 2
"""Counts up when `crag.weights.conversion.openvino_adapters` builds other graphs."""


class Compiled(NamedTuple):
    """A compiled graph, and the mapped file that it uses for its whole life, if it was read from one."""

    graph: "ov.CompiledModel"
    content: NDArray[np.uint8] | None


def compile_with_adapters(folder: Path, adapters: Sequence[Path], options: Mapping[str, str]) -> Compiled:
    """The graph of a model's folder with the adapters of these folders, see `openvino_adapters`.

    What is compiled is written to a file of the size of the adapters, which the next start maps. OpenVINO's own cache
    is not used, as it reads all weights to recognise a graph that was changed; here the key is that of the files. One
    such file is kept: with other adapters it is replaced.
    """
    import openvino as ov

    core = ov.Core()
    weights, graph = (folder / name for name in INT8_FILES)
    digest = _hash_inputs(core, (weights, graph), adapters, options)
    path = graph.parent / f"{_PREFIX}{digest}{_SUFFIX}"
    options_to_read = {**options, "WEIGHTS_PATH": str(weights)}
    if path.is_file():
        try:
            return _read_compiled(core, path, options_to_read)
        except (RuntimeError, ValueError, OSError) as error:
            log.warning("%s is damaged and made again: %s", path, one_line(error))

    compiled = _compile(core, graph, adapters, options)
    try:
        _replace_compiled(compiled, path)
        # Read back, because it needs less memory than what was compiled here
        return _read_compiled(core, path, options_to_read)
    except (OSError, RuntimeError) as error:
        # OpenVINO for ARM does not know the attention that it has written itself
        path.unlink(missing_ok=True)
        cause = one_line(error)
        log.warning("each start compiles the adapters again, because the result cannot be kept: %s", cause)
        return Compiled(compiled, None)


def _hash_inputs(
    core: "ov.Core",
    weights: Sequence[Path],
    adapters: Sequence[Path],
    options: Mapping[str, str],
) -> str:
    """A hash of all that the compiled graph depends on: library, processor, options, weights and adapters."""
    from openvino import get_version

    processor = core.get_property("CPU", "FULL_DEVICE_NAME")
    parts = [str(_FORMAT), get_version(), str(processor), str(sorted(options.items()))]
    for path in weights:
        status = path.stat()  # too large to read at each start
        parts.append(f"{status.st_size} {status.st_mtime_ns}")
    for folder in adapters:
        files = [(folder / name).read_bytes() for name in (ADAPTER_CONFIG, ADAPTER_WEIGHTS)]
        parts.extend(hashlib.sha256(content).hexdigest() for content in files)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _read_compiled(core: "ov.Core", path: Path, options: Mapping[str, str]) -> Compiled:
    """Map a file of `_replace_compiled`. Raises RuntimeError: it is damaged."""
    import openvino as ov

    # Copy on write, because OpenVINO takes no array that is read-only
    content: NDArray[np.uint8] = np.memmap(path, np.uint8, "c")
    graph = core.import_model(ov.Tensor(content, shared_memory=True), "CPU", dict(options))
    return Compiled(graph, content)


def _compile(core: "ov.Core", graph: Path, adapters: Sequence[Path], options: Mapping[str, str]) -> "ov.CompiledModel":
    from crag.weights.conversion.openvino_adapters import add_adapters

    model = core.read_model(graph)
    add_adapters(model, [Adapter(folder).low_rank for folder in adapters])
    return core.compile_model(model, "CPU", dict(options))


def _replace_compiled(compiled: "ov.CompiledModel", path: Path) -> None:
    """Write a compiled graph in place of those with other adapters."""
    content = io.BytesIO()
    compiled.export_model(content)
    write_whole(path, content.getvalue())
    for cached_path in path.parent.glob(f"{_PREFIX}*{_SUFFIX}"):
        if cached_path != path:
            cached_path.unlink(missing_ok=True)
