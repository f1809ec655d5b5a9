"""Where the files of a base model or an adapter lie."""

from collections.abc import Mapping
from pathlib import Path

from models.manifest import UnknownModelError, WeightsMissingError, locate

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
    return _holding(folder, "adapter_config.json", "adapter_model.safetensors")


def check_folders(model: str, adapters: Mapping[str, str]) -> None:
    """Raise `WeightsMissingError` for the first missing file of a base model and its adapters (name -> where)."""
    model_folder(model)
    for location in adapters.values():
        adapter_folder(location)


def _holding(folder: Path, *names: str) -> Path:
    for name in names:
        if not (folder / name).is_file():
            raise WeightsMissingError(
                f"{folder / name} is missing: give a folder that holds it, or a name of models/manifest.toml, "
                "which python -m models.fetch NAME gets"
            )
    return folder
