"""The comparison with peers; stand-ins speak for our side and for theirs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from crag.benchmarks.peers import PEER_WORKER, engine_figures, worker
from crag.commands.bench import peers
from crag.core.files import UserError

STAND_IN = f"""
import sys
sys.path.insert(0, {str(PEER_WORKER.parent)!r})
from peer_worker import serve

kind = sys.argv[1]
prompt = {{"request": {{"prompt": "Say yes."}}, "prompt": [5, 6, 7, 8]}}

def run(task):
    print("what a library prints is no result")
    if kind == "prompts":
        return {{"answers": [prompt], "calls": [prompt]}}
    if kind == "engine":
        return {{"text": "yes", "error": None, "count": 3, "prefill_seconds": 1.0, "seconds": 2.0}}
    if kind == "llama.cpp":
        assert task == {{"prompt": [5, 6, 7, 8], "count": 3}}
        return {{"text": "yes", "prefill_seconds": 2.0, "seconds": 6.0}}
    if kind == "agent":
        return {{"answer": "i don't know", "was_read": False, "seconds": 1.0}}
    if kind == "haystack":
        assert task["pages"] == ["<p>Mira Holm built it.</p>"]
        return {{"answer": task["query"].partition(" ")[2], "seconds": 5.0}}
    sys.exit("no such\\nmodel file")

serve(run, {{kind: "1.0"}})
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> list[str]:
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN, encoding="utf-8")
    return [sys.executable, str(script)]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    page = {"page_name": "Mill", "page_url": "https://example.org/mill", "page_result": "<p>Mira Holm built it.</p>"}
    rows: list[dict[str, Any]] = []
    for number, query in enumerate(["who Mira Holm", "who Olav Berg"]):
        row = {"interaction_id": str(number), "query": query, "query_time": "03/05/2024, 23:18:31 PT"}
        rows.append(row | {"answer": "Mira Holm", "search_results": [page]})
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_the_command_prints_both_tables_and_writes_all_results(
    stand_in: list[str],
    questions: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(peers, "_ours", lambda kind, options: [*stand_in, kind])
    monkeypatch.setattr(peers, "_peer", lambda kind, options, weights, *more: [*stand_in, kind])
    monkeypatch.setattr(peers, "locate", lambda name: tmp_path)
    out = tmp_path / "peers.json"
    files = ["--dataset", str(questions), "--gguf", str(questions), "--out", str(out)]
    assert peers.main(["--python", sys.executable, *files]) == 0

    lines = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    table = {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}
    assert table["llama.cpp"][:4] == ["6.000", "6.000", "2.000", "0.500"]
    assert table["Haystack"][0] == "5.000"
    assert table["Haystack"][3:] == ["0.000", "1", "1", "0"]

    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["versions"] == {"engine": "1.0", "llama.cpp": "1.0", "agent": "1.0", "haystack": "1.0"}
    assert report["engine"]["figures"]["ours"]["prefill"] == 4.0
    assert report["pipeline"]["figures"]["ours"]["verdicts"]["missing"] == 2


def test_a_side_that_ends_is_one_line_with_its_last_words(stand_in: list[str]) -> None:
    with worker("Some peer", [*stand_in, "broken"]) as side:
        assert side.peak_mib() >= 0
        with pytest.raises(UserError, match=r"^Some peer ended with code 1: model file$"):
            side.run({})


def test_tokens_a_second_are_of_answers_and_without_the_first() -> None:
    side = {"prefill_seconds": 2.0, "seconds": 4.0}
    rows = [{"kind": kind, "prompt_tokens": 100, "tokens": 21, "ours": side} for kind in ("answers", "calls", "calls")]
    figures = engine_figures(rows, "ours", 7.0)
    assert (figures.prefill, figures.decode, figures.peak_mib) == (50.0, 10.0, 7.0)
    assert figures.seconds == {"answers": 4.0, "calls": 8.0}


def test_without_the_peers_environment_the_command_names_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert peers.main(["--python", "/nowhere/python"]) == 2
    assert "make peers" in capsys.readouterr().err
