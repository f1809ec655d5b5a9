"""A run that is killed at any moment goes on from its last checkpoint and ends with the same bytes."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from transformers import TrainerControl, TrainerState, TrainingArguments

from tests.training.lora.toy import write_toy
from training.lora.__main__ import main
from training.lora.model import COMPLETE
from training.lora.run import UNFINISHED
from training.lora.trainers import RunRecorder

REPOSITORY = Path(__file__).parents[3]
EVERY = 3
STEPS = 24
KILLED = """
import os, signal, sys
from training.lora.__main__ import main
from training.lora.trainers import RunRecorder

_, moment, step, *arguments = sys.argv
real = getattr(RunRecorder, moment)

def last(recorder, args, state, control, **more):
    if state.global_step >= int(step):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(recorder, args, state, control, **more)

setattr(RunRecorder, moment, last)
main(arguments)
"""


def checkpoints(out: Path, *, complete: bool) -> list[int]:
    found = [path for path in (out / UNFINISHED).glob("checkpoint-*") if not complete or (path / COMPLETE).is_file()]
    return sorted(int(path.name.rpartition("-")[2]) for path in found)


def assert_same(first: Path, second: Path) -> None:
    for name in ("adapter_model.safetensors", "adapter_config.json", "losses.jsonl", "loss_curve.svg"):
        assert (first / name).read_bytes() == (second / name).read_bytes(), name
    cards = [json.loads((out / "run_card.json").read_text(encoding="utf-8")) for out in (first, second)]
    assert cards[0]["metrics"] == cards[1]["metrics"]
    assert cards[0]["settings"] == cards[1]["settings"]
    assert not (second / UNFINISHED).exists()


def test_killed_at_a_random_moment_is_as_good_as_never(tiny_llama: Path, tmp_path: Path) -> None:
    arguments = write_toy(tmp_path, tiny_llama, checkpoint_steps=EVERY)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main([*arguments, "--out", str(whole)]) == 0
    # It kills itself: after a step, or when a checkpoint is written and not yet declared complete.
    step, moment = random.randint(EVERY, STEPS - 6), random.choice(["on_log", "on_save"])
    command = [sys.executable, "-c", KILLED, moment, str(step), *arguments, "--out", str(killed)]
    done = subprocess.run(command, cwd=REPOSITORY, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False)
    assert done.returncode == -signal.SIGKILL
    # The checkpoint that was being written is lost, the one before it is not.
    assert max(checkpoints(killed, complete=True), default=0) >= step - EVERY
    assert main([*arguments, "--out", str(killed), "--resume"]) == 0
    assert_same(whole, killed)


@pytest.mark.parametrize("stage", ["supervised", "preference"])
def test_stopped_while_it_wrote_a_checkpoint(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    arguments = write_toy(tmp_path, tiny_llama, checkpoint_steps=EVERY, stage=stage)
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    assert main([*arguments, "--out", str(whole)]) == 0
    original = RunRecorder.on_save

    def stop(
        self: RunRecorder, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        if state.global_step == 4 * EVERY:
            raise KeyboardInterrupt
        original(self, args, state, control)

    with monkeypatch.context() as context:
        context.setattr(RunRecorder, "on_save", stop)
        assert main([*arguments, "--out", str(stopped)]) == 130
    (stopped / UNFINISHED / f"checkpoint-{4 * EVERY}" / "optimizer.pt").write_bytes(b"half of it")
    assert main([*arguments, "--out", str(stopped), "--resume"]) == 0
    assert_same(whole, stopped)
