"""Reads pickles of the official graph: pandas and numpy make the values, and no other name is imported.

A pickle is a program: it names functions and calls them, and a downloaded file may hold anything. So each name is
looked up in a list of constructors before it is imported; any other name is an error. pandas and numpy themselves are
trusted with the values. Protocols before 3 need more names and are refused: only Python 2 wrote them.
"""

import datetime as dt
import io
import pickle
from typing import Any

import numpy as np

try:
    import pandas as pd
except ModuleNotFoundError:
    raise ImportError("the official files hold frames of pandas: pip install pandas==3.1.1") from None

_PANDAS = """
    ArrowExtensionArray ArrowStringArray ArrowStringArrayNumpySemantics BooleanArray BooleanDtype Categorical
    CategoricalDtype DatetimeArray FloatingArray Float32Dtype Float64Dtype IntegerArray Int8Dtype Int16Dtype Int32Dtype
    Int64Dtype NumpyExtensionArray PandasArray StringArray StringArrayNumpySemantics StringDtype UInt8Dtype UInt16Dtype
    UInt32Dtype UInt64Dtype NA BlockManager DataFrame DatetimeIndex Float64Index Index Int64Index MultiIndex RangeIndex
    UInt64Index _new_Index _new_DatetimeIndex _unpickle_block new_block __pyx_unpickle_NDArrayBacked _nat_unpickle
    _unpickle_timestamp Timestamp NaT FrozenList
"""
ALLOWED = {
    "builtins": {"bytearray", "dict", "float", "frozenset", "int", "list", "set", "slice", "str"},
    "collections": {"OrderedDict", "defaultdict"},
    "datetime": {"date", "datetime", "time", "timedelta"},
    "numpy": {"dtype", "ndarray"},  # of the array's type only the name: it would read memory from any address
    "numpy._core.multiarray": {"_reconstruct", "scalar"},
    "numpy._core.numeric": {"_frombuffer"},
    "pandas": set(_PANDAS.split()),
    "pyarrow.lib": {"_restore_array", "chunked_array", "py_buffer", "type_for_alias"},
}
"""Module (of pandas: any) -> the names that a pickle may use."""
_MOVED = {
    "pandas.core.indexes.numeric": ("pandas", "Index"),
    "pandas.core.internals.blocks": ("pandas._libs.internals", "_unpickle_block"),
}
"""Modules of older versions of pandas -> where their one allowed name is now."""
DAMAGE = (
    pickle.UnpicklingError,
    EOFError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    KeyError,
    ImportError,
    OverflowError,
    MemoryError,
    RecursionError,
    NotImplementedError,
    AssertionError,
)
"""Errors from reading a truncated or damaged pickle."""
_LARGEST_SHARE = 64
"""Most values per byte of a pickle. References repeat a value in two bytes, and an array without columns has any number
of rows: without a limit, a hundred bytes could stand for lists that no disk holds."""


class PickleFaultError(ValueError):
    """A pickle cannot be read; the message says what is wrong with it, without the file's name."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - a class or a function
        """The class or function of this name; raises PickleFaultError unless it is on the list."""
        current_module = module.replace("numpy.core", "numpy._core")
        package = current_module.split(".")[0]
        allowed = ALLOWED.get("pandas" if package == "pandas" else current_module, set())
        if name not in allowed:
            raise PickleFaultError(f"the pickle asks for {module}.{name}, which no graph needs: no code was run")

        # A pickle must not call numpy's own: with chosen arguments they read memory from any address.
        if name == "_reconstruct":
            return _empty_array
        if name == "ndarray":
            return name
        current_module, name = _MOVED.get(current_module, (current_module, name))
        return super().find_class(current_module, name)

    def persistent_load(self, key: object) -> object:
        """Refuse: a graph's pickles refer to nothing outside."""
        raise PickleFaultError(f"the pickle refers to something outside ({key!r:.40}), which no graph needs")


def _empty_array(*_arguments: object) -> "np.ndarray[Any, Any]":
    """Replaces numpy's `_reconstruct`, whatever the arguments; the pickle then sets the content of the array."""
    return np.empty(0, "b")


def read_plain(content: bytes) -> Any:  # noqa: ANN401 - what it holds
    """The first object of a pickle as JSON values, NaN included; a frame becomes the list of its rows.

    Raises PickleFaultError: it is damaged, asks for a name that is not on the list, or is not data of a graph.
    """
    try:
        value = _Unpickler(io.BytesIO(content)).load()
        limit = _LARGEST_SHARE * max(len(content), 64)
        return _Converter(limit).to_json(value)
    except PickleFaultError:
        raise
    except DAMAGE as error:
        raise PickleFaultError(f"a damaged pickle: {str(error) or type(error).__name__}") from None


class _Converter:
    """Converts what a pickle holds to JSON values, up to a number of values."""

    def __init__(self, limit: int) -> None:
        self._remaining = limit

    def to_json(self, value: Any) -> Any:  # noqa: ANN401, PLR0911 - anything goes in, a branch per kind
        """The value as JSON knows it. Moments become ISO strings without time zone. Raises PickleFaultError."""
        self._count(value)

        if isinstance(value, pd.DataFrame):
            value = _rows(value)
        if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufUO":
            value = value.tolist() if value.size else []

        if value is None or type(value) in {str, int, float, bool}:
            return value
        if isinstance(value, dict):
            return {_key(self.to_json(key)): self.to_json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.to_json(item) for item in value]
        if isinstance(value, set | frozenset):
            # Sets have no order of their own; sorted, every import gives the same table.
            return sorted((self.to_json(item) for item in value), key=str)
        if value is pd.NaT or value is pd.NA:
            return None
        if isinstance(value, pd.Timestamp):
            return value.tz_localize(None).isoformat(timespec="milliseconds")
        if isinstance(value, dt.date | dt.time):
            return value.isoformat()
        if isinstance(value, bytes | bytearray):
            return bytes(value).decode("utf-8", "replace")
        raise PickleFaultError(f"{type(value).__name__} is not data of a graph")

    def _count(self, value: object) -> None:
        """Take a value from the limit, and of a string another one for every four characters."""
        self._remaining -= 1
        if isinstance(value, str | bytes | bytearray):
            self._remaining -= len(value) // 4
        if self._remaining < 0:
            raise PickleFaultError("far more values than its size can hold")


def _key(key: object) -> str:
    if key is None or isinstance(key, dict | list):
        raise PickleFaultError(f"a key that is neither a string nor a number: {key!r:.40}")
    return str(key)


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame: the named levels of its index, then its columns. Missing values are None."""
    levels = [level for level in frame.index.names if level is not None]
    columns = frame.reset_index(level=levels) if levels else frame
    return [_plain_row(row) for row in columns.astype(object).to_dict("records")]


def _plain_row(row: dict[Any, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, cell in row.items():
        is_missing = cell != cell  # noqa: PLR0124 - only NaN and NaT differ from themselves
        plain[str(name)] = None if is_missing else cell
    return plain
