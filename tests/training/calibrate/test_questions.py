"""What is read from the folders of finished runs."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from crag.answering import gated_answer
from crag.core.contracts import I_DONT_KNOW as IDK
from crag.core.contracts import GateFiring, GateScope
from crag.core.files import DatasetError
from crag.evaluation.judge import RulesJudge
from crag.settings import ClassGate, ScoreGate
from crag.training.calibrate.fitting import reward
from crag.training.calibrate.questions import AskedQuestion, FeatureChoice, asked_questions, read_finished_questions
from tests.training.calibrate.synthetic import RIGHT, WRONG, candidate, row, trace, write_run

FINANCE = ClassGate(gate="class", field="domain", classes=("finance",))


def questions_of(
    folder: Path, *rows_and_traces: tuple[dict[str, Any], dict[str, Any]], **how: Any
) -> list[AskedQuestion]:
    rows, traces = zip(*rows_and_traces, strict=True)
    return asked_questions(read_finished_questions(write_run(folder, list(rows), list(traces))), RulesJudge(), **how)


def test_the_run_s_verdict_stands_and_other_answers_are_judged(tmp_path: Path) -> None:
    """Answers that a gate withheld are judged as if they had been given."""
    answers = [candidate(WRONG, source="knowledge graph"), candidate("The right answer."), candidate("i don't know")]
    (only,) = questions_of(tmp_path, (row("a", WRONG, "correct"), trace("a", answers)))
    assert [(one.text, one.right) for one in only.candidates] == [(WRONG, True), ("The right answer.", True)]


def test_a_question_twice_is_two_rows_of_one_group_and_one_without_gold_answer_is_left_out(tmp_path: Path) -> None:
    pairs = [(row("a", RIGHT, "correct", occurrence=n), trace("a", [candidate(RIGHT)], occurrence=n)) for n in (0, 1)]
    pairs.append((row("b", "x", "unscored", answer=None), trace("b", [])))
    assert [question.interaction_id for question in questions_of(tmp_path, *pairs)] == ["a", "a"]


def test_an_answer_that_no_model_weighs_is_settled(tmp_path: Path) -> None:
    game = row("a", "invalid question", "correct", answer="invalid question")
    gate = {"name": "class", "reason": "", "answer": "invalid question", "withheld": None}
    settled, gated = questions_of(
        tmp_path,
        (game, trace("a", [])),
        ({**game, "interaction_id": "c"}, trace("c", [], gates=[gate])),
    )
    assert settled.settled is not None
    assert settled.settled.right
    assert gated.settled is None
    assert settled.invalid


def gated_trace(
    name: str, candidates: list[dict[str, Any]], gate: str, answer: str, scope: GateScope | None
) -> dict[str, Any]:
    """The trace of a closed gate; one without a scope is of an older version."""
    firing = asdict(GateFiring(gate, "it says so", answer, "withheld", scope or GateScope.ANSWER))
    if scope is None:
        del firing["scope"]
    reason = gated_answer(GateFiring(gate, "it says so", answer), "web").reason
    return trace(name, candidates, gates=[firing], answer={"text": answer, "reason": reason})


@pytest.mark.parametrize(
    ("gate", "scope", "behind"),
    [
        ("mine", GateScope.QUESTION, [True, True]),
        ("mine", GateScope.PAGES, [False, True]),
        ("domain of the answer", GateScope.ANSWER, [False, False]),
        (FINANCE.name, None, [True, True]),
        (FINANCE.model_copy(update={"above": 0.5}).name, None, [True, True]),
        (FINANCE.model_copy(update={"source": "web"}).name, None, [False, True]),
        (ScoreGate(gate="score", score="top_passage", minimum=0.8).name, None, [False, True]),
        ("expected score", None, [False, False]),
        ("self-assessment", None, [False, False]),
    ],
)
def test_answers_behind_a_closed_gate_are_marked(
    tmp_path: Path, gate: str, scope: GateScope | None, behind: list[bool]
) -> None:
    """Gates of classes and passages close before answers are asked for: all, or those of the web."""
    answers = [candidate(WRONG, source="knowledge graph"), candidate(RIGHT)]
    (asked,) = questions_of(tmp_path, (row("a", IDK, "missing"), gated_trace("a", answers, gate, IDK, scope)))
    assert [one.gated for one in asked.candidates] == behind
    assert asked.gate == (IDK if any(behind) else None)


def test_a_gate_decides_without_an_audit_too_unless_the_graph_was_asked_after_it(tmp_path: Path) -> None:
    invalid = gated_trace("a", [], "false premise", "invalid question", GateScope.QUESTION)
    answered = {"answer": {"text": RIGHT, "reason": "the graph's"}}
    by_graph = [candidate(RIGHT, source="knowledge graph")]
    reported = gated_trace("b", by_graph, "top passage", IDK, GateScope.PAGES) | answered
    asked, other = questions_of(
        tmp_path, (row("a", "invalid question", "incorrect"), invalid), (row("b", RIGHT, "correct"), reported)
    )
    assert (asked.gate, asked.settled, reward(asked)) == ("invalid question", None, -1)
    assert (other.gate, reward(other)) == (None, 1)


def test_features_that_an_agent_will_not_have_are_taken_out_everywhere(tmp_path: Path) -> None:
    features = {"review": 1.0, "answer_words": 2.0, "domain=movie": 0.99}
    pair = (row("a", RIGHT, "correct"), trace("a", [candidate(RIGHT, features)]))
    (whole,) = questions_of(tmp_path, pair)
    (left,) = questions_of(tmp_path, pair, features=FeatureChoice(without={"review", "domain"}))
    (chosen,) = questions_of(tmp_path, pair, features=FeatureChoice(only={"domain"}))
    assert whole.candidates[0].features == features
    assert left.candidates[0].features == {"answer_words": 2.0}
    assert chosen.candidates[0].features == {"domain=movie": 0.99}


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "run.json").unlink(), r"run\.json: missing.*run local_evaluation\.py"),
        (lambda folder: (folder / "traces.jsonl").write_text(""), r'no question has a trace with "candidates"'),
        (lambda folder: (folder / "predictions.jsonl").write_text('{"torn\n'), r"predictions\.jsonl, line 1"),
        (
            lambda folder: write_run(folder, [row("a", RIGHT, "correct")], [trace("a", []) | {"candidates": ["Oslo"]}]),
            r'traces\.jsonl, question a, field "candidates": expected a list of objects',
        ),
    ],
)
def test_a_folder_that_cannot_be_used_is_reported_with_the_file(tmp_path: Path, spoil: Any, message: str) -> None:
    write_run(tmp_path, [row("a", RIGHT, "correct")], [trace("a", [candidate(RIGHT)])])
    spoil(tmp_path)
    with pytest.raises(DatasetError, match=message):
        read_finished_questions(tmp_path)


def test_questions_that_ask_for_the_same_keys_are_left_out_together(tmp_path: Path) -> None:
    def asked(name: str, *calls: str) -> str:
        pair = (row(name, RIGHT, "correct"), trace(name, [candidate(RIGHT)]) | {"calls": calls})
        (question,) = questions_of(tmp_path / name, pair)
        return question.group

    heat = asked("a", 'get_movie("heat")["budget"]')
    assert asked("b", 'get_movie("ronin",ge(year,"1990"))["budget"]') == heat
    assert asked("c", 'get_movie("heat")["revenue"]') != heat
    both = asked("d", 'get_movie("heat")["budget"]', 'get_movie("ronin")["budget"]')
    assert both == heat
    assert asked("e") == "e"
