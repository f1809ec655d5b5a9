"""What a rule earns, and the statistics of it."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from evaluation.judge import Verdict
from evaluation.metrics import bootstrap_interval
from training.calibrate.expected_score import (
    AskedQuestion,
    Beliefs,
    JudgedCandidate,
    always,
    calibration_error,
    grouped_interval,
    reward,
    without,
)

GRAPH = JudgedCandidate("graph's", Verdict.INCORRECT, {})
WEB = JudgedCandidate("web's", Verdict.CORRECT, {})
INVALID = JudgedCandidate("invalid question", Verdict.INCORRECT, {})


BEHIND_GATE = WEB._replace(gated=True)


def question(
    *candidates: JudgedCandidate,
    settled: JudgedCandidate | None = None,
    invalid: bool = False,
    gate: str | None = None,
) -> AskedQuestion:
    return AskedQuestion("q", candidates, settled, invalid, None, gate)


@pytest.mark.parametrize(
    ("asked", "beliefs", "earned"),
    [
        (question(GRAPH, WEB), Beliefs((0.6, 0.9)), -1),  # the first that is likely enough is given
        (question(GRAPH, WEB), Beliefs((0.4, 0.6)), 1),
        (question(GRAPH, WEB), Beliefs((0.5, 0.5)), 0),  # at one half nothing is gained
        (question(), Beliefs(()), 0),
        (question(WEB, invalid=False), Beliefs((0.6,), 0.7), -1),  # called invalid, and it is not
        (question(GRAPH, invalid=True), Beliefs((0.6,), 0.7), 1),
        (question(WEB), Beliefs((0.8,), 0.7), 1),  # the answer is likelier than the false premise
        (question(GRAPH, invalid=True), Beliefs((0.4,), 0.45), 0),
        (question(settled=WEB), Beliefs(()), 1),
        (question(settled=WEB), Beliefs((), 0.6), -1),
        (question(settled=INVALID), Beliefs((), 0.6), -1),  # the same answer once more: judged once
        (question(BEHIND_GATE, gate="i don't know"), Beliefs((0.9,)), 0),
        (question(BEHIND_GATE, gate="i don't know", invalid=True), Beliefs((0.9,), 0.9), 0),  # the gate's word is last
        (question(BEHIND_GATE, gate="invalid question", invalid=True), Beliefs((0.9,)), 1),
        (question(gate="invalid question"), Beliefs(()), -1),
        # the graph's, before a gate of the web
        (question(WEB, BEHIND_GATE, gate="i don't know"), Beliefs((0.6, 0.9)), 1),
        (question(GRAPH, BEHIND_GATE, gate="i don't know"), Beliefs((0.4, 0.9)), 0),
        (question(GRAPH, WEB), Beliefs((None, 0.9)), -1),  # of a kind that the model does not know: given
        (question(GRAPH, invalid=True), Beliefs((None,), 0.6), 1),
    ],
)
def test_reward(asked: AskedQuestion, beliefs: Beliefs, earned: int) -> None:
    assert reward(asked, beliefs) == earned


def test_always_answering_takes_the_first_answer() -> None:
    asked = (question(GRAPH, WEB), question(WEB), question(), question(settled=WEB))
    assert [always(one) for one in asked] == [-1, 1, 0, 1]
    assert always(question(BEHIND_GATE, gate="i don't know")) == 0


def test_interval_of_single_questions_is_that_of_the_evaluator() -> None:
    values = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], 200)
    theirs = bootstrap_interval(values.tolist())
    ours = grouped_interval(values, [str(n) for n in range(200)])
    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.02)


def test_asking_the_same_questions_again_makes_nobody_surer() -> None:
    values = np.random.default_rng(0).choice([-1.0, 1.0], 100)
    names = [str(n) for n in range(100)]
    once, twice = grouped_interval(values, names), grouped_interval(np.tile(values, 2), names * 2)
    assert twice == pytest.approx(once, abs=0.02)
    pretending = grouped_interval(np.tile(values, 2), [str(n) for n in range(200)])
    assert np.ptp(pretending) < 0.8 * np.ptp(twice)


def test_the_calibration_error_is_that_of_scikit_learns_bins() -> None:
    chance = np.random.default_rng(1)
    probabilities = chance.random(500)
    right = chance.random(500) < probabilities**2
    shares, means = calibration_curve(right, probabilities, n_bins=10)
    sizes = np.histogram(probabilities, bins=10, range=(0, 1))[0]
    assert calibration_error(probabilities, right) == pytest.approx((abs(shares - means) * sizes).sum() / 500)
    honest = chance.random(500) < probabilities
    assert calibration_error(probabilities, right) > 0.1 > calibration_error(probabilities, honest)


def test_features_that_an_agent_will_not_have_are_taken_out_everywhere() -> None:
    candidate = WEB._replace(features={"review": 1.0, "answer_words": 2.0})
    asked = AskedQuestion("q", (candidate,), None, invalid=False, features={"review": 0.0, "graph=found": 1.0})
    left = without(asked, {"review", "graph"})
    assert left.candidates[0].features == {"answer_words": 2.0}
    assert left.features == {}
