"""One training run: cross-validation measures and calibrates, then the classifier learns from everything.

No question is predicted out of its fold by models that were trained on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save
from tqdm import tqdm

from agents.common.files import write_whole
from agents.questions import FIELD_CLASSES
from agents.questions.trainable import (
    CONFIG_FILE,
    WEIGHTS_FILE,
    ClassifierConfig,
    FieldConfig,
    Logs,
    MixingWeights,
    bucket_rarity,
    expected_calibration_error,
    fit_mixing_weights,
    hashed_rows,
    log_softmax,
    mixed,
)
from training.router.encoder_model import MAX_TOKENS, EncoderTrainer
from training.router.examples import Examples, NgramTraining, Positions, RouterTraining, fold_of_each

Tensors = dict[str, NDArray[np.float32]]
MAX_ITERATIONS = 500
"""Limit for the logistic regression on n-grams."""


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """The fold of each question, and what models that did not see it predict: field -> (questions, classes)."""

    fold: NDArray[np.int64]
    encoder: dict[str, Logs] = field(default_factory=dict)
    ngrams: dict[str, Logs] = field(default_factory=dict)

    def put(self, number: int, encoder: Mapping[str, Logs], ngrams: Mapping[str, Logs]) -> None:
        """Store the predictions for the questions of a fold."""
        for table, predictions in ((self.encoder, encoder), (self.ngrams, ngrams)):
            for name, logs in predictions.items():
                table.setdefault(name, np.zeros((len(self.fold), logs.shape[1])))[self.fold == number] = logs

    def weights(self, name: str, classes: NDArray[np.int64], left_out: int = -1) -> MixingWeights:
        """The mixing weights that fit the field best, on the questions of all folds but one."""
        chosen = self.fold != left_out
        return fit_mixing_weights(*self._parts(name, chosen), classes[chosen])

    def probabilities(self, name: str, classes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mixed predictions of a field; the weights of each fold are fitted on the other folds."""
        mixtures = np.zeros((len(classes), len(FIELD_CLASSES[name])))
        for number in np.unique(self.fold):
            held_out = self.fold == number
            mixtures[held_out] = np.exp(mixed(*self._parts(name, held_out), self.weights(name, classes, number)))
        return mixtures

    def _parts(self, name: str, chosen: NDArray[np.bool_]) -> tuple[Logs, Logs | None]:
        return self.encoder[name][chosen], self.ngrams[name][chosen] if name in self.ngrams else None


def train(
    settings: RouterTraining, examples: Examples, out: Path, base: Path, device: str = "cpu", *, shown: bool = True
) -> dict[str, dict[str, Any]]:
    """Train one classifier into the folder `out`; return the cross-validated figures.

    `base` is the folder of the base encoder; `shown` adds a progress bar on standard error.
    """
    total = (settings.folds + 1) * settings.encoder.epochs
    with tqdm(total=total, desc="training", unit="epoch", disable=not shown) as epochs:
        trainer = EncoderTrainer(settings.encoder, examples, base, device, epochs)
        held_out = _cross_validate(settings, examples, trainer) if settings.folds else None
        encoder = trainer.fit(np.arange(len(examples)))
    ngrams = fit_ngrams(settings.ngrams, examples, np.arange(len(examples)))
    reports, weights = {}, dict.fromkeys(examples.classes, MixingWeights(1.0, 0.0))
    if held_out is not None:
        for name, classes in examples.classes.items():
            weights[name] = held_out.weights(name, classes)
            reports[name] = report_field(name, held_out.probabilities(name, classes), classes)
    tensors = {f"ngrams.{name}": values.astype(np.float16) for name, values in ngrams.items()}
    tensors |= {f"0.{name}": values for name, values in encoder.tensors().items()}
    contiguous = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
    write_whole(out / WEIGHTS_FILE, save(contiguous))
    config = ClassifierConfig(
        format=1,
        base=settings.encoder.base,
        pooling=settings.encoder.pooling,
        max_tokens=MAX_TOKENS,
        ngram_buckets=settings.ngrams.buckets if settings.ngrams else 0,
        fields={
            name: FieldConfig(
                labels=FIELD_CLASSES[name], encoder_weight=round(own.encoder, 4), ngram_weight=round(own.ngrams, 4)
            )
            for name, own in weights.items()
        },
        trained_on=settings.trained_on,
        licence=settings.licence,
    )
    (out / CONFIG_FILE).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return reports


def _cross_validate(settings: RouterTraining, examples: Examples, trainer: EncoderTrainer) -> OutOfFold:
    held_out = OutOfFold(fold_of_each(examples, settings.folds))
    for number in range(settings.folds):
        seen, unseen = np.flatnonzero(held_out.fold != number), np.flatnonzero(held_out.fold == number)
        ngrams = fit_ngrams(settings.ngrams, examples, seen)
        texts = [examples.texts[position] for position in unseen]
        held_out.put(number, trainer.predict(trainer.fit(seen), unseen), predict_ngrams(ngrams, texts))
    return held_out


def fit_ngrams(settings: NgramTraining | None, examples: Examples, positions: Positions) -> Tensors:
    """Logistic regression on hashed n-grams, one per field: ``rarity``, ``<field>.weight``, ``<field>.bias``.

    A class without examples gets a bias so low that it is never chosen. Without settings there are no tensors.
    """
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    if settings is None:
        return {}
    texts = [examples.texts[position] for position in positions]
    rarity = bucket_rarity(texts, settings.buckets)
    rows = hashed_rows(texts, rarity)
    matrix = csr_matrix((rows.values, (rows.rows, rows.columns)), shape=rows.shape)
    tensors = {"rarity": rarity}
    for name, classes in examples.classes.items():
        model = LogisticRegression(C=settings.inverse_regularisation, max_iter=MAX_ITERATIONS)
        model.fit(matrix, classes[positions])
        weight = np.zeros((settings.buckets, len(FIELD_CLASSES[name])), dtype=np.float32)
        bias = np.full(len(FIELD_CLASSES[name]), -20.0, dtype=np.float32)
        coefficients, intercepts = model.coef_, model.intercept_
        if len(model.classes_) == 2:  # scikit-learn keeps one row for two classes: the log-odds of the second
            coefficients = np.vstack([np.zeros_like(coefficients), coefficients])
            intercepts = np.concatenate([[0.0], intercepts])
        weight[:, model.classes_] = coefficients.T
        bias[model.classes_] = intercepts
        tensors |= {f"{name}.weight": weight, f"{name}.bias": bias}
    return tensors


def predict_ngrams(tensors: Tensors, texts: Sequence[str]) -> dict[str, Logs]:
    """Log-probabilities of each field that `fit_ngrams` learnt, shape (texts, classes)."""
    if not tensors:
        return {}
    rows = hashed_rows(texts, tensors["rarity"])
    fields = [name.removesuffix(".weight") for name in tensors if name.endswith(".weight")]
    return {name: log_softmax(rows.times(tensors[f"{name}.weight"]) + tensors[f"{name}.bias"]) for name in fields}


def report_field(name: str, probabilities: NDArray[np.float64], classes: NDArray[np.int64]) -> dict[str, Any]:
    """Figures of a field, JSON-ready, rounded to four places.

    `macro_f1` is the mean over the classes that occur; `confusion[i][j]` counts questions of class i that were
    predicted as class j.
    """
    from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

    predicted = probabilities.argmax(axis=1)
    figures = {
        "accuracy": accuracy_score(classes, predicted),
        "macro_f1": f1_score(classes, predicted, labels=np.unique(classes), average="macro"),
        "expected_calibration_error": expected_calibration_error(probabilities, classes),
    }
    return {
        "questions": len(classes),
        **{figure: round(float(value), 4) for figure, value in figures.items()},
        "labels": list(FIELD_CLASSES[name]),
        "confusion": confusion_matrix(classes, predicted, labels=range(len(FIELD_CLASSES[name]))).tolist(),
    }
