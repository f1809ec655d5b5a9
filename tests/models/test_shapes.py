"""Shapes against the sizes that the models' makers publish."""

import pytest

from models.manifest import load_manifest
from models.shapes import Shape

PUBLISHED = {  # millions of parameters, as the model cards give them
    "bge-base-en-v1.5": 109,
    "bge-large-en-v1.5": 335,
    "bge-reranker-v2-m3": 568,
    "bge-reranker-large": 560,
    "bert-base-uncased": 110,
    "llama-3-8b-instruct": 8030,
    "llama-3-70b-instruct-awq": 70_600,
}


def shape(name: str) -> Shape:
    found = load_manifest().model(name).shape
    assert found is not None
    return found


@pytest.mark.parametrize(("name", "millions"), PUBLISHED.items())
def test_parameters_are_those_of_the_model_card(name: str, millions: int) -> None:
    assert shape(name).parameters / 1e6 == pytest.approx(millions, rel=0.01)


def test_bytes_of_weights_and_cache() -> None:
    assert shape("llama-3-8b-instruct").weight_bytes() == pytest.approx(16.06e9, rel=0.01)
    # The 70B GPTQ model that ran on four T4 in 2024 has files of 39.8 GB; AWQ stores as much.
    assert shape("llama-3-70b-instruct-awq").weight_bytes() == pytest.approx(39.8e9, rel=0.01)
    assert shape("llama-3-8b-instruct").key_value_bytes() == 131_072


def test_every_model_that_only_the_hub_has_gives_its_shape() -> None:
    without = [name for name, model in load_manifest().models.items() if model.snapshot and model.shape is None]
    assert not without
