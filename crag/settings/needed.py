"""The weights that the settings need, and whether they are all on this machine."""

from collections.abc import Mapping
from pathlib import Path

from crag.core.places import REPOSITORY
from crag.settings.agent import Settings
from crag.weights import needed
from crag.weights.manifest import Manifest, ModelFolder, WeightsMissingError, find
from crag.weights.preset_files import read_preset


def needed_weights(
    settings: Settings,
    *,
    manifest: Manifest | None = None,
    repository: Path = REPOSITORY,
    cache: Path | None = None,
) -> needed.NeededWeights:
    """The weights that the settings name; see `crag.weights.needed.needed_weights`."""
    return needed.needed_weights(settings.model_dump(), manifest=manifest, repository=repository, cache=cache)


def require_weights(settings: Settings) -> None:
    """Check that all weights of the settings exist; loads none.

    Raises WeightsMissingError: one line names all missing weights and the command that gets them.
    """
    required = needed_weights(settings, repository=REPOSITORY)
    incomplete_models: dict[str, ModelFolder] = {}
    for name in required.models:
        if name == needed.TRIM_TOKENIZER:  # an estimate replaces it
            continue
        folder = find(name)
        if folder.problem:
            incomplete_models[name] = folder
    missing_folders = [folder for folder in required.folders if folder.problem]
    if not incomplete_models and not missing_folders:
        return

    sentences: list[str] = []
    if incomplete_models:
        sentences.append("; ".join(f"weights of {name}: {model.problem}" for name, model in incomplete_models.items()))
        sentences.append(f"Get them with: {_fetch_command(settings.name, incomplete_models)}")
    sentences += [str(folder.problem) for folder in missing_folders]
    if any(folder.kind == "adapter" for folder in missing_folders):
        sentences.append("Or run without adapters: --set tuned=false")
    raise WeightsMissingError(f"preset {settings.name}: {'. '.join(sentences)}")


def _fetch_command(preset_name: str, models: Mapping[str, ModelFolder]) -> str:
    """The command that fetches the models: by the preset's name if the preset as shipped needs all of them."""
    preset = read_preset(preset_name)
    models_of_preset = needed.needed_weights(preset).models if preset is not None else {}
    names = preset_name if models.keys() <= models_of_preset.keys() else " ".join(models)

    target = " --to models/weights" if any(folder.checked_in for folder in models.values()) else ""
    return f"crag models fetch {names}{target}"
