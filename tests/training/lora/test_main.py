"""`python -m training.lora` from the command line."""

import json
from pathlib import Path

import pytest
from PIL import Image

from agents.common.files import lock_folder
from tests.training.lora.toy import write_toy
from training.folds import Fold, may_train
from training.lora.__main__ import main


def test_a_run_leaves_an_adapter_its_card_and_pictures(
    tiny_llama: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = write_toy(tmp_path, tiny_llama)
    assert main([*arguments, "--out", str(out), "--max-steps", "5", "--set", "max_tokens=90"]) == 0
    output = capfd.readouterr()
    assert f"wrote {out}" in output.out
    assert output.err == ""
    names = "adapter_config.json adapter_model.safetensors loss_curve.png loss_curve.svg losses.jsonl run_card.json"
    assert sorted(path.name for path in out.iterdir()) == names.split()
    card = json.loads((out / "run_card.json").read_text(encoding="utf-8"))
    assert card["settings"]["max_tokens"] == 90
    assert card["settings"]["max_steps"] == card["metrics"]["steps"] == 5
    kept, long = card["metrics"]["examples"], card["metrics"]["too_long"]
    assert sum(kept.values()) + sum(long.values()) == 48
    assert sum(long.values()) > 0
    assert card["metrics"]["tokens"] > 0
    assert card["data"]["train 1"]["name"] == "examples.jsonl"
    config = json.loads((out / "adapter_config.json").read_text(encoding="utf-8"))
    assert config["inference_mode"] is True
    assert config["base_model_name_or_path"] == str(tiny_llama)
    assert len({path.stat().st_mode for path in out.iterdir()}) == 1, "who may read the config may read the weights"
    with Image.open(out / "loss_curve.png") as image:
        assert image.width > 400


def test_a_finished_adapter_is_left_alone_or_overwritten_on_demand(
    tiny_llama: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = [*write_toy(tmp_path, tiny_llama), "--out", str(out), "--max-steps", "2"]
    assert main(arguments) == 0
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.iterdir()}

    def unchanged() -> bool:
        return before == {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.iterdir()}

    capfd.readouterr()
    assert main([*arguments, "--resume"]) == 0
    assert "done already" in capfd.readouterr().out
    other = [*arguments, "--set", "learning_rate=0.001"]
    for refused in (arguments, other, [*other, "--resume"]):
        assert main(refused) == 1
        assert "holds a finished adapter: --overwrite replaces it" in capfd.readouterr().err
    assert unchanged()
    assert main([*other, "--resume", "--overwrite"]) == 0
    card = json.loads((out / "run_card.json").read_text(encoding="utf-8"))
    assert card["settings"]["learning_rate"] == 0.001
    assert not unchanged()


def test_a_run_that_is_killed_before_its_card_is_not_lost(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    arguments = [*write_toy(tmp_path, tiny_llama), "--out", str(tmp_path / "out"), "--max-steps", "2", "--resume"]
    with monkeypatch.context() as context:
        context.setattr("training.lora.__main__.write_card", stop)
        assert main(arguments) == 130
    assert main([*arguments, "--set", "learning_rate=0.001"]) == 1
    assert "unfinished run of other settings or data: --overwrite" in capfd.readouterr().err
    assert main(arguments) == 0
    assert "wrote" in capfd.readouterr().out
    assert (tmp_path / "out" / "run_card.json").is_file()
    assert not (tmp_path / "out" / "unfinished").exists()


def test_two_processes_do_not_train_into_one_folder(
    tiny_llama: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    with lock_folder(out):
        assert main([*write_toy(tmp_path, tiny_llama), "--out", str(out)]) == 1
    assert "another process is writing here" in capfd.readouterr().err
    assert not list(out.iterdir())


def test_the_tested_fold_is_kept_out(tiny_llama: Path, tmp_path: Path) -> None:
    arguments = [*write_toy(tmp_path, tiny_llama), "--max-steps", "1", "--set", "max_tokens=400"]
    counted = {}
    for fold in (Fold(1, 2), Fold(2, 2)):
        out = tmp_path / str(fold.number)
        assert main([*arguments, "--out", str(out), "--hold-out", str(fold)]) == 0
        card = json.loads((out / "run_card.json").read_text(encoding="utf-8"))
        assert card["settings"]["hold_out"] == str(fold)
        counted[fold] = sum(card["metrics"]["examples"].values())
        assert counted[fold] == sum(may_train((f"sum {number}",), fold) for number in range(48))
        assert counted[fold] + card["metrics"]["held_out_examples"] == 48
    assert sum(counted.values()) == 48


def test_going_on_from_an_adapter(tiny_llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = write_toy(tmp_path, tiny_llama)
    first, second = tmp_path / "first", tmp_path / "second"
    assert main([*arguments, "--out", str(first)]) == 0
    assert main([*arguments, "--out", str(second), "--start-from", str(first), "--set", "warm_up_share=0.0"]) == 0
    losses = [
        [json.loads(line)["loss"] for line in (out / "losses.jsonl").read_text(encoding="utf-8").splitlines()]
        for out in (first, second)
    ]
    assert losses[1][0] < losses[0][0] / 2
    card = json.loads((second / "run_card.json").read_text(encoding="utf-8"))
    assert len(card["settings"]["started_from"]) == 64
    other = [*arguments, "--out", str(tmp_path / "third"), "--start-from", str(first), "--set", "adapter.rank=2"]
    assert main(other) == 1
    assert 'key "adapter": the adapter in' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--config", "nobody"], "shipped configurations"),
        (["--data", "no/such/file.jsonl"], "no/such/file.jsonl"),
        (["--set", "epochs"], "KEY=VALUE"),
        (["--set", "epochs=-1"], 'key "epochs"'),
        (["--set", "foo=1"], 'key "foo": unknown key; allowed keys: accumulation,'),
        (["--set", "base=no/such/model"], "there is no folder"),
        (["--set", "quantise='4bit'"], "--set quantise=none"),
        (["--set", "adapter.layers=9"], "the model has 2 layers"),
        (["--set", "adapter.targets=['nothing']"], 'key "adapter"'),
        (["--set", "max_tokens=9"], "none of 48 examples"),
        (["--start-from", "no/such/adapter"], "adapter_config.json is missing"),
        (["--set", "learning_rate=1e30", "--set", "max_gradient_norm=1e30"], "training diverged: the loss is"),
    ],
)
def test_what_is_wrong_is_reported_in_a_line(
    tiny_llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: list[str], message: str
) -> None:
    arguments = [*write_toy(tmp_path, tiny_llama), "--out", str(tmp_path / "out"), *extra]
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out" / "adapter_model.safetensors").exists()


def test_examples_without_groups_cannot_be_held_out(
    tiny_llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = write_toy(tmp_path, tiny_llama)
    rows = (tmp_path / "examples.jsonl").read_text(encoding="utf-8").replace('["sum 3"]', "[]")
    (tmp_path / "examples.jsonl").write_text(rows, encoding="utf-8")
    assert main([*arguments, "--out", str(tmp_path / "out"), "--hold-out", "1/2"]) == 1
    assert '1 examples have no "groups"' in capsys.readouterr().err
