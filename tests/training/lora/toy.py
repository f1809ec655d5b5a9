"""Toy examples for the tiny Llama: sums, with prompts of many lengths."""

import json
import random
from pathlib import Path
from typing import Any

from crag.core.files import write_rows
from crag.engines.llm import Message
from crag.training.files import TrainingExample
from crag.training.lora.settings import LoraTraining

SHAPE = {"rank": 4, "alpha": 8, "dropout": 0.0}
KEYS = {
    "description": "toy", "licence": "none", "learning_rate": 5e-3, "batch_size": 4, "accumulation": 1, "epochs": 2,
    "checkpoint_steps": 5,
}  # fmt: skip


def toy_examples(count: int = 48) -> list[TrainingExample]:
    """Sums; each is a group of its own, every other one comes from another source."""
    chance = random.Random(0)
    found = []

    for number in range(count):
        first, second = chance.randint(1, 99), chance.randint(1, 99)
        system = Message("system", "You answer " + "very " * chance.randint(1, 12) + "briefly.")
        found.append(
            TrainingExample(
                completion=f"it is {first + second}",
                messages=(system, Message("user", f"what is {first} plus {second}?")),
                groups=(f"sum {number}",),
                source=("odd", "even")[number % 2],
            )
        )

    return found


def toy_settings(base: Path, **changes: Any) -> LoraTraining:
    """Settings under which the tiny Llama learns within seconds."""
    fields = KEYS | {"base": str(base), "max_tokens": 300, "adapter": SHAPE}
    return LoraTraining.model_validate(fields | changes)


def write_toy(folder: Path, base: Path, **changes: object) -> list[str]:
    """Write data and a configuration; gives the arguments of the command for them."""
    write_rows(folder / "examples.jsonl", (example.to_row() for example in toy_examples()))
    keys = KEYS | {"base": str(base)} | changes
    lines = [f"{name} = {json.dumps(value)}" for name, value in keys.items()] + ["[adapter]", "rank = 4"]
    (folder / "toy.toml").write_text("\n".join(lines), encoding="utf-8")
    return ["--config", str(folder / "toy.toml"), "--data", str(folder / "examples.jsonl"), "--quiet"]
