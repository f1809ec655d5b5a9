"""One training run: cross-validation measures and calibrates, then the classifier learns from everything.

An encoder is fine-tuned with a head per field; n-grams get a linear model. Each question of a fold is predicted by
models that were not trained on that fold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score
from sklearn.model_selection import StratifiedGroupKFold
from tqdm import tqdm

from crag.core.files import DatasetError, write_whole
from crag.router import FIELD_CLASSES
from crag.router.calibration import (
    LogProbabilities,
    MixingWeights,
    expected_calibration_error,
    fit_mixing_weights,
    mix_log_probabilities,
)
from crag.router.classifier import CONFIG_FILE, WEIGHTS_FILE, ClassifierConfig, FieldConfig
from crag.training.router.encoder import MAX_TOKENS, EncoderTrainer
from crag.training.router.ngrams import Tensors, fit_ngrams, predict_ngrams
from crag.training.router.questions import Examples
from crag.training.router.settings import RouterTraining


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """The fold of each question, and the predictions of models that did not see it: field -> (questions, classes)."""

    fold: NDArray[np.int64]
    encoder: dict[str, LogProbabilities] = field(default_factory=dict)
    ngrams: dict[str, LogProbabilities] = field(default_factory=dict)

    def put(
        self,
        number: int,
        encoder: Mapping[str, LogProbabilities],
        ngrams: Mapping[str, LogProbabilities],
    ) -> None:
        """Store the predictions for the questions of a fold."""
        self._store(self.encoder, number, encoder)
        self._store(self.ngrams, number, ngrams)

    def _store(
        self,
        table: dict[str, LogProbabilities],
        number: int,
        predictions: Mapping[str, LogProbabilities],
    ) -> None:
        for name, logs in predictions.items():
            if name not in table:
                # Filled fold by fold; only at the end is every row a prediction
                table[name] = np.zeros((len(self.fold), logs.shape[1]))
            table[name][self.fold == number] = logs

    def weights(self, name: str, classes: NDArray[np.int64], left_out: int = -1) -> MixingWeights:
        """The mixing weights that fit the field best, on the questions of all folds except `left_out`."""
        is_used = self.fold != left_out
        encoder, ngrams = self._predictions(name, is_used)
        return fit_mixing_weights(encoder, ngrams, classes[is_used])

    def probabilities(self, name: str, classes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mixed predictions of a field; the weights of each fold are fitted on the other folds."""
        mixtures = np.zeros((len(classes), len(FIELD_CLASSES[name])))
        for number in np.unique(self.fold):
            is_held_out = self.fold == number
            encoder, ngrams = self._predictions(name, is_held_out)
            # Weights that had seen these questions would look better than they are
            weights = self.weights(name, classes, number)
            mixtures[is_held_out] = np.exp(mix_log_probabilities(encoder, ngrams, weights))
        return mixtures

    def _predictions(
        self,
        name: str,
        selection: NDArray[np.bool_],
    ) -> tuple[LogProbabilities | None, LogProbabilities | None]:
        """The encoder's and the n-grams' predictions of a field for the selected questions; None without a model."""
        encoder = self.encoder[name][selection] if name in self.encoder else None
        ngrams = self.ngrams[name][selection] if name in self.ngrams else None
        return encoder, ngrams


def train(
    settings: RouterTraining,
    examples: Examples,
    to: Path,
    base: Path | None,
    device: str = "cpu",
    *,
    show: bool = True,
) -> dict[str, dict[str, Any]]:
    """Train one classifier into the folder `to`; return the cross-validated figures.

    `base` is the folder of the base encoder, if there is one; `show` adds a progress bar on standard error.
    """
    everything = np.arange(len(examples.texts))
    with tqdm(desc="training", unit="epoch", disable=None if show else True) as epochs:
        trainer = None
        if settings.encoder and base:
            # One fit for each fold, and one for everything
            epochs.total = (settings.folds + 1) * settings.encoder.epochs
            trainer = EncoderTrainer(settings.encoder, examples, base, device, progress=epochs)
        held_out = _cross_validate(settings, examples, trainer) if settings.folds else None
        encoder = trainer.fit(everything).tensors() if trainer else {}
    ngrams = fit_ngrams(settings.ngrams, examples, everything)

    # Without a cross-validation the encoder's probabilities stay as they are.
    weights = dict.fromkeys(examples.classes, MixingWeights(1.0, 0.0))
    reports: dict[str, dict[str, Any]] = {}
    if held_out is not None:
        for name, classes in examples.classes.items():
            weights[name] = held_out.weights(name, classes)
            probabilities = held_out.probabilities(name, classes)
            reports[name] = report_field(name, probabilities, classes)

    _write_tensors(to, encoder, ngrams)
    _write_config(to, settings, weights)
    return reports


def _cross_validate(
    settings: RouterTraining,
    examples: Examples,
    trainer: EncoderTrainer | None,
) -> OutOfFold:
    """Folds are stratified by the field with the most classes, and do not divide groups."""
    # Only one field can be stratified; the rarest classes need it most
    column = max(examples.classes.values(), key=lambda classes: len(np.unique(classes)))
    # -1: in no fold yet
    held_out = OutOfFold(np.full(len(column), -1))
    most_frequent = int(np.bincount(column).max())
    if most_frequent < settings.folds:
        raise DatasetError(
            f"too few questions for {settings.folds} folds, as no class has more than {most_frequent}: "
            "label more, or make fewer folds (--set folds=2)"
        )
    folds = StratifiedGroupKFold(settings.folds, shuffle=True, random_state=0)

    for number, (training, test) in enumerate(folds.split(column, column, examples.groups)):
        held_out.fold[test] = number
        test_texts = [examples.texts[position] for position in test]
        ngrams = fit_ngrams(settings.ngrams, examples, training)

        encoder_predictions: dict[str, LogProbabilities] = {}
        if trainer is not None:
            tuned = trainer.fit(training)
            encoder_predictions = trainer.predict(tuned, test)
        ngram_predictions = predict_ngrams(ngrams, test_texts)
        held_out.put(number, encoder_predictions, ngram_predictions)
    return held_out


def _write_tensors(to: Path, encoder: Mapping[str, NDArray[np.float16]], ngrams: Tensors) -> None:
    """Write the weights of a classifier's folder; ``0.`` precedes the names of the only encoder."""
    tensors: dict[str, NDArray[np.float16]] = {}
    for name, tensor in ngrams.items():
        tensors[f"ngrams.{name}"] = np.ascontiguousarray(tensor.astype(np.float16))
    for name, half_tensor in encoder.items():
        tensors[f"0.{name}"] = np.ascontiguousarray(half_tensor)
    write_whole(to / WEIGHTS_FILE, save(tensors))


def _write_config(to: Path, settings: RouterTraining, weights: Mapping[str, MixingWeights]) -> None:
    """Write the description of a classifier's folder, with the mixing weights of each field."""
    fields: dict[str, FieldConfig] = {}
    for name, field_weights in weights.items():
        fields[name] = FieldConfig(
            labels=FIELD_CLASSES[name],
            # Four places, so that the file does not change with the last bits of an optimiser
            encoder_weight=round(field_weights.encoder, 4),
            ngram_weight=round(field_weights.ngrams, 4),
        )

    encoder = settings.encoder
    config = ClassifierConfig(
        format=1,
        base=encoder.base if encoder else None,
        pooling=encoder.pooling if encoder else "mean",
        max_tokens=MAX_TOKENS,
        ngram_buckets=settings.ngrams.buckets if settings.ngrams else 0,
        fields=fields,
        trained_on=settings.trained_on,
        licence=settings.licence,
    )
    (to / CONFIG_FILE).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")


def report_field(
    name: str,
    probabilities: NDArray[np.float64],
    classes: NDArray[np.int64],
) -> dict[str, Any]:
    """Figures of a field, JSON-ready, rounded to four places.

    `macro_f1` is the mean over the classes that occur; `confusion[i][j]` counts questions of class i that were
    predicted as class j.
    """
    labels = FIELD_CLASSES[name]
    predicted = probabilities.argmax(axis=1)
    accuracy = accuracy_score(classes, predicted)
    # Over classes that occur: an absent class would count as 0
    macro_f1 = f1_score(
        classes,
        predicted,
        labels=np.unique(classes),
        average="macro",
    )
    calibration_error = expected_calibration_error(probabilities, classes)
    confusion = confusion_matrix(classes, predicted, labels=range(len(labels)))

    return {
        "questions": len(classes),
        "accuracy": round(float(accuracy), 4),
        "macro_f1": round(float(macro_f1), 4),
        "expected_calibration_error": round(float(calibration_error), 4),
        "labels": list(labels),
        "confusion": confusion.tolist(),
    }
