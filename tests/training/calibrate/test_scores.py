"""What a rule earns, and the statistics of it."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from crag.evaluation.metrics import bootstrap_interval
from crag.training.calibrate.fitting import calibration_error, grouped_interval, reward, unweighed
from crag.training.calibrate.questions import AskedQuestion, JudgedCandidate

GRAPH, WEB = JudgedCandidate("graph's", right=False, features={}), JudgedCandidate("web's", right=True, features={})
BEHIND_GATE = WEB._replace(gated=True)
IDK = "i don't know"


def question(*candidates: JudgedCandidate, **more: object) -> AskedQuestion:
    return AskedQuestion("q", "q", candidates, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "p_correct", "earned"),
    [
        (question(GRAPH, WEB), (0.6, 0.9), -1),  # the first above one half is given
        (question(GRAPH, WEB), (0.4, 0.6), 1),
        (question(GRAPH, WEB), (0.5, 0.5), 0),  # at one half nothing is gained
        (question(), (), 0),
        (question(settled=WEB), (), 1),
        (question(BEHIND_GATE, gate=IDK), (0.9,), 0),
        (question(BEHIND_GATE, gate="invalid question", invalid=True), (0.9,), 1),
        (question(gate="invalid question"), (), -1),
        (question(WEB, BEHIND_GATE, gate=IDK), (0.6, 0.9), 1),  # the graph's, before a gate of the web
        (question(GRAPH, BEHIND_GATE, gate=IDK), (0.4, 0.9), 0),
        (question(GRAPH, WEB), (None, 0.9), -1),  # of a kind that the model does not know: given
    ],
)
def test_the_first_answer_above_one_half_or_unweighed_earns_its_points(
    asked: AskedQuestion, p_correct: tuple[float | None, ...], earned: int
) -> None:
    weighed = [one._replace(p_correct=p) for one, p in zip(asked.candidates, p_correct, strict=True)]
    more = {name: getattr(asked, name) for name in ("settled", "invalid", "gate")}
    assert reward(question(*weighed, **more)) == earned


def test_an_agent_without_a_model_gives_its_first_answer() -> None:
    unlikely = [one._replace(p_correct=0.1) for one in (GRAPH, WEB)]
    asked = (question(*unlikely), question(unlikely[1]), question(), question(settled=WEB))
    assert [reward(unweighed(one)) for one in asked] == [-1, 1, 0, 1]


def test_interval_of_single_questions_is_that_of_the_evaluator() -> None:
    values = np.random.default_rng(0).choice([-1.0, 0.0, 1.0], 200)
    theirs = bootstrap_interval(values.tolist())
    ours = grouped_interval(values, [str(n) for n in range(200)])
    assert ours == pytest.approx([theirs.low, theirs.high], abs=0.02)


def test_asking_the_same_questions_again_makes_nobody_surer() -> None:
    values = np.random.default_rng(0).choice([-1.0, 1.0], 100)
    names = [str(n) for n in range(100)]
    assert grouped_interval(np.tile(values, 2), names * 2) == pytest.approx(grouped_interval(values, names), abs=0.02)


def test_the_calibration_error_is_that_of_scikit_learns_bins() -> None:
    chance = np.random.default_rng(1)
    probabilities = chance.random(500)
    right = chance.random(500) < probabilities**2
    shares, means = calibration_curve(right, probabilities, n_bins=10)
    sizes = np.histogram(probabilities, bins=10, range=(0, 1))[0]
    assert calibration_error(probabilities, right) == pytest.approx((abs(shares - means) * sizes).sum() / 500)
