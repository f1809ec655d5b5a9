"""results.json and the table; what gates cost and saved."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from crag.evaluation.batches import Question, RowKey
from crag.evaluation.gates import gate_effects, judged_firings
from crag.evaluation.judge import RulesJudge
from crag.evaluation.results import summarise
from crag.evaluation.results_text import metrics_table, results_footer
from tests.evaluation import run_folders

record = partial(run_folders.record, batch_size=2, domain="movie", question_type="simple", static_or_dynamic="static")

RECORDS = [
    record(0, "correct"),
    record(1, "incorrect", domain="music"),
    *(record(number, "missing", timed_out=True, error="stack") for number in (2, 3)),
    record(4, "missing", error="Traceback"),
    record(5, "unscored", error="Traceback"),
]


def test_counts_of_a_batch_are_counted_once() -> None:
    counts = [{"not_begun": 2, "cut_short": 1}, {"not_begun": 3}, {}]
    tokens = [{"prompt": 1_500_000, "completion": 20_000}, {"prompt": 500_000}, {}]
    rows = [
        record(number, "missing", out_of_time=counts[number // 2], batch_tokens=tokens[number // 2])
        for number in range(5)
    ]
    results = summarise(rows, {}, {})
    assert results["seconds"]["total"] == 3.0
    assert results["generations_out_of_time"] == {"not_begun": 5, "cut_short": 1}
    assert metrics_table(results).splitlines()[-1] == "generations that ran out of time: 5 not begun, 1 cut short"
    assert results["tokens"] == {"prompt": 2_000_000, "completion": 20_000}
    assert "tokens: 2,000,000 read, 20,000 written\n" in results_footer(results, Path("run"))

    none = summarise(RECORDS, {}, {})
    assert "out of time" not in metrics_table(none)
    assert "tokens" not in results_footer(none, Path("run"))


def test_lost_answers_are_counted_by_what_they_were_lost_to() -> None:
    rows = [record(0, "missing", lost="clock"), record(1, "missing", lost="graph"), record(2, "missing", lost="graph")]
    results = summarise([*rows, record(3, "missing", lost=None), record(4, "correct")], {}, {})
    assert results["lost"] == {"clock": 1, "fault": 0, "graph": 2}
    line = '3 answers lost: 1 to the clock, 2 to a knowledge graph that did not reply ("lost" in predictions.jsonl)'
    assert line in metrics_table(results).splitlines()
    assert "1 answer lost: 1 to the clock" in metrics_table(summarise(rows[:1], {}, {}))
    slow = metrics_table(summarise(rows[:1], {}, {"seconds_per_query": "45"}))
    assert "for more time than 45 s a question: --set deadline.seconds_per_query=90;" in slow
    assert "for more time" not in metrics_table(summarise(rows[1:], {}, {}))
    assert "lost:" not in metrics_table(summarise(RECORDS, {}, {}))


def test_hedged_abstentions_are_counted() -> None:
    hedged = "hedged abstention: the prediction says that it cannot tell"
    rows = [record(0, "incorrect", reason=hedged), record(1, "incorrect", reason=hedged), record(2, "incorrect")]
    results = summarise(rows, {}, {})
    assert results["hedged_abstentions"] == 2
    line = '2 answers hedge ("I\'m not sure") and count as incorrect; only "i don\'t know" counts as missing'
    assert line in metrics_table(results).splitlines()
    assert "hedge" not in metrics_table(summarise(RECORDS, {}, {}))
    older = {name: value for name, value in results.items() if name != "hedged_abstentions"}
    assert "hedge" not in metrics_table(older)


def test_answers_for_which_the_judge_s_model_gave_no_verdict_are_told_with_the_reason() -> None:
    reason = "llm: no verdict after 3 attempts: the reply cannot be read: 'Oslo'"
    results = summarise([record(0, "unscored", reason=reason), record(1, "correct")], {}, {})
    line = "1 unscored for lack of a verdict, the first: no verdict after 3 attempts: the reply cannot be read: 'Oslo'"
    assert line in metrics_table(results).splitlines()
    assert "lack of a verdict" not in metrics_table(summarise(RECORDS, {}, {}))


# --- gates ------------------------------------------------------------------------------------------------------------


def row(verdict: str, *closed: tuple[str, str | None]) -> dict[str, Any]:
    return record(0, verdict, gates=[{"name": name, "withheld_verdict": withheld} for name, withheld in closed])


def test_the_gates_have_a_block_of_their_own() -> None:
    records = [
        row("missing", ("domain finance", "incorrect")),
        row("missing", ("expected score", "correct"), ("domain finance", None)),
        row("missing", ("question_type false_premise", None)),
        row("correct"),
    ]
    block = metrics_table(summarise(records, {}, {})).split("\n\n")[1].splitlines()
    titles = "gates effect 95 % interval n right lost wrong saved missing unknown closed"

    assert " ".join(block[0].split()) == titles
    assert block[1].split()[:3] == ["domain", "finance", "+0.333"]
    assert block[1].split()[-6:] == ["3", "0", "1", "0", "1", "2"], "of one of the four questions nothing is known"
    assert block[2].split()[:3] == ["expected", "score", "-0.250"]
    assert block[3].split()[2:] == ["?", "?", "3", "0", "0", "0", "1", "1"]
    assert len({len(line) for line in block[:4]}) == 1
    assert "--set answering.audit=true" in block[5]
    assert "audit" not in metrics_table(summarise([row("missing", ("expected score", "correct"))], {}, {}))


def firing(name: str, withheld: str | None) -> dict[str, Any]:
    return {"name": name, "reason": "because", "answer": "i don't know", "withheld": withheld}


def judged(*traces: Any, golds: tuple[str | None, ...] = ("ann lee", "bo", "cy")) -> list[list[dict[str, Any]]]:
    rows = [{"query": "who wrote it?", "answer": gold} for gold in golds]
    questions = [Question(RowKey(str(number), 0), 0, row) for number, row in enumerate(rows)]
    return judged_firings(RulesJudge(), lambda text: text[:12], questions, traces)


def test_each_withheld_answer_is_judged_as_if_given_cut_as_the_evaluator_cuts() -> None:
    firings = judged(
        {"gates": [firing("a", "Ann Lee"), firing("b", "I don't know.")]},
        {"gates": [firing("a", "somebody else, not Bo")]},
        {"gates": [firing("a", None)]},
    )
    assert [[(entry["name"], entry["withheld_verdict"]) for entry in entries] for entries in firings] == [
        [("a", "correct"), ("b", "missing")],
        [("a", "incorrect")],
        [("a", None)],
    ]
    assert firings[0][0] == firing("a", "Ann Lee") | {"withheld_verdict": "correct"}
    assert judged({"gates": [firing("a", "x")]}, golds=(None,))[0][0]["withheld_verdict"] == "unscored"


def test_effects_are_counted_by_question() -> None:
    effects = gate_effects(
        [
            row("missing", ("class", "correct")),
            row("missing", ("class", "incorrect"), ("sure", "incorrect")),
            row("missing", ("class", "missing")),
            row("missing", ("class", None)),
            row("correct", ("refine", "incorrect")),
            row("incorrect", ("refine", "correct")),
            row("correct", ("refine", "correct")),
            row("unscored", ("refine", "unscored")),
            row("correct"),
            row("missing", ("twice", "incorrect"), ("twice", "correct")),  # the first would have been given
        ]
    )
    counts = ("fired", "right_lost", "wrong_saved", "missing", "unknown", "questions", "score_effect")

    assert {name: tuple(effect[count] for count in counts) for name, effect in effects.items()} == {
        "class": (4, 1, 1, 1, 1, 8, 0),
        "sure": (1, 0, 1, 0, 0, 9, pytest.approx(1 / 9)),
        "refine": (4, 1, 1, 0, 0, 9, 0),
        "twice": (1, 0, 1, 0, 0, 9, pytest.approx(1 / 9)),
    }


def test_the_effect_is_the_difference_of_two_scores_and_what_is_unknown_changes_nothing() -> None:
    """Against the same run without the gate, scored from scratch, with its interval paired by question."""
    pairs = [("missing", "incorrect")] * 30 + [("missing", "correct")] * 10
    rows = [*(row(final, ("g", held)) for final, held in pairs), *[row("correct")] * 60]
    effect = gate_effects(rows)["g"]
    assert effect["score_effect"] == pytest.approx(0.60 - (0.70 - 0.30))
    error = (((30 + 10) / 100 - 0.2**2) / 100) ** 0.5
    assert effect["ci"] == pytest.approx([0.2 - 1.96 * error, 0.2 + 1.96 * error], abs=0.02)
    among = gate_effects([*rows, *[row("missing", ("g", None))] * 200])["g"]
    assert {**among, "fired": 40, "unknown": 0} == effect
