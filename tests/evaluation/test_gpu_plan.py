"""What fits on the evaluator's cards, and what does not."""

import re

import pytest

from agents.settings import Settings, available_presets, load_settings
from evaluation.gpu_plan import plan

GPU_PRESETS = [name for name in available_presets() if load_settings(name, []).needs_gpu]


def planned(preset: str, *changes: str) -> Settings:
    return load_settings(preset, list(changes))


@pytest.mark.parametrize("preset", GPU_PRESETS)
def test_every_shipped_preset_fits_on_four_t4(preset: str) -> None:
    made = plan(planned(preset))
    assert made.problems == []
    assert made.unknown == []
    assert all(made.total(card) <= 15.0 for card in range(4))
    assert sum(made.total(card) for card in range(4)) > 10


def test_weknow_with_nine_tenths_of_every_card_for_vllm_does_not_fit_beside_its_encoders() -> None:
    made = plan(planned("weknow", "language_model.gpu_memory_utilization=0.9"))
    assert [problem.split(" would")[0] for _, problem, _ in made.problems] == ["GPU 0", "GPU 1"]
    key, problem, remedy = made.problems[1]
    assert key == "language_model.gpu_memory_utilization"
    assert "bge-reranker-large" in problem
    advised = re.search(r"lower it to ([\d.]+)", remedy)
    assert advised is not None
    assert not plan(planned("weknow", f"{key}={advised[1]}")).problems


def test_weights_that_do_not_fit_in_vllms_share() -> None:
    made = plan(planned("submission", "language_model.tensor_parallel_size=1"))
    ((key, problem, remedy),) = made.problems
    assert key == "language_model.gpu_memory_utilization"
    assert "keys and values of 0 tokens" in problem
    assert remedy.startswith("raise language_model.tensor_parallel_size"), "no card has more than all of its memory"
    assert made.cached_tokens == 0


def test_a_share_that_leaves_too_little_for_one_prompt_names_one_that_does_not() -> None:
    made = plan(planned("nec", "language_model.gpu_memory_utilization=0.65"))
    ((key, _, remedy),) = made.problems
    advised = re.search(r"raise it to ([\d.]+)", remedy)
    assert advised is not None
    assert not plan(planned("nec", f"{key}={advised[1]}")).problems


def test_a_card_that_is_not_there() -> None:
    made = plan(planned("submission"), cards=3)
    ((key, problem, _),) = made.problems
    assert key == "cross_encoder"
    assert "GPU 3, but there are only 3" in problem


def test_layers_are_spread_over_the_cards_that_there_are() -> None:
    weights = [
        sum(part.gib for part in plan(planned("db3_task1"), cards=cards).on(0) if "weights" in part.what)
        for cards in (4, 2)
    ]
    assert weights[1] == pytest.approx(2 * weights[0])
    assert plan(planned("db3_task1"), cards=1, memory_gib=15.0).problems


def test_a_model_of_unknown_size_is_said() -> None:
    made = plan(planned("submission", "dense_encoder.model=models/weights/my-own-encoder"))
    assert made.unknown == ["models/weights/my-own-encoder"]


def test_a_preset_for_a_processor_takes_nothing_of_a_card() -> None:
    assert plan(planned("cpu")).parts == []
