"""A run that is killed at any moment goes on from its last checkpoint and ends with the same bytes."""

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

from crag.commands.train.lora import main
from tests.training.lora.toy import write_toy

REPOSITORY = Path(__file__).parents[3]
EVERY, STEPS = 3, 24
KILLED = """
import os, signal, sys
from crag.commands.train.lora import main
from crag.training.lora.run import AnswerTrainer

_, step, *arguments = sys.argv
real = AnswerTrainer.compute_loss

def last(trainer, *batch, **more):
    if trainer.state.global_step >= int(step):
        os.kill(os.getpid(), signal.SIGKILL)
    return real(trainer, *batch, **more)

AnswerTrainer.compute_loss = last
main(arguments)
"""


def test_killed_at_a_random_moment_is_as_good_as_never(tiny_llama: Path, tmp_path: Path) -> None:
    arguments = write_toy(tmp_path, tiny_llama, checkpoint_steps=EVERY, similar_lengths=True)
    whole, killed = tmp_path / "whole", tmp_path / "killed"

    assert main([*arguments, "--out", str(whole)]) == 0
    step = random.randint(2 * EVERY + 1, STEPS - 6)
    command = [sys.executable, "-c", KILLED, str(step), *arguments, "--out", str(killed)]
    done = subprocess.run(command, cwd=REPOSITORY, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False)
    assert done.returncode == -signal.SIGKILL

    last, *_ = sorted((killed / "unfinished").glob("checkpoint-*"), key=lambda path: -int(path.name.rpartition("-")[2]))
    (last / "trainer_state.json").unlink()  # as if it was being written: the one before is not lost

    assert main([*arguments, "--out", str(killed), "--resume"]) == 0
    for name in ("adapter_model.safetensors", "adapter_config.json", "losses.jsonl"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes(), name

    cards = [json.loads((out / "run_card.json").read_text(encoding="utf-8")) for out in (whole, killed)]
    assert cards[0]["metrics"] == cards[1]["metrics"]
    assert not (killed / "unfinished").exists()
