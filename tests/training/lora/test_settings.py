"""The shipped configurations, and what is said of wrong ones."""

from pathlib import Path

import pytest

from agents.settings import SettingsError
from training.lora.settings import available_configs, load_training

GOOD = 'description = "x"\nbase = "b"\nlicence = "none"\n'


def test_shipped_configurations_can_be_read() -> None:
    assert {"db3", "kg_writer", "kg_answerer", "web_answerer", "preference"} <= set(available_configs())
    for name in available_configs():
        assert load_training(name).description


def test_db3_is_table_1_of_the_paper() -> None:
    found = load_training("db3")
    assert found.adapter.model_dump() == {
        "rank": 8,
        "alpha": 16,
        "dropout": 0.1,
        "targets": ("k_proj", "q_proj", "v_proj", "up_proj", "down_proj", "gate_proj"),
        "layers": "all",
    }
    assert (found.quantise, found.max_tokens, found.batch_size, found.accumulation) == ("4bit", 4096, 1, 4)
    assert (found.learning_rate, found.schedule, found.warm_up_share) == (2e-4, "cosine", 0.1)
    assert found.max_gradient_norm == 0.3
    assert found.epochs in {2, 3}


def test_changes_come_over_the_file() -> None:
    found = load_training("db3", ["epochs=5", "adapter.layers=3", "quantise=none", "base = other"])
    assert (found.epochs, found.adapter.layers, found.quantise, found.base) == (5, 3, "none", "other")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "epoch = 3", 'key "epoch": unknown key; allowed keys: accumulation, .* epochs,'),
        (GOOD + "[adapter]\nlayer = 3", 'key "adapter.layer": unknown key; allowed keys: alpha, .*targets$'),
        (GOOD + "epochs = 0", 'key "epochs"'),
        (GOOD + "learning_rate = '1e-4'", 'key "learning_rate"'),
        (GOOD + "[adapter]\nlayers = 'some'", 'key "adapter.layers'),
        (GOOD + "stage = 'preference'", r"table \[preferences\]"),
        (GOOD + "[preferences]\nbeta = 0.1", r"table \[preferences\]"),
        ("description =", "toy.toml"),
    ],
)
def test_what_is_wrong_is_told_with_its_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "toy.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=message):
        load_training(str(path))
