"""Classifier folders: found, read, refused, and run."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
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


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"0.head.domain.weight": np.zeros((4, 32), dtype=np.float16)}, "do not fit"),
        ({"0.head.domain.bias": np.full(5, np.nan, dtype=np.float16)}, "must not contain infs or NaNs"),
    ],
    ids=["another shape", "not a number"],
)
def test_weights_with_an_unusable_tensor_are_refused(
    bert: Path, tmp_path: Path, changed: dict[str, NDArray[np.float16]], message: str
) -> None:
    path = build_classifier(tmp_path, ["domain"]) / WEIGHTS_FILE
    save_file(load_file(path) | changed, path)
    with pytest.raises(SettingsError, match=message):
        Classifier(tmp_path, encoder_folder=bert)


def test_weights_without_a_tensor_are_refused(bert: Path, tmp_path: Path) -> None:
    path = build_classifier(tmp_path, ["domain"]) / WEIGHTS_FILE
    tensors = load_file(path)
    (name,) = [name for name in tensors if "ngrams.domain.weight" in name]
    del tensors[name]
    save_file(tensors, path)
    with pytest.raises(SettingsError, match="do not fit"):
        Classifier(tmp_path, encoder_folder=bert)


def test_a_cut_file_of_weights_is_refused(bert: Path, tmp_path: Path) -> None:
    path = build_classifier(tmp_path, ["domain"]) / WEIGHTS_FILE
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SettingsError, match="not fully covered"):
        Classifier(tmp_path, encoder_folder=bert)
