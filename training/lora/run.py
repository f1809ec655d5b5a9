"""One tuning run: tokenizes examples, trains with trl, writes the adapter's folder.

``OUT/unfinished`` holds the last checkpoints; a killed run continues from the last complete one. The folder is removed
at the end, by `finish`.
"""

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from agents.common.files import UserError, write_rows
from agents.llm.trainable import quiet_transformers
from training.examples import TrainingExample
from training.lora.model import WEIGHTS_FILE, load_tunable, save_adapter
from training.lora.settings import LoraTraining
from training.lora.tokens import ExampleTokenizer, TokenExamples
from training.run_card import CARD_FILE

UNFINISHED = "unfinished"
LOSSES_FILE = "losses.jsonl"
_LAST_WRITTEN = "trainer_state.json"
"""transformers writes it last into a checkpoint; without it the checkpoint is incomplete."""
_CHATTY = ("trl", "accelerate", "datasets", "peft")


class TunedRun(NamedTuple):
    """The rows of `LOSSES_FILE`, of all steps, and the examples."""

    steps: list[dict[str, Any]]
    examples: TokenExamples


def tune(
    settings: LoraTraining,
    examples: Sequence[TrainingExample],
    base: Path,
    out: Path,
    device: str = "cpu",
    max_steps: int | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    shown: bool = True,
) -> TunedRun:
    """Tune one adapter and write it with its losses; call `finish` afterwards.

    Args:
        settings: The adapter and its tuning.
        examples: What it learns.
        base: The base model's folder.
        out: The adapter's folder.
        device: ``cpu`` or ``cuda``.
        max_steps: Other length of the run than the settings' epochs.
        resume: Continue an unfinished run of the same settings and data, if there is one.
        overwrite: Replace an adapter, once the new one is ready, and an unfinished run that is not resumed.
        shown: Add a progress bar on standard error.

    Raises:
        UserError: an adapter or an unfinished run is in the way; see also `ExampleTokenizer.tokens`, `load_tunable`.
        FloatingPointError: the loss is not finite.
    """
    from training.lora.trainer import build_trainer

    work = out / UNFINISHED
    checkpoint = _last_checkpoint(work)
    if checkpoint and not (resume or overwrite):
        raise UserError(f"{work} holds an unfinished run: --resume continues it, --overwrite discards it")
    if not checkpoint and (out / WEIGHTS_FILE).is_file() and not overwrite:
        raise UserError(f"{out} holds a finished adapter: --overwrite replaces it, --out names another folder")
    if not resume:
        shutil.rmtree(work, ignore_errors=True)
        checkpoint = None
    tokens = ExampleTokenizer(base).tokens(examples, settings.max_tokens)
    with quiet_transformers(), _quiet_libraries():
        model = load_tunable(settings, base, device)
        trainer = build_trainer(settings, model, base, tokens.kept, work, device, max_steps, shown=shown)
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    (out / CARD_FILE).unlink(missing_ok=True)  # belongs to the overwritten adapter
    save_adapter(model, out, settings.base)
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    steps = [{name: entry[name] for name in ("step", "loss", "learning_rate")} for entry in logged]
    write_rows(out / LOSSES_FILE, steps)
    return TunedRun(steps, tokens)


def finish(out: Path) -> None:
    """Remove the checkpoints, after everything is written, including the run card."""
    shutil.rmtree(out / UNFINISHED, ignore_errors=True)


def _last_checkpoint(work: Path) -> Path | None:
    complete = [folder for folder in work.glob("checkpoint-*") if (folder / _LAST_WRITTEN).is_file()]
    return max(complete, key=lambda folder: int(folder.name.rpartition("-")[2]), default=None)


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Keep trl and the libraries below it from writing to standard error."""
    levels = {logger: logger.level for logger in map(logging.getLogger, _CHATTY)}
    for logger in levels:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
