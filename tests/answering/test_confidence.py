"""P(correct) from a stored model, compared with scikit-learn's own logistic regression."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from crag.answering.confidence import ConfidenceModel, Feature, LogisticModel
from crag.core.places import PACKAGE
from crag.settings import SettingsError

FEATURES = {"a": Feature(mean=1.0, scale=2.0, weight=3.0), "b": Feature(mean=0.0, scale=1.0, weight=-1.0)}
MODEL = LogisticModel(bias=0.5, features=FEATURES)


def test_the_formula_is_that_of_logistic_regression() -> None:
    noise = np.random.default_rng(0)
    rows = noise.normal([3.0, -1.0], [2.0, 0.5], (200, 2))
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(rows, rows[:, 0] + noise.normal(size=200) > 3)
    scaler, regression = fitted[0], fitted[1]
    columns = zip("ab", scaler.mean_, scaler.scale_, regression.coef_[0], strict=True)
    features = {name: Feature(mean=mean, scale=scale, weight=weight) for name, mean, scale, weight in columns}
    model = LogisticModel(bias=regression.intercept_[0], features=features)
    rows = np.clip(rows, scaler.mean_ - 3 * scaler.scale_, scaler.mean_ + 3 * scaler.scale_)
    own = [model.probability({"a": a, "b": b}) for a, b in rows]
    assert np.allclose(own, fitted.predict_proba(rows)[:, 1], atol=1e-9)


def test_a_feature_that_is_not_known_counts_as_its_mean() -> None:
    assert MODEL.probability({"b": 2.0}) == MODEL.probability({"a": 1.0, "b": 2.0}) == 1 / (1 + math.exp(1.5))


def test_a_value_far_from_the_fitted_ones_counts_as_three_deviations() -> None:
    assert MODEL.probability({"a": -1e300}) == MODEL.probability({"a": -5.0})
    assert MODEL.probability({"a": 1e300}) == MODEL.probability({"a": 7.0}) < 1


def test_a_kind_of_answer_that_was_never_seen_has_no_probability() -> None:
    model = ConfidenceModel(correct=MODEL, covers=("web",))
    assert model.probability({"a": 1.0}) == MODEL.probability({"a": 1.0})
    assert model.probability({"a": 1.0, "from_graph": 1.0}) is None
    assert model.probability({"a": 1.0, "from_graph": 1.0, "from_values": 1.0}) is None


def test_pages_have_a_model_of_their_own_where_the_file_gives_one(tmp_path: Path) -> None:
    of_pages, path = LogisticModel(bias=-2.0), tmp_path / "model.json"
    path.write_text(ConfidenceModel(correct=MODEL, pages=of_pages).model_dump_json(), encoding="utf-8")
    model, graph = ConfidenceModel.load(str(path)), {"a": 1.0, "from_graph": 1.0}
    assert model.probability({"a": 1.0}) == of_pages.probability({})
    assert model.probability(graph) == MODEL.probability(graph)


HUGE = f'{{"mean": {"9" * 400}, "scale": 1, "weight": 1}}'


@pytest.mark.parametrize(
    "text",
    [
        *("{", "[]", "{}", "[" * 100_000),
        '{"format": 1, "correct": {"bias": 0, "features": {"a": {}}}}',
        f'{{"format": 1, "correct": {{"bias": 0, "features": {{"a": {HUGE}}}}}}}',
        '{"format": 1, "correct": {"bias": NaN}}',
    ],
)
def test_a_broken_file_is_reported_with_its_key(tmp_path: Path, text: str) -> None:
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"answering\.confidence\.model.*broken\.json"):
        ConfidenceModel.load(str(path))


def test_a_missing_file_is_reported_with_the_command_that_makes_one() -> None:
    with pytest.raises(SettingsError, match=r"crag train calibrate"):
        ConfidenceModel.load("nobody")


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "weights" / "calibration").glob("*.json")), ids=lambda path: path.stem
)
def test_shipped_models_load_and_tell_where_they_come_from(path: Path) -> None:
    ConfidenceModel.load(path.stem)
    assert "CC BY-NC" in json.dumps(json.loads(path.read_text(encoding="utf-8"))["trained_on"])
