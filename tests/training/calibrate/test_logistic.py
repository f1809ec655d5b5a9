"""P(right) from a few hundred rows: it is the true one, and nothing is learned from the rows that are judged."""

import numpy as np
import pytest

from tests.training.calibrate.synthetic import asked
from training.calibrate.logistic import TooFewError, fit_logistic, out_of_fold


def rows_of(count: int, seed: int, each: int = 1) -> tuple[list[dict[str, float]], list[bool], list[str]]:
    questions = asked(count, seed, each)
    answers = [question.candidates[0] for question in questions]
    return [dict(a.features) for a in answers], [a.right for a in answers], [q.interaction_id for q in questions]


def test_a_feature_that_does_not_vary_is_dropped_and_noise_has_little_weight() -> None:
    model = fit_logistic(*rows_of(800, seed=1), seed=0).model
    assert set(model.features) == {"top_passage_logit", "mean_log_probability"}
    weights = {name: abs(feature.weight) for name, feature in model.features.items()}
    assert weights["mean_log_probability"] < weights["top_passage_logit"] / 5


def test_an_unknown_value_counts_as_the_mean() -> None:
    rows, right, groups = rows_of(300, seed=2)
    known = [row["top_passage_logit"] for row in rows[::2]]
    for row in rows[1::2]:
        del row["top_passage_logit"]
    model = fit_logistic(rows, right, groups, seed=0).model
    assert model.features["top_passage_logit"].mean == pytest.approx(np.mean(known))
    assert model.probability({}) == model.probability({"top_passage_logit": float(np.mean(known))})


def test_pure_noise_gives_the_base_rate() -> None:
    chance = np.random.default_rng(3)
    rows = [{f"noise {n}": float(chance.normal()) for n in range(25)} for _ in range(200)]
    right = [bool(chance.random() < 0.25) for _ in rows]
    found = out_of_fold(rows, right, [str(n) for n in range(200)], folds=4, seed=0)
    assert found.max() < 0.5  # with so little to go by no answer is worth giving
    assert found.mean() == pytest.approx(np.mean(right), abs=0.03)


def test_a_question_that_was_asked_twice_is_not_judged_by_a_model_that_saw_it() -> None:
    """Each question is a coin toss that falls the same way whenever it is asked: only cheating tells the outcome."""
    chance = np.random.default_rng(4)
    tosses = chance.random(60) < 0.5
    rows = [{f"is question {q}": float(q == n) for q in range(60)} for n in range(60)] * 2
    groups = [f"q{n}" for n in range(60)] * 2
    found = out_of_fold(rows, [*tosses, *tosses], groups, folds=6, seed=0)
    assert np.abs(found - tosses.mean()).max() < 0.15


def test_too_few_of_a_class_are_refused_with_the_counts() -> None:
    rows = [{"x": float(n)} for n in range(20)]
    with pytest.raises(TooFewError, match="3 right and 17 wrong; at least 5 different questions"):
        out_of_fold(rows, [n < 3 for n in range(20)], [str(n) for n in range(20)], folds=5, seed=0)
    with pytest.raises(TooFewError, match="20 right and 0 wrong"):
        fit_logistic(rows, [True] * 20, [str(n) for n in range(20)], seed=0)
