"""`crag inspect route` on files, with a tiny classifier and with a scripted model."""

import bz2
import json
from pathlib import Path

import pytest

from crag.commands.inspect.route import BATCH_SIZE, main
from crag.router import classifier, encoder_router
from crag.settings import PRESETS
from tests.router.tiny_bert import build_bert, build_classifier

ROWS = [
    {"query": "who sang the song ?", "extra": [1]},
    {"query": "what is acme ?", "query_time": "03/05/2024, 23:18:31 PT"},
]
TINY = ("--set", 'router.classifiers=["tiny"]')


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A classifier `tiny`, and a tiny BERT in the place of the encoder that it names."""
    bert = build_bert(tmp_path / "bert")
    for module in (classifier, encoder_router):
        monkeypatch.setattr(module, "locate", lambda name: bert)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "routers"))
    build_classifier(tmp_path / "routers" / "tiny")


def classify(folder: Path, *lines: str, by: tuple[str, ...] = TINY) -> int:
    (folder / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return main(["--in", str(folder / "in.jsonl"), "--out", str(folder / "out.jsonl.bz2"), *by])


def test_rows_keep_what_they_have_and_get_a_route(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ROWS * BATCH_SIZE
    assert classify(tmp_path, *map(json.dumps, rows), by=(*TINY, "--limit", "17")) == 0
    routed = [json.loads(line) for line in bz2.decompress((tmp_path / "out.jsonl.bz2").read_bytes()).splitlines()]
    assert all(row.pop("route")["question_type"]["label"] for row in routed)
    assert routed == rows[:17]
    assert "17 rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "by", "message"),
    [
        (['{"query": "who ?"}', "{"], TINY, "line 2: not valid JSON"),
        (['{"query": 7}'], TINY, 'line 1, field "query"'),
        (['{"question": "who ?"}'], TINY, 'line 1, field "query"'),
        (['{"query": "who ?"}'], ("--set", 'router.classifiers=["nobody"]'), "crag train router --config nobody"),
        (['{"query": "who ?"}'], ("--preset", "nothing"), "nothing"),
        (['{"query": "who ?"}'], ("--preset", "scripted"), "has no router"),
    ],
)
def test_a_fault_is_one_line_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[str], by: tuple[str, ...], message: str
) -> None:
    assert classify(tmp_path, *lines, by=by) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("error: ")
    assert message in line
    assert not (tmp_path / "out.jsonl.bz2").exists()


def test_a_preset_may_ask_the_language_model(tmp_path: Path) -> None:
    preset, text = tmp_path / "asking.toml", (PRESETS / "scripted.toml").read_text(encoding="utf-8")
    preset.write_text(text.replace("[web", '[router]\nengine = "prompt"\n\n[web', 1), encoding="utf-8")
    assert classify(tmp_path, *map(json.dumps, ROWS), by=("--preset", str(preset))) == 0
    lines = bz2.decompress((tmp_path / "out.jsonl.bz2").read_bytes()).splitlines()
    assert [json.loads(line)["route"] for line in lines] == [{}] * len(ROWS), "this model says nothing of a question"
