"""Training runs on a toy task with a tiny BERT: they learn, they calibrate, and a kill costs nothing."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from tqdm import tqdm

from agents.common.files import UserError
from agents.questions import DOMAINS
from agents.questions.classifier import CONFIG_FILE, WEIGHTS_FILE, Classifier
from evaluation.datasets import read_records
from tests.agents.questions.tiny_bert import build_bert
from tests.training.router.toy import toy_rows, toy_settings, write_toy
from training.router.encoder_model import EncoderTrainer, TunedEncoder
from training.router.examples import Examples, read_examples
from training.router.run import OUT_OF_FOLD_FILE, UNFINISHED, RouterRun
from training.router.settings import RouterTraining

MARK = {"data": "toy"}


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
    return read_examples(write_toy(tmp_path_factory.mktemp("data") / "toy.jsonl"), ["domain", "static_or_dynamic"])


def run(settings: RouterTraining, examples: Examples, out: Path, bert: Path) -> RouterRun:
    return RouterRun(settings, examples, out, bert, shown=False)


@pytest.mark.parametrize(("tuning", "ngrams"), [("lora", True), ("lora", False), ("full", False)])
def test_a_trained_classifier_knows_questions_that_it_never_saw(
    examples: Examples, bert: Path, tmp_path: Path, tuning: str, *, ngrams: bool
) -> None:
    settings = toy_settings(tuning=tuning, ngrams=ngrams, epochs=12)
    reports = run(settings, examples, tmp_path, bert).train(MARK)
    assert reports["domain"]["accuracy"] > 0.9
    assert not (tmp_path / UNFINISHED).exists()
    fresh = toy_rows(30, seed=5)
    trained = Classifier(tmp_path, encoder_folder=bert)
    found = trained.probabilities([row["query"] for row in fresh])["domain"]
    right = [DOMAINS[row.argmax()] == wanted["domain"] for row, wanted in zip(found, fresh, strict=True)]
    assert np.mean(right) > 0.9
    chance = np.mean(found.max(axis=1))
    assert abs(chance - np.mean(right)) < 0.2


def test_out_of_fold_rows_hold_routes_and_classes_but_no_text(examples: Examples, bert: Path, tmp_path: Path) -> None:
    reports = run(toy_settings(epochs=3), examples, tmp_path, bert).train(MARK)
    rows = [record.data for record in read_records(tmp_path / OUT_OF_FOLD_FILE)]
    assert [row["interaction_id"] for row in rows] == list(examples.identifiers)
    right = [row["route"]["domain"]["label"] == row["classes"]["domain"] for row in rows]
    assert np.mean(right) == pytest.approx(reports["domain"]["accuracy"])
    text = "".join((tmp_path / name).read_text(encoding="utf-8") for name in (OUT_OF_FOLD_FILE, CONFIG_FILE))
    assert not any(query in text for query in examples.texts)


def test_the_classifier_is_what_was_trained(examples: Examples, bert: Path, tmp_path: Path, monkeypatch: Any) -> None:
    """Hooks in training and merged weights in use are the same function, up to half precision."""
    kept: list[tuple[EncoderTrainer, TunedEncoder]] = []
    fit = EncoderTrainer.fit

    def keep(self: EncoderTrainer, *arguments: Any) -> TunedEncoder:
        kept.append((self, fit(self, *arguments)))
        return kept[-1][1]

    monkeypatch.setattr(EncoderTrainer, "fit", keep)
    run(toy_settings(folds=0, ngrams=False), examples, tmp_path, bert).train(MARK)
    (trainer, tuned), everything = kept[-1], np.arange(len(examples))
    found = Classifier(tmp_path, encoder_folder=bert).probabilities(examples.texts)
    for field, expected in trainer.predict(tuned, everything).items():
        np.testing.assert_allclose(found[field], np.exp(expected), atol=5e-3)


@pytest.mark.parametrize("killed_after", [2, 5, 8])
def test_a_killed_run_goes_on_to_the_same_weights(
    examples: Examples, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_after: int
) -> None:
    """Two folds and the last fit have three epochs each: killed in the first fold, in the second, in the last fit."""
    settings = toy_settings(epochs=3)
    run(settings, examples, tmp_path / "whole", bert).train(MARK)
    epochs = 0

    class Bar(tqdm):  # type: ignore[type-arg]
        """It is told of every epoch that was trained."""

        def update(self, n: float | None = 1) -> None:
            nonlocal epochs
            epochs += 1
            if epochs == killed_after:
                raise KeyboardInterrupt

    monkeypatch.setattr("training.router.run.tqdm", Bar)
    with pytest.raises(KeyboardInterrupt):
        run(settings, examples, tmp_path / "killed", bert).train(MARK)
    run(settings, examples, tmp_path / "killed", bert).train(MARK, resume=True)
    assert epochs == 9, "finished epochs are not trained again"
    for file in (CONFIG_FILE, OUT_OF_FOLD_FILE):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
    whole, killed = (load_file(tmp_path / name / WEIGHTS_FILE) for name in ("whole", "killed"))
    assert set(whole) == set(killed)
    assert all((whole[name] == killed[name]).all() for name in whole)


def test_an_unfinished_run_is_neither_lost_nor_mixed_up(
    examples: Examples, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / UNFINISHED).mkdir()
    (tmp_path / UNFINISHED / "run.json").write_text(json.dumps(MARK), encoding="utf-8")
    (tmp_path / UNFINISHED / "fold-0.pt").touch()
    with pytest.raises(UserError, match="--resume"):
        run(toy_settings(), examples, tmp_path, bert).train(MARK)
    with pytest.raises(UserError, match="other settings or data"):
        run(toy_settings(), examples, tmp_path, bert).train({"data": "another"}, resume=True)


def test_a_run_that_came_to_nothing_is_not_in_the_way(
    examples: Examples, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(EncoderTrainer, "fit", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            run(toy_settings(epochs=1), examples, tmp_path, bert).train(MARK)
    run(toy_settings(epochs=1), examples, tmp_path, bert).train({"data": "another"})
    assert not (tmp_path / UNFINISHED).exists()


def test_divergence_is_an_error(examples: Examples, bert: Path, tmp_path: Path) -> None:
    settings = toy_settings(folds=0, ngrams=False, tuning="full")
    assert settings.encoder
    wild = settings.model_copy(update={"encoder": settings.encoder.model_copy(update={"learning_rate": 1e30})})
    with pytest.raises(FloatingPointError, match="learning rate"):
        run(wild, examples, tmp_path, bert).train(MARK)
