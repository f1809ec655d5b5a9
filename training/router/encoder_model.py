"""Fine-tunes an encoder with one head per field."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from agents.common.files import UserError
from agents.questions import FIELD_CLASSES
from agents.questions.trainable import (
    Logs,
    QuestionNetwork,
    QuestionTokenizer,
    TokenBatch,
    load_encoder,
    log_softmax,
    tuned_linear_layers,
)
from training.router.examples import EncoderTraining, Examples, Positions

if TYPE_CHECKING:
    from torch import Tensor
    from tqdm import tqdm

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


def check_device(device: str) -> None:
    """Try a small computation on the device; `UserError` if there is no such device."""
    import torch

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
        """Train one encoder on these questions.

        Raises:
            FloatingPointError: the loss is not finite; the learning rate is too high.
        """
        import torch
        from transformers import get_linear_schedule_with_warmup

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
        import torch

        found = {field: np.zeros((len(positions), len(FIELD_CLASSES[field]))) for field in self._examples.classes}
        order = np.array(sorted(range(len(positions)), key=lambda place: len(self._tokens[positions[place]])))
        tuned.network.encoder.eval()
        with torch.inference_mode():
            for start in range(0, len(order), PREDICTION_BATCH):
                places = order[start : start + PREDICTION_BATCH]
                for field, logits in tuned.network.logits(self._batch(positions[places])).items():
                    found[field][places] = log_softmax(logits.float().cpu().numpy())
        return found

    def _loss(self, tuned: "TunedEncoder", positions: Positions) -> "Tensor":
        import torch
        from torch.nn import functional

        logits = tuned.network.logits(self._batch(positions), DROPOUT)
        classes = {name: torch.from_numpy(own[positions]) for name, own in self._examples.classes.items()}
        losses = [functional.cross_entropy(logits[name], own.to(self._device)) for name, own in classes.items()]
        return torch.stack(losses).sum()

    def _batch(self, positions: Positions) -> TokenBatch:
        return self._tokenizer.batch([self._tokens[position] for position in positions], self._device)

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
        import torch
        from peft import LoraConfig, inject_adapter_in_model

        torch.manual_seed(settings.seed)
        encoder = load_encoder(base)
        if settings.tuning == "lora":  # freezes the encoder
            shape = LoraConfig(
                r=settings.rank,
                lora_alpha=UPDATE_SCALE * settings.rank,
                lora_dropout=UPDATE_DROPOUT,
                target_modules=list(tuned_linear_layers(encoder)),
            )
            inject_adapter_in_model(shape, encoder)
        encoder.to(device)
        heads: dict[str, Tensor] = {}
        for field in fields:
            head = torch.nn.Linear(encoder.config.hidden_size, len(FIELD_CLASSES[field]), device=device)
            heads |= {f"{field}.weight": head.weight, f"{field}.bias": head.bias}
        self.network = QuestionNetwork(encoder, heads, fields, settings.pooling)
        self.parameters: dict[str, Tensor] = {
            **{_plain_name(name): one for name, one in encoder.named_parameters() if one.requires_grad},
            **heads,
        }

    def tensors(self) -> dict[str, NDArray[np.float16]]:
        """A classifier folder's tensors, in half precision: ``head.`` or ``encoder.`` and the parameter's name."""
        kept: dict[str, NDArray[np.float16]] = {}
        for name, parameter in self.parameters.items():
            values = parameter.detach().cpu()
            part = "head." if name in self.network.heads else "encoder."
            kept[part + name] = (values * UPDATE_SCALE if name.endswith(".lora_b") else values).half().numpy()
        return kept


def _plain_name(name: str) -> str:
    """PEFT's ``<layer>.lora_A.default.weight`` as ``<layer>.lora_a``, its name in a classifier's folder."""
    return name.removesuffix(".default.weight").replace(".lora_A", ".lora_a").replace(".lora_B", ".lora_b")
