"""A whole tuning run: examples to tokens, a trainer of trl around the model, and the folder that it leaves behind.

Until the end everything lies in ``OUT/unfinished``: what the run is of, and its last checkpoints. A run that was killed
goes on from the last complete one and ends with the same adapter as one that was not killed. It is removed last, after
the run card that declares the adapter finished.
"""

import json
import logging
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.files import write_rows, write_whole
from agents.llm.trainable import quiet_transformers
from training.examples import TrainingExample
from training.lora.model import WEIGHTS_FILE, load_tunable, save_adapter
from training.lora.settings import LoraTraining
from training.lora.tokens import ExampleTokenizer, TokenExample, TokenExamples, training_order
from training.pictures import loss_curve
from training.run_card import CARD_FILE

if TYPE_CHECKING:
    from training.lora.progress import Step

UNFINISHED = "unfinished"
RECORD_FILE = "run.json"
COMPLETE = "complete.json"
"""Written into a checkpoint after everything else: one without it is of a run that was killed while it wrote."""
LOSSES_FILE = "losses.jsonl"
CURVE_FILES = ("loss_curve.svg", "loss_curve.png")
_CHATTY = ("trl", "accelerate", "datasets", "peft")


class RunMismatchError(RuntimeError):
    """An adapter is in the way, or an unfinished run of other settings or other data or that nobody asked to resume."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run was: its steps, its length in seconds over all resumes, and the examples it learnt from."""

    steps: list["Step"]
    seconds: float
    examples: TokenExamples


@dataclass(frozen=True, slots=True)
class LoraRun:
    """Tunes one adapter into the folder `out`.

    Args:
        settings: What to tune.
        examples: From what.
        base: The base model's folder.
        out: The folder that becomes the adapter's.
        device: ``cpu`` or ``cuda``.
        start_from: Folder of an adapter to go on from.
        max_steps: End there, with the schedule of a run of that length; None: as many as the epochs have.
        shown: Whether there is a progress bar on standard error.
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

    def train(self, fingerprint: Mapping[str, Any], *, resume: bool = False, overwrite: bool = False) -> Outcome:
        """Do what is not done yet and write the adapter, its losses and their picture; `finish` comes after it.

        Args:
            fingerprint: What must be the same for an unfinished run to be resumed; JSON-ready.
            resume: Go on with an unfinished run, where there is one.
            overwrite: Replace an adapter and an unfinished run that is not to be resumed. An adapter stays as it is
                until the new one is written.

        Raises:
            RunMismatchError: an adapter or an unfinished run is in the way.
            DatasetError: nothing can be learnt from the examples; see `ExampleTokenizer.tokens`.
            EngineUnavailableError, SettingsError: see `load_tunable`.
            FloatingPointError: the loss is no number any more.
        """
        self._make_way(fingerprint, resume=resume, overwrite=overwrite)
        examples = ExampleTokenizer(self.base).tokens(
            self.examples, self.settings.max_tokens, pairs=self.settings.stage == "preference"
        )
        steps, seconds = self._tune(self._in_order(examples.kept), fingerprint)
        write_rows(self.out / LOSSES_FILE, (step._asdict() for step in steps))
        for name in CURVE_FILES:
            loss_curve(self.out / name, [step.loss for step in steps], self.settings.description)
        return Outcome(steps, seconds, examples)

    def finish(self) -> None:
        """Remove what a resume needs: all is written, the run card included."""
        shutil.rmtree(self._work)

    def _in_order(self, examples: Sequence[TokenExample]) -> list[TokenExample]:
        lengths = [example.length for example in examples]
        order = training_order(lengths, self._per_step, self.settings.epochs, self.settings.seed)
        return [examples[position] for position in order[: self.max_steps and self.max_steps * self._per_step]]

    def _tune(self, examples: Sequence[TokenExample], fingerprint: Mapping[str, Any]) -> tuple[list["Step"], float]:
        from training.lora.progress import RunRecorder
        from training.lora.trainers import arguments, build_trainer

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
            self._begin(fingerprint)
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        (self.out / CARD_FILE).unlink(missing_ok=True)  # of an adapter that is overwritten
        save_adapter(model, self.out, self.settings.base)
        return recorder.steps(trainer.state), recorder.seconds

    @property
    def _per_step(self) -> int:
        return self.settings.batch_size * self.settings.accumulation

    @property
    def _work(self) -> Path:
        return self.out / UNFINISHED

    def _make_way(self, fingerprint: Mapping[str, Any], *, resume: bool, overwrite: bool) -> None:
        """Clear away what was stopped before its first checkpoint; refuse what is neither resumed nor overwritten."""
        if self.unfinished:
            record = json.loads((self._work / RECORD_FILE).read_text(encoding="utf-8"))
            same = record == json.loads(json.dumps(fingerprint))
            if resume and same:
                return
            if not overwrite:
                described, advice = (" of other settings or data", "") if resume else ("", "--resume goes on with it, ")
                raise RunMismatchError(
                    f"{self._work} holds an unfinished run{described}: {advice}--overwrite throws it away"
                )
        elif (self.out / WEIGHTS_FILE).is_file() and not overwrite:
            raise RunMismatchError(
                f"{self.out} holds a finished adapter: --overwrite replaces it, --out names another folder"
            )
        shutil.rmtree(self._work, ignore_errors=True)

    def _begin(self, fingerprint: Mapping[str, Any]) -> None:
        self._work.mkdir(parents=True, exist_ok=True)
        write_whole(self._work / RECORD_FILE, json.dumps(fingerprint).encode())

    def _last_checkpoint(self) -> Path | None:
        """The last complete one; half-written ones are removed."""
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
