"""Check that the preset's models fit on the evaluator's cards."""

from evaluation.gpu_plan import plan
from evaluation.preflight.description import MOST_GPUS
from evaluation.preflight.findings import Findings, Outcome, Place, one_line, skipped
from evaluation.preflight.subject import Subject


def memory(subject: Subject) -> Outcome:
    """By arithmetic the models fit on the GPUs, each engine in its share (benchmarks.t4_plan shows the sum)."""
    if isinstance(subject.settings, str):
        return skipped("the preset cannot be loaded")
    if isinstance(subject.manifest, str):
        return skipped(f"models/manifest.toml cannot be read: {one_line(subject.manifest, 200)}")
    if not subject.settings.needs_gpu:
        return skipped(f"the preset {subject.preset} runs on a processor")
    count = subject.description.get("gpu_count") if isinstance(subject.description, dict) else None
    cards = count if isinstance(count, int) and 1 <= count <= MOST_GPUS else MOST_GPUS
    found = Findings()
    made = plan(subject.settings, cards=cards, manifest=subject.manifest)
    for key, problem, remedy in made.problems:
        found.error(Place(subject.preset_file, field=key), problem, remedy)
    for name in dict.fromkeys(made.unknown):
        remedy = "give its entry in models/manifest.toml a shape, the numbers of its config.json"
        found.warning(subject.preset_file, f"nobody knows how much of a GPU {name} takes", remedy)
    fullest = max((made.total(card) for card in range(cards)), default=0.0)
    return found.outcome(note=f"the fullest GPU holds {fullest:.1f} of {made.memory_gib:g} GiB, by arithmetic")
