"""Where the files of a base model or an adapter lie."""

import json
from collections.abc import Mapping
from pathlib import Path

from models.manifest import UnknownModelError, WeightsMissingError, load_manifest, locate

REPOSITORY = Path(__file__).resolve().parents[2]


def model_folder(name: str) -> Path:
    """The folder of a model of `models/manifest.toml`, or the folder at a path (relative to the repository).

    Raises:
        WeightsMissingError: a file of the model is missing, or the name is neither in the manifest nor a folder.
    """
    try:
        return locate(name)
    except UnknownModelError as unknown:
        folder = REPOSITORY / name
        if not folder.is_dir():
            raise WeightsMissingError(f"{unknown}; and there is no folder {folder}") from None
    return _holding(folder, "config.json")


def adapter_folder(name: str) -> Path:
    """The folder of a LoRA adapter, found as in `model_folder`. Only safetensors count: pickled weights can run code.

    Raises:
        WeightsMissingError: the folder or one of the adapter's two files is missing.
    """
    try:
        folder = locate(name)
    except UnknownModelError:
        folder = REPOSITORY / name
    return _holding(folder, "adapter_config.json", "adapter_model.safetensors", advice=_ADAPTER_ADVICE)


def check_folders(model: str, adapters: Mapping[str, str]) -> None:
    """Check a base model and its adapters (name -> where) without loading them.

    Raises:
        WeightsMissingError: a file is missing, or an adapter was tuned for another model of the manifest.
    """
    model_folder(model)
    for name, location in adapters.items():
        base = _base_of(adapter_folder(location))
        if base != model and {base, model} <= set(load_manifest().models):
            raise WeightsMissingError(
                f"the adapter {name} was tuned for {base}, and the engine runs {model}: give language_model.adapters "
                "one of this model, or take the adapter out there and where the preset names it"
            )


def _base_of(folder: Path) -> str | None:
    base: str | None = json.loads((folder / "adapter_config.json").read_bytes()).get("base_model_name_or_path")
    return base


_MODEL_ADVICE = "give a folder that holds it, or a name of models/manifest.toml, which python -m models.fetch NAME gets"
_ADAPTER_ADVICE = (
    "python -m training.adapters trains adapters (docs/training.md), --set tuned=false does without; or give a folder "
    "that holds it, or a name of models/manifest.toml, which python -m models.fetch NAME gets"
)


def _holding(folder: Path, *names: str, advice: str = _MODEL_ADVICE) -> Path:
    for name in names:
        if not (folder / name).is_file():
            raise WeightsMissingError(f"{folder / name} is missing: {advice}")
    return folder
