"""Figures of predictions against scikit-learn's."""

import numpy as np
import pytest

from agents.questions import DOMAINS
from training.router.out_of_fold import report_field


def test_figures_are_those_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(0)
    probabilities = random.dirichlet(np.ones(5), size=200)
    classes = np.where(random.random(200) < 0.5, probabilities.argmax(axis=1), random.integers(0, 5, size=200))
    report = report_field(DOMAINS, probabilities, classes)
    predicted = probabilities.argmax(axis=1)
    assert report.accuracy == pytest.approx(metrics.accuracy_score(classes, predicted))
    assert report.macro_f1 == pytest.approx(metrics.f1_score(classes, predicted, average="macro"))
    assert np.array(report.confusion).tolist() == metrics.confusion_matrix(classes, predicted).tolist()
    assert report.to_dict()["accuracy"] == round(report.accuracy, 4)


def test_a_class_that_never_occurs_does_not_lower_the_macro_average() -> None:
    probabilities = np.array([[0.9, 0.1, 0.0, 0.0, 0.0], [0.2, 0.8, 0.0, 0.0, 0.0]])
    assert report_field(DOMAINS, probabilities, np.array([0, 1])).macro_f1 == 1.0
