"""`crag train router` from the command line."""

import json
from pathlib import Path

import pytest

import crag.commands.train.router as command
from crag.router.classifier import Classifier
from tests.router.tiny_bert import build_bert
from tests.training.router.toy import write_toy

CONFIG = """
description = "toy"
trained_on = "toy questions"
licence = "none"
fields = ["domain"]
folds = 2
[encoder]
base = "all-minilm-l6-v2"
tuning = "lora"
epochs = 2
learning_rate = 1e-3
head_learning_rate = 1e-2
[ngrams]
buckets = 256
"""


def test_a_run_leaves_a_classifier_and_its_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bert = build_bert(tmp_path / "bert")
    monkeypatch.setattr(command, "locate", lambda name: bert)
    config = tmp_path / "toy.toml"
    config.write_text(CONFIG, encoding="utf-8")
    data, out = write_toy(tmp_path / "data.jsonl", 45), tmp_path / "toy"
    changes = ["--set", "folds=3", "--set", "encoder.seed=7", "--quiet"]

    assert command.main(["--config", str(config), "--data", str(data), "--out", str(out), *changes]) == 0
    assert f"wrote {out}" in capsys.readouterr().out

    card = json.loads((out / "run_card.json").read_text(encoding="utf-8"))
    assert card["settings"]["folds"] == 3
    assert card["settings"]["encoder"]["seed"] == 7
    assert card["metrics"]["cross_validated"]["domain"]["questions"] == 45
    assert card["data"]["train"]["name"] == "data.jsonl"
    assert Classifier(out, encoder_folder=bert).probabilities(["who sang ?"])["domain"].shape == (1, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nobody", "shipped configurations: cpu, cpu_tables, nec_domain"),
        (
            "nec_domain --data no/file.jsonl",
            "no/file.jsonl: there is no such file; get it with: crag data",
        ),
        ("nec_domain --set folds=1", "folds: a cross-validation has at least 2 parts"),
        ("nec_domain --set folds=-1", 'key "folds": Input should be greater than or equal to 0'),
        ("cpu --set folds=0", "folds: n-grams need a cross-validation"),
        ("nec_domain --device nosuch", "device 'nosuch': "),
    ],
)
def test_what_is_wrong_is_reported_in_a_line(capsys: pytest.CaptureFixture[str], arguments: str, message: str) -> None:
    assert command.main(["--out", "nowhere", "--config", *arguments.split()]) == 2
    reported = capsys.readouterr().err
    assert reported.startswith("error: ")
    assert message in reported
    assert reported.count("\n") == 1
