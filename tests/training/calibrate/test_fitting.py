"""The calibrated rule is the best one that the features allow, and its own estimate of its worth is honest."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.judge import Verdict
from tests.training.calibrate.synthetic import asked, true_probability
from training.calibrate.expected_score import AskedQuestion, Beliefs, reward
from training.calibrate.fitting import Calibration, calibrate, rewards
from training.calibrate.logistic import TooFewError

FOLDS = 4


@pytest.fixture(scope="module")
def fitted() -> Calibration:
    return calibrate(asked(300, seed=1, each=2), FOLDS, seed=0)


def test_it_decides_as_one_who_knows_the_true_probabilities(fitted: Calibration) -> None:
    fresh = asked(4000, seed=99)
    logits = np.array([q.candidates[0].features["top_passage_logit"] for q in fresh])
    best = np.array([true_probability(x) > 0.5 for x in logits])
    ours = np.array([fitted.model.correct.probability(q.candidates[0].features) for q in fresh])
    assert ((ours > 0.5) == best).mean() > 0.96
    earned = np.mean([reward(q, Beliefs((p,)), 0.5) for q, p in zip(fresh, ours, strict=True)])
    knowing = np.mean([reward(q, Beliefs((true_probability(x),)), 0.5) for q, x in zip(fresh, logits, strict=True)])
    assert earned == pytest.approx(knowing, abs=0.01)


def test_what_cross_validation_promises_is_what_new_questions_give(fitted: Calibration) -> None:
    promised = fitted.metrics()
    fresh = asked(4000, seed=98)
    beliefs = [Beliefs((fitted.model.correct.probability(q.candidates[0].features),)) for q in fresh]
    earned = np.mean([reward(q, own, 0.5) for q, own in zip(fresh, beliefs, strict=True)])
    low, high = promised["calibrated"]["ci"]
    assert low < earned < high
    assert promised["probabilities"]["ece"] < 0.06
    assert promised["against_always_answer"]["ci"][0] > 0
    assert promised["against_always_i_dont_know"]["ci"][0] > 0


def test_gates_are_honoured_in_the_figures_and_what_they_withhold_is_learned_from(fitted: Calibration) -> None:
    answers = [question.candidates[0]._replace(gated=True) for question in fitted.questions]
    behind = [
        replace(question, candidates=(answer,), gate="i don't know")
        for question, answer in zip(fitted.questions, answers, strict=True)
    ]
    audited = calibrate(behind, FOLDS, seed=0)
    assert audited.model == fitted.model
    metrics = audited.metrics()
    assert metrics["calibrated"]["missing"] == metrics["always_answer"]["missing"] == 1
    assert metrics["probabilities"] == fitted.metrics()["probabilities"]


def from_graph(questions: list[AskedQuestion], count: int, kind: dict[str, float]) -> list[AskedQuestion]:
    """The first answers come from the graph, and are right."""
    return [
        replace(one, candidates=(one.candidates[0]._replace(verdict=Verdict.CORRECT, features=kind),))
        if place < count
        else one
        for place, one in enumerate(questions)
    ]


def test_kinds_of_answers_that_are_too_rare_are_neither_learned_from_nor_weighed() -> None:
    questions, value = asked(120, seed=4), {"from_graph": 1.0, "from_values": 1.0}
    rare = calibrate(from_graph(questions, 9, value), FOLDS, seed=0)
    assert rare.model.covers == ("web",)
    assert rare.model.correct == calibrate(questions[9:], FOLDS, seed=0).model.correct
    assert [own.correct for own in rare.beliefs[:9]] == [(None,)] * 9
    assert rewards(rare.questions[:9], rare.beliefs[:9]).sum() == 9, "they are given"
    assert rare.metrics()["probabilities"]["answers"] == 111
    enough = calibrate(from_graph(questions, 10, value), FOLDS, seed=0)
    assert enough.model.covers == ("graph read", "web")
    assert enough.model.correct.probability(value) > 0.5
    generated = calibrate(from_graph(questions, 10, {"from_graph": 1.0, "from_values": 0.0}), FOLDS, 0)
    assert generated.model.covers == ("graph generated", "web")


def test_enough_answers_but_of_no_kind_are_too_few() -> None:
    few = from_graph(asked(16, seed=4), 8, {"from_graph": 1.0})
    few = [
        replace(one, candidates=(one.candidates[0]._replace(verdict=(Verdict.CORRECT, Verdict.INCORRECT)[place % 2]),))
        for place, one in enumerate(few)
    ]
    with pytest.raises(TooFewError, match="at least 10 answers of one kind"):
        calibrate(few, FOLDS, seed=0)


def with_premises(questions: list[AskedQuestion], share_seen: float, every: int = 5) -> list[AskedQuestion]:
    """Every fifth question rests on a false premise; its answer is wrong, and a router sees it in a share of cases."""
    chance = np.random.default_rng(7)
    found = []
    for number, one in enumerate(questions):
        invalid = number % every == 0
        seen = invalid == (chance.random() < share_seen)
        answer = one.candidates[0]._replace(verdict=Verdict.INCORRECT) if invalid else one.candidates[0]
        features = {"question_type=false_premise": 0.9 if seen else 0.1}
        found.append(AskedQuestion(one.interaction_id, (answer,), None, invalid, features))
    return found


def test_false_premises_are_learned_where_a_router_sees_them() -> None:
    fitted = calibrate(with_premises(asked(200, seed=3), share_seen=0.95), FOLDS, seed=0)
    assert fitted.without_invalid is None
    assert fitted.model.invalid is not None
    assert fitted.model.invalid.probability({"question_type=false_premise": 0.9}) > 0.7
    without = [
        reward(q, own._replace(invalid=None), 0.5) for q, own in zip(fitted.questions, fitted.beliefs, strict=True)
    ]
    assert rewards(fitted.questions, fitted.beliefs).mean() > np.mean(without) + 0.1


def test_false_premises_that_nobody_sees_are_left_out() -> None:
    fitted = calibrate(with_premises(asked(200, seed=3), share_seen=0.5), FOLDS, seed=0)
    assert fitted.model.invalid is None
    assert "does not improve the cross-validated score" in str(fitted.without_invalid)
    few = calibrate(with_premises(asked(200, seed=3), 0.95, every=20), FOLDS, seed=0)
    assert "10 with a false premise and 190 without; at least 20 different questions" in str(few.without_invalid)
    assert few.model.invalid is None


def test_a_feature_may_mean_the_opposite_on_pages() -> None:
    """Answers from the graph are right where the page's feature is low, so that one model must fail for both."""
    pages = asked(300, seed=5)
    graph = [
        replace(one, interaction_id=f"g{place}", candidates=(opposite._replace(features=turned),))
        for place, one in enumerate(asked(300, seed=6))
        for opposite in one.candidates
        for turned in [{"top_passage_logit": -opposite.features["top_passage_logit"], "from_graph": 1.0}]
    ]
    found = calibrate([*pages, *graph], FOLDS, seed=0)
    assert found.model.pages is not None
    assert found.metrics()["probabilities_by_kind"]["web"]["auc"] > 0.8
    for logit in (-2.0, 2.0):
        likely = found.model.probability({"top_passage_logit": logit})
        assert likely == pytest.approx(true_probability(logit), abs=0.12)
    few = calibrate([*pages[:150], *graph], FOLDS, seed=0)
    assert few.model.pages is None
    assert calibrate(pages, FOLDS, seed=0).model.pages is None, "there is nothing else to tell apart"
