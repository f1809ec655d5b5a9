"""Reads pickles as data: an allow-list unpickler that builds inert stand-ins.

A pickle is a program: it names functions and calls them, and a downloaded file may hold anything. So no name in a
pickle is imported. The few names that frames, arrays, plain containers and datetimes need become empty classes that
keep their arguments and state; any other name is an error. `frames` reads the stand-ins as data. Protocols before 3
need more names and are refused: only Python 2 wrote them.
"""

import io
import pickle
from collections import OrderedDict
from typing import IO, Any, ClassVar

NUMPY = frozenset(
    {"numpy", "numpy.core.multiarray", "numpy._core.multiarray", "numpy.core.numeric", "numpy._core.numeric"}
)
_PANDAS_ARRAYS = frozenset((
    "ArrowExtensionArray", "ArrowStringArray", "ArrowStringArrayNumpySemantics", "BooleanArray", "BooleanDtype",
    "Categorical", "CategoricalDtype", "DatetimeArray", "FloatingArray", "Float32Dtype", "Float64Dtype",
    "IntegerArray", "Int8Dtype", "Int16Dtype", "Int32Dtype", "Int64Dtype", "NumpyExtensionArray", "PandasArray",
    "StringArray", "StringArrayNumpySemantics", "StringDtype", "UInt8Dtype", "UInt16Dtype", "UInt32Dtype",
    "UInt64Dtype", "NA",
))  # fmt: skip
_PANDAS_FRAMES = frozenset((
    "BlockManager", "DataFrame", "DatetimeIndex", "Float64Index", "Index", "Int64Index", "MultiIndex", "RangeIndex",
    "UInt64Index", "_new_Index", "_new_DatetimeIndex", "_unpickle_block", "new_block",
    "__pyx_unpickle_NDArrayBacked", "_nat_unpickle", "_unpickle_timestamp", "Timestamp", "NaT", "FrozenList",
))  # fmt: skip
ALLOWED: dict[str, frozenset[str]] = {
    "builtins": frozenset({"bytearray", "dict", "float", "frozenset", "int", "list", "set", "slice", "str"}),
    "collections": frozenset({"OrderedDict", "defaultdict"}),
    "datetime": frozenset({"date", "datetime", "time", "timedelta"}),
    "numpy": frozenset({"dtype", "ndarray", "_reconstruct", "_frombuffer", "scalar"}),
    "pandas": _PANDAS_ARRAYS | _PANDAS_FRAMES,
    "pyarrow.lib": frozenset({"_restore_array", "chunked_array", "py_buffer", "type_for_alias"}),
}
"""Family of modules -> the names that a pickle may use. None is imported: each becomes a `StandIn`."""


DAMAGE = (
    pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError, ImportError,
    OverflowError, MemoryError, RecursionError,
)  # fmt: skip
"""Errors from reading a truncated or damaged pickle."""


class PickleFaultError(ValueError):
    """A pickle cannot be read; the message says what is wrong with it, without the file's name."""


class StandIn:
    """The object for a name in a pickle: it keeps `arguments` and `state`, and does nothing.

    Each reading makes its own classes, so that a pickle cannot change how the next one is read.
    """

    name: ClassVar[str] = ""
    """Without the module, which differs between versions."""
    arguments: tuple[Any, ...]
    state: Any

    def __new__(cls, *arguments: object, **_named: object) -> "StandIn":
        """Keep the constructor's arguments."""
        made = object.__new__(cls)
        made.arguments = arguments
        made.state = None
        return made

    def __setstate__(self, state: object) -> None:
        self.state = state


class _Dictionary(dict[Any, Any]):
    """A dictionary that ignores the arguments of its constructor."""

    def __init__(self, *_arguments: object) -> None:
        super().__init__()


_REAL: dict[str, type] = {"set": set, "frozenset": frozenset, "OrderedDict": OrderedDict}
"""Containers that are built for real: their constructors only take their arguments."""


class _Reader(pickle.Unpickler):
    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream)
        self._known: dict[str, type] = {}

    def find_class(self, module: str, name: str) -> type:
        """A stand-in of this reading; raises PickleFaultError."""
        family = "numpy" if module in NUMPY else "pandas" if module.split(".", 1)[0] == "pandas" else module
        if name not in ALLOWED.get(family, ()):
            raise PickleFaultError(f"the pickle asks for {module}.{name}, which no graph needs: no code was run")
        if name not in self._known:
            base: type = _Dictionary if name == "defaultdict" else StandIn
            self._known[name] = _REAL.get(name) or type(name, (base,), {"name": name})
        return self._known[name]

    def persistent_load(self, key: object) -> object:
        """Refuse: a graph's pickles refer to nothing outside."""
        raise PickleFaultError(f"the pickle refers to something outside ({key!r:.40}), which no graph needs")


def read_pickle(content: bytes | IO[bytes]) -> Any:  # noqa: ANN401 - what it holds
    """The first object of a pickle, made of plain values, containers and `StandIn`; raises PickleFaultError."""
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    try:
        return _Reader(stream).load()
    except PickleFaultError:
        raise
    except DAMAGE as error:
        raise PickleFaultError(f"a damaged pickle: {str(error) or type(error).__name__}") from None
