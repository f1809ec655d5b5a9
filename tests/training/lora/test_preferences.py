"""Learning from preferences: the reference is where the adapter started."""

import math
from pathlib import Path

import pytest
import torch

from tests.training.lora.toy import toy_examples, toy_settings
from training.examples import TrainingExample
from training.lora.model import load_tunable
from training.lora.run import LoraRun
from training.lora.settings import LoraTraining
from training.lora.tokens import ExampleTokenizer


def preference_settings(base: Path) -> LoraTraining:
    return toy_settings(base, stage="preference", preferences={"beta": 0.1}, batch_size=2, accumulation=2, epochs=1)


def margin(base: Path, adapter: Path, example: TrainingExample) -> float:
    """How much more probable the right completion is than the rejected one: difference of log-probabilities."""
    model = load_tunable(toy_settings(base), base, "cpu", adapter).eval()
    (tokens,) = ExampleTokenizer(base).tokens([example], 400, preferences=True).kept
    found = []
    for completion in (tokens.completion, tokens.rejected or []):
        with torch.inference_mode():
            logits = model(torch.tensor([tokens.prompt + completion])).logits[0, len(tokens.prompt) - 1 : -1]
        found.append(float(logits.log_softmax(-1).gather(1, torch.tensor(completion)[:, None]).sum()))
    return found[0] - found[1]


def test_preferences_move_the_adapter_they_start_from(tiny_llama: Path, tmp_path: Path) -> None:
    supervised, preferred = tmp_path / "supervised", tmp_path / "preferred"
    LoraRun(toy_settings(tiny_llama, epochs=1), toy_examples(), tiny_llama, supervised, shown=False).train({})
    examples = toy_examples(rejected="i don't know")
    run = LoraRun(preference_settings(tiny_llama), examples, tiny_llama, preferred, "cpu", supervised, shown=False)
    outcome = run.train({})
    run.finish()
    # Before the first change the rewards are 0 if, and only if, the reference is the adapter and not the bare model.
    assert outcome.steps[0]["loss"] == pytest.approx(math.log(2), abs=1e-4)
    assert outcome.steps[-1]["loss"] < 0.4
    assert margin(tiny_llama, preferred, examples[0]) > margin(tiny_llama, supervised, examples[0]) + 5
    assert {path.name for path in preferred.iterdir() if path.is_dir()} == set()


def test_accumulating_pairs_one_by_one_is_a_batch_of_them(tiny_llama: Path, tmp_path: Path) -> None:
    examples = toy_examples(16, rejected="i don't know")
    found = []
    for batch_size in (4, 1):
        settings = preference_settings(tiny_llama).model_copy(
            update={"batch_size": batch_size, "accumulation": 4 // batch_size}
        )
        run = LoraRun(settings, examples, tiny_llama, tmp_path / str(batch_size), shown=False)
        found.append([step["loss"] for step in run.train({}).steps])
    assert found[0] == pytest.approx(found[1], rel=2e-3)
