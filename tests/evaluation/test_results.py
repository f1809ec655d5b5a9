"""results.json and the table."""

from pathlib import Path
from typing import Any

from evaluation.results import footer, summarise, table


def record(number: int, verdict: str, **more: Any) -> dict[str, Any]:
    return {
        "batch": number // 2,
        "batch_size": 2,
        "attempt": 1,
        "verdict": verdict,
        "domain": "movie",
        "question_type": "simple",
        "static_or_dynamic": "static",
        "seconds": 2.0,
        "batch_seconds": 4.0,
        "timed_out": False,
        "error": None,
        **more,
    }


RECORDS = [
    record(0, "correct"),
    record(1, "incorrect", domain="music"),
    record(2, "missing", timed_out=True, error="stack", seconds=5.0, batch_seconds=10.0),
    record(3, "missing", timed_out=True, error="stack", seconds=5.0, batch_seconds=10.0),
    record(4, "missing", error="Traceback", attempt=2),
    record(5, "unscored", error="Traceback", attempt=2),
]
SITTINGS = [
    {"startup_seconds": 9.0, "first_answer_seconds": 12.0, "peak_memory_mb": 900.0},
    {"startup_seconds": 3.0, "first_answer_seconds": 5.0, "peak_memory_mb": 800.0},
]


def test_summary() -> None:
    results = summarise(RECORDS, SITTINGS, {"judge": "rules@1"})
    assert (results["score"], results["n"], results["unscored"]) == (0.0, 5, 1)
    assert results["seconds"] == {
        "total": 18.0,
        "per_question": 3.0,
        "slowest_batch_per_question": 5.0,
        "startup": 3.0,
        "first_answer": 5.0,
    }
    assert results["peak_memory_mb"] == 900.0
    assert (results["timeouts"], results["errors"]) == (1, 1)
    assert results["slices"]["domain"]["music"]["score"] == -1
    assert results["slices"]["domain"]["music"]["ci"] == [-1, -1]
    assert results["signature"] == {"judge": "rules@1"}
    assert results["intervals"]["missing"][0] < 0.6 < results["intervals"]["missing"][1]
    assert results["pairs"]["domain/question_type"]["music"]["simple"] == {
        "score": -1.0,
        "accuracy": 0.0,
        "hallucination": 1.0,
        "missing": 0.0,
        "n": 1,
        "unscored": 0,
        "ci": [-1.0, -1.0],
    }


def test_generations_that_ran_out_of_time_are_counted_once_a_batch_and_reported() -> None:
    counts = [
        {"not_begun": 2, "cut_short": 1},
        {"not_begun": 2, "cut_short": 1},
        {"not_begun": 3},
        {"not_begun": 3},
        {},
    ]
    results = summarise(
        [record(number, "missing", out_of_time=reported) for number, reported in enumerate(counts)], [], {}
    )
    assert results["generations_out_of_time"] == {"not_begun": 5, "cut_short": 1}
    assert table(results).splitlines()[-1] == "generations that ran out of time: 5 not begun, 1 cut short"
    assert summarise(RECORDS, [], {})["generations_out_of_time"] == {"not_begun": 0, "cut_short": 0}
    assert "out of time" not in table(summarise(RECORDS, [], {}))


def test_tokens_are_counted_once_a_batch_and_cost_what_was_said() -> None:
    counts = [{"tokens": {"prompt": 1_500_000, "completion": 20_000}}, {"tokens": {"prompt": 500_000}}, {}]
    rows = [record(2 * number, "missing", **counted) for number, counted in enumerate(counts)]
    free = summarise([*rows, record(1, "correct", **counts[0])], [], {})
    assert free["tokens"] == {"prompt": 2_000_000, "completion": 20_000}
    assert "tokens: 2,000,000 read, 20,000 written\n" in footer(free, Path("run"))
    paid = summarise(rows, [{"prices": [0.5, 10.0]}], {})
    assert paid["tokens"]["dollars"] == 1.2
    assert "20,000 written, 0.4000 dollars a question" in footer(paid, Path("run"))
    assert "tokens" not in footer(summarise(RECORDS, [], {}), Path("run"))


def test_lost_answers_are_counted_by_what_they_were_lost_to() -> None:
    rows = [record(0, "missing", lost="clock"), record(1, "missing", lost="graph"), record(2, "missing", lost="graph")]
    results = summarise([*rows, record(3, "missing", lost=None), record(4, "correct")], [], {})
    assert results["lost"] == {"clock": 1, "fault": 0, "graph": 2}
    said = '3 answers lost: 1 to the clock, 2 to a knowledge graph that did not reply ("lost" in predictions.jsonl)'
    assert said in table(results).splitlines()
    assert "lost:" not in table(summarise(RECORDS, [], {}))


def test_table_columns_line_up() -> None:
    lines = table(summarise([*RECORDS, *RECORDS], SITTINGS, {})).splitlines()
    assert lines[1].split()[:3] == ["all", "questions", "+0.000"]
    rows = [line for line in lines if "[" in line]
    assert len({line.index("[") for line in rows}) == 1
    (music,) = (line for line in lines if line.startswith("  music"))
    assert music.split()[:3] == ["music", "-1.000", "-"], "an interval of two questions is a dash"
    rows.append(music)
    assert len({len(line) for line in [lines[0], *rows]}) == 1
    assert "2 more could not be scored" in lines[-1]
    assert [line for line in lines if line in {"domain", "question type", "dynamism"}] == [
        "domain",
        "question type",
        "dynamism",
    ]
    plain = table(summarise([record(0, "correct", domain="a very long name of a domain")], [], {}))
    assert "gates" not in plain
    assert "could not be scored" not in plain


def test_a_slice_without_a_scored_question_has_no_score_of_0() -> None:
    records = [record(0, "correct"), record(1, "unscored", domain="music")]
    head, all_questions, *lines = table(summarise(records, [], {})).splitlines()
    music = next(line for line in lines if line.startswith("  music"))
    assert music.split() == ["music", "-", "-", "-", "-", "-", "0"]
    assert len({len(line) for line in (head, all_questions, music)}) == 1
    assert table(summarise([record(0, "unscored")], [], {})).splitlines()[1].split()[2:] == ["-"] * 5 + ["0"]


def gates(*closed: tuple[str, str | None]) -> list[dict[str, Any]]:
    return [{"name": name, "withheld_verdict": withheld} for name, withheld in closed]


def test_the_gates_have_a_block_of_their_own() -> None:
    records = [
        record(0, "missing", gates=gates(("domain finance", "incorrect"))),
        record(1, "missing", gates=gates(("expected score", "correct"), ("domain finance", None))),
        record(2, "missing", gates=gates(("question_type false_premise", None))),
        record(3, "correct", gates=[]),
    ]
    block = table(summarise(records, [], {})).split("\n\n")[1].splitlines()
    titles = "gates effect 95 % interval n right lost wrong saved missing unknown closed"
    assert " ".join(block[0].split()) == titles
    assert block[1].split()[:3] == ["domain", "finance", "+0.333"]
    assert block[1].split()[-6:] == ["3", "0", "1", "0", "1", "2"], "of one of the four questions nothing is known"
    assert block[2].split()[:3] == ["expected", "score", "-0.250"]
    assert block[3].split()[2:] == ["?", "?", "3", "0", "0", "0", "1", "1"]
    assert len({len(line) for line in block[:4]}) == 1
    assert "--set answering.audit=true" in block[5]
    known = [record(0, "missing", gates=gates(("expected score", "correct")))]
    assert "audit" not in table(summarise(known, [], {}))


def test_the_footer_leaves_out_what_is_not_known() -> None:
    known = footer(summarise(RECORDS, SITTINGS, {"judge": "rules@1", "batch_size": None}), Path("out"))
    assert known.splitlines() == [
        "3.00 s per question, start-up 3.0 s, first answer after 5.0 s, peak memory 900 MiB",
        "signature  judge:rules@1",
        "files      out",
    ]
    assert footer(summarise([], [], {}), Path("out")).splitlines()[0] == "0.00 s per question"
