"""Training runs on a toy task with a tiny BERT: they learn and they calibrate."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from crag.router import DOMAINS
from crag.router.classifier import Classifier
from crag.training.router.encoder import EncoderTrainer, TunedEncoder
from crag.training.router.questions import Examples, read_labelled_questions
from crag.training.router.run import train
from tests.router.tiny_bert import build_bert
from tests.training.router.toy import toy_rows, toy_settings, write_toy


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Examples:
    path = write_toy(tmp_path_factory.mktemp("data") / "toy.jsonl")
    return read_labelled_questions(path, ["domain", "static_or_dynamic"])


@pytest.mark.parametrize(("tuning", "ngrams"), [("lora", True), ("lora", False), ("full", False), ("none", True)])
def test_a_trained_classifier_knows_questions_that_it_never_saw(
    examples: Examples, bert: Path, tmp_path: Path, tuning: str, *, ngrams: bool
) -> None:
    settings = toy_settings(tuning=tuning, ngrams=ngrams, epochs=12)
    reports = train(settings, examples, tmp_path, bert if settings.encoder else None, show=False)
    assert reports["domain"]["accuracy"] > 0.9
    fresh = toy_rows(30, seed=5)
    trained = Classifier(tmp_path, encoder_folder=bert)
    found = trained.probabilities([row["query"] for row in fresh])["domain"]
    right = [DOMAINS[row.argmax()] == wanted["domain"] for row, wanted in zip(found, fresh, strict=True)]
    assert np.mean(right) > 0.9
    chance = np.mean(found.max(axis=1))
    assert abs(chance - np.mean(right)) < 0.2


def test_the_classifier_is_what_was_trained(examples: Examples, bert: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """Hooks in training and merged weights in use are the same function, up to half precision."""
    kept: list[tuple[EncoderTrainer, TunedEncoder]] = []
    fit = EncoderTrainer.fit

    def keep(self: EncoderTrainer, *arguments: Any) -> TunedEncoder:
        kept.append((self, fit(self, *arguments)))
        return kept[-1][1]

    monkeypatch.setattr(EncoderTrainer, "fit", keep)
    train(toy_settings(folds=0, ngrams=False), examples, tmp_path, bert, show=False)
    (trainer, tuned), everything = kept[-1], np.arange(len(examples.texts))
    found = Classifier(tmp_path, encoder_folder=bert).probabilities(examples.texts)
    for field, expected in trainer.predict(tuned, everything).items():
        np.testing.assert_allclose(found[field], np.exp(expected), atol=5e-3)


def test_divergence_is_an_error(examples: Examples, bert: Path, tmp_path: Path) -> None:
    settings = toy_settings(folds=0, ngrams=False, tuning="full")
    assert settings.encoder
    wild = settings.model_copy(update={"encoder": settings.encoder.model_copy(update={"learning_rate": 1e30})})
    with pytest.raises(FloatingPointError, match="learning rate"):
        train(wild, examples, tmp_path, bert, show=False)
