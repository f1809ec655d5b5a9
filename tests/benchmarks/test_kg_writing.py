"""The benchmark of written calls, over a graph of invented things: folds, shares with intervals, paired differences."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import kg_writing
from benchmarks.kg_writing import differences, stratified
from tests.agents.kg.small_graph import write_graph
from training.folds import Fold, number_of

FRAME: dict[str, Any] = {"table": "movie", "filters": [], "sort": None, "aggregate": None, "select": "release_date"}
TUNED = """"the red kite" = 'get_movie("the red kite")["release_date"]'\n"""


def film(title: str, released: str) -> dict[str, Any]:
    calls = [f'get_movie("{title}")["release_date"]']
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
        preset = self.folder / "preset.toml"
        preset.write_text(
            'description = "script"\n[language_model]\nengine = "scripted"\ndefault_reply = "None"\n'
            f"[language_model.replies]\n{replies}[web]\n"
            'pages = { method = "bm25" }\nretrieve = [{ method = "bm25", top_k = 4 }]\nchunk = { method = "words" }\n',
            encoding="utf-8",
        )
        own = ["--questions", str(self.questions), "--data", str(self.folder / "graph"), "--preset", str(preset)]
        return kg_writing.main([*own, "--examples", "none", "--use-domain", *arguments])


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def line(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start))


def test_shares_have_intervals_and_differences_are_paired(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(bench.folder / "base.jsonl")
    assert bench.run("", "--save", saved) == 0
    assert line(capsys.readouterr().out, "all").split()[:6] == ["all", "4", "1.000", "(51-100)", "0.250", "(5-70)"]

    assert bench.run(TUNED, "--against", saved) == 0
    before, after = capsys.readouterr().out.split("less base.jsonl:")
    # parses, values, none, over-none
    assert line(before, "all").split()[2::2][:4] == ["1.000", "0.500", "1.000", "0.667"]
    cells = line(after, "all").split()
    assert cells[:2] == ["all", "4"]
    assert [cells[place] for place in (2, 5, 8, 11)] == ["+0.000", "+0.250", "+0.000", "-0.333"]
    assert cells[6:8] == ["[+0.000,", "+0.750]"]
    assert "values right only now: 1, only before: 0; not asked before: 0" in after


def test_a_key_of_the_preset_can_be_changed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    replies = """language_model.replies={ "the red kite" = 'get_movie("the red kite")["release_date"]' }"""
    assert bench.run("", "--set", replies) == 0
    assert line(capsys.readouterr().out, "all").split()[2::2][:2] == ["1.000", "0.500"]


def test_what_is_saved_names_each_question_and_what_was_found(bench: Bench) -> None:
    path = bench.folder / "saved.jsonl"
    assert bench.run(TUNED, "--save", str(path)) == 0
    rows = {row["query"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    assert rows["when did the red kite come out?"]["judged"] == {
        **dict.fromkeys(("parses", "values", "domain"), True),
        **dict.fromkeys(("over-none", "repaired"), False),
    }
    assert rows["who is tall?"]["judged"]["none"] is True


def pair(query: str, *groups: str, source: str = "real") -> dict[str, Any]:
    return {"query": query, "groups": list(groups), "source": source}


def test_a_fold_asks_what_it_tests_and_says_how_much_is_new(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """The fold is the pairs' word, and a second group that the training has seen is told."""
    here = number_of("Red Kite", 2)
    other = next(name for name in ("ann", "bob", "cy", "dee", "eve") if number_of(name, 2) != here)
    pairs = write(
        bench.folder / "pairs.jsonl",
        [
            pair(ROWS[0]["query"], "Red Kite"),
            pair(ROWS[1]["query"], "red  kite", other),
            pair(ROWS[2]["query"], other),
            pair("sampled", f"{other.upper()}", source="synthetic"),
        ],
    )
    saved = bench.folder / "saved.jsonl"
    assert bench.run("", "--pairs", str(pairs), "--fold", str(Fold(here, 2)), "--save", str(saved)) == 0
    told = capsys.readouterr().out
    asked = [json.loads(row)["query"] for row in saved.read_text(encoding="utf-8").splitlines()]
    assert asked == [ROWS[0]["query"], ROWS[1]["query"]]
    assert "1 of 4 questions have no groups" in told
    assert f"fold {here}/2: 2 questions, 1 of them about nothing that is in the training" in told


def test_an_adapter_that_learnt_from_the_fold_is_refused(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = write(bench.folder / "pairs.jsonl", [pair(row["query"], "one thing") for row in ROWS])
    adapter = bench.folder / "adapter"
    adapter.mkdir()
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        (adapter / name).touch()
    fold = str(Fold(number_of("one thing", 2), 2))
    arguments = ["--pairs", str(pairs), "--fold", fold, "--adapter", str(adapter)]
    for held_out, code in ((None, 1), ("3/7", 1), (fold, 0)):
        (adapter / "run_card.json").write_text(json.dumps({"settings": {"hold_out": held_out}}), encoding="utf-8")
        assert bench.run("", *arguments) == code
        assert ("may have learnt" in capsys.readouterr().err) == (code == 1)


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([{"query": "x", "source": "real"}], 'line 1: field "groups" must be a list of texts, found None'),
        ([{"groups": ["a"], "source": "real"}], 'line 1: field "query" must be the text'),
        ([pair("x", "a"), pair("x", "b")], "line 2: field \"groups\": another row of 'x' has other groups"),
        ([pair("x", "a")], "none of the 4 questions is tested in fold all"),
    ],
)
def test_pairs_that_cannot_be_used_are_named(
    bench: Bench, capsys: pytest.CaptureFixture[str], rows: list[dict[str, Any]], complaint: str
) -> None:
    assert bench.run("", "--pairs", str(write(bench.folder / "pairs.jsonl", rows))) == 1
    assert complaint in capsys.readouterr().err


def test_questions_without_labels_are_named(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    row = film("the red kite", "1999-05-01")
    del row["kg_values"]
    write(bench.questions, [film("blue door", "1950"), row])
    assert bench.run("") == 1
    assert f'{bench.questions}, line 2: field "kg_values" is missing' in capsys.readouterr().err


def test_other_questions_are_no_comparison(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    other = write(bench.folder / "other.jsonl", [{"query": "who?", "judged": {"values": True}}])
    assert bench.run("", "--against", str(other)) == 1
    assert "holds none of these 4 questions" in capsys.readouterr().err
    assert bench.run("", "--against", str(bench.questions)) == 1
    assert 'line 1: field "query" or "judged" is missing' in capsys.readouterr().err


def test_intervals_draw_whole_groups() -> None:
    """Ten questions about one thing are one piece of evidence: nothing is known about other things."""
    judged, before = [{"values": True}] * 10 + [{"values": False}] * 10, {"values": False}
    rows: list[dict[str, Any]] = [{"query": str(n), "domain": "movie", "groups": (f"{n}",)} for n in range(20)]
    by_question = differences(rows, judged, {row["query"]: before for row in rows})
    two = [row | {"groups": ("a" if n < 10 else "b",)} for n, row in enumerate(rows)]
    by_group = differences(two, judged, {row["query"]: before for row in rows})
    assert "+0.500 [+0.300, +0.700]" in by_question[1]
    assert "+0.500 [+0.000, +1.000]" in by_group[1]


def test_a_sample_takes_the_domains_in_turn() -> None:
    rows = [{"domain": name, "n": n} for name, count in (("movie", 9), ("music", 2)) for n in range(count)]
    assert sorted(row["domain"] for row in stratified(rows, 6, 0)) == ["movie"] * 4 + ["music"] * 2
