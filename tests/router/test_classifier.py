"""Classifier folders: found, read, refused, and run."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from crag.router import FIELD_CLASSES
from crag.router.classifier import CONFIG_FILE, WEIGHTS_FILE, Classifier, read_classifier_config
from crag.settings import SettingsError
from tests.router.tiny_bert import build_classifier

QUESTIONS = ["who directed the film ?", "what is the share price of acme today ?", "who scored the last goal ?"] * 6


@pytest.mark.parametrize("buckets", [0, 64])
def test_a_batch_says_what_its_questions_say_one_by_one(bert: Path, tmp_path: Path, buckets: int) -> None:
    trained = Classifier(build_classifier(tmp_path, buckets=buckets), encoder_folder=bert)
    together = trained.probabilities(QUESTIONS)
    assert set(together) == set(FIELD_CLASSES)
    for field, table in together.items():
        assert table.shape == (len(QUESTIONS), len(FIELD_CLASSES[field]))
        np.testing.assert_allclose(table.sum(axis=1), 1.0)
        alone = np.concatenate([trained.probabilities([question])[field] for question in QUESTIONS])
        np.testing.assert_allclose(table, alone, atol=1e-5)
        assert not np.allclose(table[0], table[1], atol=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "format"),
        ({"pooling": "sum"}, "pooling"),
        ({"surprise": 1}, "surprise"),
        ({"fields": {}}, "fields"),
        ({"fields": {"mood": {"labels": ["a", "b"], "encoder_weight": 1}}}, "unknown field mood; allowed: domain, "),
        ({"fields": {"domain": {"labels": ["a", "b"], "encoder_weight": 1e999}}}, "encoder_weight: .* finite"),
    ],
)
def test_a_configuration_of_another_kind_is_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = build_classifier(tmp_path) / CONFIG_FILE
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | change), encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        read_classifier_config(tmp_path)


def test_weights_that_do_not_fit_are_refused(bert: Path, tmp_path: Path) -> None:
    path = build_classifier(tmp_path, ["domain"]) / WEIGHTS_FILE
    tensors = load_file(path)
    save_file(tensors | {"0.head.domain.weight": np.zeros((4, 32), dtype=np.float16)}, path)
    with pytest.raises(SettingsError, match="do not fit"):
        Classifier(tmp_path, encoder_folder=bert)
    save_file(tensors | {"0.head.domain.bias": np.full(5, np.nan, dtype=np.float16)}, path)
    with pytest.raises(SettingsError, match="must not contain infs or NaNs"):
        Classifier(tmp_path, encoder_folder=bert)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SettingsError, match="not fully covered"):
        Classifier(tmp_path, encoder_folder=bert)
    save_file({name: array for name, array in tensors.items() if "ngrams.domain.weight" not in name}, path)
    with pytest.raises(SettingsError, match="do not fit"):
        Classifier(tmp_path, encoder_folder=bert)
