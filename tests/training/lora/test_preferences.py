"""Preferences from labels with several answers to a pair file, and from pairs to an adapter."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn import functional

from crag.answering import PROMPTS
from crag.answering.prompts import PromptInputs
from crag.commands.train.dpo import main as dpo
from crag.commands.train.labels import main as labels
from crag.commands.train.lora import main as lora
from crag.commands.train.preferences import main as preferences
from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION, Query
from crag.core.files import write_rows
from crag.engines.llm import Message
from crag.training.lora.model import continue_adapter, load_tunable
from crag.training.lora.preferences import TokenPair, tokenize_pairs, tune_preferences
from crag.training.lora.run import TuningRun
from crag.training.lora.settings import PreferenceTraining
from crag.training.preferences import PreferencePair, read_pairs_of_answers
from tests.training.labels.runs import asked, written
from tests.training.lora.test_main import changed_copy
from tests.training.lora.toy import write_toy

BRIDGE = '<doc source="a.example" title="The bridge">\nThe bridge of Orvel was opened in 1911.\n</doc>'
OPENED = "when was the bridge of orvel opened?"
BUILDER = "who drew the plans of the bridge of orvel?"
FLOOD = "which king of orvel swam under the bridge?"


# --- pairs --------------------------------------------------------------------------------------------------------


def sampled(folder: Path, query: str, gold: str, *answers: str) -> list[tuple[str, str]]:
    """The pairs, preferred answer first, of one question that as many runs answered so."""
    runs: list[str] = []
    for number, answer in enumerate(answers):
        runs += ["--run", str(written(folder / f"run{number}", asked("a", query, gold, answer, BRIDGE)))]
    assert labels([*runs, "--out", str(folder / "labels.jsonl")]) == 0

    given = ["--labels", str(folder / "labels.jsonl"), "--out", str(folder / "pairs.jsonl")]
    assert preferences(["web_answerer", "--preset", "scripted", *given]) == 0
    pairs = read_pairs_of_answers(folder / "pairs.jsonl")
    return sorted((pair.completion, pair.rejected) for pair in pairs)


@pytest.mark.parametrize(
    ("query", "gold", "answers", "expected"),
    [
        # Mostly right: answering wins. Right is also preferred to wrong.
        (OPENED, "1911", ["in 1911", "1911", "1934"],
         [("1911", I_DONT_KNOW), (I_DONT_KNOW, "1934"), ("in 1911", "1934"), ("in 1911", I_DONT_KNOW)]),
        # Mostly wrong: silence wins.
        (OPENED, "1911", ["1934", "1911", "1935"],
         [("1911", "1934"), ("1911", I_DONT_KNOW), (I_DONT_KNOW, "1934"), (I_DONT_KNOW, "1935")]),
        # Never right, but the text has it: the label counts as one right sample.
        (OPENED, "1911", ["1934", I_DONT_KNOW],
         [("1911", "1934"), ("1911", I_DONT_KNOW), (I_DONT_KNOW, "1934")]),
        (OPENED, "1911", [I_DONT_KNOW, ""], [("1911", I_DONT_KNOW)]),
        # Never right, and the text lacks it.
        (BUILDER, "Ada Lund", ["Per Moe", "Ann Lee"], [(I_DONT_KNOW, "Ann Lee"), (I_DONT_KNOW, "Per Moe")]),
        # A false premise: its answer is the right one.
        (FLOOD, INVALID_QUESTION, ["King Olaf", I_DONT_KNOW],
         [(I_DONT_KNOW, "King Olaf"), (INVALID_QUESTION, "King Olaf"), (INVALID_QUESTION, I_DONT_KNOW)]),
    ],
)  # fmt: skip
def test_right_over_silent_over_wrong_as_often_as_sampled(
    tmp_path: Path, query: str, gold: str, answers: list[str], expected: list[tuple[str, str]]
) -> None:
    assert sampled(tmp_path, query, gold, *answers) == sorted(expected)


def test_pairs_are_asked_in_the_words_of_the_preset_and_the_card_counts_their_kinds(tmp_path: Path) -> None:
    sampled(tmp_path, OPENED, "1911", "1911", "1934")
    pairs = read_pairs_of_answers(tmp_path / "pairs.jsonl")
    inputs = PromptInputs(Query("", OPENED, "", None, ()), BRIDGE)
    prompt = PROMPTS["controlled"].render(inputs, word_limit=50)
    assert {pair.messages for pair in pairs} == {prompt}
    assert {pair.groups for pair in pairs} == {(OPENED,)}

    card = json.loads((tmp_path / "pairs" / "run_card.json").read_text(encoding="utf-8"))
    assert card["metrics"]["kinds"] == {"right over silent": 1, "silent over wrong": 1, "right over wrong": 1}
    card = json.loads((tmp_path / "labels" / "run_card.json").read_text(encoding="utf-8"))
    assert card["metrics"]["samples"] == {"correct": 1, "incorrect": 1}


def test_labels_that_give_no_pair_are_reported_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = written(tmp_path / "run", asked("a", BUILDER, "Ada Lund", I_DONT_KNOW, BRIDGE))
    rows, out = tmp_path / "labels.jsonl", ["--out", str(tmp_path / "pairs.jsonl")]
    assert labels(["--run", str(run), "--out", str(rows)]) == 0
    given = ["web_answerer", "--preset", "scripted", "--labels", str(rows), *out]
    assert preferences(given) == 2
    assert "labels.jsonl: no pair of answers: every sample is" in capsys.readouterr().err

    row = json.loads(rows.read_text(encoding="utf-8"))
    del row["samples"]
    rows.write_text(json.dumps(row), encoding="utf-8")
    assert preferences(given) == 2
    assert 'labels.jsonl, line 1, field "samples": Field required' in capsys.readouterr().err


# --- tuning -------------------------------------------------------------------------------------------------------


def toy_pairs(count: int = 12) -> list[PreferencePair]:
    """Sums with a right and a wrong answer; every third prefers silence."""
    pairs = []

    for number in range(count):
        right = f"it is {number + 3}" if number % 3 else I_DONT_KNOW
        pairs.append(
            PreferencePair(
                completion=right,
                rejected=f"it is {number + 40}",
                messages=(Message("user", f"what is {number} plus 3?"),),
                groups=(f"sum {number}",),
                source="right over wrong" if number % 3 else "silent over wrong",
            )
        )

    return pairs


def toy_preferences(base: Path, **changes: Any) -> PreferenceTraining:
    settings = {"description": "toy", "base": str(base), "licence": "none", "learning_rate": 5e-3, "batch_size": 4}
    settings |= {"accumulation": 1, "epochs": 2, "max_tokens": 300, "adapter": {"rank": 4, "alpha": 8, "dropout": 0.0}}
    return PreferenceTraining.model_validate(settings | changes)


def write_pairs(folder: Path, base: Path, **changes: object) -> list[str]:
    """Arguments of the command for the toy pairs."""
    arguments = write_toy(folder, base, **changes)
    write_rows(folder / "pairs.jsonl", (pair.to_row() for pair in toy_pairs()))
    arguments[arguments.index("--data") + 1] = str(folder / "pairs.jsonl")
    return arguments


def log_probability(model: torch.nn.Module, prompt: list[int], answer: list[int]) -> torch.Tensor:
    logits = model(torch.tensor([prompt + answer])).logits[0, len(prompt) - 1 : -1]
    return -functional.cross_entropy(logits, torch.tensor(answer), reduction="sum")


def preference(model: torch.nn.Module, pair: TokenPair) -> torch.Tensor:
    """By how much the model finds the chosen answer likelier than the rejected one, in log probabilities."""
    return log_probability(model, pair.prompt, pair.chosen) - log_probability(model, pair.prompt, pair.rejected)


def test_losses_are_those_of_dpo_by_hand(tiny_llama: Path, tmp_path: Path) -> None:
    """Independent of trl: the reference is the base model; each step sees all pairs, whose order plays no part."""
    pairs = toy_pairs()
    settings = toy_preferences(tiny_llama, batch_size=6, accumulation=2, epochs=4, beta=0.2)
    tokens = tokenize_pairs(tiny_llama, pairs, 300)
    steps = tune_preferences(settings, tokens, TuningRun(tiny_llama, tmp_path, show_progress=False))

    model = load_tunable(settings, tiny_llama, "cpu")
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=settings.learning_rate, weight_decay=0.0)

    with torch.no_grad(), model.disable_adapter():
        reference = [preference(model, pair) for pair in tokens.kept]

    expected = []
    for step in range(4):
        # One step of warm-up, then the cosine.
        rate = 0.0 if step == 0 else 0.5 * (1 + math.cos(math.pi * (step - 1) / 3))
        optimizer.param_groups[0]["lr"] = settings.learning_rate * rate
        losses = []
        for pair, before in zip(tokens.kept, reference, strict=True):
            change = preference(model, pair) - before
            losses.append(-functional.logsigmoid(settings.beta * change))

        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, settings.max_gradient_norm)
        optimizer.step()
        expected.append(loss.item())

    assert [step["loss"] for step in steps] == pytest.approx(expected, rel=2e-3)
    assert expected[0] == pytest.approx(math.log(2), rel=1e-4)
    assert expected[-1] < 0.6


def test_a_tuned_adapter_is_the_start_and_the_reference(
    tiny_llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tuned, out = tmp_path / "tuned", tmp_path / "out"
    assert lora([*write_toy(tmp_path, tiny_llama), "--out", str(tuned), "--max-steps", "4"]) == 0

    command = [*write_pairs(tmp_path, tiny_llama), "--start", str(tuned)]
    assert dpo([*command, "--out", str(out)]) == 0

    losses = [json.loads(line)["loss"] for line in (out / "losses.jsonl").read_text(encoding="utf-8").splitlines()]
    assert losses[0] == pytest.approx(math.log(2), rel=1e-3), "held to the adapter, not to the base"
    assert losses[-1] < losses[0] - 0.05
    assert "12 pairs (0 too long, 0 held out), 6 steps" in capsys.readouterr().out

    card = json.loads((out / "run_card.json").read_text(encoding="utf-8"))
    assert card["metrics"]["pairs"] == {"right over wrong": 8, "silent over wrong": 4}
    assert card["data"]["start"]["name"] == "adapter_model.safetensors"
    assert sorted(path.name for path in out.iterdir()) == [
        "adapter_config.json", "adapter_model.safetensors", "losses.jsonl", "run_card.json",
    ]  # fmt: skip

    # What was preferred became likelier beside what was rejected, measured on the folder as it was written.
    margins = []
    tokens = tokenize_pairs(tiny_llama, toy_pairs(), 300).kept

    for folder in (tuned, out):
        model = continue_adapter(toy_preferences(tiny_llama), tiny_llama, folder, "cpu").eval()
        with torch.no_grad():
            margins.append(sum(preference(model, pair) for pair in tokens))

    assert margins[1] > margins[0] + 1


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With an adapter to start from: trl keeps the reference as a second adapter, which a checkpoint holds too."""
    tuned, whole, killed = (tmp_path / name for name in ("tuned", "whole", "killed"))
    assert lora([*write_toy(tmp_path, tiny_llama), "--out", str(tuned), "--max-steps", "2"]) == 0
    command = [*write_pairs(tmp_path, tiny_llama, checkpoint_steps=2), "--start", str(tuned)]
    assert dpo([*command, "--out", str(whole)]) == 0

    from crag.training.lora.preferences import PairTrainer

    real = PairTrainer.compute_loss

    def stop(trainer: PairTrainer, *batch: Any, **more: Any) -> torch.Tensor:
        if trainer.state.global_step == 5:
            raise KeyboardInterrupt
        loss: torch.Tensor = real(trainer, *batch, **more)
        return loss

    with monkeypatch.context() as context:
        context.setattr(PairTrainer, "compute_loss", stop)
        with pytest.raises(KeyboardInterrupt):
            dpo([*command, "--out", str(killed)])

    capsys.readouterr()
    assert dpo([*command, "--out", str(killed)]) == 2
    assert "holds an unfinished run: --resume continues it, --overwrite discards it" in capsys.readouterr().err
    assert dpo([*command, "--out", str(killed), "--resume"]) == 0
    for name in ("adapter_model.safetensors", "adapter_config.json", "losses.jsonl"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes(), name


def test_a_base_without_a_token_for_padding_can_be_tuned(tiny_llama: Path, tmp_path: Path) -> None:
    base = changed_copy(tiny_llama, tmp_path / "base", "tokenizer_config.json", eos_token=None, pad_token=None)
    assert dpo([*write_pairs(tmp_path, base), "--out", str(tmp_path / "out"), "--max-steps", "1"]) == 0


def test_a_dry_run_counts_and_writes_nothing(
    tiny_llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [*write_pairs(tmp_path, tiny_llama), "--out", str(tmp_path / "out"), "--set", "max_tokens=400"]
    assert dpo([*command, "--dry-run", "--set", "accumulation=2"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "12 pairs (0 too long, 0 held out): 8 right over wrong, 4 silent over wrong",
        "4 steps of 8 pairs; nothing was tuned or written",
    ]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "extra", "message"),
    [
        ({"rejected": None}, [], 'pairs.jsonl, line 1, field "rejected": Input should be a valid string'),
        ({"rejected": "I don't know."}, [], '"completion" and "rejected" are the same answer'),
        ({}, ["--set", "max_tokens=8"], "nothing to learn from: none of 12 pairs has at most 8 tokens"),
        ({}, ["--set", "beta=0"], 'key "beta"'),
        ({}, ["--set", "adapter.targets=['lm_head']"], "lm_head cannot be tuned by preferences"),
        ({}, ["--config", "nobody"], "shipped configurations: cpu, db3"),
        ({}, ["--start", "no/such/adapter"], "adapter_config.json is missing"),
        ({}, ["--set", "learning_rate=1e30", "--set", "max_gradient_norm=1e30"], "training diverged: the loss is"),
    ],
)
def test_what_is_wrong_is_reported_in_a_line(
    tiny_llama: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: dict[str, object],
    extra: list[str],
    message: str,
) -> None:
    command = [*write_pairs(tmp_path, tiny_llama), "--out", str(tmp_path / "out")]
    first, *rest = (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    lines = [json.dumps(json.loads(first) | change), *rest]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert dpo([*command, *extra]) == 2
    reported = capsys.readouterr().err
    assert message in reported
    assert reported.count("\n") == 1
    assert not (tmp_path / "out" / "adapter_model.safetensors").exists()
