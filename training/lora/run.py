"""One tuning run: tokenizes examples, trains with trl, writes the adapter's folder.

``OUT/unfinished`` holds the run's fingerprint and last checkpoints. A killed run continues from the last complete
checkpoint and ends with the same adapter as an uninterrupted run. The folder is removed after the run card is written.
"""

import json
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from agents.common.files import write_json, write_rows
from agents.llm.trainable import quiet_transformers
from training.command import CommandError
from training.examples import TrainingExample
from training.lora.model import COMPLETE, WEIGHTS_FILE, load_tunable, save_adapter
from training.lora.settings import LoraTraining
from training.lora.tokens import ExampleTokenizer, TokenExample, TokenExamples, training_order
from training.pictures import loss_curve
from training.run_card import CARD_FILE

UNFINISHED = "unfinished"
RECORD_FILE = "run.json"
LOSSES_FILE = "losses.jsonl"
CURVE_FILES = ("loss_curve.svg", "loss_curve.png")
_CHATTY = ("trl", "accelerate", "datasets", "peft")


class TunedRun(NamedTuple):
    """The rows of `LOSSES_FILE`, the run's length in seconds over all resumes, and its examples."""

    steps: list[dict[str, Any]]
    seconds: float
    examples: TokenExamples


@dataclass(frozen=True, slots=True)
class LoraRun:
    """Tunes one adapter into the folder `out`.

    `base` is the base model's folder, `start_from` that of an adapter to start from; `max_steps` shortens the run and
    its schedule; `shown` adds a progress bar on standard error.
    """

    settings: LoraTraining
    examples: Sequence[TrainingExample]
    base: Path
    out: Path
    device: str = "cpu"
    start_from: Path | None = None
    max_steps: int | None = None
    shown: bool = True

    @property
    def unfinished(self) -> bool:
        """Whether the folder holds a run that can be resumed."""
        return self._last_checkpoint() is not None and (self._work / RECORD_FILE).is_file()

    def train(self, fingerprint: Mapping[str, Any], *, resume: bool = False, overwrite: bool = False) -> TunedRun:
        """Tune and write the adapter, its losses and their picture; call `finish` afterwards.

        Args:
            fingerprint: Only an unfinished run with the same one can be resumed; JSON-ready.
            resume: Continue an unfinished run, if there is one.
            overwrite: Replace an adapter, once the new one is ready, and an unfinished run that is not resumed.

        Raises:
            CommandError: an adapter or an unfinished run is in the way.
            DatasetError, SettingsError: see `ExampleTokenizer.tokens`, `load_tunable`.
            FloatingPointError: the loss is not finite.
        """
        self._make_way(fingerprint, resume=resume, overwrite=overwrite)
        examples = ExampleTokenizer(self.base).tokens(
            self.examples, self.settings.max_tokens, preferences=self.settings.stage == "preference"
        )
        steps, seconds = self._tune(self._in_order(examples.kept), fingerprint)
        write_rows(self.out / LOSSES_FILE, steps)
        for name in CURVE_FILES:
            loss_curve(self.out / name, [step["loss"] for step in steps], self.settings.description)
        return TunedRun(steps, seconds, examples)

    def finish(self) -> None:
        """Remove the checkpoints, after everything is written, including the run card."""
        shutil.rmtree(self._work)

    def _in_order(self, examples: Sequence[TokenExample]) -> list[TokenExample]:
        lengths = [example.length for example in examples]
        order = training_order(lengths, self._per_step, self.settings.epochs, self.settings.seed)
        return [examples[position] for position in order[: self.max_steps and self.max_steps * self._per_step]]

    def _tune(
        self, examples: Sequence[TokenExample], fingerprint: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], float]:
        from training.lora.trainers import RunRecorder, arguments, build_trainer

        checkpoint = self._last_checkpoint()
        before = json.loads((checkpoint / COMPLETE).read_text(encoding="utf-8"))["seconds"] if checkpoint else 0.0
        read = list(accumulate(example.read for example in examples))
        per_step = self._per_step
        after_steps = [read[min(end, len(read)) - 1] for end in range(per_step, len(read) + per_step, per_step)]
        recorder = RunRecorder(after_steps, before, shown=self.shown)
        with quiet_transformers(), _quiet_libraries():
            model = load_tunable(self.settings, self.base, self.device, self.start_from)
            most = min(self.max_steps, len(after_steps)) if self.max_steps else None
            options = arguments(self.settings, self._work, self.device, most)
            trainer = build_trainer(self.settings, model, self.base, examples, options)
            trainer.add_callback(recorder)
            write_json(self._work / RECORD_FILE, fingerprint)
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        (self.out / CARD_FILE).unlink(missing_ok=True)  # belongs to the overwritten adapter
        save_adapter(model, self.out, self.settings.base)
        return recorder.steps(trainer.state), recorder.seconds

    @property
    def _per_step(self) -> int:
        return self.settings.batch_size * self.settings.accumulation

    @property
    def _work(self) -> Path:
        return self.out / UNFINISHED

    def _make_way(self, fingerprint: Mapping[str, Any], *, resume: bool, overwrite: bool) -> None:
        """Remove a run without checkpoints; refuse work that is neither resumed nor overwritten."""
        if self.unfinished:
            record = json.loads((self._work / RECORD_FILE).read_text(encoding="utf-8"))
            if resume and record == json.loads(json.dumps(fingerprint)):
                return
            if not overwrite:
                what, advice = (" of other settings or data", "") if resume else ("", "--resume continues it, ")
                raise CommandError(f"{self._work} holds an unfinished run{what}: {advice}--overwrite discards it")
        elif (self.out / WEIGHTS_FILE).is_file() and not overwrite:
            raise CommandError(
                f"{self.out} holds a finished adapter: --overwrite replaces it, --out names another folder"
            )
        shutil.rmtree(self._work, ignore_errors=True)

    def _last_checkpoint(self) -> Path | None:
        """The last complete checkpoint; incomplete ones are removed."""
        found: dict[int, Path] = {}
        for folder in self._work.glob("checkpoint-*"):
            if (folder / COMPLETE).is_file():
                found[int(folder.name.rpartition("-")[2])] = folder
            else:
                shutil.rmtree(folder)
        return found[max(found)] if found else None


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Keep trl and the libraries below it from writing to standard error."""
    loggers = [logging.getLogger(name) for name in _CHATTY]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
