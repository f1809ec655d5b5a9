"""The weights that the settings need."""

from pathlib import Path

from crag.core.places import REPOSITORY
from crag.settings.agent import Settings
from crag.weights import needed
from crag.weights.manifest import Manifest, WeightsMissingError, find


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
    wanted = needed_weights(settings, repository=REPOSITORY)
    found = {name: find(name) for name in wanted.models if name != needed.TRIM_TOKENIZER}
    missing = {name: place for name, place in found.items() if place.problem}
    lost = [folder for folder in wanted.folders if folder.problem]
    if not missing and not lost:
        return
    parts = []
    if missing:
        preset = needed.read_preset(settings.name)
        of_preset = needed.needed_weights(preset).models if preset is not None else {}
        names = settings.name if missing.keys() <= of_preset.keys() else " ".join(missing)
        to = " --to models/weights" if any(place.checked_in for place in missing.values()) else ""
        parts = ["; ".join(f"weights of {name}: {place.problem}" for name, place in missing.items())]
        parts.append(f"Get them with: crag models fetch {names}{to}")
    parts += [str(folder.problem) for folder in lost]
    if any(folder.kind == "adapter" for folder in lost):
        parts.append("Or run without adapters: --set tuned=false")
    raise WeightsMissingError(f"preset {settings.name}: {'. '.join(parts)}")
