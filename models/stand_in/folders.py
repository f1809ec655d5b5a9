"""Which folders a preset needs, and how each is filled: fetched, or made of random numbers."""

import json
import shutil
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from models import fetch
from models.manifest import STAND_IN, ModelEntry, cache_folder, is_stand_in, load_manifest
from models.needed import RECIPES, REPOSITORY, ROUTERS, NeededFolder, base_of, needed_weights
from models.shapes import Shape
from models.stand_in.tokenizers import copy_tokenizer, special_tokens, write_small_xlm_tokenizer
from models.stand_in.weights import seed_of, small, write_adapter, write_classifier, write_network

WORDS = "all-minilm-l6-v2"
"""Its `vocab.txt` gives the words of the small XLM-RoBERTa tokenizer."""
_RANK = 8
"""Of adapters."""


class StandInError(RuntimeError):
    """A folder could not be made; one line that names it and what to do."""


class Made(NamedTuple):
    """One folder, `name` as the preset or the manifest writes it, and what it holds."""

    name: str
    folder: Path
    what: str
    is_stand_in: bool


def make_stand_ins(
    preset: Mapping[str, Any],
    to: Path,
    *,
    seed: int = 0,
    repository: Path = REPOSITORY,
    say: Callable[[str], None] = lambda _: None,
) -> list[Made]:
    """Fill `to` with everything that the preset needs and the repository does not hold.

    Models of the manifest lie in `to`/NAME, adapters and classifiers in `to`/PATH, the path that they have in the
    repository. Models whose files a registry has are fetched and real, and so is what the repository ships for them.

    Args:
        preset: TOML of a preset, or the dump of its settings.
        to: A folder; stand-ins in it are replaced, nothing else is.
        seed: Of all random numbers.
        repository: Where adapters and classifiers lie.
        say: Gets a line for each model that is fetched.

    Raises:
        StandInError: a folder cannot be made.
    """
    maker = _Maker(preset, to, seed, repository, say)
    needed = needed_weights(preset, repository=repository)
    with fetch.fetch_lock(maker.cache):
        for name in (*needed.models, *needed.optional):
            maker.model(name)
        for folder in needed.folders:
            maker.folder(folder)
    return maker.made


class _Maker:
    """Fills folders below `to`, and lists them in `made`."""

    def __init__(
        self, preset: Mapping[str, Any], to: Path, seed: int, repository: Path, say: Callable[[str], None]
    ) -> None:
        self._preset, self._to, self._seed, self._repository, self._say = preset, to, seed, repository, say
        self._manifest = load_manifest()
        self._random: set[str] = set()
        """Models that are stand-ins."""
        self.cache = cache_folder()
        self.made: list[Made] = []

    def model(self, name: str) -> None:
        """A model of the manifest: small ones that a registry has are real, the others random."""
        entry = self._manifest.model(name)
        if entry.files:
            self.made.append(Made(name, self._fetched(name, self._to), "the real model", is_stand_in=False))
            return
        shape = entry.shape
        if shape is None:
            raise StandInError(
                f"{name} has no stand-in: its entry in models/manifest.toml has no shape (sizes of its config.json)"
            )
        folder = self._empty(name)
        tokenizer = self._write_tokenizer(entry, shape, folder)
        size, numbers = special_tokens(folder)
        mine = small(shape, size)
        write_network(mine, numbers, folder, seed_of(name, self._seed))
        if name == (self._preset.get("dense_encoder") or {}).get("model"):
            _write_sentence_transformer(mine, folder)
        self._random.add(name)
        sizes = f"{mine.layers} random layers of {mine.hidden} (the model: {shape.layers} of {shape.hidden})"
        quantised = ", 4-bit AWQ" if shape.awq_group else ""
        self._finish(name, folder, f"{shape.architecture}{quantised}, {sizes}, {tokenizer}")

    def folder(self, needed: NeededFolder) -> None:
        """An adapter or a classifier: as it lies in the repository where its base is real, else random."""
        name = needed.places[0].relative_to(self._repository).as_posix()
        engine = self._preset["language_model"]
        base = base_of(needed, self._repository)
        if needed.kind == "adapter" and base is None:
            base = str(engine.get("model"))
        if base not in self._random or needed.kind not in {"adapter", "classifier"}:
            if needed.problem:
                raise StandInError(f"no stand-in can be made for the {needed.kind} at {needed.key}: {needed.problem}")
            return
        folder = self._empty(name)
        seed = seed_of(name, self._seed)
        if needed.kind == "adapter":
            rank = min(_RANK, engine.get("max_adapter_rank", _RANK))
            write_adapter(self._to / base, base, rank, folder, seed)
            what = f"LoRA adapter of rank {rank} on the stand-in of {base}"
        else:
            labels = self._labels(needed.name)
            write_classifier(base, self._to / base, labels, folder, seed)
            what = f"classifier of {', '.join(labels)} on the stand-in of {base}; gives what no gate stops"
        self._finish(name, folder, what)

    def _labels(self, classifier: str) -> dict[str, list[str]]:
        """Field of the classifier -> its classes, first those for which none of the preset's gates closes."""
        recipe = tomllib.loads((self._repository / RECIPES / f"{classifier}.toml").read_text(encoding="utf-8"))
        shipped = json.loads((REPOSITORY / ROUTERS / "cpu" / "config.json").read_bytes())["fields"]
        gates = (self._preset.get("answering") or {}).get("gates", ())
        stopped = {(gate.get("field"), label) for gate in gates for label in gate.get("classes", ())}
        return {
            field: sorted(shipped[field]["labels"], key=lambda label: ((field, label) in stopped, label))
            for field in recipe["fields"]
        }

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

    def _finish(self, name: str, folder: Path, what: str) -> None:
        files = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
        fetch.write_record(folder, dict.fromkeys(files, f"{STAND_IN}, seed {self._seed}: random weights"))
        self.made.append(Made(name, folder, what, is_stand_in=True))


def _write_sentence_transformer(shape: Shape, folder: Path) -> None:
    """The files that make an encoder's folder one of sentence-transformers: CLS pooling, unit length, as bge has."""
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (path, kind) in enumerate(kinds.items())
    ]
    pooling = {"word_embedding_dimension": shape.hidden, "pooling_mode_cls_token": True}
    pooling |= {"pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": False}
    (folder / "1_Pooling").mkdir()
    for name, value in {
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": shape.positions, "do_lower_case": True},
        "1_Pooling/config.json": pooling,
    }.items():
        (folder / name).write_text(json.dumps(value, indent=1), encoding="utf-8")
