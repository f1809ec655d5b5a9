"""The adapters that ship: whole, small, for the model that the preset runs, each with a card of how it was made."""

import json

import pytest
from safetensors import safe_open

from agents.llm.trainable import REPOSITORY, adapter_folder
from agents.settings import OpenvinoEngine, load_settings
from training.adapters.__main__ import ADAPTERS
from training.adapters.recipe import GivenFiles, Recipe, recipes
from training.folds import held_out_fold, parse_fold

SETTINGS = load_settings("cpu_small")
assert isinstance(SETTINGS.language_model, OpenvinoEngine)
ENGINE: OpenvinoEngine = SETTINGS.language_model
SHIPPED = sorted(ENGINE.adapters.items())
assert SHIPPED
LARGEST = 5_000_000
"""Bytes that plain git should carry; more belongs into LFS."""


@pytest.mark.parametrize(("name", "location"), SHIPPED)
def test_a_shipped_adapter_fits_the_presets_model_and_says_how_it_was_made(name: str, location: str) -> None:
    folder = adapter_folder(location)
    assert folder == ADAPTERS / "cpu_small" / name
    assert name in recipes("cpu_small")
    config = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    assert config["base_model_name_or_path"] == ENGINE.model
    card = json.loads((folder / "run_card.json").read_text(encoding="utf-8"))
    assert card["settings"]["base"] == ENGINE.model
    assert card["data"]
    (*_, last) = Recipe(name).steps(ADAPTERS, folder, GivenFiles())
    held_out = last.command[last.command.index("--hold-out") + 1] if "--hold-out" in last.command else None
    assert held_out_fold(card["settings"]) == (parse_fold(held_out) if held_out else None)
    assert card["seconds"] > 0
    weights = folder / "adapter_model.safetensors"
    assert weights.stat().st_size < LARGEST
    with safe_open(weights, framework="numpy") as tensors:
        ranks = {tensors.get_slice(key).get_shape()[0] for key in tensors.keys() if "lora_A" in key}  # noqa: SIM118
    assert ranks == {config["r"]}


def test_each_adapter_of_the_preset_is_used_by_it() -> None:
    graph = SETTINGS.knowledge_graph
    assert graph is not None
    used = {graph.writer.adapter, graph.answer_adapter, SETTINGS.answering.adapter} - {None}
    assert used == set(ENGINE.adapters)


def test_no_file_of_an_adapter_names_a_path_of_the_machine_it_was_trained_on() -> None:
    paths = list((ADAPTERS / "cpu_small").rglob("*.json"))
    assert len(paths) == 2 * len(SHIPPED)
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert str(REPOSITORY) not in text, path
        assert '"/' not in text, path
