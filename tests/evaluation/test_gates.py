"""What gates cost and saved: judged from traces, counted over a run."""

from typing import Any

import pytest

from evaluation.batches import Question, RowKey
from evaluation.judge import RulesJudge
from evaluation.results import gate_effects, judged_firings


def question(number: int, answer: str | None) -> Question:
    return Question(RowKey(str(number), 0), 0, {"query": "who wrote it?", "answer": answer})


def firing(name: str, withheld: str | None) -> dict[str, Any]:
    return {"name": name, "reason": "because", "answer": "i don't know", "withheld": withheld}


def judged(*traces: Any, golds: tuple[str | None, ...] = ("ann lee", "bo", "cy")) -> list[list[dict[str, Any]]]:
    questions = [question(number, gold) for number, gold in enumerate(golds)]
    return judged_firings(RulesJudge(), lambda text: text[:12], questions, traces)


def test_each_withheld_answer_is_judged_as_if_given() -> None:
    found = judged(
        {"gates": [firing("a", "Ann Lee"), firing("b", "I don't know.")]},
        {"gates": [firing("a", "somebody else")]},
        {"gates": [firing("a", None)]},
    )
    assert [[(entry["name"], entry["withheld_verdict"]) for entry in one] for one in found] == [
        [("a", "correct"), ("b", "missing")],
        [("a", "incorrect")],
        [("a", None)],
    ]
    assert found[0][0] == firing("a", "Ann Lee") | {"withheld_verdict": "correct"}


def test_it_is_cut_as_the_evaluator_cuts_answers() -> None:
    (found, *_) = judged({"gates": [firing("a", "it is a man called ann lee")]}, {}, {})
    assert found[0]["withheld_verdict"] == "incorrect", "the name is beyond the cut"


def test_without_a_gold_answer_nobody_can_tell() -> None:
    assert judged({"gates": [firing("a", "x")]}, golds=(None,))[0][0]["withheld_verdict"] == "unscored"


@pytest.mark.parametrize(
    "trace", [{}, {"gates": None}, {"gates": "shut"}, {"gates": [3, {"reason": "no name"}, {"name": 4}]}]
)
def test_traces_of_other_agents_have_no_firings(trace: dict[str, Any]) -> None:
    assert judged(trace, trace, trace) == [[], [], []]
    assert judged() == [[], [], []], "the batch failed: there are no traces"


def row(verdict: str, *closed: tuple[str, str | None]) -> dict[str, Any]:
    return {"verdict": verdict, "gates": [{"name": name, "withheld_verdict": withheld} for name, withheld in closed]}


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
        ]
    )
    counts = ("fired", "right_lost", "wrong_saved", "missing", "unknown")
    assert {name: tuple(effect[count] for count in counts) for name, effect in effects.items()} == {
        "class": (4, 1, 1, 1, 1),
        "sure": (1, 0, 1, 0, 0),
        "refine": (4, 1, 1, 0, 0),
    }
    assert effects["class"]["score_effect"] == 0, "what it saved and what it cost"
    assert effects["sure"]["score_effect"] == pytest.approx(1 / 8), "of the eight scored questions"
    assert effects["refine"]["score_effect"] == 0, "-1 to +1 and +1 to -1"
    assert {name: effect["questions"] for name, effect in effects.items()} == {"class": 7, "sure": 8, "refine": 8}


def test_a_gate_that_closes_twice_on_a_question_is_counted_once() -> None:
    """The graph's answer was withheld, then the web's: without the gate the first would have been given."""
    effect = gate_effects([row("missing", ("sure", "incorrect"), ("sure", "correct"))])["sure"]
    assert (effect["fired"], effect["wrong_saved"], effect["right_lost"], effect["score_effect"]) == (1, 1, 0, 1.0)


def test_the_effect_is_the_difference_of_two_scores() -> None:
    """Against the same run without the gate, scored from scratch, with its interval paired by question."""
    pairs = [("missing", "incorrect")] * 30 + [("missing", "correct")] * 10
    effect = gate_effects([*(row(final, ("g", held)) for final, held in pairs), *[row("correct")] * 60])["g"]
    assert effect["score_effect"] == pytest.approx(0.60 - (0.70 - 0.30))
    low, high = effect["ci"]
    standard_error = (((30 + 10) / 100 - 0.2**2) / 100) ** 0.5
    assert (low, high) == (pytest.approx(0.2 - 1.96 * standard_error, abs=0.02), pytest.approx(0.32, abs=0.02))


def test_questions_of_which_nothing_is_known_make_the_effect_no_smaller_and_nobody_surer() -> None:
    known = [row("missing", ("g", "incorrect"))] * 20 + [row("missing", ("g", "correct"))] * 10 + [row("correct")] * 10
    alone = gate_effects(known)["g"]
    among = gate_effects([*known, *[row("missing", ("g", None))] * 200])["g"]
    assert alone["score_effect"] == (20 - 10) / 40
    assert {**among, "fired": 30, "unknown": 0} == alone
