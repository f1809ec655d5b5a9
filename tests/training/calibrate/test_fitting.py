"""The calibrated rule is the best one that the features allow, and its own estimate of its worth is honest."""

from dataclasses import replace

import numpy as np
import pytest

from crag.training.calibrate.fitting import (
    AnswerRow,
    Calibration,
    NothingLearnedError,
    calibrate,
    figures,
    fit,
    rewards,
)
from crag.training.calibrate.questions import AskedQuestion
from tests.training.calibrate.synthetic import asked, true_probability

FOLDS = 4


def rows_of(questions: list[AskedQuestion]) -> list[AnswerRow]:
    return [
        AnswerRow(answer.features, answer.right, question.group)
        for question in questions
        for answer in question.candidates
    ]


@pytest.fixture(scope="module")
def fitted() -> Calibration:
    return calibrate(asked(300, seed=1, each=2), FOLDS, seed=0)


def test_what_cross_validation_promises_is_what_new_questions_give(fitted: Calibration) -> None:
    promised = figures(fitted.questions)
    earned = best = 0

    for question in asked(4000, seed=98):
        (answer,) = question.candidates
        worth = 1 if answer.right else -1
        earned += worth * (fitted.model.correct.probability(answer.features) > 0.5)
        best += worth * (true_probability(answer.features["top_passage_logit"]) > 0.5)

    low, high = promised["calibrated"]["ci"]
    assert low < earned / 4000 < high
    assert earned == pytest.approx(best, abs=40)
    assert promised["probabilities"]["ece"] < 0.06
    assert promised["against_always_answer"]["ci"][0] > 0
    assert low > 0


def test_gates_are_honoured_in_the_figures_and_what_they_withhold_is_learned_from(fitted: Calibration) -> None:
    behind = [
        replace(question, candidates=(question.candidates[0]._replace(gated=True),), gate="i don't know")
        for question in asked(300, seed=1, each=2)
    ]
    audited = calibrate(behind, FOLDS, seed=0)
    assert audited.model == fitted.model
    metrics = figures(audited.questions)
    assert metrics["calibrated"]["missing"] == metrics["always_answer"]["missing"] == 1
    assert metrics["probabilities"] == figures(fitted.questions)["probabilities"]


GRAPH_VALUE = {"from_graph": 1.0, "from_values": 1.0}


def with_graph_values(questions: list[AskedQuestion], count: int) -> list[AskedQuestion]:
    """The first `count` answers are values of the graph, and right."""
    answered: list[AskedQuestion] = []
    for question in questions[:count]:
        answer = question.candidates[0]._replace(right=True, features=GRAPH_VALUE)
        answered.append(replace(question, candidates=(answer,)))
    return answered + questions[count:]


def test_kinds_of_answers_that_are_too_rare_are_neither_learned_from_nor_weighed() -> None:
    questions = asked(120, seed=4)
    rare = calibrate(with_graph_values(questions, 9), FOLDS, seed=0)
    assert rare.model.covers == ("web",)
    assert rare.model.correct == calibrate(questions[9:], FOLDS, seed=0).model.correct
    assert {question.candidates[0].p_correct for question in rare.questions[:9]} == {None}
    assert rewards(rare.questions[:9]).sum() == 9, "they are given"
    assert figures(rare.questions)["probabilities"]["answers"] == 111


def test_ten_answers_of_a_kind_are_enough_to_learn_from() -> None:
    enough = calibrate(with_graph_values(asked(120, seed=4), 10), FOLDS, seed=0)
    assert enough.model.covers == ("graph read", "web")
    assert enough.model.correct.probability(GRAPH_VALUE) > 0.5


def test_without_a_frequent_kind_nothing_is_learned() -> None:
    questions = with_graph_values(asked(16, seed=4), 8)
    with pytest.raises(NothingLearnedError, match="at least 10 answers of one kind"):
        calibrate(questions, FOLDS, seed=0)


def test_a_feature_may_mean_the_opposite_on_pages() -> None:
    """Answers from the graph are right where the page's feature is low, so that one model must fail for both."""
    pages = asked(300, seed=5)
    graph = []
    for number, question in enumerate(asked(300, seed=6)):
        (answer,) = question.candidates
        features = {"top_passage_logit": -answer.features["top_passage_logit"], "from_graph": 1.0}
        graph.append(replace(question, group=f"g{number}", candidates=(answer._replace(features=features),)))

    found = calibrate([*pages, *graph], FOLDS, seed=0)
    assert found.model.pages is not None
    assert figures(found.questions)["probabilities_by_kind"]["web"]["auc"] > 0.8

    for logit in (-2.0, 2.0):
        p_correct = found.model.probability({"top_passage_logit": logit})
        assert p_correct == pytest.approx(true_probability(logit), abs=0.12)

    assert calibrate([*pages[:150], *graph], FOLDS, seed=0).model.pages is None, "they are too few"


def test_constants_are_dropped_noise_has_little_weight_and_an_unknown_value_counts_as_the_mean() -> None:
    rows = rows_of(asked(400, seed=1))
    known = [row.features["top_passage_logit"] for row in rows[::2]]
    rows[1::2] = [
        row._replace(features={name: x for name, x in row.features.items() if name != "top_passage_logit"})
        for row in rows[1::2]
    ]
    model = fit(rows, FOLDS, seed=0).model
    assert set(model.features) == {"top_passage_logit", "mean_log_probability"}
    assert model.features["top_passage_logit"].mean == pytest.approx(np.mean(known))
    weights = {name: abs(feature.weight) for name, feature in model.features.items()}
    assert weights["mean_log_probability"] < weights["top_passage_logit"] / 3


def test_pure_noise_gives_the_base_rate() -> None:
    chance = np.random.default_rng(3)
    noise = [{f"noise {n}": float(chance.normal()) for n in range(25)} for _ in range(200)]
    rows = [AnswerRow(features, bool(chance.random() < 0.25), str(number)) for number, features in enumerate(noise)]
    found = fit(rows, FOLDS, seed=0).held_out
    assert max(found) < 0.5  # with so little to go by no answer is worth giving
    assert np.mean(found) == pytest.approx(np.mean([row.right for row in rows]), abs=0.03)


def test_a_question_that_was_asked_twice_is_not_judged_by_a_model_that_saw_it() -> None:
    """Each question is a coin toss that falls the same way whenever it is asked: only cheating tells the outcome."""
    tosses = np.random.default_rng(4).random(60) < 0.5
    items = []
    for number, toss in enumerate(tosses):
        features = {f"is question {other}": float(other == number) for other in range(60)}
        items.append(AnswerRow(features, bool(toss), str(number)))

    probabilities = np.array(fit(items * 2, folds=6, seed=0).held_out)
    assert np.abs(probabilities - tosses.mean()).max() < 0.15
