"""One line for each way in which a machine's GPUs do not suit a preset, with a fake in the place of torch."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from crag.engines.gpus import GpuError, probe_gpus, require_gpus
from crag.settings import load_settings

Install = Callable[..., None]

TORCH = """
import json, time

class version:
    cuda = "12.8"

class cuda:
    CARDS = json.loads('CARDS_JSON')
    def init():
        INIT
    def device_count():
        return len(cuda.CARDS)
    def mem_get_info(card):
        return [int(gib * 2**30) for gib in cuda.CARDS[card]]
    def get_device_name(card):
        return "Tesla T4"
"""
FREE = [14.5, 15.0]
NO_DRIVER = 'raise RuntimeError("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU")'
OLD_DRIVER = (
    'raise RuntimeError("The NVIDIA driver on your system is too old (found version 11040). Please update your GPU")'
)


@pytest.fixture
def torch_that_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """A function that installs a fake torch: these cards (free and whole GiB), and this statement of its start."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    def install(cards: list[list[float]], init: str = "pass") -> None:
        code = TORCH.replace("CARDS_JSON", json.dumps(cards)).replace("INIT", init)
        (tmp_path / "torch.py").write_text(code)

    return install


@pytest.mark.parametrize(
    ("preset", "cards", "init", "said"),
    [
        ("submission", [], NO_DRIVER, "torch cannot use the GPUs: Found no NVIDIA driver on your system ("),
        ("submission", [], OLD_DRIVER, "The NVIDIA driver on your system is too old (found version 11040) ("),
        ("submission", [], "pass", "the preset submission needs 4 GPUs, and this machine has none"),
        ("submission", [FREE], "pass", "the preset submission needs 4 GPUs, and this machine has 1"),
        ("db3_task1", [FREE], "pass", "the preset db3_task1 needs 3 GPUs, and this machine has 1"),
        (
            "submission",
            [FREE, [9.0, 15.0], FREE, FREE],
            "pass",
            "GPU 1 (Tesla T4) is in use: 9.0 of 15.0 GiB are free, and language_model.gpu_memory_utilization needs 13",
        ),
        (
            "db3_task1",
            [FREE, FREE, [0.2, 15.0]],
            "pass",
            "0.2 of 15.0 GiB are free, and cross_encoder.device needs 1.0",
        ),
        ("submission", [], "import torch_without_cuda", "torch cannot be asked for the GPUs: ModuleNotFoundError: "),
    ],
    ids=["no driver", "old driver", "no card", "one card", "encoders' cards", "in use", "encoder's in use", "broken"],
)
def test_one_line_names_what_is_wrong(
    torch_that_sees: Install, preset: str, cards: list[list[float]], init: str, said: str
) -> None:
    torch_that_sees(cards, init)
    with pytest.raises(GpuError) as caught:
        require_gpus(load_settings(preset, []))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_driver_that_does_not_answer_is_given_up(torch_that_sees: Install) -> None:
    torch_that_sees([], "time.sleep(600)")
    with pytest.raises(GpuError, match="does not answer within 1 seconds"):
        probe_gpus(sys.executable, 1)


@pytest.mark.parametrize("preset", ["submission", "nec", "weknow", "db3_task1", "db3_task23", "cpu", "scripted"])
def test_four_free_cards_suit_all_presets(torch_that_sees: Install, preset: str) -> None:
    torch_that_sees([FREE] * 4)
    require_gpus(load_settings(preset, []))


def test_a_torch_for_processors_suits_only_a_preset_without_cards() -> None:
    """Here and with vLLM's build for processors."""
    if probe_gpus() is not None:
        pytest.skip("this torch is for GPUs")
    require_gpus(load_settings("submission", ["device=cpu"]))
    with pytest.raises(
        GpuError, match=r"dense_encoder\.device names a GPU, but this torch computes on processors only"
    ):
        require_gpus(load_settings("submission", []))
