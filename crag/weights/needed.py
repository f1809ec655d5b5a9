"""All weights that a preset needs, found by following the names in its TOML, base models of adapters included.

Used by fetching, the agent's start, preflight, stand-ins and the rehearsal of the image.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from crag.core.files import parse_toml
from crag.core.places import REPOSITORY, expand_home
from crag.weights.manifest import Manifest, cache_folder, find_custom_model, load_manifest

TRIM_TOKENIZER = "llama-2-tokenizer"
"""The tokenizer of the evaluator's cut to 75 tokens. An estimate replaces it if missing, which keeps fewer words."""

ROUTERS = "models/routers"
CALIBRATIONS = "models/calibration"
"""Where training writes, and what a submission carries."""

SHIPPED_ROUTERS = "crag/weights/routers"
SHIPPED_CALIBRATIONS = "crag/weights/calibration"
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
    """A part of a preset that `crag.weights.fetch` cannot download: trained here, or at a path that the user names.

    A calibration is one file, everything else a folder.
    """

    key: str
    """The preset's key for it."""
    kind: Kind
    name: str
    paths: tuple[Path, ...]
    """The paths to look at, the first of them in the repository."""
    remedy: str
    """A sentence: how to make it."""
    files: tuple[str, ...]
    """What the folder must hold; empty if it is a file itself."""

    @property
    def path(self) -> Path:
        """The first of the paths that exists, else the expected path."""
        # In order: what was trained here wins over what is shipped, and that over the cache
        for path in self.paths:
            if path.exists():
                return path
        return self.paths[0]

    @property
    def problem(self) -> str | None:
        """Why it cannot be loaded, in one line with the remedy, or None."""
        return f"{self.fault} {self.remedy}" if self.fault else None

    @property
    def fault(self) -> str | None:
        """Why it cannot be loaded, in a sentence, or None."""
        # A calibration lists no files: it is a file itself
        required = [self.path / name for name in self.files] or [self.path]
        for path in required:
            if not path.is_file():
                return f"{self.kind} {self.name}: {path} is missing."
        return None


@dataclass(frozen=True, slots=True)
class NeededWeights:
    """What a preset needs. Nothing is optional for a preset that needs GPUs: it runs on a machine without network."""

    models: Mapping[str, str]
    """Name in the manifest -> the preset's key that names it."""
    optional: Mapping[str, str]
    folders: tuple[NeededFolder, ...]


def needs_gpu(preset: Mapping[str, Any]) -> bool:
    """Whether the preset cannot run on a machine without GPU."""
    if (preset.get("language_model") or {}).get("engine") == "vllm":
        return True

    # The preset's own `device` stands for all of its parts
    for key in ("language_model", "dense_encoder", "cross_encoder", "router"):
        part = preset.get(key) or {}
        device = preset.get("device") or part.get("device") or ""
        if device.startswith("cuda"):
            return True
    return False


def needed_weights(
    preset: Mapping[str, Any],
    *,
    manifest: Manifest | None = None,
    repository: Path = REPOSITORY,
    cache: Path | None = None,
) -> NeededWeights:
    """Find all weights that the preset (its TOML, or the dump of its settings) needs; they may be missing.

        needed_weights(read_preset("cpu")).models   # {"qwen2.5-coder-1.5b-instruct": "language_model.model", ...}

    `repository` and `cache` are the folders with what was trained; default: this one, and the cache of fetched models.
    """
    entries = (manifest or load_manifest()).models
    models: dict[str, str] = {}
    folders: list[NeededFolder] = []
    for part in _parts_with_weights(preset):
        if part.kind in {"adapter", "model"} and part.name in entries:
            models.setdefault(part.name, part.key)
            continue

        # Not in the manifest: trained here, or a path of the user's
        folder = needed_folder(part.key, part.kind, part.name, repository, cache)
        folders.append(folder)
        # An adapter is useless without its base model, which the preset may not name
        base = base_of(folder, repository)
        if base in entries:
            models.setdefault(base, f"{part.key}, base model")

    optional: dict[str, str] = {}
    if TRIM_TOKENIZER in entries and TRIM_TOKENIZER not in models:
        # A machine with a GPU has no network to fetch it later, so there nothing is optional
        required_or_optional = models if needs_gpu(preset) else optional
        required_or_optional[TRIM_TOKENIZER] = "the cut to 75 tokens"
    return NeededWeights(models, optional, tuple(folders))


class _Part(NamedTuple):
    """A key of a preset that names weights."""

    key: str
    kind: Kind
    name: str


def _parts_with_weights(preset: Mapping[str, Any]) -> Iterator[_Part]:
    model = preset.get("language_model") or {}
    if model.get("engine") in {"openvino", "transformers", "vllm"}:
        yield _Part("language_model.model", "model", str(model.get("model")))
        # `tuned = false` runs the base model alone
        adapters = model.get("adapters") if preset.get("tuned", True) else None
        for adapter, location in (adapters or {}).items():
            yield _Part(f"language_model.adapters.{adapter}", "adapter", location)

    elif model.get("tokenizer"):
        # A model behind a server: only its tokenizer is needed here, to count tokens
        yield _Part("language_model.tokenizer", "model", model["tokenizer"])

    for key in ("dense_encoder", "cross_encoder"):
        encoder = preset.get(key)
        if encoder:
            yield _Part(f"{key}.model", "model", str(encoder.get("model")))

    router = preset.get("router") or {}
    for name in router.get("classifiers", ()):
        yield _Part(f"router.classifiers.{name}", "classifier", name)

    confidence = (preset.get("answering") or {}).get("confidence")
    if confidence:
        yield _Part("answering.confidence.model", "calibration", str(confidence.get("model")))


def needed_folder(
    key: str,
    kind: Kind,
    name: str,
    repository: Path = REPOSITORY,
    cache: Path | None = None,
) -> NeededFolder:
    """The folder (or the file of a calibration) that the preset calls `name` at `key`; it may be missing."""
    paths: tuple[Path, ...]
    if kind == "classifier":
        paths = (
            repository / ROUTERS / name,
            repository / SHIPPED_ROUTERS / name,
            (cache or cache_folder()) / name,
        )
        train = f"crag train router --config {name} --out {ROUTERS}/{name}"
        remedy = f"Train it with: crag data fetch crag && {train}"
    elif kind == "calibration":
        if name.endswith(".json"):
            paths = (repository / expand_home(name),)
        else:
            paths = (repository / CALIBRATIONS / f"{name}.json", repository / SHIPPED_CALIBRATIONS / f"{name}.json")
        remedy = f"Fit it with: crag train calibrate RUN_DIR --out {name}"
    elif kind == "adapter":
        paths = (repository / name,)
        name = key.rpartition(".")[2]  # for messages: the adapter's name, not its folder
        remedy = 'Train it as docs/training.md says, "From the public files to adapters"'
    else:
        paths = (find_custom_model(name) or repository / name,)
        remedy = (
            "Name a model of crag/weights/manifest.toml, a folder such as ./NAME, or a model of the hub after: "
            "hf download OWNER/NAME"
        )
    return NeededFolder(key, kind, name, paths, remedy, _FILES[kind])


def base_of(folder: NeededFolder, repository: Path = REPOSITORY) -> str | None:
    """The base model of an adapter or a classifier, from its folder, else from its recipe."""
    base: object = None
    if folder.kind == "adapter":
        base = _read_tables(folder.path / "adapter_config.json").get("base_model_name_or_path")
    elif folder.kind == "classifier":
        config = _read_tables(folder.path / "config.json")
        # Not trained yet: the recipe says on what it will be based
        if not config:
            recipe = _read_tables(repository / RECIPES / f"{folder.name}.toml")
            config = recipe.get("encoder", {})
        base = config.get("base")
    return base if isinstance(base, str) else None


def _read_tables(path: Path) -> dict[str, Any]:
    """A small JSON or TOML file; empty if missing or broken: the code that loads it reports that."""
    try:
        content = path.read_bytes()
        data = parse_toml(content) if path.suffix == ".toml" else json.loads(content)
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
