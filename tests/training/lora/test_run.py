"""What a run learns: the recorded losses, those of a plain loop without trl, and nothing from prompts."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch.nn import functional
from transformers import AutoModelForCausalLM

from tests.training.lora.toy import toy_examples, toy_settings
from training.command import CommandError
from training.examples import TrainingExample
from training.lora.model import load_tunable
from training.lora.run import LoraRun, TunedRun
from training.lora.settings import LoraTraining
from training.lora.tokens import ExampleTokenizer, training_order

RECORDED = """6.9563 7.2161 6.9074 6.5400 5.9681 4.8516 4.6165 4.4561 4.4965 4.3096
4.1815 4.0434 4.0554 3.4624 4.1515 4.0307 3.8341 3.2721 3.2272 3.3520"""


def tune(settings: LoraTraining, base: Path, out: Path, examples: list[TrainingExample] | None = None) -> TunedRun:
    run = LoraRun(settings, examples or toy_examples(), base, out, shown=False)
    return run.train({})


def losses_of(outcome: TunedRun) -> list[float]:
    return [step["loss"] for step in outcome.steps]


def test_twenty_steps_as_recorded(tiny_llama: Path, tmp_path: Path) -> None:
    outcome = tune(toy_settings(tiny_llama), tiny_llama, tmp_path, toy_examples(40))
    assert losses_of(outcome) == pytest.approx([float(loss) for loss in RECORDED.split()], rel=2e-3)
    assert outcome.steps[-1]["tokens"] == 2 * sum(example.read for example in outcome.examples.kept)
    rows = [json.loads(line) for line in (tmp_path / "losses.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == outcome.steps


def test_losses_are_those_of_a_plain_loop_on_the_answers_alone(tiny_llama: Path, tmp_path: Path) -> None:
    """Independent of trl: labels, mean over the answers' tokens, AdamW, clipping, warm-up and cosine by hand."""
    settings = toy_settings(tiny_llama, batch_size=2, accumulation=2, epochs=1, warm_up_share=0.2)
    outcome = tune(settings, tiny_llama, tmp_path)
    tokens = ExampleTokenizer(tiny_llama).tokens(toy_examples(), 300).kept
    order = training_order([one.length for one in tokens], 4, 1, settings.seed)
    model = load_tunable(settings, tiny_llama, "cpu")
    model.train()
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=settings.learning_rate, weight_decay=0.0)
    steps, warm_up = len(order) // 4, math.ceil(len(order) // 4 * 0.2)
    expected = []
    for step in range(steps):
        share = (step - warm_up) / (steps - warm_up)
        rate = step / warm_up if step < warm_up else 0.5 * (1 + math.cos(math.pi * share))
        optimizer.param_groups[0]["lr"] = settings.learning_rate * rate
        chosen = [tokens[place] for place in order[4 * step : 4 * step + 4]]
        summed = torch.zeros(())
        for one in chosen:
            logits = model(torch.tensor([one.prompt + one.completion])).logits[0, len(one.prompt) - 1 : -1]
            summed = summed + functional.cross_entropy(logits, torch.tensor(one.completion), reduction="sum")
        loss = summed / sum(len(one.completion) for one in chosen)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, settings.max_gradient_norm)
        optimizer.step()
        expected.append(loss.item())
    assert losses_of(outcome) == pytest.approx(expected, rel=1e-3)
    assert expected[-1] < expected[0] - 1


def test_accumulating_one_four_times_is_a_batch_of_four(tiny_llama: Path, tmp_path: Path) -> None:
    """Also where a batch holds answers of different lengths: each token counts once, not each batch."""
    examples = [
        replace(one, completion=one.completion * (1 + number % 3)) for number, one in enumerate(toy_examples(32))
    ]
    four = toy_settings(tiny_llama, batch_size=4, accumulation=1, epochs=1)
    ones = toy_settings(tiny_llama, batch_size=1, accumulation=4, epochs=1)
    whole = tune(four, tiny_llama, tmp_path / "whole", examples)
    parts = tune(ones, tiny_llama, tmp_path / "parts", examples)
    assert losses_of(whole) == pytest.approx(losses_of(parts), rel=1e-3)
    first, second = (load_file(tmp_path / name / "adapter_model.safetensors") for name in ("whole", "parts"))
    for name, value in first.items():
        torch.testing.assert_close(value.float(), second[name].float(), atol=5e-3, rtol=0.05)


def test_only_the_layers_asked_for_are_tuned(tiny_llama: Path) -> None:
    shape = {"rank": 4, "layers": 1, "targets": ["q_proj", "up_proj"]}
    model = load_tunable(toy_settings(tiny_llama, adapter=shape), tiny_llama, "cpu")
    tuned = {name for name, weight in model.named_parameters() if weight.requires_grad}
    prefix = "base_model.model.model.layers.1"
    assert tuned == {
        f"{prefix}.{layer}.lora_{letter}.default.weight"
        for layer in ("self_attn.q_proj", "mlp.up_proj")
        for letter in "AB"
    }


def test_a_new_adapter_changes_nothing(tiny_llama: Path) -> None:
    inputs = torch.tensor([[5, 6, 7, 8]])
    plain = AutoModelForCausalLM.from_pretrained(str(tiny_llama))
    tunable = load_tunable(toy_settings(tiny_llama), tiny_llama, "cpu").eval()
    with torch.inference_mode():
        torch.testing.assert_close(tunable(inputs).logits, plain(inputs).logits)


def test_an_unfinished_run_is_not_overwritten(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    run = LoraRun(toy_settings(tiny_llama), toy_examples(), tiny_llama, tmp_path, max_steps=6, shown=False)
    monkeypatch.setattr("training.lora.run.save_adapter", stop)
    with pytest.raises(KeyboardInterrupt):
        run.train({"data": "a"})
    monkeypatch.undo()
    with pytest.raises(CommandError, match="--resume continues it, --overwrite discards it"):
        run.train({"data": "a"})
    with pytest.raises(CommandError, match="other settings or data"):
        run.train({"data": "b"}, resume=True)
    assert len(run.train({"data": "a"}, resume=True).steps) == 6, "what was killed after its last step only writes"
