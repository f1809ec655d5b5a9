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
from training.router.encoder_model import MAX_TOKENS, EncoderTrainer, TunedEncoder
from training.router.examples import Examples, NgramTraining, Positions, RouterTraining, fold_of_each

Tensors = dict[str, NDArray[np.float32]]
MAX_ITERATIONS = 500
"""Limit for the logistic regression on n-grams."""


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """The fold of each question, and the predictions of both parts: field -> (questions, classes)."""

    fold: NDArray[np.int64]
    encoder: dict[str, Logs] = field(default_factory=dict)
    ngrams: dict[str, Logs] = field(default_factory=dict)

    def put(self, number: int, encoder: Mapping[str, Logs], ngrams: Mapping[str, Logs]) -> None:
        """Store the predictions for the questions of a fold."""
        for table, found in ((self.encoder, encoder), (self.ngrams, ngrams)):
            for name, logs in found.items():
                table.setdefault(name, np.zeros((len(self.fold), logs.shape[1])))[self.fold == number] = logs

    def weights(self, name: str, classes: NDArray[np.int64], left_out: int | None = None) -> MixingWeights:
        """The mixing weights that fit the field best, on all questions or those of the other folds."""
        chosen = self.fold != (-1 if left_out is None else left_out)
        return fit_mixing_weights(*self._parts(name, chosen), classes[chosen])

    def probabilities(self, name: str, classes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mixed predictions of a field; the weights of each fold are fitted on the other folds."""
        found = np.zeros((len(classes), len(FIELD_CLASSES[name])))
        for number in np.unique(self.fold):
            held_out = self.fold == number
            found[held_out] = np.exp(mixed(*self._parts(name, held_out), self.weights(name, classes, number)))
        return found

    def _parts(self, name: str, chosen: NDArray[np.bool_]) -> tuple[Logs | None, Logs | None]:
        encoder, ngrams = (table[name][chosen] if name in table else None for table in (self.encoder, self.ngrams))
        return encoder, ngrams


class RouterRun:
    """Trains one classifier into the folder `out`.

    `base` is the folder of the base encoder; `shown` adds a progress bar on standard error.
    """

    def __init__(
        self,
        settings: RouterTraining,
        examples: Examples,
        out: Path,
        base: Path,
        device: str = "cpu",
        *,
        shown: bool = True,
    ) -> None:
        self._settings, self._examples, self._out = settings, examples, out
        self._trainer = EncoderTrainer(settings.encoder, examples, base, device)
        total = (settings.folds + 1) * settings.encoder.epochs
        self._bar: tqdm[Any] = tqdm(total=total, desc="training", unit="epoch", disable=not shown)

    def train(self) -> dict[str, dict[str, Any]]:
        """Train and write the classifier's files; return the cross-validated figures."""
        examples = self._examples
        held_out = self._cross_validate() if self._settings.folds else None
        encoder, ngrams = self._fit("all", np.arange(len(examples)))
        self._bar.close()
        reports = {}
        if held_out is not None:
            found = {name: held_out.probabilities(name, classes) for name, classes in examples.classes.items()}
            reports = {name: report_field(name, found[name], classes) for name, classes in examples.classes.items()}
        self._write(encoder, ngrams, held_out)
        return reports

    def _cross_validate(self) -> OutOfFold:
        found = OutOfFold(fold_of_each(self._examples, self._settings.folds))
        for number in range(self._settings.folds):
            encoder, ngrams = self._fit(f"fold-{number}", np.flatnonzero(found.fold != number))
            held_out = np.flatnonzero(found.fold == number)
            texts = [self._examples.texts[position] for position in held_out]
            found.put(number, self._trainer.predict(encoder, held_out), predict_ngrams(ngrams, texts))
        return found

    def _fit(self, name: str, positions: Positions) -> tuple[TunedEncoder, Tensors]:
        def epoch_done(loss: float) -> None:
            self._bar.set_postfix_str(f"{name}, loss {loss:.3f}", refresh=False)
            self._bar.update()

        encoder, ngrams = self._trainer.fit(positions, epoch_done), self._settings.ngrams
        return encoder, fit_ngrams(ngrams, self._examples, positions) if ngrams else {}

    def _write(self, encoder: TunedEncoder, ngrams: Tensors, held_out: OutOfFold | None) -> None:
        tensors = {f"ngrams.{name}": values.astype(np.float16) for name, values in ngrams.items()}
        tensors |= {f"0.{name}": values for name, values in encoder.tensors().items()}
        contiguous = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
        write_whole(self._out / WEIGHTS_FILE, save(contiguous))
        settings, fields = self._settings, {}
        for name, classes in self._examples.classes.items():
            weights = held_out.weights(name, classes) if held_out else MixingWeights(1.0, float(bool(ngrams)))
            fields[name] = FieldConfig(
                labels=FIELD_CLASSES[name],
                encoder_weight=round(weights.encoder, 4),
                ngram_weight=round(weights.ngrams, 4),
            )
        config = ClassifierConfig(
            format=1,
            base=settings.encoder.base,
            pooling=settings.encoder.pooling,
            max_tokens=MAX_TOKENS,
            ngram_buckets=settings.ngrams.buckets if settings.ngrams else 0,
            fields=fields,
            trained_on=settings.trained_on,
            licence=settings.licence,
        )
        (self._out / CONFIG_FILE).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")


def fit_ngrams(settings: NgramTraining, examples: Examples, positions: Positions) -> Tensors:
    """Logistic regression on hashed n-grams, one per field: ``rarity``, ``<field>.weight``, ``<field>.bias``.

    A class without examples gets a bias so low that it is never chosen.
    """
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

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
