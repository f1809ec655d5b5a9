"""One training run: cross-validation measures and calibrates, then the classifier learns from everything.

``OUT/unfinished`` holds the predictions of each finished fold, and a checkpoint of each encoder, written after every
epoch. A killed run continues from there.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save
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
    average_logs,
    bucket_rarity,
    hashed_rows,
    log_softmax,
)
from training.command import CommandError
from training.router.encoder_model import EncoderTrainer, FitTask, TunedEncoder, finished_epochs
from training.router.examples import Examples, Positions, fold_of_each
from training.router.out_of_fold import FieldReport, OutOfFold, out_of_fold_rows, report_all
from training.router.settings import NgramTraining, RouterTraining

UNFINISHED = "unfinished"
OUT_OF_FOLD_FILE = "out_of_fold.jsonl"
MAX_ITERATIONS = 500
"""Limit for the logistic regression on n-grams."""


class Parts(NamedTuple):
    """The result of one fit; either part may be empty."""

    encoders: list[TunedEncoder]
    ngrams: dict[str, NDArray[np.float32]]


class RouterRun:
    """Trains one classifier into the folder `out`.

    `base` is the folder of the base encoder, None without one; `shown` adds a progress bar on standard error.
    """

    def __init__(
        self,
        settings: RouterTraining,
        examples: Examples,
        out: Path,
        base: Path | None = None,
        device: str = "cpu",
        *,
        shown: bool = True,
    ) -> None:
        self._settings, self._examples, self._out, self._shown = settings, examples, out, shown
        self._work = out / UNFINISHED
        encoder = settings.encoder
        self._trainer = EncoderTrainer(encoder, examples, base, device) if encoder and base is not None else None
        self._epochs_per_fit = len(encoder.seeds) * encoder.epochs if encoder else 1
        self._bar: tqdm[Any] = tqdm(disable=True)

    def train(self, fingerprint: Mapping[str, Any], *, resume: bool = False) -> dict[str, FieldReport]:
        """Train and write the classifier's files; return the cross-validated figures.

        Only an unfinished run of the same fingerprint (JSON-ready) can be resumed. `CommandError`: another one is in
        the way.
        """
        self._open(fingerprint, resume=resume)
        total = (self._settings.folds + 1) * self._epochs_per_fit
        with tqdm(total=total, desc="training", unit="epoch", disable=not self._shown) as self._bar:
            out_of_fold = self._cross_validate() if self._settings.folds else None
            parts = self._fit("all", np.arange(len(self._examples)))
        reports = {}
        if out_of_fold is not None:
            probabilities = out_of_fold.probabilities(self._examples)
            reports = report_all(probabilities, self._examples.classes)
            rows = out_of_fold_rows(self._examples, out_of_fold.fold, probabilities)
            write_rows(self._out / OUT_OF_FOLD_FILE, rows)
        self._write(parts, out_of_fold)
        shutil.rmtree(self._work)
        return reports

    def _open(self, fingerprint: Mapping[str, Any], *, resume: bool) -> None:
        record = self._work / "run.json"
        # A run without a checkpoint has nothing to resume.
        if record.is_file() and (any(self._work.glob("*.pt")) or any(self._work.glob("*.safetensors"))):
            if not resume:
                raise CommandError(f"{self._work} holds an unfinished run: pass --resume, or remove it")
            if json.loads(record.read_text(encoding="utf-8")) != json.loads(json.dumps(fingerprint)):
                raise CommandError(f"{self._work} holds an unfinished run of other settings or data: remove it")
            return
        self._work.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps(fingerprint), encoding="utf-8")

    def _cross_validate(self) -> OutOfFold:
        found = OutOfFold(fold_of_each(self._examples, self._settings.folds))
        for number in range(self._settings.folds):
            path = self._work / f"fold-{number}.safetensors"
            if path.is_file():
                predictions = load_file(path)
                self._bar.update(self._epochs_per_fit)
            else:
                parts = self._fit(f"fold-{number}", np.flatnonzero(found.fold != number))
                predictions = self._predict(parts, np.flatnonzero(found.fold == number))
                write_whole(path, save(predictions))
            for name, logs in predictions.items():
                part, _, field = name.partition(".")
                found.put(number, part, field, logs)
        return found

    def _fit(self, name: str, positions: Positions) -> Parts:
        encoders = []
        if self._settings.encoder and self._trainer:
            for seed in self._settings.encoder.seeds:
                task = FitTask(positions, seed, self._work / f"{name}-seed-{seed}.pt")
                self._bar.update(finished_epochs(task.checkpoint))
                encoders.append(self._trainer.fit(task, lambda _, loss: self._epoch_done(name, loss)))
        if not encoders:
            self._bar.update()
        own = self._settings.ngrams
        return Parts(encoders, fit_ngrams(own, self._examples, positions) if own else {})

    def _epoch_done(self, name: str, loss: float) -> None:
        self._bar.set_postfix_str(f"{name}, loss {loss:.3f}", refresh=False)
        self._bar.update()

    def _predict(self, parts: Parts, positions: Positions) -> dict[str, Logs]:
        """Log-probabilities by ``encoder.<field>`` and ``ngrams.<field>``, shape (positions, classes)."""
        found: dict[str, Logs] = {}
        if self._trainer and parts.encoders:
            said = [self._trainer.predict(encoder, positions) for encoder in parts.encoders]
            found |= {f"encoder.{name}": average_logs([one[name] for one in said]) for name in self._settings.fields}
        if parts.ngrams:
            rows = hashed_rows([self._examples.texts[position] for position in positions], parts.ngrams["rarity"])
            for name in self._settings.fields:
                logits = rows.times(parts.ngrams[f"{name}.weight"]) + parts.ngrams[f"{name}.bias"]
                found[f"ngrams.{name}"] = log_softmax(logits)
        return found

    def _write(self, parts: Parts, out_of_fold: OutOfFold | None) -> None:
        config = self._config(len(parts.encoders), out_of_fold)
        tensors = {f"ngrams.{name}": values.astype(np.float16) for name, values in parts.ngrams.items()}
        for number, tuned in enumerate(parts.encoders):
            tensors |= {f"{number}.{name}": values for name, values in tuned.tensors().items()}
        contiguous = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
        write_whole(self._out / WEIGHTS_FILE, save(contiguous))
        (self._out / CONFIG_FILE).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")

    def _config(self, members: int, out_of_fold: OutOfFold | None) -> ClassifierConfig:
        encoder, ngrams = self._settings.encoder, self._settings.ngrams
        fields = {}
        for name, classes in self._examples.classes.items():
            plain = MixingWeights(float(encoder is not None), float(ngrams is not None))
            weights = out_of_fold.weights(name, classes) if out_of_fold else plain
            fields[name] = FieldConfig(
                labels=FIELD_CLASSES[name],
                encoder_weight=round(weights.encoder, 4),
                ngram_weight=round(weights.ngrams, 4),
            )
        return ClassifierConfig(
            format=1,
            base=encoder.base if encoder else None,
            members=members,
            pooling=encoder.pooling if encoder else "mean",
            max_tokens=encoder.max_tokens if encoder else 64,
            ngram_buckets=ngrams.buckets if ngrams else 0,
            fields=fields,
            trained_on=self._settings.trained_on,
            licence=self._settings.licence,
        )


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
