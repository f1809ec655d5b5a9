"""`crag inspect pages` and `crag inspect context` on files, with encoders that need no weights."""

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from crag.commands.inspect import context as context_command
from crag.commands.inspect.pages import main as print_page
from crag.web import WebPath
from tests.web.fakes import HashedWords, SharedWords, WordTokens

PAGE = {
    "page_name": "Comets",
    "page_url": "https://a.org/x",
    "page_snippet": "",
    "page_result": "<p>The comet was seen in 1910.</p>",
}
ROW = {"query": "when was the comet seen?", "query_time": "03/05/2024, 23:18:31 PT", "search_results": [PAGE]}
ROWS = [{"interaction_id": f"id-{number}", **ROW} for number in range(5)]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


@pytest.fixture
def without_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    fakes = HashedWords(), SharedWords(), WordTokens()
    monkeypatch.setattr(context_command, "load_web_path", lambda settings: WebPath(settings.web, *fakes))


def context(dataset: Path, out: Path, *more: object) -> int:
    arguments = ["--dataset", dataset, "--preset", "cpu", "--out", out, *more]
    return context_command.main([str(argument) for argument in arguments])


@pytest.mark.usefixtures("without_weights")
def test_context_writes_one_record_per_question_in_order(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder" / "out.jsonl.bz2"
    assert context(dataset, out, "--limit", 4) == 0
    records: list[dict[str, Any]] = [json.loads(line) for line in bz2.decompress(out.read_bytes()).splitlines()]
    assert [record["interaction_id"] for record in records] == ["id-0", "id-1", "id-2", "id-3"]
    (passage,) = records[0]["passages"]
    assert (passage["text"], passage["url"]) == ("The comet was seen in 1910.", "https://a.org/x")
    assert isinstance(passage["score"], float)
    assert "1910" in records[0]["context"]
    assert records[0]["seconds"] >= 0


def test_extract_prints_the_text_that_retrieval_sees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    html = tmp_path / "page.html"
    html.write_bytes(b'<meta charset="utf-8"><p>hello <b>world</b> \xff</p><p hidden>secret</p>')
    assert print_page([str(html), "--preset", "cpu"]) == 0
    assert capsys.readouterr().out == "hello world \ufffd\n"
