"""What fits on the evaluator's cards and into its time, and what does not."""

import re

import pytest

from crag.core.files import UserError
from crag.settings import Settings, available_presets, load_settings
from crag.submission.batch_time import StepWorkload, Workload, estimate_steps, place_language_model
from crag.submission.gpu_plan import plan_gpus

GPU_PRESETS = [name for name in available_presets() if load_settings(name, []).needs_gpu]


def planned(preset: str, *changes: str) -> Settings:
    return load_settings(preset, list(changes))


@pytest.mark.parametrize("preset", GPU_PRESETS)
def test_every_shipped_preset_fits_on_four_t4(preset: str) -> None:
    made = plan_gpus(planned(preset))
    assert made.problems == []
    assert made.unknown == []
    assert all(made.total(card) <= 15.0 for card in range(4))
    assert sum(made.total(card) for card in range(4)) > 10


@pytest.mark.parametrize(
    ("preset", "share", "found"),
    [("weknow", 0.9, "GPU 1 would hold .*bge-reranker-large"), ("nec", 0.65, "one prompt may have")],
)
def test_the_remedy_of_a_share_that_does_not_fit_fits(preset: str, share: float, found: str) -> None:
    key, problem, remedy = plan_gpus(planned(preset, f"language_model.gpu_memory_utilization={share}")).problems[-1]
    assert re.match(f".*{found}", problem)
    advised = re.search(r" it to ([\d.]+\d)", remedy)
    assert advised is not None
    assert not plan_gpus(planned(preset, f"{key}={advised[1]}")).problems


def test_a_device_beyond_the_cards_is_a_problem_with_a_remedy() -> None:
    ((key, problem, _),) = plan_gpus(planned("submission"), cards=3).problems
    assert (key, "GPU 3, but there are only 3" in problem) == ("cross_encoder", True)


def test_layers_are_spread_over_the_cards_that_there_are() -> None:
    weights = [
        sum(part.gib for part in plan_gpus(planned("db3_task1"), cards=cards).parts_on(0) if "weights" in part.what)
        for cards in (4, 2)
    ]
    assert weights[1] == pytest.approx(2 * weights[0])
    assert plan_gpus(planned("db3_task1"), cards=1).problems


def test_the_graph_takes_time_and_what_prompts_share_is_read_once_and_a_processor_has_no_plan() -> None:
    load = Workload(questions=2, encoder_tokens=1000, reranker_tokens=1000)
    load.steps = {
        "calls": StepWorkload(prompts=2, tokens=4000, unshared=2100, longest=128),
        "answer": StepWorkload(prompts=2, tokens=8000, unshared=7000, longest=75),
    }
    settings, uncached = planned("submission"), planned("db3_task23")
    alone, graph, other = (
        dict(estimate_steps(each, plan_gpus(each), load, graph=graph))
        for each, graph in ((settings, False), (settings, True), (uncached, True))
    )
    calls = "calls: read 16,800 of 32,000 tokens, write 128"

    assert set(graph) - set(alone) == {calls, "the graph's server (assumed)"}
    assert calls.replace("16,800", "32,000") in other, "transformers reads shared beginnings again"

    with pytest.raises(UserError, match="does not run a model"):
        place_language_model(planned("cpu"), plan_gpus(planned("cpu")), 0)


def test_nec_answers_and_reviews_sixteen_full_contexts_with_a_tenth_of_the_time_to_spare() -> None:
    settings = planned("nec")
    prompt_tokens = settings.web.context.max_tokens + 130  # instructions and question
    read_twice = StepWorkload(prompts=16, tokens=16 * prompt_tokens, unshared=16 * prompt_tokens, longest=50)
    load = Workload(questions=16, reranker_tokens=16 * 32_000, extraction_seconds=20.0)
    load.steps = {"answer": read_twice, "refine": read_twice}
    rows = estimate_steps(settings, plan_gpus(settings), load, graph=False)
    assert sum(seconds for _, seconds in rows) <= 0.9 * settings.batch_size * settings.deadline.seconds_per_query
