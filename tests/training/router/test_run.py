"""Training runs on a toy task with a tiny BERT: they learn and they calibrate."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file
from transformers import BertForSequenceClassification, Trainer

from crag.core.files import UserError
from crag.router import DOMAINS
from crag.router.classifier import Classifier
from crag.training.router.encoder import EncoderTrainer, TunedEncoder
from crag.training.router.questions import Examples, read_labelled_questions
from crag.training.router.run import train
from tests.router.tiny_bert import build_bert
from tests.torch_threads import one_thread  # noqa: F401 - for all tests here
from tests.training.router.toy import toy_rows, toy_settings, write_toy


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


@pytest.mark.parametrize(("tuning", "pooling"), [("lora", "mean"), ("full", "pooler")])
def test_the_classifier_is_what_was_trained(
    examples: Examples, bert: Path, tmp_path: Path, monkeypatch: Any, tuning: str, pooling: str
) -> None:
    """Hooks in training and merged weights in use are the same function, up to half precision."""
    kept: list[tuple[EncoderTrainer, TunedEncoder]] = []
    fit = EncoderTrainer.fit

    def keep(self: EncoderTrainer, *arguments: Any) -> TunedEncoder:
        kept.append((self, fit(self, *arguments)))
        return kept[-1][1]

    monkeypatch.setattr(EncoderTrainer, "fit", keep)
    settings = toy_settings(folds=0, ngrams=False, tuning=tuning, pooling=pooling)
    train(settings, examples, tmp_path, bert, show=False)
    (trainer, tuned), everything = kept[-1], np.arange(len(examples.texts))
    found = Classifier(tmp_path, encoder_folder=bert).probabilities(examples.texts)
    for field, expected in trainer.predict(tuned, everything).items():
        np.testing.assert_allclose(found[field], np.exp(expected), atol=5e-3)


def test_with_the_pooler_encoder_and_head_are_those_of_berts_own_classifier(bert: Path) -> None:
    settings = toy_settings(ngrams=False, tuning="full", pooling="pooler")
    assert settings.encoder

    network = TunedEncoder(settings.encoder, ("domain",), bert).network
    reference = BertForSequenceClassification.from_pretrained(bert, num_labels=5).eval()
    reference.classifier.weight.data.copy_(network.heads["domain.weight"])
    reference.classifier.bias.data.copy_(network.heads["domain.bias"])
    ids, mask = torch.tensor([[2, 5, 6, 3]]), torch.ones(1, 4)
    with torch.inference_mode():
        expected = reference(input_ids=ids, attention_mask=mask).logits
        found = network.logits(ids, mask)["domain"]

    np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-6)
    assert network.heads["domain.bias"].abs().max() == 0.0
    assert 0.01 < network.heads["domain.weight"].std() < 0.03


def test_weights_decay_where_transformers_trainer_lets_them_decay(
    examples: Examples, bert: Path, monkeypatch: Any, tmp_path: Path
) -> None:
    optimizers: list[tuple[TunedEncoder, torch.optim.AdamW]] = []
    build = EncoderTrainer._build_optimizer

    def keep(self: EncoderTrainer, tuned: TunedEncoder) -> torch.optim.AdamW:
        optimizers.append((tuned, build(self, tuned)))
        return optimizers[-1][1]

    monkeypatch.setattr(EncoderTrainer, "_build_optimizer", keep)
    settings = toy_settings(folds=0, ngrams=False, tuning="full", pooling="pooler", epochs=1)
    train(settings, examples, tmp_path, bert, show=False)
    (tuned, optimizer) = optimizers[-1]
    decaying = {
        id(parameter)
        for group in optimizer.param_groups
        if group["weight_decay"] == 0.01
        for parameter in group["params"]
    }
    found = {name for name, parameter in tuned.parameters.items() if id(parameter) in decaying}
    model = BertForSequenceClassification.from_pretrained(bert)
    expected = set(Trainer.get_decay_parameter_names(None, model))
    of_encoder = {name.removeprefix("bert.") for name in expected if name.startswith("bert.")}

    assert found == of_encoder | {"domain.weight", "static_or_dynamic.weight"}


def test_fewer_questions_than_folds_are_said_with_the_remedy(examples: Examples, bert: Path, tmp_path: Path) -> None:
    """A first try with a handful of labels."""
    classes = {name: numbers[:1] for name, numbers in examples.classes.items()}
    one = Examples(examples.texts[:1], classes, examples.groups[:1])
    with pytest.raises(UserError, match=r"no class has more than 1: label more, or make fewer folds"):
        train(toy_settings(ngrams=False), one, tmp_path, bert, show=False)


def test_an_encoder_without_a_pooler_is_refused_before_training(bert: Path, tmp_path: Path) -> None:
    weights = {name: array for name, array in load_file(bert / "model.safetensors").items() if "pooler" not in name}
    bare = tmp_path / "bare"
    shutil.copytree(bert, bare)
    save_file(weights, bare / "model.safetensors", metadata={"format": "pt"})
    settings = toy_settings(ngrams=False, tuning="full", pooling="pooler")
    assert settings.encoder
    with pytest.raises(UserError, match="bare has no pooler"):
        TunedEncoder(settings.encoder, ("domain",), bare)


def test_a_loss_that_is_not_finite_ends_the_training_with_advice(
    examples: Examples, bert: Path, tmp_path: Path
) -> None:
    settings = toy_settings(folds=0, ngrams=False, tuning="full")
    assert settings.encoder
    wild = settings.model_copy(update={"encoder": settings.encoder.model_copy(update={"learning_rate": 1e30})})
    with pytest.raises(FloatingPointError, match="learning rate"):
        train(wild, examples, tmp_path, bert, show=False)
