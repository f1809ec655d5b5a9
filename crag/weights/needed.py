"""All weights that a preset needs, found by following the names in its TOML, base models of adapters included.

Used by fetching, the agent's start, preflight, stand-ins and the rehearsal of the image.
"""

import functools
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crag.core.places import PACKAGE, REPOSITORY
from crag.weights.manifest import Manifest, cache_folder, load_manifest, own_folder

PRESETS = PACKAGE / "presets"
TRIM_TOKENIZER = "llama-2-tokenizer"
"""The tokenizer of the evaluator's cut to 75 tokens. An estimate replaces it if missing, which keeps fewer words."""
EXTENDS = "extends"
"""The key of a preset that names another one to start from."""
NOTHING = "none"
"""The value that removes a key of the preset that is extended or overridden."""
ROUTERS, CALIBRATIONS = "models/routers", "models/calibration"
"""Where training writes, and what a submission carries."""
SHIPPED_ROUTERS, SHIPPED_CALIBRATIONS = "crag/weights/routers", "crag/weights/calibration"
"""The small trained files of this project."""
RECIPES = "crag/training/router/configs"

Kind = Literal["adapter", "classifier", "calibration", "model"]
_FILES: Mapping[Kind, tuple[str, ...]] = {
    "adapter": ("adapter_config.json", "adapter_model.safetensors"),
    "classifier": ("config.json", "weights.safetensors"),
    "calibration": (),
    "model": ("config.json",),
}


@dataclass(frozen=True, slots=True)
class NeededFolder:
    """A part of a preset that `crag.weights.fetch` cannot download: training makes it, or it is at a path of the
    user's.

    `key` is the preset's key for it; `places` are the paths to look at, the first of them in the repository. A
    calibration is one file, everything else a folder with `files`. `remedy` says how to make it.
    """

    key: str
    kind: Kind
    name: str
    places: tuple[Path, ...]
    remedy: str
    files: tuple[str, ...]

    @property
    def path(self) -> Path:
        """Its place if it exists, else the expected place."""
        return next((place for place in self.places if place.exists()), self.places[0])

    @property
    def problem(self) -> str | None:
        """Why it cannot be loaded, in one line with the remedy, or None."""
        paths = [self.path / name for name in self.files] or [self.path]
        missing = next((path for path in paths if not path.is_file()), None)
        return f"{self.kind} {self.name}: {missing} is missing. {self.remedy}" if missing else None


@dataclass(frozen=True, slots=True)
class NeededWeights:
    """What a preset needs. `models` and `optional` map names of the manifest to the key that names them.

    Nothing is optional for a preset that needs GPUs: it runs on a machine without network.
    """

    models: Mapping[str, str]
    optional: Mapping[str, str]
    folders: tuple[NeededFolder, ...]


def preset_file(name: str | Path, beside: Path | None = None) -> Path:
    """The file of a shipped preset, or the path if the name ends in .toml, relative to the folder `beside`."""
    return (beside or Path()) / name if str(name).endswith(".toml") else PRESETS / f"{name}.toml"


def read_preset(name: str) -> dict[str, Any] | None:
    """The tables of a preset: a shipped one, or a file that ends in .toml; None: no such preset.
    Raises ValueError: this file or one that it extends is not TOML or is not there.
    """
    path = preset_file(name)
    return with_changes(read_tables(path)) if path.is_file() else None


def read_tables(path: Path, extended_by: tuple[Path, ...] = ()) -> dict[str, Any]:
    """A preset's tables. Its key ``extends`` names another preset, or a file beside it, whose tables it changes.
    Raises ValueError: not TOML, cannot be read, or it extends itself or something that is not there.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: not valid TOML: {error}") from None
    if (base := tables.pop(EXTENDS, None)) is None:
        return tables
    chain = (*extended_by, path.resolve())
    file = preset_file(base, path.parent) if isinstance(base, str) else None
    if file is None or not file.is_file():
        raise ValueError(
            f'{path}: key "{EXTENDS}": found {base!r}, allowed: a TOML file beside it, or one of '
            f"{', '.join(available_presets())}"
        )
    if file.resolve() in chain:
        raise ValueError(f'{path}: key "{EXTENDS}": {base} extends this file')
    return merged(read_tables(file, chain), tables)


def with_changes(tables: Mapping[str, Any], changes: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """The tables with the changes merged in turn; before them the table ``untuned`` if ``tuned`` is false then."""
    tuned = next((change["tuned"] for change in reversed(changes) if "tuned" in change), tables.get("tuned"))
    untuned = tables.get("untuned")
    before = [untuned] if tuned is False and isinstance(untuned, dict) else []
    return functools.reduce(merged, [*before, *changes], dict(tables))


def merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Merge tables unless the new one names another engine; replace everything else, and remove what is ``none``."""
    tables = dict(old)
    for key, value in new.items():
        before = tables.get(key)
        if value == NOTHING:
            tables.pop(key, None)
        elif value and isinstance(value, dict) and isinstance(before, dict):
            same_engine = value.get("engine", before.get("engine")) == before.get("engine")
            tables[key] = merged(before, value) if same_engine else value
        else:
            tables[key] = value
    return tables


def available_presets() -> list[str]:
    """Names of the shipped presets."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def needs_gpu(preset: Mapping[str, Any]) -> bool:
    """Whether the preset cannot run on a machine without GPU."""
    parts = [preset.get(key) or {} for key in ("language_model", "dense_encoder", "cross_encoder", "router")]
    devices = [preset.get("device") or part.get("device") or "" for part in parts]
    return parts[0].get("engine") == "vllm" or any(device.startswith("cuda") for device in devices)


def needed_weights(
    preset: Mapping[str, Any],
    *,
    manifest: Manifest | None = None,
    repository: Path = REPOSITORY,
    cache: Path | None = None,
) -> NeededWeights:
    """Find all weights that the preset (its TOML, or the dump of its settings) needs; they may be missing.

    `repository` and `cache` are the folders with what was trained; default: this one, and the cache of fetched models.
    """
    known = (manifest or load_manifest()).models
    models: dict[str, str] = {}
    folders: list[NeededFolder] = []
    for key, kind, name in _named(preset):
        if kind in {"adapter", "model"} and name in known:
            models.setdefault(name, key)
            continue
        folders.append(needed_folder(key, kind, name, repository, cache))
        if (base := base_of(folders[-1], repository)) in known:
            models.setdefault(base, f"{key}, base model")
    optional: dict[str, str] = {}
    if TRIM_TOKENIZER in known and TRIM_TOKENIZER not in models:
        (models if needs_gpu(preset) else optional)[TRIM_TOKENIZER] = "the cut to 75 tokens"
    return NeededWeights(models, optional, tuple(folders))


def _named(preset: Mapping[str, Any]) -> Iterator[tuple[str, Kind, str]]:
    """Key, kind and name of each part with weights in the preset."""
    model = preset.get("language_model") or {}
    if model.get("engine") in {"openvino", "transformers", "vllm"}:
        yield "language_model.model", "model", str(model.get("model"))
        adapters = model.get("adapters") if preset.get("tuned", True) else None
        for adapter, location in (adapters or {}).items():
            yield f"language_model.adapters.{adapter}", "adapter", location
    elif tokenizer := model.get("tokenizer"):
        yield "language_model.tokenizer", "model", tokenizer
    for key in ("dense_encoder", "cross_encoder"):
        if encoder := preset.get(key):
            yield f"{key}.model", "model", str(encoder.get("model"))
    for name in (preset.get("router") or {}).get("classifiers", ()):
        yield f"router.classifiers.{name}", "classifier", name
    if confidence := (preset.get("answering") or {}).get("confidence"):
        yield "answering.confidence.model", "calibration", str(confidence.get("model"))


def needed_folder(
    key: str, kind: Kind, name: str, repository: Path = REPOSITORY, cache: Path | None = None
) -> NeededFolder:
    """A part that the preset names `name` at `key`."""
    places: tuple[Path, ...] = (repository / name,)
    if kind == "classifier":
        places = (repository / ROUTERS / name, repository / SHIPPED_ROUTERS / name, (cache or cache_folder()) / name)
        train = f"crag train router --config {name} --out {ROUTERS}/{name}"
        remedy = f"Train it with: crag data fetch crag && {train}"
    elif kind == "calibration":
        is_file = name.endswith(".json")
        own, shipped = repository / CALIBRATIONS / f"{name}.json", repository / SHIPPED_CALIBRATIONS / f"{name}.json"
        places = (Path(name).expanduser(),) if is_file else (own, shipped)
        remedy = f"Fit it with: crag train calibrate RUN_DIR --out {name}"
    elif kind == "adapter":
        name = key.rpartition(".")[2]
        remedy = 'Train it as docs/training.md says, "From the public files to adapters"'
    else:
        places = (own_folder(name) or repository / name,)
        remedy = (
            "Name a model of crag/weights/manifest.toml, a folder, or a model of the hub after: hf download OWNER/NAME"
        )
    return NeededFolder(key, kind, name, places, remedy, _FILES[kind])


def base_of(folder: NeededFolder, repository: Path = REPOSITORY) -> str | None:
    """The base model of an adapter or a classifier, from its folder, else from its recipe."""
    base: object = None
    if folder.kind == "adapter":
        base = _read(folder.path / "adapter_config.json").get("base_model_name_or_path")
    elif folder.kind == "classifier":
        recipe = repository / RECIPES / f"{folder.name}.toml"
        base = (_read(folder.path / "config.json") or _read(recipe).get("encoder", {})).get("base")
    return base if isinstance(base, str) else None


def _read(path: Path) -> dict[str, Any]:
    """A small JSON or TOML file; empty if missing or broken: the code that loads it reports that."""
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
