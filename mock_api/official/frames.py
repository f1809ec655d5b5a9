"""Reads plain values, arrays and frames from the stand-ins of a pickle, without pandas.

Covers pandas 1.3 to 3, numpy 1 and 2, protocols from 3 on: blocks of numbers, texts, objects and datetimes, nullable
and categorical columns, pyarrow's texts, plain and multiple indexes.
"""

import datetime as dt
import re
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import numpy as np

from mock_api.official.pickles import DAMAGE, PickleFaultError, StandIn, read_pickle

_NUMBERS = re.compile(r"[biuf][1248]|[US][1-9]\d{0,5}")
_MOMENTS = frozenset({"M8", "m8"})
_UNITS = frozenset({"ns", "us", "ms", "s", "m", "h", "D"})
_NANOSECONDS_PER_UNIT = {0: 10**9, 7: 10**9, 8: 10**6, 9: 10**3, 10: 1}
"""`reso` of a pandas Timestamp (numpy's number of the unit) -> nanoseconds per unit."""
_RECONSTRUCTED = frozenset({"_reconstruct", "_frombuffer"})
_OFFSETS = {"string": "i4", "utf8": "i4", "large_string": "i8", "large_utf8": "i8"}
_MOST_EMPTY = 100_000
"""Most rows or columns of an array without values: empty lists take memory, but no bytes of the file."""

_SCALARS = frozenset({str, int, float, bool, type(None)})
_LARGEST_SHARE = 64
"""Most values per byte of a pickle. References repeat a value in two bytes: without a limit, a hundred bytes could
expand to lists that no disk holds."""

Column = list[Any]
Plain = dict[str, Any] | list[Any] | str | int | float | bool | None


def read_plain(content: bytes | IO[bytes], size: int) -> Plain:
    """The first object of a pickle as JSON values, NaN included; a frame becomes the list of its rows.

    Args:
        content: The pickle.
        size: Its bytes; more than `_LARGEST_SHARE` values per byte are refused.

    Raises:
        PickleFaultError: it is damaged, asks for a name that is not on the list, or is not data of a graph.
    """
    try:
        found: Plain = _Plainer(size).plain(read_pickle(content))
    except PickleFaultError:
        raise
    except DAMAGE as error:
        raise PickleFaultError(f"unreadable values: {str(error) or type(error).__name__}") from None
    return found


class _Plainer:
    def __init__(self, size: int) -> None:
        self._left = _LARGEST_SHARE * max(size, 64)

    def plain(self, value: Any) -> Any:  # noqa: ANN401 - anything goes in
        if type(value) in _SCALARS:
            return value
        if isinstance(value, dict):
            self._count(len(value))
            return {
                (key if type(key) is str else self._key(key)): one if type(one) in _SCALARS else self.plain(one)
                for key, one in value.items()
            }
        if isinstance(value, list | tuple | set | frozenset):
            self._count(len(value))
            values = [one if type(one) in _SCALARS else self.plain(one) for one in value]
            return sorted(values, key=str) if isinstance(value, set | frozenset) else values
        if isinstance(value, bytes | bytearray):
            return bytes(value).decode("utf-8", "replace")
        found = _data(value)
        if isinstance(found, StandIn):
            raise PickleFaultError(f"{found.name} is not data of a graph")
        return self.plain(found)

    def _key(self, key: object) -> str:
        plain = self.plain(key)
        if plain is None or isinstance(plain, dict | list):
            raise PickleFaultError(f"a key that is neither text nor number: {plain!r:.40}")
        return plain if isinstance(plain, str) else str(plain)

    def _count(self, values: int) -> None:
        self._left -= values + 1
        if self._left < 0:
            raise PickleFaultError("far more values than its size can hold")


def _data(value: object) -> Any:  # noqa: ANN401 - what it means
    if isinstance(value, type) and issubclass(value, StandIn) and value.name in {"NA", "NaT"}:
        return None
    if not isinstance(value, StandIn):
        raise PickleFaultError(f"{type(value).__name__} is not data of a graph")
    return _MEANINGS.get(value.name, _values)(value)


def _moment(stand_in: StandIn) -> str:
    """A date, time or datetime as ISO text, without time zone, as everywhere in the graph."""
    if stand_in.name == "timedelta":
        return str(dt.timedelta(*stand_in.arguments))
    first, *rest = stand_in.arguments
    whole = [] if isinstance(first, bytes) else [one for one in rest if isinstance(one, int)]
    kinds: dict[str, Any] = {"date": dt.date, "time": dt.time, "datetime": dt.datetime}
    return str(kinds[stand_in.name](first, *whole).isoformat())


def _rows(frame: StandIn) -> Iterator[dict[str, Any]]:
    """The rows of a frame: the named levels of its index, then its columns. Missing values are None."""
    state = frame.state
    manager = (state.get("_mgr") or state.get("_data")) if isinstance(state, dict) else None
    if not (isinstance(manager, StandIn) and manager.name == "BlockManager"):
        raise PickleFaultError("a frame without its blocks")
    if not manager.arguments:
        raise PickleFaultError("a frame of pandas before 1.3")
    blocks, (columns_index, rows_index) = manager.arguments[:2]
    names = [str(name) for name in _values(columns_index)]
    columns: dict[int, Column] = {}
    for block in blocks:
        values, placement = block.arguments[0], _places(block.arguments[1])
        columns |= zip(placement, _columns(values, len(placement)), strict=True)
    if sorted(columns) != list(range(len(names))):
        raise PickleFaultError(f"a frame of {len(names)} columns, {len(columns)} of which have values")
    table = _levels(rows_index) | {name: columns[place] for place, name in enumerate(names)}
    if len({len(column) for column in table.values()}) > 1:
        raise PickleFaultError("a frame whose columns differ in length")
    for row in zip(*table.values(), strict=True):
        yield dict(zip(table, map(_cell, row), strict=True))


def _cell(value: object) -> object:
    if isinstance(value, float):
        return None if value != value else value  # noqa: PLR0124 - NaN
    return _data(value) if isinstance(value, StandIn | type) else value


def _places(placement: object) -> list[int]:
    if isinstance(placement, StandIn) and placement.name == "slice":
        start, stop, step = placement.arguments
        if not 0 <= stop - start <= 100_000:
            raise PickleFaultError(f"a block of {stop - start} columns")
        return list(range(start, stop, step or 1))
    return [int(place) for place in _values(placement)]


def _columns(values: object, count: int) -> list[Column]:
    found = _values(values)
    is_nested = count > 0 and len(found) == count and all(isinstance(one, list) for one in found)
    return found if is_nested and _dimensions(values) == 2 else [found]


def _dimensions(values: object) -> int:
    inner = (
        _backing(values) if isinstance(values, StandIn) and values.name == "__pyx_unpickle_NDArrayBacked" else values
    )
    return _array(inner).ndim if isinstance(inner, StandIn) and inner.name in _RECONSTRUCTED else 1


def _levels(index: object) -> dict[str, Column]:
    """The named levels of a row index; a level without a name only counts the rows."""
    if not (isinstance(index, StandIn) and index.arguments):
        raise PickleFaultError("a frame without an index of its rows")
    fields = index.arguments[1]
    if getattr(index.arguments[0], "name", "") != "MultiIndex":
        return {} if fields.get("name") is None else {str(fields["name"]): _values(index)}
    names = [None if name is None else str(name) for name in _values(fields.get("names") or ())]
    levels = zip(names, fields["levels"], fields.get("codes", fields.get("labels")), strict=True)
    return {name: _coded(level, codes) for name, level, codes in levels if name is not None}


def _coded(categories: object, codes: object) -> Column:
    known = _values(categories)
    return [None if code < 0 else known[code] for code in _values(codes)]


def _values(value: object) -> Column:
    if isinstance(value, list | tuple):
        return list(value)
    if not isinstance(value, StandIn):
        raise PickleFaultError(f"expected values, found {type(value).__name__}")
    read = _READERS.get(value.name)
    return read(value) if read else _values_of_state(value)


def _values_of_state(value: StandIn) -> Column:
    state = value.state
    if isinstance(state, tuple) and len(state) == 2 and isinstance(state[0], dict | None):
        state = {**(state[0] or {}), **(state[1] or {})}
    if isinstance(state, dict):
        if "_mask" in state:
            masked = zip(_values(state["_data"]), _values(state["_mask"]), strict=True)
            return [None if is_missing else one for one, is_missing in masked]
        for field in ("_pa_array", "_ndarray", "_data"):
            if field in state:
                return _values(state[field])
    raise PickleFaultError(f"{value.name} is not data of a graph")


def _index_values(index: StandIn) -> Column:
    fields = index.arguments[1]
    if "data" in fields:
        return _values(fields["data"])
    if {"start", "stop", "step"} <= set(fields):
        counted = range(fields["start"], fields["stop"], fields["step"])
        if len(counted) > 10_000_000:
            raise PickleFaultError(f"an index of {len(counted)} rows")
        return list(counted)
    raise PickleFaultError(f"an index with only {', '.join(fields)}")


def _backing(value: StandIn) -> StandIn:
    state = value.state if value.state is not None else value.arguments[2]
    parts = state.values() if isinstance(state, dict) else state
    for part in parts:
        if isinstance(part, StandIn) and part.name in _RECONSTRUCTED:
            return part
    raise PickleFaultError("a column without its array")


def _backed_values(value: StandIn) -> Column:
    codes = _backing(value)
    if getattr(value.arguments[0], "name", "") != "Categorical":
        return _as_list(_array(codes))
    for part in value.state:
        if isinstance(part, StandIn) and part.name == "CategoricalDtype" and isinstance(part.state, dict):
            return _coded(part.state["categories"], codes)
    raise PickleFaultError("a column of categories without their names")


# --- arrays -----------------------------------------------------------------------------------------------------------


def _array(value: StandIn) -> "np.ndarray[Any, Any]":
    if value.name == "_frombuffer":
        content, dtype, shape, order = value.arguments
    else:
        _, shape, dtype, is_fortran, content = value.state
        order = "F" if is_fortran else "C"
    if isinstance(content, list):
        array = np.empty(len(content), dtype=object)
        for place, one in enumerate(content):
            array[place] = one
    else:
        array = np.frombuffer(_raw(content), dtype=_dtype(dtype))
    if not array.size and max(shape, default=0) > _MOST_EMPTY:
        raise PickleFaultError(f"an empty array with {max(shape)} rows or columns")
    return array.reshape(tuple(shape), order="F" if order == "F" else "C")


def _dtype(value: object) -> "np.dtype[Any]":
    if not (isinstance(value, StandIn) and value.name == "dtype" and isinstance(value.arguments[0], str)):
        raise PickleFaultError("an array without its type")
    code = value.arguments[0].lstrip("<>|=")
    state: Sequence[Any] = value.state or ()
    order = state[1] if len(state) > 1 and state[1] in {"<", ">"} else "<"
    if code in _MOMENTS:
        unit = state[-1][1][0]
        name = unit.decode()
        if name not in _UNITS or state[-1][1][1] != 1:
            raise PickleFaultError(f"datetimes in units of {name}")
        return np.dtype(f"{order}{code}[{name}]")
    if not _NUMBERS.fullmatch(code):
        raise PickleFaultError(f"an array of the type {code!r}")
    return np.dtype(order + code)


def _raw(value: object) -> bytes:
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if isinstance(value, StandIn) and value.name in {"bytearray", "py_buffer"}:
        return _raw(value.arguments[0]) if value.arguments else b""
    raise PickleFaultError("an array without its content")


def _as_list(array: "np.ndarray[Any, Any]") -> Column:
    """Python values; datetimes as text with milliseconds (as on the official server), NaT as None."""
    if array.dtype.kind == "M":
        texts = np.datetime_as_string(array, unit="ms").astype(object)
        texts[np.isnat(array)] = None
        return list(texts.tolist())
    if array.dtype.kind == "m":
        raise PickleFaultError("durations, which no graph holds")
    if array.dtype.kind == "S":
        return list(np.char.decode(array, "utf-8", "replace").tolist())
    return list(array.tolist())


def _scalar(value: StandIn) -> object:
    dtype, content = value.arguments
    return _as_list(np.frombuffer(_raw(content), dtype=_dtype(dtype)))[0]


def _timestamp(value: StandIn) -> str:
    count, *rest = value.arguments
    unit = _NANOSECONDS_PER_UNIT.get(rest[2] if len(rest) > 2 else 10)
    if not isinstance(count, int) or unit is None:
        raise PickleFaultError("an unreadable timestamp")
    return str(np.datetime_as_string(np.datetime64(count * unit, "ns"), unit="ms"))


def _arrow_texts(value: StandIn) -> Column:
    """Texts in pyarrow's format: the end of each, and all of them joined (Apache Arrow columnar format)."""
    if value.name == "chunked_array":
        return [text for chunk in value.arguments[0] for text in _values(chunk)]
    kind, length, _, offset, buffers = value.arguments[0][:5]
    name = kind.arguments[0] if isinstance(kind, StandIn) and kind.name == "type_for_alias" else None
    if name not in _OFFSETS:
        raise PickleFaultError(f"a pyarrow column of type {name!r}: write the frame with texts as Python objects")
    known, ends, texts = (None if buffer is None else _raw(buffer) for buffer in buffers)
    if ends is None or not 0 <= length <= len(ends):
        raise PickleFaultError("a column of texts without their ends")
    bounds = np.frombuffer(ends, dtype=_OFFSETS[name])[offset : offset + length + 1].tolist()
    is_known = [True] * length
    if known is not None:
        bits = np.unpackbits(np.frombuffer(known, dtype=np.uint8), bitorder="little")
        is_known = bits[offset : offset + length].astype(bool).tolist()
    content = texts or b""
    pairs = zip(bounds[:length], bounds[1:], is_known, strict=True)
    return [content[start:end].decode("utf-8", "replace") if there else None for start, end, there in pairs]


_MEANINGS: dict[str, Callable[[StandIn], Any]] = {
    "DataFrame": lambda frame: list(_rows(frame)),
    "scalar": _scalar,
    **dict.fromkeys(("date", "time", "datetime", "timedelta"), _moment),
    "_unpickle_timestamp": _timestamp,
    **dict.fromkeys(("_nat_unpickle", "NA", "NaT"), lambda _: None),
    "bytearray": lambda value: _raw(value).decode("utf-8", "replace"),
}
"""Name of a stand-in -> its value outside of frames and arrays."""

_READERS: dict[str, Callable[[StandIn], Column]] = {
    **dict.fromkeys(_RECONSTRUCTED, lambda value: _as_list(_array(value))),
    **dict.fromkeys(("_new_Index", "_new_DatetimeIndex"), _index_values),
    "__pyx_unpickle_NDArrayBacked": _backed_values,
    **dict.fromkeys(("chunked_array", "_restore_array"), _arrow_texts),
    "FrozenList": lambda value: _values(value.arguments[0] if value.arguments else value.state),
}
"""Name of a stand-in -> the values of its array, column or index."""
