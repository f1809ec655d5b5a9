"""What a run learns: the recorded losses, those of a plain loop without trl, and nothing from prompts."""

import itertools
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from crag.training.lora.batches import SimilarLengths, in_parts
from crag.training.lora.model import load_tunable, tokenize
from crag.training.lora.run import AnswerTrainer, TuningRun, tune
from tests.training.lora.toy import toy_examples, toy_settings


def test_batches_of_similar_lengths_hold_every_example_once_in_the_order_of_seed_and_epoch() -> None:
    lengths = [random.Random(1).randint(5, 60) for _ in range(50)]
    sampler = SimilarLengths(lengths, 8, seed=3)
    first = list(sampler)
    assert sorted(first) == list(range(50))

    batches = [[lengths[index] for index in first[start : start + 8]] for start in range(0, 50, 8)]
    spans = sorted((min(batch), max(batch)) for batch in batches)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))
    assert batches != sorted(batches), "not from short to long"

    sampler.set_epoch(1)
    assert list(sampler) != first

    sampler.set_epoch(0)
    assert list(sampler) == first == list(SimilarLengths(lengths, 8, seed=3))


def test_a_large_batch_in_parts_has_every_token_once_and_no_more_padding_than_its_rows_need() -> None:
    lengths = [3, 9, 4, 20, 3]
    mask = torch.tensor([[1] * length + [0] * (20 - length) for length in lengths])
    ids = torch.arange(100).reshape(5, 20) + 1
    parts = list(in_parts({"input_ids": ids, "attention_mask": mask}, 12))
    assert [tuple(part["input_ids"].shape) for part in parts] == [(3, 4), (1, 9), (1, 20)]
    read = torch.cat([(part["input_ids"] * part["attention_mask"]).flatten() for part in parts])
    assert sorted(read[read > 0].tolist()) == (ids * mask)[mask > 0].tolist()
    (whole,) = in_parts({"input_ids": ids, "attention_mask": mask}, 100)
    assert whole["input_ids"] is ids


def test_a_processor_without_bfloat16_tunes_in_float32_and_says_how_long(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx2": True, "avx512_bf16": False})

    def losses(name: str, **changes: object) -> list[float]:
        run = TuningRun(tiny_llama, tmp_path / name, max_steps=2, show_progress=False)
        steps, _ = tune(toy_settings(tiny_llama, **changes), toy_examples(8), run)
        return losses_of(steps)

    exact = losses("exact")
    assert capsys.readouterr().err == ""
    assert losses("same", cpu_type="bfloat16") == exact
    assert "no instructions for bfloat16: tuning in float32 takes about 0 minutes\n" in capsys.readouterr().err
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: {"avx512_bf16": True})
    near = losses("near", cpu_type="bfloat16")
    assert near == pytest.approx(exact, rel=0.02)
    assert near != exact


RECORDED = "7.1494 6.8641 6.7992 6.0583 5.5070 5.4220 4.9381 4.7924 4.6424 4.5087"


def losses_of(steps: list[dict[str, Any]]) -> list[float]:
    return [step["loss"] for step in steps]


def test_the_losses_of_ten_steps_are_those_recorded(tiny_llama: Path, tmp_path: Path) -> None:
    run = TuningRun(tiny_llama, tmp_path, show_progress=False)
    steps, _ = tune(toy_settings(tiny_llama, epochs=1), toy_examples(40), run)
    assert losses_of(steps) == pytest.approx([float(loss) for loss in RECORDED.split()], rel=2e-3)
    rows = [json.loads(line) for line in (tmp_path / "losses.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == steps


@pytest.mark.parametrize(("batch_size", "accumulation", "tokens_at_once"), [(16, 1, 10**6), (2, 8, 10**6), (16, 1, 90)])
def test_losses_are_those_of_a_plain_loop_on_the_answers_alone(
    tiny_llama: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    batch_size: int,
    accumulation: int,
    tokens_at_once: int,
) -> None:
    """Independent of trl: labels, mean over the answers' tokens, AdamW, clipping, warm-up and cosine by hand.

    Each step sees all examples, whose order then plays no part; nor do the parts of a batch.
    """
    monkeypatch.setattr(AnswerTrainer, "tokens_at_once", tokens_at_once)
    examples = toy_examples(16)
    shape = {"batch_size": batch_size, "accumulation": accumulation, "epochs": 10, "warm_up_share": 0.2}
    settings = toy_settings(tiny_llama, **shape)
    steps, _ = tune(settings, examples, TuningRun(tiny_llama, tmp_path, show_progress=False))

    tokens = tokenize(tiny_llama, examples, 300).kept
    model = load_tunable(settings, tiny_llama, "cpu")
    model.train()
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=settings.learning_rate, weight_decay=0.0)
    expected = []

    for step in range(10):
        rate = step / 2 if step < 2 else 0.5 * (1 + math.cos(math.pi * (step - 2) / 8))
        optimizer.param_groups[0]["lr"] = settings.learning_rate * rate
        summed = torch.zeros(())
        for example in tokens:
            logits = model(torch.tensor([example.prompt + example.completion])).logits[0, len(example.prompt) - 1 : -1]
            summed = summed + functional.cross_entropy(logits, torch.tensor(example.completion), reduction="sum")

        loss = summed / sum(len(example.completion) for example in tokens)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, settings.max_gradient_norm)
        optimizer.step()
        expected.append(loss.item())

    assert losses_of(steps) == pytest.approx(expected, rel=1e-3)
    assert expected[-1] < expected[0] - 1
