"""What the recipes of adapters need to know of a preset (`crag/training/recipes.mk`)."""

from collections.abc import Iterator
from pathlib import Path

from crag.core.places import PACKAGE, REPOSITORY
from crag.settings import Settings
from crag.training.lora.settings import LoraTraining
from crag.weights.manifest import WeightsMissingError
from crag.weights.preset_files import EXTENDS, preset_file, read_file

BASE_PRESETS = {"kg_writer": "db3_task23", "kg_answerer": "db3_task23", "web_answerer": "db3_task1"}
"""The presets that db3's adapters are for."""
REFUSALS = "web_refusals"
"""The web answerer after preference tuning."""
READS_PAGES = ("web_answerer", REFUSALS)
"""Adapters that learn from web pages instead of the graph."""
PRESETS_BY_CONFIG = {"db3": BASE_PRESETS | {REFUSALS: "db3_task1"}, "cpu": {"kg_writer": "cpu"}}
"""Configuration of `crag train lora` -> adapter -> the preset that it is for."""
CHANGES_BY_CONFIG = {"db3": (), "cpu": ('knowledge_graph.writer.form="question"',)}
"""Configuration -> changes of the preset: a form that is served only with the adapter."""
WRITER_KEY = "knowledge_graph.writer.adapter"
KEY_BY_ADAPTER = {
    "kg_writer": WRITER_KEY,
    "kg_answerer": "knowledge_graph.answer_adapter",
    "web_answerer": "answering.adapter",
}
"""Adapter -> the preset's key that names it where it is served."""
WRITER_FOLDS = 2
"""Folds of the questions for `kg_answerer`, each asked through a writer that was tuned without it. More folds leave
these writers more to learn from, and each costs another tuning."""
_AROUND_THE_CONTEXT = 512
"""Tokens of a prompt beside its context, and of the answer; more than any prompt of ours has."""


def served_folder(settings: Settings, name: str) -> Path:
    """The folder from which the preset serves the adapter, else a folder of its own; never one inside the package."""
    if name == REFUSALS:
        return served_folder(settings, "web_answerer").with_name(REFUSALS)

    served_name = settings.adapters_used[KEY_BY_ADAPTER[name]] or name
    location = getattr(settings.language_model, "adapters", {}).get(served_name, "")
    folder = REPOSITORY / location

    # A location without a slash is a name in the manifest
    is_own_folder = "/" in location and not folder.is_relative_to(PACKAGE)
    return folder if is_own_folder else REPOSITORY / "models/adapters" / settings.name / name


def adapters_not_yet_made(settings: Settings, name: str) -> list[str]:
    """The preset's adapters that must not be loaded while the labels of this one are made.

    A router's adapter stays, because contexts depend on it, and for `kg_answerer` the writer's.
    """
    used = settings.adapters_used
    needed = {used["router.adapter"], used[WRITER_KEY] if name == "kg_answerer" else None}
    return [adapter for adapter in settings.language_model.adapters if adapter not in needed]


def longest_example(settings: Settings, config: str, name: str) -> int:
    """Tokens of the longest prompt that the preset serves, with its answer; at least those of the configuration.

    `crag train lora` leaves longer examples out, and these have the fullest contexts.
    """
    longest = LoraTraining.load(config).max_tokens
    if name in READS_PAGES:
        longest = max(longest, settings.web.context.max_tokens + _AROUND_THE_CONTEXT)
    return longest


def find_untrainable(settings: Settings, name: str) -> str | None:
    """Why the recipe would make other contexts or answers than the preset serves, or None."""
    graph = settings.knowledge_graph
    is_joint = graph is not None and graph.source_policy == "synthesis"
    if name in READS_PAGES:
        if settings.answering.self_assessment is not None:
            return "asks the model how sure it is (answering.self_assessment), which no label says"
        if is_joint:
            return "reads pages and facts of the graph together (source_policy synthesis), and the recipe reads pages"

    if name == "kg_answerer" and graph is not None:
        if not graph.read_facts_of:
            return "answers from the graph's values alone (knowledge_graph.read_facts_of names no domain)"
        if graph.answer_prompt == "assessed":
            return "asks the model how sure it is (knowledge_graph.answer_prompt assessed), which no label says"
        if is_joint and not graph.graph_only_domains:
            return "reads no facts of the graph without pages (source_policy synthesis)"
    return None


def check_trainable(name: str, folder: Path) -> None:
    """Raise WeightsMissingError if a base model has no weights that can be tuned: int8 weights cannot."""
    if not any(folder.glob("*.safetensors")):
        raise WeightsMissingError(f"{folder} has no weights for training: crag models fetch {name} --float16 adds them")


def extended_files(preset: Path) -> Iterator[Path]:
    """The files that a preset extends, nearest first: a change in one of them changes the preset."""
    base = read_file(preset).get(EXTENDS)
    if isinstance(base, str):
        path = preset_file(base, preset.parent).resolve()
        yield path
        yield from extended_files(path)
