"""Every reader of files and replies: from any bytes at most its one kind of error escapes.

The bytes are arbitrary, or those of a valid file with a piece replaced, which gets deeper into a reader. Calls, pages
and replies of a graph have such a test beside their own.
"""

import bz2
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crag.answering import ConfidenceModel
from crag.core.files import DatasetError, UserError
from crag.engines.llm.openai_reply import read_reply
from crag.evaluation.datasets import read_records, read_rows
from crag.evaluation.judge import make_judge
from crag.evaluation.judge.llm import read_verdict
from crag.evaluation.report.finished_run import read_finished_run
from crag.evaluation.store import SavedRun
from crag.mock_api.tables import GraphError, load_tables
from crag.settings import SettingsError, load_settings
from tests.evaluation.report.example import record, trace, write_run

REPOSITORY = Path(__file__).parents[1]
ROW = {"interaction_id": "1", "query": "who?", "query_time": "", "search_results": [], "answer": "me", "split": 0}
LINE = json.dumps(ROW).encode() + b"\n"


class Reader(NamedTuple):
    """A file of that name is read by `read`; `valid` are bytes of a good one; `errors` may escape."""

    name: str
    valid: bytes
    read: Callable[[Path], object]
    errors: tuple[type[Exception], ...] = ()


def rows(path: Path) -> object:
    return list(read_rows(path))


def shipped(name: str) -> bytes:
    return (REPOSITORY / name).read_bytes()


def cached_judge(path: Path) -> object:
    return make_judge("llm", preset="scripted", cache=str(path), check=False)


def as_text(function: Callable[[str], object]) -> Callable[[Path], object]:
    return lambda path: function(path.read_bytes().decode("utf-8", "replace"))


REPLY = b'{"choices": [{"message": {"content": "x"}, "finish_reason": "stop", "logprobs": {"content": []}}]}'
READERS = {
    "questions": Reader("q.jsonl", LINE * 2, rows, (DatasetError,)),
    "questions, packed": Reader("q.jsonl.bz2", bz2.compress(LINE), rows, (DatasetError,)),
    "questions, CSV": Reader("q.csv", b'Query, Answer,split\n"who, then?", "me" ,0\n', rows, (DatasetError,)),
    "records": Reader("r.jsonl", LINE, lambda path: list(read_records(path)), (DatasetError,)),
    "preset": Reader("p.toml", shipped("crag/presets/scripted.toml"), load_settings, (SettingsError,)),
    "calibration": Reader(
        "c.json",
        shipped("crag/weights/calibration/cpu.json"),
        lambda path: ConfidenceModel.load(str(path)),
        (SettingsError,),
    ),
    "verdicts": Reader("v.jsonl", b'{"key": "k", "correct": true}\n', cached_judge, (UserError,)),
    "reply of a server": Reader("r.json", REPLY, as_text(lambda body: read_reply(body, 9))),
    "verdict of a model": Reader("v.txt", b'{"accuracy": true}', as_text(read_verdict)),
}


def replaced(valid: bytes) -> st.SearchStrategy[bytes]:
    """The valid bytes with one piece of them replaced by other bytes."""

    def splice(start: int, length: int, piece: bytes) -> bytes:
        return valid[:start] + piece + valid[start + length :]

    pieces = st.one_of(st.binary(max_size=40), st.sampled_from([b'"', b"{", b"]", b"\n", b"\x00", b"9" * 400, b"null"]))
    return st.builds(splice, st.integers(0, len(valid)), st.integers(0, 30), pieces)


def check(reader: Reader, content: bytes, folder: Path) -> None:
    path = folder / reader.name
    path.write_bytes(content)
    with suppress(*reader.errors):
        reader.read(path)


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_only_one_kind_of_error_escapes(name: str, data: st.DataObject, tmp_path: Path) -> None:
    reader = READERS[name]
    check(reader, data.draw(st.one_of(st.binary(max_size=200), replaced(reader.valid))), tmp_path)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("run"), [record(0)], [trace(0)], {"preset": "own@1"})


@pytest.mark.parametrize("file", ["run.json", "predictions.jsonl", "traces.jsonl", "results.json"])
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_a_folder_of_a_run(file: str, data: st.DataObject, run: Path, tmp_path: Path) -> None:
    for source in run.iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    (tmp_path / file).write_bytes(data.draw(st.one_of(st.binary(max_size=100), replaced((run / file).read_bytes()))))

    def read(folder: Path) -> Any:
        saved = SavedRun.read(folder)
        return saved.records, read_finished_run(folder)

    with suppress(DatasetError):
        read(tmp_path)


@pytest.mark.parametrize("file", ["manifest.json", "movie/movies.json"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_a_folder_of_a_graph(file: str, data: st.DataObject, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_bytes(data.draw(st.one_of(st.binary(max_size=100), replaced(b'{"a": {"title": "b"}}'))))
    with suppress(GraphError):
        load_tables(tmp_path)
