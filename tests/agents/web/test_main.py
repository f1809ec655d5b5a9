import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from agents.settings import Settings
from agents.web import WebPath, __main__
from tests.agents.web.fakes import HashedWords, SharedWords, WordTokens

PAGE = {
    "page_name": "Comets",
    "page_url": "https://a.org/x",
    "page_snippet": "",
    "page_result": "<p>The comet was seen in 1910.</p>",
}
ROWS = [
    {
        "interaction_id": f"id-{number}",
        "query": "when was the comet seen?",
        "query_time": "03/05/2024, 23:18:31 PT",
        "answer": "1910",
        "search_results": [PAGE],
    }
    for number in range(5)
]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def without_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    def fake(settings: Settings) -> WebPath:
        return WebPath(settings.web, HashedWords(), SharedWords(), WordTokens())

    monkeypatch.setattr(__main__, "load_web_path", fake)


def run(*arguments: object) -> int:
    return __main__.main([str(argument) for argument in arguments])


@pytest.mark.usefixtures("without_weights")
@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.bz2"])
def test_context_writes_one_record_per_question_in_order(dataset: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    assert context(dataset, out, "--limit", 4) == 0
    raw = out.read_bytes()
    lines = (bz2.decompress(raw) if name.endswith("bz2") else raw).decode().splitlines()
    records: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert [record["interaction_id"] for record in records] == ["id-0", "id-1", "id-2", "id-3"]
    assert records[0]["passages"][0]["text"] == "The comet was seen in 1910."
    assert records[0]["passages"][0]["url"] == "https://a.org/x"
    assert isinstance(records[0]["passages"][0]["score"], float)
    assert "1910" in records[0]["context"]
    assert records[0]["seconds"] >= 0


def test_extract_prints_the_text_that_retrieval_sees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html = tmp_path / "page.html"
    html.write_bytes(b"<p>hello <b>world</b> \xff</p><p hidden>secret</p>")
    assert run("extract", html, "--preset", "cpu") == 0
    assert capsys.readouterr().out == "hello world \ufffd\n"


def context(dataset: Path, out: Path, *more: object) -> int:
    return run("context", "--dataset", dataset, "--preset", "cpu", "--out", out, *more)


def check_error(capsys: pytest.CaptureFixture[str], out: Path, *named: str) -> None:
    """One line that names the cause, and no file."""
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("error: ")
    assert all(name in line for name in named)
    assert not out.exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["extract", "absent.html", "--preset", "cpu"], "absent.html"),
        (["extract", "agents", "--preset", "cpu"], "agents"),
        (["extract", "absent.html", "--preset", "nope"], "nope"),
        (["context", "--dataset", "absent.jsonl", "--preset", "cpu", "--out", "out"], "absent.jsonl"),
    ],
)
def test_errors_name_their_cause_and_exit_with_1(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 1
    check_error(capsys, Path("out"), named)


def test_missing_weights_are_an_error_before_anything_is_written(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "none"))
    monkeypatch.setattr("models.manifest.WEIGHTS_FOLDER", tmp_path / "none")
    assert context(dataset, tmp_path / "out.jsonl") == 1
    check_error(capsys, tmp_path / "out.jsonl", "python -m models.fetch")


@pytest.mark.usefixtures("without_weights")
def test_workers_that_cannot_start_are_an_error_in_a_line(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("agents.web.extract.worker._COMMAND", "import no_such_parser")
    assert context(dataset, tmp_path / "out.jsonl") == 1
    check_error(capsys, tmp_path / "out.jsonl", "No module named 'no_such_parser'): web.extract.workers=0")


@pytest.mark.parametrize("limit", ["-1", "0", "some"])
def test_a_limit_must_be_positive(dataset: Path, limit: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        context(dataset, Path("out"), "--limit", limit)
    assert caught.value.code == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.endswith(f"argument --limit: must be a whole number of at least 1, found {limit}")


@pytest.mark.usefixtures("without_weights")
def test_an_interrupted_run_leaves_an_older_file_as_it_was(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_text("of an earlier run")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(WebPath, "prepare", interrupted)
    with pytest.raises(KeyboardInterrupt):
        context(dataset, out)
    assert out.read_text() == "of an earlier run"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jsonl", "questions.jsonl"]


@pytest.mark.usefixtures("without_weights")
@pytest.mark.parametrize(
    ("content", "named"),
    [(json.dumps(ROWS[0]).encode() + b"\n{broken", "line 2"), (b"[1, 2]\n", ""), (b"\xff\xfe\x00", "")],
)
def test_a_broken_data_set_is_an_error_that_names_it_and_writes_nothing(
    content: bytes, named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "questions.jsonl"
    broken.write_bytes(content)
    assert context(broken, tmp_path / "out.jsonl") == 1
    check_error(capsys, tmp_path / "out.jsonl", "questions.jsonl", named)


@pytest.mark.usefixtures("without_weights")
def test_folders_of_the_output_are_made_and_a_place_that_cannot_be_written_is_an_error(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "folder" / "out.jsonl"
    assert context(dataset, out) == 0
    assert len(out.read_text().splitlines()) == len(ROWS)
    assert context(dataset, out / "below-a-file") == 1
    assert "out.jsonl" in capsys.readouterr().err.splitlines()[-1]
