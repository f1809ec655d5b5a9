"""One training run: cross-validation measures and calibrates, then the classifier learns from everything."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save
from tqdm import tqdm

from agents.common.files import write_rows, write_whole
from agents.questions import FIELD_CLASSES
from agents.questions.trainable import (
    CONFIG_FILE,
    WEIGHTS_FILE,
    ClassifierConfig,
    FieldConfig,
    Logs,
    MixingWeights,
    bucket_rarity,
    hashed_rows,
    log_softmax,
)
from training.router.encoder_model import MAX_TOKENS, EncoderTrainer, TunedEncoder
from training.router.examples import Examples, Positions, fold_of_each
from training.router.out_of_fold import OutOfFold, out_of_fold_rows, report_field
from training.router.settings import NgramTraining, RouterTraining

OUT_OF_FOLD_FILE = "out_of_fold.jsonl"
MAX_ITERATIONS = 500
"""Limit for the logistic regression on n-grams."""


class Parts(NamedTuple):
    """The result of one fit; without n-grams the second is empty."""

    encoder: TunedEncoder
    ngrams: dict[str, NDArray[np.float32]]


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
        out_of_fold = self._cross_validate() if self._settings.folds else None
        parts = self._fit("all", np.arange(len(self._examples)))
        self._bar.close()
        reports = {}
        if out_of_fold is not None:
            probabilities = out_of_fold.probabilities(self._examples)
            for name, classes in self._examples.classes.items():
                reports[name] = report_field(FIELD_CLASSES[name], probabilities[name], classes)
            rows = out_of_fold_rows(self._examples, out_of_fold.fold, probabilities)
            write_rows(self._out / OUT_OF_FOLD_FILE, rows)
        self._write(parts, out_of_fold)
        return reports

    def _cross_validate(self) -> OutOfFold:
        found = OutOfFold(fold_of_each(self._examples, self._settings.folds))
        for number in range(self._settings.folds):
            parts = self._fit(f"fold-{number}", np.flatnonzero(found.fold != number))
            for name, logs in self._predict(parts, np.flatnonzero(found.fold == number)).items():
                part, _, field = name.partition(".")
                found.put(number, part, field, logs)
        return found

    def _fit(self, name: str, positions: Positions) -> Parts:
        def epoch_done(loss: float) -> None:
            self._bar.set_postfix_str(f"{name}, loss {loss:.3f}", refresh=False)
            self._bar.update()

        encoder = self._trainer.fit(positions, epoch_done)
        ngrams = self._settings.ngrams
        return Parts(encoder, fit_ngrams(ngrams, self._examples, positions) if ngrams else {})

    def _predict(self, parts: Parts, positions: Positions) -> dict[str, Logs]:
        """Log-probabilities by ``encoder.<field>`` and ``ngrams.<field>``, shape (positions, classes)."""
        found = {f"encoder.{name}": logs for name, logs in self._trainer.predict(parts.encoder, positions).items()}
        if parts.ngrams:
            rows = hashed_rows([self._examples.texts[position] for position in positions], parts.ngrams["rarity"])
            for name in self._settings.fields:
                logits = rows.times(parts.ngrams[f"{name}.weight"]) + parts.ngrams[f"{name}.bias"]
                found[f"ngrams.{name}"] = log_softmax(logits)
        return found

    def _write(self, parts: Parts, out_of_fold: OutOfFold | None) -> None:
        tensors = {f"ngrams.{name}": values.astype(np.float16) for name, values in parts.ngrams.items()}
        tensors |= {f"0.{name}": values for name, values in parts.encoder.tensors().items()}
        contiguous = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
        write_whole(self._out / WEIGHTS_FILE, save(contiguous))
        settings, fields = self._settings, {}
        for name, classes in self._examples.classes.items():
            plain = MixingWeights(1.0, float(settings.ngrams is not None))
            weights = out_of_fold.weights(name, classes) if out_of_fold else plain
            fields[name] = FieldConfig(
                labels=FIELD_CLASSES[name],
                encoder_weight=round(weights.encoder, 4),
                ngram_weight=round(weights.ngrams, 4),
            )
        config = ClassifierConfig(
            format=1,
            base=settings.encoder.base,
            members=1,
            pooling=settings.encoder.pooling,
            max_tokens=MAX_TOKENS,
            ngram_buckets=settings.ngrams.buckets if settings.ngrams else 0,
            fields=fields,
            trained_on=settings.trained_on,
            licence=settings.licence,
        )
        (self._out / CONFIG_FILE).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")


def fit_ngrams(settings: NgramTraining, examples: Examples, positions: Positions) -> dict[str, NDArray[np.float32]]:
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
    for field, classes in examples.classes.items():
        model = LogisticRegression(C=settings.inverse_regularisation, max_iter=MAX_ITERATIONS)
        model.fit(matrix, classes[positions])
        weight = np.zeros((settings.buckets, len(FIELD_CLASSES[field])), dtype=np.float32)
        bias = np.full(len(FIELD_CLASSES[field]), -20.0, dtype=np.float32)
        coefficients, intercepts = model.coef_, model.intercept_
        if len(model.classes_) == 2:  # scikit-learn keeps one row for two classes: the log-odds of the second
            coefficients = np.vstack([np.zeros_like(coefficients), coefficients])
            intercepts = np.concatenate([[0.0], intercepts])
        weight[:, model.classes_] = coefficients.T
        bias[model.classes_] = intercepts
        tensors |= {f"{field}.weight": weight, f"{field}.bias": bias}
    return tensors
