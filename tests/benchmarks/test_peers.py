"""The comparison with peers; stand-ins speak for our side and for theirs."""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from crag.benchmarks.peers import PEER_WORKER, SideProcess, engine_figures, open_side
from crag.commands.bench import peers
from crag.core.files import UserError

KINDS = ("prompts", "engine", "llama.cpp", "agent", "haystack", "broken", "foreign")
# What warms a side up takes long, and must not count.
STAND_IN = f"""
import os, signal, sys
sys.path.insert(0, {str(PEER_WORKER.parent)!r})
from peer_worker import serve

kind = sys.argv[1]

def run(task):
    print("what a library prints is not a result")
    if kind == "prompts":
        token = 9 if task["row"]["interaction_id"] == "warm-up" else 7
        prompt = {{"request": {{"token": token}}, "prompt": [5, 6, token, 8]}}
        return {{"answers": [prompt], "calls": [prompt]}}
    if kind == "engine":
        slow = 100 if task["request"]["token"] == 9 else 1
        return {{"text": "yes", "error": None, "count": 3, "prefill_seconds": 1.0 * slow, "seconds": 2.0 * slow}}
    if kind == "llama.cpp":
        assert task["count"] == 3
        slow = 100 if task["prompt"] == [5, 6, 9, 8] else 1
        return {{"text": "yes", "prefill_seconds": 2.0 * slow, "seconds": 6.0 * slow}}
    if kind == "agent":
        slow = 100 if task["row"]["interaction_id"] == "warm-up" else 1
        return {{"answer": "i don't know", "was_read": False, "seconds": 1.0 * slow}}
    if kind == "haystack":
        slow = 1 if task["pages"] == ["<p>Mira Holm built it.</p>"] else 100
        return {{"answer": task["query"].partition(" ")[2], "seconds": 5.0 * slow}}
    if kind == "foreign":
        os.kill(os.getpid(), signal.SIGILL)
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
    def start(name: str, arguments: Sequence[str], threads: int) -> AbstractContextManager[SideProcess]:
        kind = next(word for word in arguments if word in KINDS)
        return open_side(name, [*stand_in, kind], threads)

    monkeypatch.setattr(peers, "open_side", start)
    monkeypatch.setattr(peers, "locate", lambda name: tmp_path)
    out = tmp_path / "peers.json"
    files = ["--dataset", str(questions), "--gguf", str(questions), "--out", str(out)]
    assert peers.main(["--python", sys.executable, *files]) == 0

    lines = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    table = {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in lines}
    assert table["llama.cpp"][:4] == ["6.00", "6.00", "2", "0.5"]
    assert table["llama.cpp / ours"][:4] == ["3.00", "3.00", "0.50", "0.25"]
    assert table["Haystack"][0] == "5.00"
    assert table["Haystack"][3:] == ["+0.000", "1", "1", "0"]

    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["versions"] == {"engine": "1.0", "llama.cpp": "1.0", "agent": "1.0", "haystack": "1.0"}
    assert report["engine"]["figures"]["ours"]["prefill"] == 4.0
    assert report["pipeline"]["figures"]["ours"]["verdicts"]["missing"] == 2


def test_a_side_that_ends_is_one_line_with_its_last_words(stand_in: list[str]) -> None:
    with open_side("Some peer", [*stand_in, "broken"], 1) as side:
        assert side.peak_mib() >= 0
        with pytest.raises(UserError, match=r"^Some peer ended with code 1: model file$"):
            side.run({})
    with (
        open_side("Some peer", [*stand_in, "foreign"], 1) as side,
        pytest.raises(UserError, match=r"^Some peer was ended by SIGILL: it was compiled for another processor"),
    ):
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


def test_more_threads_than_cores_are_refused_before_anything_starts(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peers, "locate", lambda name: tmp_path)
    files = ["--dataset", str(questions), "--gguf", str(questions), "--python", sys.executable]
    cores = len(os.sched_getaffinity(0))
    assert peers.main([*files, "--threads", str(cores + 1)]) == 2
    assert capsys.readouterr().err.endswith(f"this process may use {cores} cores\n")
