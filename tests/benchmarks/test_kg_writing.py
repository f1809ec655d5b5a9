"""The benchmark of written calls, over a graph of invented things: folds, shares with intervals."""

import json
from pathlib import Path
from typing import Any

import pytest

from crag.commands.bench import kg_writing
from crag.commands.bench.kg_writing import main
from crag.commands.call_writer import load_call_writer
from crag.graph.writing import CallWriter, Example, load_bank
from crag.settings import Settings
from crag.training.program_kind import program_kind
from tests.graph.small_graph import write_graph

FRAME: dict[str, Any] = {"table": "movie", "filters": [], "sort": None, "aggregate": None, "select": "release_date"}
TUNED = """"the red kite" = 'get_movie("the red kite")["release_date"]'\n"""
PRESET = """
description = "script"
batch_size = 1
[language_model]
engine = "scripted"
default_reply = "None"
[language_model.replies]
{replies}
[web]
pages = {{ keep = 1, method = "search_order" }}
chunk = {{ method = "words" }}
retrieve = [{{ method = "bm25", top_k = 4 }}]
"""


def release(title: str) -> str:
    return f'get_movie("{title}")["release_date"]'


def film(title: str, released: str) -> dict[str, Any]:
    calls = [release(title)]
    asked = {"query": f"when did {title} come out?", "query_time": "02/28/2024, 09:31:30 ET", "domain": "movie"}
    return asked | {"calls": calls, "kg_values": [released], "frame": FRAME, "answerable": True, "verified": True}


ROWS = [
    film("the red kite", "1999-05-01"),
    film("borough: cultural notes", "2005-02-03"),
    film("blue door", "1950"),
    film("the red kite", "1999") | {"query": "not verified", "verified": False},
    film("nothing", "") | {"query": "who is tall?", "calls": ["None"], "kg_values": [], "answerable": False},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


class Bench:
    """A folder with graph, questions and presets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "graph").mkdir()
        write_graph(folder / "graph")
        self.questions = write(folder / "questions.jsonl", ROWS)

    def run(self, replies: str, *arguments: str) -> int:
        preset = self.folder / "script.toml"
        preset.write_text(PRESET.format(replies=replies), encoding="utf-8")
        own = ["--questions", str(self.questions), "--data", str(self.folder / "graph"), "--preset", str(preset)]
        return main([*own, "--set", "knowledge_graph.writer.examples=0", "--use-domain", *arguments])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_shares_have_intervals(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.run(TUNED) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| all")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[:4] == ["all", "4", "1.000 (51-100)", "0.500 (15-85)"]
    assert [cell.partition(" ")[0] for cell in cells[4:6]] == ["1.000", "0.667"]


def own(question: str, *calls: str, domain: str = "movie") -> dict[str, Any]:
    return {"query": question, "domain": domain, "calls": list(calls)}


@pytest.mark.parametrize(
    ("row", "written", "expected"),
    [
        (
            own("when?", 'get_movie("the red kite")["release_date"]'),
            'get_movie("The Red Kite")["release_date"]',
            "1.000",
        ),
        (own("when?", 'get_movie("the red kite")["release_date"]'), 'get_movie("blue door")["release_date"]', "0.000"),
        (own("when?", 'get_movie("not there")["release_date"]'), 'get_movie("Not There")["release_date"]', "1.000"),
        (own("when?", 'get_movie("not there")["release_date"]'), 'get_movie("nor there")["release_date"]', "0.000"),
        (own("when?", 'get_movie("not there")["release_date"]'), "None", "0.000"),
        (own("who is tall?", "None"), "None", "1.000"),
        (own("who is tall?", "None"), release("blue door"), "0.000"),
    ],
)
def test_rows_to_tune_on_are_measured_by_what_their_calls_return(
    bench: Bench, capsys: pytest.CaptureFixture[str], row: dict[str, Any], written: str, expected: str
) -> None:
    write(bench.questions, [row])
    assert bench.run(f"{json.dumps(row['query'])} = {json.dumps(written)}") == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| all")]
    assert line.split("|")[4].split()[0] == expected


def test_no_example_asks_for_what_a_held_out_fold_asks_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    banks: list[list[Example]] = []

    def load(settings: Settings, bank: list[Example]) -> CallWriter:
        banks.append(bank)
        return load_call_writer(settings, bank)

    monkeypatch.setattr(kg_writing, "load_call_writer", load)
    for fold in ("1/2", "2/2"):
        assert bench.run(TUNED, "--hold-out", fold) == 0
    kinds = [{program_kind(example.program) for example in bank if example.program.statements} for bank in banks]
    assert not kinds[0] & kinds[1]
    assert sorted(example.question for bank in banks for example in bank) == sorted(
        example.question for example in load_bank()
    )


def test_a_file_that_cannot_be_used_is_named(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    def complaint(*arguments: str) -> str:
        assert bench.run("", *arguments) == 2
        return capsys.readouterr().err

    del (row := film("the red kite", "1999-05-01"))["frame"]
    write(bench.questions, [film("blue door", "1950"), row])
    assert f'{bench.questions}, line 2, field "frame": missing' in complaint()

    write(bench.questions, [{"query": "who?", "domain": "movie", "calls": ["get_movie("]}])
    assert f'{bench.questions}, line 1, field "calls": ' in complaint()
