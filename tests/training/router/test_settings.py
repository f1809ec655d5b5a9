"""Configurations of training: the shipped ones are those of the papers, broken ones are explained."""

from pathlib import Path

import pytest

from agents.settings import SettingsError
from models.manifest import load_manifest
from training.router.settings import CONFIGS, available_configs, load_training


def test_every_shipped_configuration_can_be_loaded_and_names_a_known_encoder() -> None:
    for name in available_configs():
        settings = load_training(name)
        assert settings.encoder
        assert load_manifest().model(settings.encoder.base)


@pytest.mark.parametrize(
    ("name", "field", "epochs"),
    [
        ("nec_domain", "domain", 8),
        ("nec_question_type", "question_type", 18),
        ("nec_dynamism", "static_or_dynamic", 18),
    ],
)
def test_nec_is_trained_as_published(name: str, field: str, epochs: int) -> None:
    """Section 2.2."""
    settings = load_training(name)
    assert settings.fields == (field,)
    assert settings.ngrams is None
    encoder = settings.encoder
    assert encoder
    assert (encoder.base, encoder.tuning, encoder.epochs) == ("bert-base-uncased", "full", epochs)
    assert (encoder.learning_rate, encoder.weight_decay) == (2e-5, 0.01)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('fields = ["domain"', 'fields = ["colour"'), "unknown colour"),
        (("folds = 5", "folds = 0"), "needs a cross-validation"),
        (("folds = 5", "folds = 1"), "at least 2"),
        (("epochs = ", "eras = "), "encoder.eras"),
        (("[encoder]", "[encoder"), "broken.toml"),
    ],
)
def test_a_broken_configuration_is_explained(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    text = (CONFIGS / "cpu.toml").read_text(encoding="utf-8")
    assert change[0] in text
    (tmp_path / "broken.toml").write_text(text.replace(*change), encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        load_training(str(tmp_path / "broken.toml"))


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(SettingsError, match="cpu, nec_domain"):
        load_training("nobody")
