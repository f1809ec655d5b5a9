"""Pickles as data: an allow-list unpickler that builds inert stand-ins, and what they mean as plain JSON values.

A pickle is a program: it names functions and calls them, and a file from the net may hold anything. So no name in a
pickle is ever imported. The few names that frames, arrays, plain containers and moments need become empty classes which
keep their arguments and state; any other name ends the reading. The stand-ins are then read as data (`frames` knows
arrays and frames), so neither pandas nor its version matters.
"""

import datetime as dt
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
    "builtins": frozenset({"bytearray", "dict", "float", "frozenset", "int", "list", "object", "set", "slice", "str"}),
    "_codecs": frozenset({"encode"}),
    "collections": frozenset({"OrderedDict", "defaultdict"}),
    "copyreg": frozenset({"_reconstructor"}),
    "datetime": frozenset({"date", "datetime", "time", "timedelta"}),
    "numpy": frozenset({"dtype", "ndarray", "_reconstruct", "_frombuffer", "scalar"}),
    "pandas": _PANDAS_ARRAYS | _PANDAS_FRAMES,
    "pyarrow.lib": frozenset({"_restore_array", "chunked_array", "py_buffer", "type_for_alias"}),
}
"""Family of modules -> the names that a pickle may use of it. None of them is imported: each becomes a `StandIn`."""

_REAL: dict[str, type] = {"set": set, "frozenset": frozenset, "OrderedDict": OrderedDict}
"""Containers that are built as they are: their constructors take what they are given and do nothing else."""

_DAMAGE = (
    pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError, IndexError, KeyError, ImportError,
    OverflowError, MemoryError, RecursionError,
)  # fmt: skip
"""What reading a pickle that is cut off or spoiled may raise."""

_LARGEST_SHARE = 64
"""Values that a byte of a pickle may stand for. Each takes a byte at least, but one may be named again in two: a pickle
of a hundred bytes could otherwise name a list of lists of lists that no disk holds."""

Plain = dict[str, Any] | list[Any] | str | int | float | bool | None


class PickleFaultError(ValueError):
    """A pickle cannot be read; the message says what is wrong with it, without the file's name."""


class StandIn:
    """What a name in a pickle stands for: it keeps `arguments` and `state`, and does nothing.

    Every reading makes classes of its own, so that nothing in a pickle can change what the next one is read with.
    """

    name: ClassVar[str] = ""
    """Without the module, of which there is one more for every version."""
    arguments: tuple[Any, ...]
    state: Any

    def __new__(cls, *arguments: object, **_named: object) -> "StandIn":
        """Keep what the constructor was given."""
        made = object.__new__(cls)
        made.arguments = arguments
        made.state = None
        return made

    def __setstate__(self, state: object) -> None:
        self.state = state


class _Dictionary(dict[Any, Any]):
    """A dictionary of a kind whose constructor is not to be called."""

    def __init__(self, *_arguments: object) -> None:
        super().__init__()


class _Reader(pickle.Unpickler):
    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream)
        self._known: dict[str, type] = {}

    def find_class(self, module: str, name: str) -> type:
        """A stand-in of this reading.

        Raises:
            PickleFaultError: the name is not on the list.
        """
        family = _family(module)
        if name not in ALLOWED.get(family, ()):
            raise PickleFaultError(f"the pickle asks for {module}.{name}, which no graph needs: nothing of it was run")
        if name not in self._known:
            self._known[name] = _REAL.get(name) or self._stand_in(name)
        return self._known[name]

    def persistent_load(self, key: object) -> object:
        """Nothing of a graph lies outside its pickles."""
        raise PickleFaultError(f"the pickle asks for something outside of it ({key!r:.40}), which no graph needs")

    def _stand_in(self, name: str) -> type:
        if name == "_reconstructor":
            return type(name, (), {"__new__": _reconstructed})
        base: type = _Dictionary if name == "defaultdict" else StandIn
        return type(name, (base,), {"name": name})


def _reconstructed(_cls: type, wanted: type, *_rest: object) -> object:
    """What protocols 0 and 1 make of an object: the class, its base, the base's state."""
    if not (isinstance(wanted, type) and issubclass(wanted, StandIn)):
        raise PickleFaultError("the pickle makes an object of something that is no class of a graph")
    return wanted()


def _family(module: str) -> str:
    if module in NUMPY:
        return "numpy"
    if module.split(".", 1)[0] == "pandas":
        return "pandas"
    return {"__builtin__": "builtins", "copy_reg": "copyreg"}.get(module, module)


def read_pickle(content: bytes | IO[bytes]) -> Any:  # noqa: ANN401 - what it holds
    """The first object of a pickle, made of plain values, containers and `StandIn`.

    Raises:
        PickleFaultError: it is damaged, or asks for a name that is not on the list.
    """
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    try:
        return _Reader(stream).load()
    except PickleFaultError:
        raise
    except _DAMAGE as error:
        raise PickleFaultError(f"a damaged pickle: {str(error) or type(error).__name__}") from None


class Plainer:
    """Makes values of a pickle plain: what JSON can hold, NaN included.

    Args:
        size: Bytes of the pickle; more than `_LARGEST_SHARE` values for each byte are refused.
    """

    def __init__(self, size: int) -> None:
        self._left = _LARGEST_SHARE * max(size, 64)

    def __call__(self, value: object) -> Plain:
        """The plain value.

        Raises:
            PickleFaultError: there is something in it that is no data of a graph, or far too much of it.
        """
        try:
            plain: Plain = self._plain(value)
        except PickleFaultError:
            raise
        except _DAMAGE as error:
            raise PickleFaultError(f"unreadable values: {str(error) or type(error).__name__}") from None
        return plain

    def _plain(self, value: Any) -> Any:  # noqa: ANN401 - anything goes in
        kind = type(value)
        if kind in _SCALARS:
            return value
        if isinstance(value, dict):
            self._count(len(value))
            return {
                (key if type(key) is str else self._key(key)): one if type(one) in _SCALARS else self._plain(one)
                for key, one in value.items()
            }
        if isinstance(value, list | tuple | set | frozenset):
            self._count(len(value))
            values = [one if type(one) in _SCALARS else self._plain(one) for one in value]
            return sorted(values, key=str) if isinstance(value, set | frozenset) else values
        if isinstance(value, bytes | bytearray):
            return bytes(value).decode("utf-8", "replace")
        return self._of_stand_in(value)

    def _of_stand_in(self, value: object) -> Any:  # noqa: ANN401 - as above
        from mock_api.official.frames import data_of  # frames needs the stand-ins of this module

        found = data_of(value)
        if isinstance(found, StandIn):
            raise PickleFaultError(f"{found.name} is no data of a graph")
        return self._plain(found)

    def _key(self, key: object) -> str:
        plain = self._plain(key)
        if plain is None or isinstance(plain, dict | list):
            raise PickleFaultError(f"a key that is neither text nor number: {plain!r:.40}")
        return plain if isinstance(plain, str) else str(plain)

    def _count(self, values: int) -> None:
        self._left -= values + 1
        if self._left < 0:
            raise PickleFaultError("far more values than its size can hold: no graph repeats itself so")


_SCALARS = frozenset({str, int, float, bool, type(None)})


def moment_of(stand_in: StandIn) -> str | None:
    """A date, time or moment as ISO text; the time zone is left out, as in all of the graph.

    Raises:
        ValueError, TypeError: it is none.
    """
    made: dict[str, Any] = {"date": dt.date, "time": dt.time, "datetime": dt.datetime}
    if stand_in.name == "timedelta":
        return str(dt.timedelta(*stand_in.arguments))
    first, *rest = stand_in.arguments
    if isinstance(first, StandIn) and first.name == "encode":  # protocols 0 to 2
        first = latin1(first)
    whole = [] if isinstance(first, bytes) else [one for one in rest if isinstance(one, int)]
    text: str = made[stand_in.name](first, *whole).isoformat()
    return text


def latin1(stand_in: StandIn) -> bytes:
    """Bytes as the protocols before 3 write them: a text and the encoding that makes bytes of it."""
    text, encoding = stand_in.arguments
    if encoding not in {"latin1", "latin-1"} or not isinstance(text, str):
        raise PickleFaultError(f"bytes in the encoding {encoding!r:.20}")
    return text.encode("latin1")
