"""The command, run over the graph that ships with the project."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.common.queries import parse_query_time
from agents.kg.trainable import Average, Call, Domain, Program, Task, load_bank, parse, render
from tests.training.api_pairs.conftest import QUESTIONS, make
from training.api_pairs.execution import bench_of
from training.api_pairs.graph import OWN_GRAPH, Graph
from training.api_pairs.labelled import bank_version
from training.api_pairs.pairs import Pair, normalised
from training.run_card import CARD_FILE


def texts_of(program: Program) -> list[str]:
    """Every text that a program holds: names, dates and the values of conditions."""
    found: list[str] = []
    for statement in program.statements:
        if isinstance(statement, Call):
            for argument in statement.arguments:
                found += [argument] if isinstance(argument, str) else argument if isinstance(argument, tuple) else ()
        if not isinstance(statement, Average):
            found += [condition.value for condition in statement.conditions if isinstance(condition.value, str)]
    return found


JOBS = {"Director", "Producer", "Screenplay", "Original Music Composer"}
SAID_OTHERWISE = JOBS | {"true", "0", "female", "W", "L", "Home", "Away", "today", "latest"}
"""Values that a question has in other words."""


def test_every_kind_of_row_is_there(pairs: Sequence[Pair], sampled: Sequence[Pair]) -> None:
    assert {pair.source for pair in pairs} == {"real", "bank", "synthetic", "near_miss", "none"}
    assert len(sampled) >= 120
    assert {pair.domain for pair in sampled} == set(Domain)
    tables = {statement.split("(")[0] for pair in sampled for statement in pair.calls}
    assert len(tables) > 15  # most of the language
    kinds = Counter(pair.program.statements == () for pair in sampled)
    assert 0.1 < kinds[True] / len(sampled) < 0.4
    assert max(Counter(pair.groups[0] for pair in sampled).values()) <= 8, "no entity dominates"
    (shawshank,) = [pair for pair in pairs if pair.query == "who directed the shawshank redemption?"]
    assert (shawshank.values, shawshank.direct_answer) == (("Frank Darabont",), "Frank Darabont")
    assert (shawshank.answer, shawshank.alt_ans) == ("frank darabont", ("darabont",))
    assert "Frank Darabont" in shawshank.facts[0].text


def test_no_question_comes_twice_and_every_question_reads_well(sampled: Sequence[Pair], pairs: Sequence[Pair]) -> None:
    assert len({normalised(pair.query) for pair in pairs}) == len(pairs)
    for pair in sampled:
        assert pair.query == " ".join(pair.query.split())
        assert pair.query == pair.query.lower()
        assert not re.search(r"[\[\]{}|]|a\(n\)|\ba [aeiou]\w|\bon (?:today|yesterday|on)\b", pair.query), pair.query


def test_sampled_programs_are_canonical_and_find_something(sampled: Sequence[Pair]) -> None:
    asked = [pair for pair in sampled if pair.program.statements]
    assert all(render(parse("\n".join(pair.calls), pair.domain)).split("\n") == pair.calls for pair in asked)
    assert all(pair.values and pair.facts for pair in asked)
    assert not any("Not found" in fact.text for pair in asked for fact in pair.facts)
    with bench_of([Graph(OWN_GRAPH)]) as bench:
        tasks = [Task(pair.domain, "\n".join(pair.calls), parse_query_time(pair.query_time)) for pair in asked]
        for pair, executed in zip(asked, bench.run(tasks), strict=True):
            assert executed.found, pair
            assert executed.values == pair.values


def test_questions_name_what_their_programs_name(sampled: Sequence[Pair]) -> None:
    for pair in sampled:
        for text in texts_of(pair.program):
            is_written_otherwise = text in SAID_OTHERWISE or re.fullmatch(r"\d{4}-\d\d(-\d\d)?", text)
            assert is_written_otherwise or normalised(text) in normalised(pair.query), (pair.query, text)


def test_questions_that_no_table_answers_have_no_calls(pairs: Sequence[Pair]) -> None:
    without = [pair for pair in pairs if pair.source in {"near_miss", "none"}]
    assert without
    for pair in without:
        assert (pair.calls, pair.facts, pair.values, pair.direct_answer) == (["None"], (), (), None)
        assert pair.groups == (pair.query,) if pair.source == "none" else pair.groups
    near = [pair for pair in without if pair.source == "near_miss"]
    assert all(pair.groups != (pair.query,) for pair in near)


def test_the_same_seed_gives_the_same_file_and_another_one_another(made_file: Path, tmp_path: Path) -> None:
    assert make(tmp_path / "again.jsonl") == 0
    assert (tmp_path / "again.jsonl").read_bytes() == made_file.read_bytes()
    assert make(tmp_path / "other.jsonl", "--seed", "4", "--no-real") == 0
    other = (tmp_path / "other.jsonl").read_text(encoding="utf-8").splitlines()
    assert not any('"source": "real"' in line for line in other)
    assert set(other[-50:]).isdisjoint(made_file.read_text(encoding="utf-8").splitlines())


def card_of(out: Path) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((out.with_suffix("") / CARD_FILE).read_text(encoding="utf-8"))
    return card


def test_a_run_card_says_what_the_rows_were_made_from(
    made_file: Path, pairs: Sequence[Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    card = card_of(made_file)
    settings = card["settings"]
    bank = settings.pop("bank")
    assert settings == {
        "count": 130,
        "limit": None,
        "seed": 3,
        "no_real": False,
        "house_style": False,
    }
    assert card["data"]["questions"]["sha256"] == hashlib.sha256(QUESTIONS.read_bytes()).hexdigest()
    films = (OWN_GRAPH / "movie" / "movie_db.json").read_bytes()
    assert card["data"]["graph 1 movie/movie_db.json"]["sha256"] == hashlib.sha256(films).hexdigest()
    assert "templates movie.toml" in card["data"]
    assert card["metrics"]["sha256"] == hashlib.sha256(made_file.read_bytes()).hexdigest()
    assert card["metrics"]["rows"] == len(pairs)
    counted = Counter((pair.domain.value, pair.source) for pair in pairs)
    reported = {(d, s): n for d, counts in card["metrics"]["domains"].items() for s, n in counts.items() if n}
    assert reported == counted
    assert bank == bank_version()
    monkeypatch.setattr("training.api_pairs.labelled.load_bank", lambda: load_bank()[1:])
    assert bank_version() != bank


def test_resuming_keeps_rows_and_adds_the_missing_ones(
    made_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pairs.jsonl"
    lines = made_file.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:40]) + lines[40][:25])  # killed while it wrote a line
    assert make(out) == 1
    assert "--resume" in capsys.readouterr().err
    assert make(out, "--resume") == 0
    assert out.read_bytes() == made_file.read_bytes()
    resumed, whole = card_of(out), card_of(made_file)
    assert (resumed["metrics"].pop("kept_on_resume"), whole["metrics"].pop("kept_on_resume")) == (40, 0)
    assert all(resumed[part] == whole[part] for part in ("data", "settings", "metrics"))
    assert re.search(rf"^all .* {len(lines)}$", capsys.readouterr().out, re.MULTILINE)
    assert make(out, "--resume", "--seed", "9") == 1
    assert "other seed" in capsys.readouterr().err


def test_house_style_writes_labelled_calls_as_the_examples_do(tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    assert make(out, "--house-style", count=0) == 0
    rows = {row["query"]: row for row in map(json.loads, out.read_text(encoding="utf-8").splitlines())}
    assert rows["did the celtics win on 2023-05-14?"]["calls"] == ['get_nba_on_date("celtics","2023-05-14")["result"]']
    assert rows["did the celtics win on 2023-05-14?"]["groups"] == ["boston celtics"]


def test_bad_input_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.jsonl"
    row = json.loads(QUESTIONS.read_text(encoding="utf-8").splitlines()[0])
    bad.write_text(json.dumps(row) + "\n" + json.dumps(row | {"calls": ["get_moive()"]}) + "\n", encoding="utf-8")
    for change, message in (
        (["--graph", "nowhere"], "no graph"),
        (
            ["--questions", "nowhere.jsonl"],
            "there is no such file; --questions names the file, --no-real",
        ),
        (["--questions", str(bad)], 'line 2: field "calls": unknown_table: movie'),
    ):
        assert make(tmp_path / "out.jsonl", *change, count=0) == 1
        assert message in capsys.readouterr().err
