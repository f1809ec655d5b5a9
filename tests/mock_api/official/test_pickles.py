"""What may stand in a pickle, and what never runs."""

import builtins
import collections
import datetime as dt
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crag.mock_api.official.pickles import PickleFaultError
from crag.mock_api.official.pickles import read_plain as plain

FRAMES = sorted((Path(__file__).parent / "frames").glob("*.pickle"))


class Calls:
    """Pickles as a call of a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


def chain(path: Path) -> bytes:
    """`builtins.getattr(builtins.__import__("os"), "system")(...)`, written by hand."""
    touch = f"touch {path}".encode()
    return b"cbuiltins\ngetattr\n(cbuiltins\n__import__\n(S'os'\ntRS'system'\ntR(S'" + touch + b"'\ntR."


def hostile(path: Path) -> dict[str, bytes]:
    """Global that must be refused -> a pickle that would make the file `path` with it."""
    touch = f"touch {path}"
    code = f"open({str(path)!r}, 'w')"
    made: dict[str, Any] = {
        "posix.system": Calls(os.system, touch),
        "subprocess.check_call": Calls(subprocess.check_call, ["touch", str(path)]),
        "builtins.eval": Calls(eval, code),
        "builtins.__import__": Calls(builtins.__import__, "os"),
        "builtins.getattr": Calls(getattr, path, "touch"),
        "numpy.load": Calls(np.load, str(path)),
    }
    return {name: pickle.dumps(one) for name, one in made.items()} | {
        "builtins.getattr ": chain(path),
        "pandas.eval": b"cpandas\neval\n(S'1+1'\ntR.",
        "pandas.core.frame.DataFrame.eval": b"\x80\x04\x8c\x11pandas.core.frame\x8c\x0eDataFrame.eval\x93.",
        "pandas.io.common.os.system": b"\x80\x04\x8c\x10pandas.io.common\x8c\x09os.system\x93.",
        "numpy.testing._private.utils.runstring": b"cnumpy.testing._private.utils\nrunstring\n(S'1'\n}tR.",
    }


@pytest.mark.parametrize("name", sorted(hostile(Path("made"))))
def test_a_hostile_pickle_is_refused_by_name_and_nothing_of_it_runs(tmp_path: Path, name: str) -> None:
    content = hostile(tmp_path / "made")[name]
    with pytest.raises(PickleFaultError, match=rf"asks for {name.strip()}\b"):
        plain(content)
    assert list(tmp_path.iterdir()) == []


def test_the_hostile_pickles_would_do_harm(tmp_path: Path) -> None:
    made = tmp_path / "made"
    pickle.loads(hostile(made)["builtins.getattr "])  # noqa: S301 - what the allow-list is for
    assert made.exists()


def test_an_array_of_any_address_is_refused() -> None:
    """numpy would make objects of these bytes, wherever they point."""
    with pytest.raises(PickleFaultError):
        plain(pickle.dumps(Calls(np.ndarray, (1,), np.dtype("O"), bytes(8))))


@pytest.mark.parametrize("path", FRAMES, ids=lambda path: path.stem)
def test_frames_of_all_versions_are_read_alike(path: Path) -> None:
    first, second, third = plain(path.read_bytes())
    assert first == {
        "league": "L", "season": "2324", "team": "A", "game": "g1", "date": "2024-03-01T00:00:00.000",
        "time": "12:30:00", "GF": 0, "xG": 1.5, "Poss": 49, "home": True, "Attendance": 73601, "Captain": "Anß",
        "round": "first",
    }  # fmt: skip
    assert [second[name] for name in ("time", "GF", "xG", "home", "Attendance", "Captain", "round")] == [
        *(None, "0", None, False, None, None, "second"),
    ]
    assert [third[name] for name in ("league", "date", "GF", "Captain", "round")] == [None, None, None, "", None]


def test_frames_and_moments_of_the_installed_pandas_are_read() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [0.5, float("nan")]}, index=[7, 8])
    for protocol in range(3, pickle.HIGHEST_PROTOCOL + 1):
        assert plain(pickle.dumps(frame, protocol)) == [{"a": 1, "b": "x", "c": 0.5}, {"a": 2, "b": None, "c": None}]
    assert plain(pickle.dumps(pd.DataFrame())) == []
    moments = {pd.Timestamp("2024-02-28 09:30"): [pd.NaT, pd.NA, pd.Timestamp("2024-02-28")]}
    assert plain(pickle.dumps(moments)) == {"2024-02-28T09:30:00.000": [None, None, "2024-02-28T00:00:00.000"]}


@pytest.mark.parametrize("protocol", range(3, pickle.HIGHEST_PROTOCOL + 1))
def test_values_of_shares_are_read_in_every_protocol(protocol: int) -> None:
    value = {
        "price": np.float64(1.5), "volume": np.int64(7), "known": np.bool_(True), "name": np.str_("Acmé"),
        "days": np.array([[1, 2], [3, 4]]), "texts": np.array(["a", None], dtype=object), "nothing": float("nan"),
        "day": dt.date(2024, 2, 28), "at": dt.datetime(2024, 2, 28, 9, 30), "time": dt.time(9, 30),
        "kinds": {"b", "a"}, "pair": (1, "x"), "ordered": collections.OrderedDict(z=1), 2023: "year", "raw": b"ab",
        "many": collections.defaultdict(list, {"k": [1]}),
    }  # fmt: skip
    read = plain(pickle.dumps(value, protocol))
    nothing = read.pop("nothing")

    assert nothing != nothing  # noqa: PLR0124 - NaN stays, as the official server fails on it
    assert read == {
        "price": 1.5, "volume": 7, "known": True, "name": "Acmé", "days": [[1, 2], [3, 4]], "texts": ["a", None],
        "day": "2024-02-28", "at": "2024-02-28T09:30:00", "time": "09:30:00", "kinds": ["a", "b"], "pair": [1, "x"],
        "ordered": {"z": 1}, "2023": "year", "raw": "ab", "many": {"k": [1]},
    }  # fmt: skip


@pytest.mark.parametrize("cut", range(0, 1600, 397))
def test_a_pickle_that_is_cut_off_is_damaged(cut: int) -> None:
    with pytest.raises(PickleFaultError):
        plain(FRAMES[2].read_bytes()[:cut])


def test_a_small_pickle_cannot_stand_for_more_than_a_disk_holds() -> None:
    laughs: list[Any] = ["ha"]
    for _ in range(40):
        laughs = [laughs] * 10

    with pytest.raises(PickleFaultError, match="far more values than its size"):
        plain(pickle.dumps(laughs))

    with pytest.raises(PickleFaultError, match="far more values than its size"):
        plain(pickle.dumps(["ha" * 5_000] * 5_000))

    assert plain(pickle.dumps({"a": np.empty((1 << 30, 0))})) == {"a": []}

    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(PickleFaultError):
        plain(pickle.dumps(circle))


@pytest.mark.parametrize(
    "content",
    [
        b"", b"no pickle", b"\x80\x04]\x94(K\x01", b"\x80\x7f.", b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x80\x02P1\n.", b"\x80\x04\x82\x05.", b"\x80\x04cnumpy\ndtype\n.",
        pickle.dumps({(1, 2): 3}), pickle.dumps(1 + 2j), pickle.dumps(range(9)), pickle.dumps(np.array([1 + 2j])),
    ],
)  # fmt: skip
def test_what_is_no_data_is_one_fault(content: bytes) -> None:
    with pytest.raises(PickleFaultError):
        plain(content)
