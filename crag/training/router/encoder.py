"""Fine-tunes an encoder with a classification head per field, all fields at once."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from peft import LoraConfig, inject_adapter_in_model
from torch import Tensor
from torch.nn import functional
from tqdm import tqdm
from transformers import get_linear_schedule_with_warmup

from crag.core.files import UserError
from crag.router import FIELD_CLASSES
from crag.router.calibration import LogProbabilities, log_softmax
from crag.router.network import QuestionTokenizer
from crag.training.router.network import QuestionNetwork, load_encoder, tuned_linear_layers
from crag.training.router.questions import Examples, Positions
from crag.training.router.settings import EncoderTraining

MAX_TOKENS = 64
"""Of a question; longer ones are cut."""
DROPOUT = 0.1
"""On the input of the heads."""
UPDATE_DROPOUT = 0.05
"""On the input of the low-rank updates."""
UPDATE_SCALE = 2
"""LoRA's alpha divided by its rank."""
MAX_GRADIENT_NORM = 1.0
BATCHES_PER_SLICE = 8
"""Questions are sorted by length inside slices of this many batches, to reduce padding."""
PREDICTION_BATCH = 32


def check_device(device: str) -> None:
    """Try a small computation on the device; `UserError` if there is no such device."""
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, ImportError) as error:  # torch raises different errors
        first_line = str(error).splitlines()[0]
        raise UserError(f"device {device!r}: {first_line}") from None


class TunedEncoder:
    """An encoder in training and its trainable parameters by name.

    `parameters` are ``<field>.weight`` and ``<field>.bias`` of the heads, and of the encoder either all of its own
    parameters or ``<layer>.lora_a`` (rank, in) and ``<layer>.lora_b`` (out, rank).
    """

    def __init__(
        self,
        settings: EncoderTraining,
        fields: tuple[str, ...],
        base: Path,
        device: str = "cpu",
    ) -> None:
        # Before the heads and updates get their random weights
        torch.manual_seed(settings.seed)
        encoder = load_encoder(base, settings.pooling)
        if settings.tuning == "lora":  # freezes the encoder
            lora = LoraConfig(
                r=settings.rank,
                lora_alpha=UPDATE_SCALE * settings.rank,
                lora_dropout=UPDATE_DROPOUT,
                target_modules=tuned_linear_layers(encoder),
            )
            inject_adapter_in_model(lora, encoder)
        encoder.to(device)

        heads: dict[str, Tensor] = {}
        for name in fields:
            classes = len(FIELD_CLASSES[name])
            head = torch.nn.Linear(encoder.config.hidden_size, classes, device=device)
            if settings.pooling == "pooler":
                # As BERT's own head begins
                torch.nn.init.normal_(head.weight, std=encoder.config.initializer_range)
                torch.nn.init.zeros_(head.bias)
            heads[f"{name}.weight"] = head.weight
            heads[f"{name}.bias"] = head.bias
        self.network = QuestionNetwork(encoder, heads, fields, settings.pooling)

        self.parameters: dict[str, Tensor] = {}
        for name, tensor in encoder.named_parameters():
            if tensor.requires_grad:
                self.parameters[_plain_name(name)] = tensor
        self.parameters |= heads

    def tensors(self) -> dict[str, NDArray[np.float16]]:
        """A classifier folder's tensors, in half precision: ``head.`` or ``encoder.`` and the parameter's name."""
        tensors: dict[str, NDArray[np.float16]] = {}
        for name, parameter in self.parameters.items():
            values = parameter.detach().cpu()
            if name.endswith(".lora_b"):
                values = values * UPDATE_SCALE  # a classifier multiplies lora_b by lora_a and nothing else
            part = "head." if name in self.network.heads else "encoder."
            tensors[part + name] = values.half().numpy()
        return tensors


def _plain_name(name: str) -> str:
    """``<layer>.lora_a`` for PEFT's ``<layer>.lora_A.default.weight``; other names stay."""
    return name.removesuffix(".default.weight").replace(".lora_A", ".lora_a").replace(".lora_B", ".lora_b")


class EncoderTrainer:
    """Shared by all fits of a run; `progress` counts the epochs of all of them."""

    def __init__(
        self,
        settings: EncoderTraining,
        examples: Examples,
        base: Path,
        device: str,
        progress: "tqdm[Any]",
    ) -> None:
        self._settings = settings
        self._examples = examples
        self._base = base
        self._device = device
        self._progress = progress
        self._tokenizer = QuestionTokenizer(base, MAX_TOKENS)
        self._tokens = self._tokenizer.tokens(examples.texts)

    def fit(self, positions: Positions) -> TunedEncoder:
        """Train one encoder on these questions; FloatingPointError: the loss is not finite."""
        settings = self._settings
        fields = tuple(self._examples.classes)
        tuned = TunedEncoder(settings, fields, self._base, self._device)
        optimizer = self._build_optimizer(tuned)

        # The learning rate rises for a share of all steps, then falls.
        steps = math.ceil(len(positions) / settings.batch_size) * settings.epochs
        warm_up_steps = int(steps * settings.warm_up_share)
        schedule = get_linear_schedule_with_warmup(optimizer, warm_up_steps, steps)

        tuned.network.encoder.train()
        for epoch in range(settings.epochs):
            # For dropout: another sequence in each epoch, and the same in each run
            torch.manual_seed(settings.seed * 1_000_003 + epoch)
            # For the order of the batches
            random = np.random.default_rng((settings.seed, epoch))
            losses: list[float] = []
            for batch in self._batches(positions, random):
                loss = self._loss(tuned, batch)
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(list(tuned.parameters.values()), MAX_GRADIENT_NORM)
                optimizer.step()
                schedule.step()
                losses.append(float(loss.detach()))

            # Checked once an epoch: weights that diverged do not come back
            if not np.isfinite(losses).all():
                raise FloatingPointError(
                    f"training diverged: the loss is {losses[-1]} in epoch {epoch + 1}: lower the learning rate"
                )
            self._progress.set_postfix_str(f"loss {np.mean(losses):.3f}", refresh=False)
            self._progress.update()
        return tuned

    def _build_optimizer(self, tuned: TunedEncoder) -> torch.optim.AdamW:
        """AdamW, with learning rates of their own for encoder and heads.

        Matrices decay; biases and the weights of layer norms, the only vectors, do not (as in transformers' Trainer).
        """
        settings = self._settings
        groups: dict[tuple[float, float], list[Tensor]] = {}
        for name, parameter in tuned.parameters.items():
            is_head = name in tuned.network.heads
            learning_rate = settings.head_learning_rate if is_head else settings.learning_rate
            decay = settings.weight_decay if parameter.ndim > 1 else 0.0
            groups.setdefault((learning_rate, decay), []).append(parameter)

        options: list[dict[str, Any]] = []
        for (learning_rate, decay), parameters in groups.items():
            options.append({"params": parameters, "lr": learning_rate, "weight_decay": decay})
        return torch.optim.AdamW(options)

    def predict(self, tuned: TunedEncoder, positions: Positions) -> dict[str, LogProbabilities]:
        """Log-probabilities of each field, shape (positions, classes)."""
        tuned.network.encoder.eval()
        logits: list[dict[str, Tensor]] = []
        with torch.inference_mode():
            for start in range(0, len(positions), PREDICTION_BATCH):
                batch = positions[start : start + PREDICTION_BATCH]
                logits.append(tuned.network.logits(*self._batch(batch)))

        log_probabilities: dict[str, LogProbabilities] = {}
        for name in self._examples.classes:
            # float32 on the CPU, whatever the device computed with
            joined = torch.cat([batch_logits[name] for batch_logits in logits])
            log_probabilities[name] = log_softmax(joined.float().cpu().numpy())
        return log_probabilities

    def _loss(self, tuned: TunedEncoder, positions: Positions) -> Tensor:
        """The sum of the fields' cross-entropies for one batch."""
        logits = tuned.network.logits(*self._batch(positions), DROPOUT)
        losses: list[Tensor] = []
        for name, classes in self._examples.classes.items():
            labels = torch.from_numpy(classes[positions]).to(self._device)
            losses.append(functional.cross_entropy(logits[name], labels))
        return torch.stack(losses).sum()

    def _batch(self, positions: Positions) -> tuple[Tensor, Tensor]:
        """Token ids and mask, both of shape (positions, longest)."""
        sequences = [self._tokens[position] for position in positions]
        ids, mask = self._tokenizer.batch(sequences)
        return torch.from_numpy(ids).to(self._device), torch.from_numpy(mask).to(self._device)

    def _batches(self, positions: Positions, random: Generator) -> Iterator[Positions]:
        """All positions in batches of similar length, in random order."""
        size = self._settings.batch_size
        # Shuffled before sorting, so that a slice is a random part of the data
        order = random.permutation(positions)
        batches: list[Positions] = []
        slice_size = size * BATCHES_PER_SLICE
        for start in range(0, len(order), slice_size):
            by_length = sorted(
                order[start : start + slice_size],
                key=lambda position: len(self._tokens[position]),
            )
            for first in range(0, len(by_length), size):
                batch = by_length[first : first + size]
                batches.append(np.array(batch))

        # Shuffled again: else each slice would go from short questions to long ones
        for number in random.permutation(len(batches)):
            yield batches[number]
