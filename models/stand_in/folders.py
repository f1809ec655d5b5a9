"""Which folders a preset needs, and how each is filled: fetched, or made of random numbers."""

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from agents.settings import ROUTE_CLASSES, NeededFolder, Settings, base_of, needed_weights
from models import fetch
from models.manifest import STAND_IN, Manifest, ModelEntry, cache_folder, is_stand_in, load_manifest
from models.shapes import Shape
from models.stand_in.classifiers import write_classifier
from models.stand_in.networks import seed_of, small, write_adapter, write_network
from models.stand_in.tokenizers import copy_tokenizer, special_tokens, write_small_xlm_tokenizer

REPOSITORY = Path(__file__).resolve().parents[2]
WORDS = "all-minilm-l6-v2"
"""Its `vocab.txt` gives the words of the small XLM-RoBERTa tokenizer."""
_RANK = 8
"""Of an adapter whose own rank is not known."""


class StandInError(RuntimeError):
    """A folder could not be made; one line that says which and what to do."""


class Made(NamedTuple):
    """One folder, `name` as the preset or the manifest writes it, and what it holds."""

    name: str
    folder: Path
    what: str
    is_stand_in: bool


class _Maker:
    """Fills folders below `to`; what it has made is in `made`."""

    def __init__(self, settings: Settings, to: Path, seed: int, repository: Path, say: Callable[[str], None]) -> None:
        self._settings, self._to, self._seed, self._repository = settings, to, seed, repository
        self._manifest: Manifest = load_manifest()
        self.cache = cache_folder()
        self._say = say
        self.shapes: dict[str, Shape] = {}
        """Stand-in models that were made -> their small shapes."""
        self.made: list[Made] = []

    def model(self, name: str) -> None:
        """A model of the manifest: small ones that a registry has are real, the others random."""
        entry = self._manifest.model(name)
        if entry.files:
            folder = self._fetched(name, self._to)
            self.made.append(Made(name, folder, "the real model", is_stand_in=False))
            return
        shape = entry.shape
        if shape is None:
            raise StandInError(
                f"{name} has no stand-in: its entry in models/manifest.toml has no shape (sizes of its config.json)"
            )
        folder = self._empty(name)
        tokens = self._write_tokenizer(entry, shape, folder)
        size, numbers = special_tokens(folder)
        self.shapes[name] = small(shape, size)
        write_network(self.shapes[name], numbers, folder, seed_of(name, self._seed))
        if entry.name in self._dense_encoders:
            _write_sentence_transformer(folder)
        self._finish(folder)
        mine = self.shapes[name]
        quantised = ", 4-bit AWQ" if shape.awq_group else ""
        what = (
            f"{shape.architecture}{quantised}, {mine.layers} random layers of {mine.hidden} "
            f"(the model: {shape.layers} of {shape.hidden}), {tokens}"
        )
        self.made.append(Made(name, folder, what, is_stand_in=True))

    @property
    def _dense_encoders(self) -> set[str]:
        encoder = self._settings.dense_encoder
        return {encoder.model} if encoder is not None else set()

    def folder(self, needed: NeededFolder) -> None:
        """What training makes: as it lies in the repository where its base is real, else random on the stand-in."""
        name = needed.places[0].relative_to(self._repository).as_posix()
        base = base_of(needed, self._repository)
        if needed.kind == "adapter" and base is None:
            base = str(getattr(self._settings.language_model, "model", None))
        if base not in self.shapes or needed.kind not in {"adapter", "classifier"}:
            if needed.problem:
                raise StandInError(f"no stand-in can be made for the {needed.kind} at {needed.key}: {needed.problem}")
            return
        folder = self._empty(name)
        seed = seed_of(name, self._seed)
        if needed.kind == "adapter":
            most = getattr(self._settings.language_model, "max_adapter_rank", _RANK)
            rank = min(_RANK, most)
            write_adapter(self.shapes[base], base, rank, folder, seed)
            what = f"LoRA adapter of rank {rank} on the stand-in of {base}"
        else:
            recipe = self._repository / "training" / "router" / "configs" / f"{needed.name}.toml"
            fields = tomllib.loads(recipe.read_text(encoding="utf-8"))["fields"]
            labels = {field: self._labels(field) for field in fields}
            write_classifier(self.shapes[base], base, self._to / base, labels, folder, seed)
            what = f"classifier of {', '.join(fields)} on the stand-in of {base}; says what no gate stops"
        self._finish(folder)
        self.made.append(Made(name, folder, what, is_stand_in=True))

    def _labels(self, field: str) -> list[str]:
        """The classes of a field, first those for which none of the preset's gates closes."""
        stopped = {
            label
            for gate in self._settings.answering.gates
            if gate.gate == "class" and gate.field == field
            for label in gate.classes
        }
        classes = sorted(ROUTE_CLASSES[field])
        return sorted(classes, key=lambda label: label in stopped)

    def _write_tokenizer(self, entry: ModelEntry, shape: Shape, folder: Path) -> str:
        if entry.tokenizer is not None:
            copy_tokenizer(self._fetched(entry.tokenizer, self.cache), shape, folder)
            return f"the model's own tokenizer (out of {entry.tokenizer})"
        if shape.architecture.startswith("XLMRoberta"):
            write_small_xlm_tokenizer(self._fetched(WORDS, self.cache) / "vocab.txt", folder)
            return "a tokenizer of the same kind with fewer tokens"
        raise StandInError(f"{entry.name} has no stand-in: its entry in models/manifest.toml names no tokenizer")

    def _fetched(self, name: str, root: Path) -> Path:
        try:
            return fetch.Fetcher(self._manifest, root, self.cache, self._say).fetch(name)
        except fetch.FetchError as error:
            raise StandInError(str(error)) from error

    def _empty(self, name: str) -> Path:
        folder = self._to / name
        if folder.exists() and any(folder.iterdir()) and not is_stand_in(folder):
            raise StandInError(f"{folder} is there and is no stand-in: it is left alone; give another folder with --to")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _finish(self, folder: Path) -> None:
        files = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
        fetch.write_record(folder, dict.fromkeys(files, f"{STAND_IN}, seed {self._seed}: random weights"))


def _write_sentence_transformer(folder: Path) -> None:
    """The files that make an encoder's folder one of sentence-transformers: CLS pooling, unit length, as bge has."""
    places = ("", "1_Pooling", "2_Normalize")
    kinds = ("Transformer", "Pooling", "Normalize")
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(zip(places, kinds, strict=True))
    ]
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    pooling = {"word_embedding_dimension": config["hidden_size"], "pooling_mode_cls_token": True}
    pooling |= {"pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": False}
    written = {
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": config["max_position_embeddings"], "do_lower_case": True},
        "1_Pooling/config.json": pooling,
    }
    for name, value in written.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(value, indent=1), encoding="utf-8")


def make_stand_ins(
    settings: Settings,
    to: Path,
    *,
    seed: int = 0,
    repository: Path = REPOSITORY,
    say: Callable[[str], None] = lambda _: None,
) -> list[Made]:
    """Fill `to` with everything that the settings need and the repository does not hold.

    Models of the manifest lie in `to`/NAME, adapters and classifiers in `to`/PATH, the path that they have in the
    repository. Models whose files a registry has are fetched and real, and so is what the repository ships for them.

    Args:
        settings: Of a preset.
        to: A folder; stand-ins that lie there are replaced, nothing else is.
        seed: Of all random numbers.
        repository: Where adapters and classifiers lie.
        say: Hears of what is fetched.

    Raises:
        StandInError: a folder cannot be made.
    """
    maker = _Maker(settings, to, seed, repository, say)
    needed = needed_weights(settings, repository=repository)
    with fetch.fetch_lock(maker.cache):
        for name in (*needed.models, *needed.optional):
            maker.model(name)
        for folder in needed.folders:
            maker.folder(folder)
    return maker.made
