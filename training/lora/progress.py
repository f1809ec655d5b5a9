"""What a run shows and notes while it goes: a progress bar, the losses, the time, which checkpoints are complete."""

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm
from transformers.trainer_callback import TrainerCallback, TrainerControl, TrainerState
from transformers.training_args import TrainingArguments

from agents.files import write_whole
from training.lora.run import COMPLETE


class Step(NamedTuple):
    """One step: its number from 1, its loss, the learning rate, the tokens read since the start of the run.

    The loss is the mean over the tokens that are learnt; with preferences it is that of the pairs.
    """

    step: int
    loss: float
    learning_rate: float
    tokens: int


class RunRecorder(TrainerCallback):  # type: ignore[misc]
    """Shows progress, keeps the losses, counts seconds over all resumes, stops a run that diverged.

    Args:
        tokens: How many tokens have been read after each step.
        seconds: How long the run took before it was resumed.
        shown: Whether there is a progress bar on standard error.
    """

    def __init__(self, tokens: Sequence[int], seconds: float = 0.0, *, shown: bool = True) -> None:
        self._tokens = (0, *tokens)
        self._before = seconds
        self._shown = shown
        self._bar: tqdm[Any] = tqdm(disable=True)
        self._started = time.monotonic()
        self._first_step = 0

    @property
    def seconds(self) -> float:
        """Of this run and of those it was resumed from, as far as their last checkpoint."""
        return self._before + time.monotonic() - self._started

    def steps(self, state: TrainerState) -> list[Step]:
        """All steps of a run, those before it was resumed included."""
        return [
            Step(entry["step"], entry["loss"], entry["learning_rate"], self._tokens[entry["step"]])
            for entry in state.log_history
            if "loss" in entry
        ]

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Begin to count."""
        self._started, self._first_step = time.monotonic(), state.global_step
        self._bar = tqdm(
            total=state.max_steps, initial=state.global_step, desc="tuning", unit="step", disable=not self._shown
        )

    def on_log(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        logs: dict[str, float] | None = None,
        **_: object,
    ) -> None:
        """Show a step; raises `FloatingPointError` when its loss is no number."""
        if not logs or "loss" not in logs:
            return
        step, loss = state.global_step, logs["loss"]
        if not math.isfinite(loss):
            raise FloatingPointError(f"the loss is {loss} in step {step}: lower the learning rate")
        read = self._tokens[step] - self._tokens[self._first_step]
        speed = read / max(1e-9, time.monotonic() - self._started)
        self._bar.set_postfix_str(f"loss {loss:.3f}, {speed:.0f} tokens/s", refresh=False)
        self._bar.update(step - self._bar.n)

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        """Declare the checkpoint complete."""
        folder = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
        write_whole(folder / COMPLETE, json.dumps({"seconds": self.seconds}).encode())

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object) -> None:
        """Close the bar."""
        self._bar.close()
