"""`crag train lora` from the command line."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crag.commands.train.lora import main
from crag.core.files import lock_folder
from crag.training.folds import Fold, may_train
from tests.training.lora.toy import write_toy


def card_of(out: Path) -> dict[str, dict[str, object]]:
    card: dict[str, dict[str, object]] = json.loads((out / "run_card.json").read_text(encoding="utf-8"))
    return card


def test_a_run_leaves_an_adapter_and_its_card(
    tiny_llama: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = write_toy(tmp_path, tiny_llama)

    assert main([*arguments, "--out", str(out), "--max-steps", "5", "--set", "max_tokens=90"]) == 0
    output = capfd.readouterr()
    assert f"wrote {out}" in output.out
    assert output.err == ""

    names = ["adapter_config.json", "adapter_model.safetensors", "losses.jsonl", "run_card.json"]
    assert sorted(path.name for path in out.iterdir()) == names

    card = json.loads((out / "run_card.json").read_text(encoding="utf-8"))
    assert card["settings"]["max_tokens"] == 90
    assert card["settings"]["max_steps"] == card["metrics"]["steps"] == 5

    kept, long = card["metrics"]["examples"], card["metrics"]["too_long"]
    assert sum(kept.values()) + sum(long.values()) == 48
    assert sum(long.values()) > 0
    assert card["data"]["train 1"]["name"] == "examples.jsonl"

    config = json.loads((out / "adapter_config.json").read_text(encoding="utf-8"))
    assert config["inference_mode"] is True
    assert config["base_model_name_or_path"] == str(tiny_llama)
    assert len({path.stat().st_mode for path in out.iterdir()}) == 1, "who may read the config may read the weights"


def test_what_is_finished_or_unfinished_is_not_overwritten_unasked(
    tiny_llama: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "out"
    arguments = [*write_toy(tmp_path, tiny_llama), "--out", str(out), "--max-steps", "2"]

    with monkeypatch.context() as context:
        context.setattr("crag.commands.train.lora.RunCard.write", stop)
        with pytest.raises(KeyboardInterrupt):
            main(arguments)

    assert main(arguments) == 2
    assert "holds an unfinished run: --resume continues it, --overwrite discards it" in capfd.readouterr().err

    assert main([*arguments, "--resume"]) == 0, "what was killed before its card only writes"
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for refused in (arguments, [*arguments, "--resume"]):
        assert main(refused) == 2
        assert "holds a finished adapter: --overwrite replaces it" in capfd.readouterr().err

    assert before == {path.name: path.read_bytes() for path in out.iterdir()}

    assert main([*arguments, "--set", "learning_rate=0.001", "--overwrite"]) == 0
    assert card_of(out)["settings"]["learning_rate"] == 0.001

    with lock_folder(out):
        assert main([*arguments, "--overwrite"]) == 2

    assert "another process is writing here" in capfd.readouterr().err


def test_the_tested_fold_is_kept_out(tiny_llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [*write_toy(tmp_path, tiny_llama), "--max-steps", "1", "--set", "max_tokens=400"]
    out, fold = tmp_path / "out", Fold(1, 2)
    assert main([*arguments, "--out", str(out), "--hold-out", "1/2"]) == 0
    card = json.loads((out / "run_card.json").read_text(encoding="utf-8"))
    assert card["settings"]["hold_out"] == "1/2"
    kept = sum(may_train((f"sum {number}",), fold) for number in range(48))
    assert (sum(card["metrics"]["examples"].values()), card["metrics"]["held_out_examples"]) == (kept, 48 - kept)
    rows = (tmp_path / "examples.jsonl").read_text(encoding="utf-8").replace('["sum 3"]', "[]")
    (tmp_path / "examples.jsonl").write_text(rows, encoding="utf-8")
    assert main([*arguments, "--out", str(tmp_path / "other"), "--hold-out", "1/2"]) == 2
    assert '1 examples have no "groups"' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--config", "nobody"], "shipped configurations"),
        (["--data", "no/such/file.jsonl"], "no/such/file.jsonl"),
        (["--set", "epochs"], "KEY=VALUE"),
        (["--set", "epochs=-1"], 'key "epochs"'),
        (["--set", "base=no/such/model"], "there is no folder"),
        (["--set", "quantise='4bit'"], "--set quantise=none"),
        (["--set", "adapter.targets=['nothing']"], 'key "adapter.targets": '),
        (
            ["--set", "adapter.targets=['q_proj','noth_proj']"],
            "no linear layer noth_proj that",
        ),
        (["--set", "adapter.targets=['embed_tokens']"], "no linear layer embed_tokens"),
        (["--set", "adapter.targets=['q_proj','lm_head']"], "no linear layer lm_head that can be tuned"),
        (["--set", "learning_rate=1e30", "--set", "max_gradient_norm=1e30"], "training diverged: the loss is"),
    ],
)
def test_what_is_wrong_is_reported_in_a_line(
    tiny_llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], extra: list[str], message: str
) -> None:
    arguments = [*write_toy(tmp_path, tiny_llama), "--out", str(tmp_path / "out"), *extra]
    assert main(arguments) == 2
    reported = capsys.readouterr().err
    assert message in reported
    assert reported.count("\n") == 1
    assert not (tmp_path / "out" / "adapter_model.safetensors").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only GNU's threads say how they wait")
def test_a_thread_that_waits_leaves_its_core_to_other_work(tmp_path: Path) -> None:
    environment = os.environ | {"OMP_DISPLAY_ENV": "VERBOSE"}
    environment.pop("OMP_WAIT_POLICY", None)
    # It ends when torch is there
    command = [sys.executable, "-m", "crag", "train", "lora", "--config", "nobody", "--data", "none", "--out"]
    done = subprocess.run(
        [*command, str(tmp_path)], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert "GOMP_SPINCOUNT = '0'" in done.stderr


def changed_copy(base: Path, folder: Path, file: str, **changes: object) -> Path:
    """A copy of a model with other values in a JSON file; None removes a key."""
    shutil.copytree(base, folder)
    config = json.loads((folder / file).read_text(encoding="utf-8")) | changes
    kept = {key: value for key, value in config.items() if value is not None}
    (folder / file).write_text(json.dumps(kept), encoding="utf-8")
    return folder


def test_a_tied_output_layer_or_a_base_without_float_weights_is_refused(
    tiny_llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tied = changed_copy(tiny_llama, tmp_path / "tied", "config.json", tie_word_embeddings=True)
    arguments = ["--out", str(tmp_path / "out"), "--set", "adapter.targets=['lm_head']"]
    assert main([*write_toy(tmp_path, tied), *arguments]) == 2
    assert "has no linear layer lm_head that can be tuned; it has down_proj" in capsys.readouterr().err
    (tied / "model.safetensors").unlink()
    assert main([*write_toy(tmp_path, tied), "--out", str(tmp_path / "out")]) == 2
    assert f"no weights for training: crag models fetch {tied} --float16 adds them" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("config.json", {"model_type": "nosuch"}, "config.json: .* model type `nosuch`"),
        ("config.json", {"model_type": None}, "config.json: .*model_type"),
        ("config.json", {"pad_token_id": 9999}, "config.json: Padding_idx"),
        ("config.json", {"intermediate_size": 64}, "cannot be loaded, or do not fit its config.json"),
        ("generation_config.json", {"eos_token_id": 9999}, "line 1: the tokenizer or the end token of .* token 9999"),
    ],
)
def test_a_base_that_does_not_fit_itself_is_a_line(
    tiny_llama: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
    changes: dict[str, object],
    message: str,
) -> None:
    base = changed_copy(tiny_llama, tmp_path / "base", file, **changes)
    assert main([*write_toy(tmp_path, base), "--out", str(tmp_path / "out")]) == 2
    reported = capsys.readouterr().err
    assert re.search(message, reported)
    assert reported.count("\n") == 1


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("config.json", b"{", "/config.json is damaged: "),
        ("generation_config.json", b"{", "generation_config.json is damaged: "),
        ("tokenizer.json", b"", "tokenizer.json is damaged: "),
        ("model.safetensors", b"12345678901234567890", "cannot be loaded, or do not fit its config.json: "),
        ("tokenizer.json", None, "tokenizer.json is missing: take it from the model's repository"),
    ],
)
def test_a_base_with_a_damaged_file_is_a_line(
    tiny_llama: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    file: str,
    content: bytes | None,
    message: str,
) -> None:
    base = Path(shutil.copytree(tiny_llama, tmp_path / "base"))
    (base / file).unlink()
    if content is not None:
        (base / file).write_bytes(content)
    assert main([*write_toy(tmp_path, base), "--out", str(tmp_path / "out")]) == 2
    reported = capsys.readouterr().err
    assert message in reported
    assert reported.count("\n") == 1


def test_a_base_without_a_token_for_padding_can_be_tuned(tiny_llama: Path, tmp_path: Path) -> None:
    base = changed_copy(tiny_llama, tmp_path / "base", "tokenizer_config.json", eos_token=None, pad_token=None)
    assert main([*write_toy(tmp_path, base), "--out", str(tmp_path / "out"), "--max-steps", "1"]) == 0
