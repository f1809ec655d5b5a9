"""Prints the time and memory that the GPU presets need on four T4, planned and measured."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from crag.benchmarks.common import markdown_table
from crag.benchmarks.random_model import RandomModel
from crag.benchmarks.retrieval import read_questions, with_pages
from crag.benchmarks.workload import measure_workload
from crag.evaluation.batches import GPU_MEMORY_GIB, SECONDS_PER_QUERY
from crag.settings import Settings, load_settings
from crag.submission.batch_time import Peak, Workload, estimate_steps, place_language_model
from crag.submission.gpu_plan import GpuPlan, plan_gpus
from crag.training.adapters import longest_example
from crag.training.lora.memory import tuning_memory
from crag.training.lora.settings import LoraTraining, PreferenceTraining
from crag.weights.manifest import load_manifest

EVERY_STEP = (
    "answering.gates=[]",
    "answering.confidence=none",
    "deadline.seconds_per_query=3600",
)
"""Changes with which no question ends early, by a gate or by the clock."""
EVERY_STEP_OF_THE_GRAPH = (
    "knowledge_graph.graph_only_domains=[]",
    "knowledge_graph.direct_answers=false",
    "knowledge_graph.derived_answers=false",
    "knowledge_graph.invalid_without_game=false",
    "knowledge_graph.answer_not_found=true",
)
MANY_PAGES = 50  # task 3


def print_memory(gpu_plan: GpuPlan) -> None:
    """Print the memory of each card."""
    rows: list[tuple[int, str, str]] = []
    for card in range(gpu_plan.cards):
        rows += [(card, f"{part.key}: {part.what}", f"{part.gib:.1f}") for part in gpu_plan.parts_on(card)]
        rows.append((card, "**all**", f"{gpu_plan.total(card):.1f}"))

    table = markdown_table(["GPU", "what", f"GiB of {GPU_MEMORY_GIB:g}"], rows)
    print(f"\n### memory\n\n{table}")
    if gpu_plan.cached_tokens is not None:
        print(f"\nKeys and values of {gpu_plan.cached_tokens:,} tokens at once.")
    for name in gpu_plan.unknown:
        print(f"\nNot included: {name}, whose shape is not in crag/weights/manifest.toml.")
    for problem in gpu_plan.problems:
        print(f"\n**Does not fit: {problem.key}: {problem.fault}; {problem.remedy}.**")


def report(settings: Settings, options: argparse.Namespace) -> int:
    """Measure questions with few and with many pages and print the tables; 0: the preset fits, 1: it does not."""
    gpu_plan = plan_gpus(settings)
    place_language_model(settings, gpu_plan, 0)  # fails before the minutes of work
    few_pages, many_pages = _measure_both(settings, options)
    peak = Peak(*options.peak) if options.peak else None

    budget = settings.batch_size * SECONDS_PER_QUERY
    totals: list[float] = []
    # Task 1 has no graph, task 3 has fifty pages a question
    for task, workload, graph in (
        ("task 1", few_pages, False),
        ("task 2", few_pages, True),
        ("task 3", many_pages, True),
    ):
        times = estimate_steps(settings, gpu_plan, workload, graph=graph, peak=peak)
        total = sum(time.seconds for time in times)
        totals.append(total)
        print(f"\n### {task}, {settings.name}, a batch of {settings.batch_size}\n")
        _print_workload(workload, options.dataset.name)

        steps = [(time.what, f"{time.seconds:.1f}") for time in times]
        steps.append(("**all, in sequence**", f"{total:.1f}"))
        table = markdown_table(["step", f"seconds of {budget:.0f}"], steps)
        print(f"\n{table}")
        if total > budget:
            print("\n**Too slow if every question takes every step: the clock would stop the last ones.**")

    print_memory(gpu_plan)
    return int(bool(gpu_plan.problems) or max(totals) > budget)


def _measure_both(settings: Settings, options: argparse.Namespace) -> tuple[Workload, Workload]:
    """The workload of questions with their pages, and with fifty; with --run also the speed of the language model."""
    # With a real model one batch is enough
    limit = options.limit or (settings.batch_size if options.run else None)
    few_pages = [question.query for question in read_questions(options.dataset, limit)]
    many_pages = with_pages(few_pages, MANY_PAGES)
    if not options.run:
        return measure_workload(settings, few_pages), measure_workload(settings, many_pages)

    with TemporaryDirectory() as folder:
        random_model = RandomModel(settings, Path(folder), full_size=options.run == "full")
        with_few = measure_workload(settings, few_pages, random_model)
        with_many = measure_workload(settings, many_pages, random_model)
        print(f"Run in {options.run} size: {random_model.memory()}.")
        random_model.close()
    return with_few, with_many


def _print_workload(workload: Workload, dataset: str) -> None:
    count = workload.questions
    print(
        f"Measured per question on {dataset}: {workload.pages_read / count:.1f} pages read, "
        f"{workload.encoder_texts / count:.0f} texts ({workload.encoder_tokens / count:,.0f} tokens) encoded, "
        f"{workload.reranker_pairs / count:.0f} pairs ({workload.reranker_tokens / count:,.0f} tokens) reranked."
    )


class TrainingStep(NamedTuple):
    """A step of training on a kind of machine, and the memory that it needs of the fullest card."""

    machine: str
    step: str
    needed_gib: float
    card_gib: float

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The cells of its row in the table."""
        return self.machine, self.step, f"{self.needed_gib:.1f}", f"{self.card_gib:g}"


def report_training(changes: Sequence[str]) -> int:
    """Print the memory of the fullest card in each step of training db3's adapters; 1: one does not fit."""
    configuration = LoraTraining.load("db3")
    shape = load_manifest().models[configuration.base].shape
    assert shape is not None
    # The adapter with the longest examples
    longest = longest_example(load_settings("submission_transformers", []), "db3", "web_answerer")
    tuning = tuning_memory(configuration.model_copy(update={"max_tokens": longest}), shape)
    preferences = tuning_memory(PreferenceTraining.load("db3").as_texts, shape)

    steps = _list_training_steps(changes, sum(tuning.values()), sum(preferences.values()))
    rows = [step.cells for step in steps]
    print(markdown_table(["cards", "step", "GiB on the fullest", "of"], rows))
    parts = ", ".join(f"{part} {size:.1f}" for part, size in tuning.items())
    print(f"\nTuning: {parts}")

    too_large = [step for step in steps if step.needed_gib > step.card_gib]
    for step in too_large:
        gib = f"{step.needed_gib:.1f} of {step.card_gib:g} GiB"
        print(f"\n**Does not fit: {step.step}, {step.machine}: {gib}; lower language_model.batch_size.**")
    return int(bool(too_large))


def _list_training_steps(changes: Sequence[str], tuning_gib: float, preferences_gib: float) -> list[TrainingStep]:
    """The steps on four T4 and on one larger card; the memory of tuning is the same on both."""
    steps: list[TrainingStep] = []
    # The changes that docs/training.md gives for one card
    on_one_card = ["device='cuda:0'", "language_model.batch_size=1"]
    for machine, cards, card_gib, machine_changes in (
        ("four T4", 4, GPU_MEMORY_GIB, []),
        ("one of 24 GB", 1, 22.0, on_one_card),
    ):
        for preset in ("submission_transformers", "db3_task23", "db3_task1"):
            settings = load_settings(preset, [*machine_changes, *changes])
            gpu_plan = plan_gpus(settings, cards=cards)
            fullest = max(gpu_plan.total(card) for card in range(cards))
            steps.append(TrainingStep(machine, f"{preset}: label, answer, judge", fullest, card_gib))

        steps.append(TrainingStep(machine, "tune one adapter in 4 bits, on the first card", tuning_gib, card_gib))
        steps.append(TrainingStep(machine, "the same by preferences", preferences_gib, card_gib))
    return steps
