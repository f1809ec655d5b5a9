"""One training run: cross-validation measures and calibrates, then the classifier learns from everything.

An encoder is fine-tuned with a head per field; n-grams get a linear model. No question is predicted out of its fold by
models that were trained on it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from peft import LoraConfig, inject_adapter_in_model
from safetensors.numpy import save
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score
from sklearn.model_selection import StratifiedGroupKFold
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm
from transformers import get_linear_schedule_with_warmup

from crag.core.files import UserError, write_whole
from crag.evaluation.datasets import DatasetError, Split, read_records
from crag.router import FIELD_CLASSES
from crag.router.calibration import (
    Logs,
    MixingWeights,
    expected_calibration_error,
    fit_mixing_weights,
    log_softmax,
    mixed,
)
from crag.router.classifier import CONFIG_FILE, WEIGHTS_FILE, ClassifierConfig, FieldConfig
from crag.router.network import QuestionTokenizer
from crag.router.ngrams import bucket_rarity, hashed_rows
from crag.training.router import EncoderTraining, NgramTraining, RouterTraining
from crag.training.router.network import QuestionNetwork, load_encoder, tuned_linear_layers

MAX_TOKENS = 64
"""Of a question; longer ones are cut."""
DROPOUT, UPDATE_DROPOUT = 0.1, 0.05
"""On the input of the heads, and of the low-rank updates."""
UPDATE_SCALE = 2
"""LoRA's alpha divided by its rank."""
MAX_GRADIENT_NORM = 1.0
BATCHES_PER_SLICE = 8
"""Questions are sorted by length inside slices of this many batches, to reduce padding."""
PREDICTION_BATCH = 32
MAX_ITERATIONS = 500
"""Limit for the logistic regression on n-grams."""

Tensors = dict[str, NDArray[np.float32]]
Positions = NDArray[np.int64]
"""Places of questions in the data."""


@dataclass(frozen=True, slots=True)
class Examples:
    """Questions with the class numbers of each field, shape (questions,), as indices of `FIELD_CLASSES[field]`."""

    texts: tuple[str, ...]
    classes: dict[str, NDArray[np.int64]]
    groups: tuple[str, ...]
    """No fold trains on a group that it tests: a row's `group`, such as its template; without one, its `query`."""


def read_examples(path: Path, fields: Sequence[str], split: Split | None = None) -> Examples:
    """The questions of a file in any format of `crag.evaluation.datasets`, with their labels for `fields`.
    Raises DatasetError: no such file, or a row lacks `query`, one of CRAG's labels or a split.
    """
    texts, groups = list[str](), list[str]()
    classes: dict[str, list[int]] = {name: [] for name in fields}
    for record in read_records(path, split=split):
        query = record.data.get("query")
        if not isinstance(query, str) or not query.strip():
            raise DatasetError(f'{record.place}, field "query": expected text, found {query!r}')
        texts.append(query)
        groups.append(str(record.data.get("group", query)))
        for name in fields:
            allowed, label = FIELD_CLASSES[name], record.data.get(name)
            if label not in allowed:
                raise DatasetError(f'{record.place}, field "{name}": found {label!r}, allowed: {", ".join(allowed)}')
            classes[name].append(allowed.index(label))
    if not texts:
        raise DatasetError(f"{path}: no questions")
    return Examples(tuple(texts), {name: np.array(column) for name, column in classes.items()}, tuple(groups))


def check_device(device: str) -> None:
    """Try a small computation on the device; `UserError` if there is no such device."""
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, ImportError) as error:  # torch raises different errors
        raise UserError(f"device {device!r}: {str(error).splitlines()[0]}") from None


class EncoderTrainer:
    """Shared by all fits of a run; `epochs` shows their progress."""

    def __init__(
        self, settings: EncoderTraining, examples: Examples, base: Path, device: str, epochs: "tqdm[Any]"
    ) -> None:
        self._settings, self._examples, self._base, self._device = settings, examples, base, device
        self._bar = epochs
        self._tokenizer = QuestionTokenizer(base, MAX_TOKENS)
        self._tokens = self._tokenizer.tokens(examples.texts)

    def fit(self, positions: Positions) -> "TunedEncoder":
        """Train one encoder on these questions; FloatingPointError: the loss is not finite."""
        settings = self._settings
        tuned = TunedEncoder(settings, tuple(self._examples.classes), self._base, self._device)
        heads = list(tuned.network.heads.values())
        body = [parameter for name, parameter in tuned.parameters.items() if name not in tuned.network.heads]
        groups = [{"params": body, "lr": settings.learning_rate}, {"params": heads, "lr": settings.head_learning_rate}]
        optimizer = torch.optim.AdamW(groups, weight_decay=settings.weight_decay)
        steps = math.ceil(len(positions) / settings.batch_size) * settings.epochs
        schedule = get_linear_schedule_with_warmup(optimizer, int(steps * settings.warm_up_share), steps)
        tuned.network.encoder.train()
        for epoch in range(settings.epochs):
            torch.manual_seed(settings.seed * 1_000_003 + epoch)
            losses = []
            for batch in self._batches(positions, np.random.default_rng((settings.seed, epoch))):
                loss = self._loss(tuned, batch)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(list(tuned.parameters.values()), MAX_GRADIENT_NORM)
                optimizer.step()
                schedule.step()
                losses.append(float(loss.detach()))
            if not np.isfinite(losses).all():
                raise FloatingPointError(
                    f"training diverged: the loss is {losses[-1]} in epoch {epoch + 1}: lower the learning rate"
                )
            self._bar.set_postfix_str(f"loss {np.mean(losses):.3f}", refresh=False)
            self._bar.update()
        return tuned

    def predict(self, tuned: "TunedEncoder", positions: Positions) -> dict[str, Logs]:
        """Log-probabilities of each field, shape (positions, classes)."""
        batches = [positions[start : start + PREDICTION_BATCH] for start in range(0, len(positions), PREDICTION_BATCH)]
        tuned.network.encoder.eval()
        with torch.inference_mode():
            logits = [tuned.network.logits(*self._batch(batch)) for batch in batches]
        joined = {name: torch.cat([each[name] for each in logits]) for name in self._examples.classes}
        return {name: log_softmax(values.float().cpu().numpy()) for name, values in joined.items()}

    def _loss(self, tuned: "TunedEncoder", positions: Positions) -> Tensor:
        logits = tuned.network.logits(*self._batch(positions), DROPOUT)
        classes = {name: torch.from_numpy(own[positions]) for name, own in self._examples.classes.items()}
        losses = [functional.cross_entropy(logits[name], own.to(self._device)) for name, own in classes.items()]
        return torch.stack(losses).sum()

    def _batch(self, positions: Positions) -> tuple[Tensor, Tensor]:
        ids, mask = self._tokenizer.batch([self._tokens[position] for position in positions])
        return torch.from_numpy(ids).to(self._device), torch.from_numpy(mask).to(self._device)

    def _batches(self, positions: Positions, random: Generator) -> Iterator[Positions]:
        size = self._settings.batch_size
        order = random.permutation(positions)
        batches = []
        for start in range(0, len(order), size * BATCHES_PER_SLICE):
            piece = sorted(order[start : start + size * BATCHES_PER_SLICE], key=lambda one: len(self._tokens[one]))
            batches += [np.array(piece[first : first + size]) for first in range(0, len(piece), size)]
        return (batches[number] for number in random.permutation(len(batches)))


class TunedEncoder:
    """An encoder in training and its trainable parameters by name.

    `parameters` are ``<field>.weight`` and ``<field>.bias`` of the heads, and of the encoder either its own parameters
    or ``<layer>.lora_a`` (rank, in) and ``<layer>.lora_b`` (out, rank).
    """

    def __init__(self, settings: EncoderTraining, fields: tuple[str, ...], base: Path, device: str = "cpu") -> None:
        torch.manual_seed(settings.seed)
        encoder = load_encoder(base)
        if settings.tuning == "lora":  # freezes the encoder
            shape = LoraConfig(
                r=settings.rank,
                lora_alpha=UPDATE_SCALE * settings.rank,
                lora_dropout=UPDATE_DROPOUT,
                target_modules=tuned_linear_layers(encoder),
            )
            inject_adapter_in_model(shape, encoder)
        encoder.to(device)
        heads: dict[str, Tensor] = {}
        for name in fields:
            head = torch.nn.Linear(encoder.config.hidden_size, len(FIELD_CLASSES[name]), device=device)
            heads |= {f"{name}.weight": head.weight, f"{name}.bias": head.bias}
        self.network = QuestionNetwork(encoder, heads, fields, settings.pooling)
        # PEFT calls them <layer>.lora_A.default.weight.
        plain = {
            name.removesuffix(".default.weight").replace(".lora_A", ".lora_a").replace(".lora_B", ".lora_b"): tensor
            for name, tensor in encoder.named_parameters()
            if tensor.requires_grad
        }
        self.parameters: dict[str, Tensor] = {**plain, **heads}

    def tensors(self) -> dict[str, NDArray[np.float16]]:
        """A classifier folder's tensors, in half precision: ``head.`` or ``encoder.`` and the parameter's name."""
        kept: dict[str, NDArray[np.float16]] = {}
        for name, parameter in self.parameters.items():
            values = parameter.detach().cpu()
            part = "head." if name in self.network.heads else "encoder."
            kept[part + name] = (values * UPDATE_SCALE if name.endswith(".lora_b") else values).half().numpy()
        return kept


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
        encoder, ngrams = self._parts(name, chosen)
        return fit_mixing_weights(encoder, ngrams, classes[chosen])

    def probabilities(self, name: str, classes: NDArray[np.int64]) -> NDArray[np.float64]:
        """Mixed predictions of a field; the weights of each fold are fitted on the other folds."""
        mixtures = np.zeros((len(classes), len(FIELD_CLASSES[name])))
        for number in np.unique(self.fold):
            held_out = self.fold == number
            encoder, ngrams = self._parts(name, held_out)
            mixtures[held_out] = np.exp(mixed(encoder, ngrams, self.weights(name, classes, number)))
        return mixtures

    def _parts(self, name: str, chosen: NDArray[np.bool_]) -> Sequence[Logs | None]:
        return [table[name][chosen] if name in table else None for table in (self.encoder, self.ngrams)]


def train(
    settings: RouterTraining, examples: Examples, to: Path, base: Path | None, device: str = "cpu", *, show: bool = True
) -> dict[str, dict[str, Any]]:
    """Train one classifier into the folder `to`; return the cross-validated figures.

    `base` is the folder of the base encoder, if there is one; `show` adds a progress bar on standard error.
    """
    tuning = settings.encoder
    everything = np.arange(len(examples.texts))
    with tqdm(desc="training", unit="epoch", disable=not show) as epochs:
        epochs.total = (settings.folds + 1) * tuning.epochs if tuning else 0
        trainer = EncoderTrainer(tuning, examples, base, device, epochs) if tuning and base else None
        held_out = _cross_validate(settings, examples, trainer) if settings.folds else None
        encoder = trainer.fit(everything).tensors() if trainer else {}
    ngrams = fit_ngrams(settings.ngrams, examples, everything)
    reports, weights = {}, dict.fromkeys(examples.classes, MixingWeights(1.0, 0.0))
    if held_out is not None:
        for name, classes in examples.classes.items():
            weights[name] = held_out.weights(name, classes)
            reports[name] = report_field(name, held_out.probabilities(name, classes), classes)
    tensors = {f"ngrams.{name}": values.astype(np.float16) for name, values in ngrams.items()}
    tensors |= {f"0.{name}": values for name, values in encoder.items()}
    contiguous = {name: np.ascontiguousarray(values) for name, values in tensors.items()}
    write_whole(to / WEIGHTS_FILE, save(contiguous))
    config = ClassifierConfig(
        format=1,
        base=tuning.base if tuning else None,
        pooling=tuning.pooling if tuning else "mean",
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
    (to / CONFIG_FILE).write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return reports


def _cross_validate(settings: RouterTraining, examples: Examples, trainer: EncoderTrainer | None) -> OutOfFold:
    """Folds are stratified by the field with the most classes, and do not divide groups."""
    column = max(examples.classes.values(), key=lambda classes: len(np.unique(classes)))
    held_out = OutOfFold(np.full(len(column), -1))
    folds = StratifiedGroupKFold(settings.folds, shuffle=True, random_state=0)
    parts = folds.split(column, column, examples.groups)
    for number, (seen, unseen) in enumerate(parts):
        held_out.fold[unseen] = number
        ngrams = fit_ngrams(settings.ngrams, examples, seen)
        texts = [examples.texts[position] for position in unseen]
        encoder = trainer.predict(trainer.fit(seen), unseen) if trainer else {}
        held_out.put(number, encoder, predict_ngrams(ngrams, texts))
    return held_out


def fit_ngrams(settings: NgramTraining | None, examples: Examples, positions: Positions) -> Tensors:
    """Logistic regression on hashed n-grams, one per field: ``rarity``, ``<field>.weight``, ``<field>.bias``.

    A class without examples gets a bias so low that it is never chosen. Without settings there are no tensors.
    """
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
