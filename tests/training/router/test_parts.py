"""Configurations, labelled questions, mixing weights and figures of the training of a router."""

import json
from pathlib import Path

import numpy as np
import pytest

from crag.core.files import DatasetError
from crag.router.calibration import log_softmax
from crag.training.router.questions import read_labelled_questions
from crag.training.router.run import OutOfFold
from crag.training.router.settings import RouterTraining
from crag.weights.manifest import load_manifest
from tests.training.router.toy import toy_rows


def test_every_shipped_configuration_can_be_loaded_and_names_a_known_encoder() -> None:
    for name in RouterTraining.names():
        settings = RouterTraining.load(name)
        assert settings.encoder is None or load_manifest().model(settings.encoder.base)


@pytest.mark.parametrize(("field", "epochs"), [("domain", 8), ("question_type", 18), ("static_or_dynamic", 18)])
def test_nec_is_trained_as_published(field: str, epochs: int) -> None:
    """Section 2.2."""
    settings = RouterTraining.load(f"nec_{'dynamism' if field == 'static_or_dynamic' else field}")
    assert (settings.fields, settings.ngrams) == ((field,), None)
    encoder = settings.encoder
    assert encoder
    assert (encoder.base, encoder.tuning, encoder.epochs) == ("bert-base-uncased", "full", epochs)
    assert (encoder.learning_rate, encoder.weight_decay, encoder.pooling) == (2e-5, 0.01, "pooler")


@pytest.mark.parametrize(
    ("change", "message"),
    [({"domain": "cooking"}, r'line 2, field "domain": found \'cooking\''), ({"query": ""}, 'line 2, field "query"')],
)
def test_a_row_that_cannot_be_learnt_from_is_named(tmp_path: Path, change: dict[str, str], message: str) -> None:
    rows = toy_rows(3)
    rows[1] |= change
    (tmp_path / "toy.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        read_labelled_questions(tmp_path / "toy.jsonl", ["domain"])


def test_a_fold_does_not_see_its_own_answers() -> None:
    """Fold 0 is sure and always wrong; the others are sure and always right: fold 0 is judged with full confidence."""
    count = 90
    fold = np.arange(count) % 3
    classes = np.arange(count) // 3 % 5
    found = OutOfFold(fold)
    for number in range(3):
        logits = 6.0 * np.eye(5)[(classes + 1) % 5 if number == 0 else classes]
        found.put(number, {"domain": log_softmax(logits[fold == number])}, {})
    probabilities = found.probabilities("domain", classes)
    assert probabilities[fold == 0].max(axis=1).min() > 0.99
    assert probabilities[fold == 1].max(axis=1).max() < 0.9, "their weights know that fold 0 was wrong"
    assert found.weights("domain", classes).ngrams == 0.0
