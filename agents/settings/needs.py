"""All weights that a preset needs, found by following what it names: classifiers and adapters have a base model.

This is the only place that knows. Fetching, the agent's start, preflight and the rehearsal of the image all ask here.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agents.settings.base import SettingsError
from agents.settings.loading import available_presets, load_settings
from agents.settings.whole import Settings
from models.manifest import Manifest, WeightsMissingError, cache_folder, find, load_manifest

REPOSITORY = Path(__file__).resolve().parents[2]
TRIM_TOKENIZER = "llama-2-tokenizer"
"""The tokenizer of the evaluator's cut to 75 tokens. Without it answers are cut by a bound, which keeps fewer words."""
ROUTERS, CALIBRATIONS, RECIPES = "models/routers", "models/calibration", "training/router/configs"

Kind = Literal["adapter", "classifier", "calibration", "model"]
_FILES: Mapping[Kind, tuple[str, ...]] = {
    "adapter": ("adapter_config.json", "adapter_model.safetensors"),
    "classifier": ("config.json", "weights.safetensors"),
    "calibration": (),
    "model": ("config.json",),
}


@dataclass(frozen=True, slots=True)
class NeededFolder:
    """What a preset names that no fetching brings: it was made by training, or lies at a path of the user's own.

    `key` is where the preset names it, `places` are the paths that are looked at, the first one of them in the
    repository; a calibration is one file, everything else a folder with `files`. `remedy` says how it is made.
    """

    key: str
    kind: Kind
    name: str
    places: tuple[Path, ...]
    remedy: str

    @property
    def files(self) -> tuple[str, ...]:
        """What has to be in the folder; nothing where `path` is the file itself."""
        return _FILES[self.kind]

    @property
    def path(self) -> Path:
        """Where it is, or where it should be."""
        return next((place for place in self.places if place.exists()), self.places[0])

    @property
    def problem(self) -> str | None:
        """Why it cannot be loaded, in one line with the remedy, or None."""
        paths = [self.path / name for name in self.files] or [self.path]
        missing = next((path for path in paths if not path.is_file()), None)
        return f"{self.kind} {self.name}: {missing} is missing. {self.remedy}" if missing else None


@dataclass(frozen=True, slots=True)
class NeededWeights:
    """What a preset needs. `models` and `optional` map names of the manifest to the key that asks for them.

    Without one of `models` the preset is not what it says; an optional one (the trim's tokenizer on a laptop) makes it
    a little better. Nothing is optional for a preset that needs GPUs: it is pushed to where nothing can be fetched.
    """

    models: Mapping[str, str]
    optional: Mapping[str, str]
    folders: tuple[NeededFolder, ...]


def needed_weights(
    settings: Settings,
    *,
    manifest: Manifest | None = None,
    repository: Path = REPOSITORY,
    cache: Path | None = None,
) -> NeededWeights:
    """Follow what the settings name to all weights. Reads small configuration files alone; nothing has to be there.

    Args:
        settings: Of a preset.
        manifest: Which names are models; default: the shipped manifest.
        repository: Where adapters, classifiers and calibrations lie.
        cache: Where classifiers lie beside that; default: the cache of fetched models.
    """
    known = (manifest or load_manifest()).models
    models: dict[str, str] = {}
    folders: list[NeededFolder] = []
    for key, kind, name in _named(settings):
        if kind in {"adapter", "model"} and name in known:
            models.setdefault(name, key)
            continue
        folder = _folder(key, kind, name, repository, cache or cache_folder())
        folders.append(folder)
        base = base_of(folder, repository)
        if base in known:
            models.setdefault(base, f"{key}, base model")
    optional: dict[str, str] = {}
    if TRIM_TOKENIZER in known and TRIM_TOKENIZER not in models:
        (models if settings.needs_gpu else optional)[TRIM_TOKENIZER] = "the cut to 75 tokens"
    return NeededWeights(models, optional, tuple(folders))


def require_weights(settings: Settings) -> None:
    """Check that everything is here without which the settings' parts cannot be loaded; reads no weights.

    Raises:
        WeightsMissingError: something is not; one line names all of it and the command that gets it.
    """
    needed = needed_weights(settings)
    missing: dict[str, str] = {}
    checked_in = False
    for name in needed.models:
        place = find(name)
        if place.problem and name != TRIM_TOKENIZER:
            missing[name] = place.problem
            checked_in = checked_in or place.checked_in
    said = ["; ".join(f"weights of {name}: {problem}" for name, problem in missing.items())] if missing else []
    said += [f"Get them with: {_command(settings, missing, checked_in=checked_in)}"] if missing else []
    lost = [folder for folder in needed.folders if folder.problem]
    said += [str(folder.problem) for folder in lost]
    if any(folder.kind == "adapter" for folder in lost):
        said.append("Or do without adapters: --set tuned=false")
    if said:
        raise WeightsMissingError(f"preset {settings.name}: {'. '.join(said)}")


def _command(settings: Settings, missing: Mapping[str, str], *, checked_in: bool) -> str:
    """The preset's own command where that gets what is missing, else one with the models' names."""
    names = " ".join(missing)
    if settings.name in available_presets():
        try:
            if missing.keys() <= needed_weights(load_settings(settings.name, [])).models.keys():
                names = settings.name
        except SettingsError:
            names = " ".join(missing)  # the preset is of use with the changes alone that these settings have
    return f"python -m models.fetch {names}{' --to models/weights' if checked_in else ''}"


def _named(settings: Settings) -> Iterator[tuple[str, Kind, str]]:
    """Key, kind and name of everything with weights that the settings name themselves."""
    model = settings.language_model
    if model.engine in {"transformers", "vllm"}:
        yield "language_model.model", "model", model.model
        for adapter, location in model.adapters.items():
            yield f"language_model.adapters.{adapter}", "adapter", location
    elif model.engine == "openai" and model.tokenizer:
        yield "language_model.tokenizer", "model", model.tokenizer
    for key, encoder in (("dense_encoder", settings.dense_encoder), ("cross_encoder", settings.cross_encoder)):
        if encoder is not None:
            yield f"{key}.model", "model", encoder.model
    if settings.router is not None and settings.router.engine == "encoder":
        for name in settings.router.classifiers:
            yield f"router.classifiers.{name}", "classifier", name
    if settings.answering.confidence is not None:
        yield "answering.confidence.model", "calibration", settings.answering.confidence.model


def _folder(key: str, kind: Kind, name: str, repository: Path, cache: Path) -> NeededFolder:
    if kind == "classifier":
        places = (repository / ROUTERS / name, cache / name)
        remedy = f"Train it with: python -m training.router --config {name} --out {ROUTERS}/{name}"
        return NeededFolder(key, kind, name, places, remedy)
    if kind == "calibration":
        path = Path(name).expanduser() if name.endswith(".json") else repository / CALIBRATIONS / f"{name}.json"
        remedy = f"Fit it with: python -m training.calibrate RUN_DIR --out {name}"
        return NeededFolder(key, kind, name, (path,), remedy)
    if kind == "adapter":
        adapter = key.rpartition(".")[2]
        return NeededFolder(key, kind, adapter, (repository / name,), _training_of(adapter, name))
    return NeededFolder(key, kind, name, (repository / name,), "Name a model of models/manifest.toml, or a folder")


def _training_of(adapter: str, location: str) -> str:
    parts = Path(location).parts
    if parts[:2] != ("models", "adapters") or len(parts) != 4 or parts[3] != adapter:
        return f"Train it with: python -m training.adapters {adapter} --base-preset PRESET --out {location}"
    config = "" if parts[2] == "cpu" else f" --config {parts[2]}"
    return f"Train it with: python -m training.adapters {adapter}{config}"


def base_of(folder: NeededFolder, repository: Path = REPOSITORY) -> str | None:
    """The model that an adapter or a classifier was tuned from, as its folder says, else as its recipe does."""
    if folder.kind == "adapter":
        return _text(_read(folder.path / "adapter_config.json"), "base_model_name_or_path")
    if folder.kind != "classifier":
        return None
    if (folder.path / "config.json").is_file():
        return _text(_read(folder.path / "config.json"), "base")
    encoder = _read(repository / RECIPES / f"{folder.name}.toml").get("encoder")
    return _text(encoder, "base") if isinstance(encoder, dict) else None


def _text(data: Mapping[str, Any], key: str) -> str | None:
    value = data.get(key)
    return value if isinstance(value, str) else None


def _read(path: Path) -> dict[str, Any]:
    """A small JSON or TOML file; empty where it is missing or broken, which the code that loads from it reports."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
