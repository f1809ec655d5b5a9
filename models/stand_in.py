"""Write small random models instead of a preset's large ones: `python -m models.stand_in PRESET --to DIR`.

With them every preset starts and answers on a small machine (`make smoke PRESET=... STAND_INS=yes`). This tests wiring
and interfaces, not quality. A stand-in has the architecture, file names, tokenizer and chat template of its model;
`fetched.toml` in its folder marks it, so that no check takes it for the model. Models are in DIR/NAME, where
CRAG_MODELS_DIR=DIR finds them; adapters and classifiers are in DIR/models/..., as in the repository. Exit code 0: all
are there; 1: something cannot be made.
"""

import argparse
import json
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents.common.console import end_with
from models import fetch, stand_in_files
from models.manifest import STAND_IN, ModelEntry, Shape, cache_folder, is_stand_in, load_manifest
from models.needed import (
    RECIPES,
    REPOSITORY,
    ROUTERS,
    NeededFolder,
    available_presets,
    base_of,
    needed_weights,
    read_preset,
)

WORDS = "all-minilm-l6-v2"
"""Its `vocab.txt` gives the words of the small XLM-RoBERTa tokenizer."""
_RANK = 8
"""Rank of adapters."""


class StandInError(RuntimeError):
    """A folder could not be made; the message names it and the remedy."""


class Made(NamedTuple):
    """One folder, `name` as the preset or the manifest writes it, and what it holds."""

    name: str
    folder: Path
    what: str
    is_stand_in: bool


def make_stand_ins(
    preset: Mapping[str, Any], to: Path, *, repository: Path = REPOSITORY, say: Callable[[str], None] = lambda _: None
) -> list[Made]:
    """Fill `to` with everything that the preset needs and the repository lacks.

    Models with files in a registry are fetched, and so are real; the repository's adapters and classifiers for them are
    used.

    Args:
        preset: TOML of a preset, or the dump of its settings.
        to: A folder; only stand-ins in it are replaced.
        repository: Holds adapters and classifiers.
        say: Gets a line for each fetched model.

    Raises:
        StandInError: a folder cannot be made.
    """
    maker = _Maker(preset, to, repository, say)
    needed = needed_weights(preset, repository=repository)
    with fetch.fetch_lock(maker.cache):
        for name in (*needed.models, *needed.optional):
            maker.model(name)
        for folder in needed.folders:
            maker.folder(folder)
    return maker.made


class _Maker:
    """Fills folders below `to`, and lists them in `made`."""

    def __init__(self, preset: Mapping[str, Any], to: Path, repository: Path, say: Callable[[str], None]) -> None:
        self._preset, self._to, self._repository, self._say = preset, to, repository, say
        self._manifest = load_manifest()
        self.cache = cache_folder()
        self.made: list[Made] = []

    def model(self, name: str) -> None:
        """A model of the manifest: real if a registry has its files, else random."""
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
        size, numbers = stand_in_files.special_tokens(folder)
        own = stand_in_files.small(shape, size)
        stand_in_files.write_network(own, numbers, folder, stand_in_files.seed_of(name))
        if name == (self._preset.get("dense_encoder") or {}).get("model"):
            stand_in_files.write_sentence_transformer(own, folder)
        sizes = f"{own.layers} random layers of {own.hidden} (the model: {shape.layers} of {shape.hidden})"
        quantised = ", 4-bit AWQ" if shape.awq_group else ""
        self._finish(name, folder, f"{shape.architecture}{quantised}, {sizes}, {tokenizer}")

    def folder(self, needed: NeededFolder) -> None:
        """An adapter or a classifier: the repository's if its base is real, else random."""
        name = needed.places[0].relative_to(self._repository).as_posix()
        engine = self._preset["language_model"]
        base = base_of(needed, self._repository)
        if needed.kind == "adapter" and base is None:
            base = str(engine.get("model"))
        is_random = base in {one.name for one in self.made if one.is_stand_in}
        if base is None or not is_random or needed.kind not in {"adapter", "classifier"}:
            if needed.problem:
                raise StandInError(f"no stand-in can be made for the {needed.kind} at {needed.key}: {needed.problem}")
            return
        folder = self._empty(name)
        seed = stand_in_files.seed_of(name)
        if needed.kind == "adapter":
            rank = min(_RANK, engine.get("max_adapter_rank", _RANK))
            stand_in_files.write_adapter(self._to / base, base, rank, folder, seed)
            what = f"LoRA adapter of rank {rank} on the stand-in of {base}"
        else:
            labels = self._labels(needed.name)
            stand_in_files.write_classifier(base, self._to / base, labels, folder, seed)
            what = f"classifier of {', '.join(labels)} on the stand-in of {base}; predicts what no gate stops"
        self._finish(name, folder, what)

    def _labels(self, classifier: str) -> dict[str, list[str]]:
        """Field of the classifier -> its classes, first those that no gate of the preset stops."""
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
            stand_in_files.copy_tokenizer(self._fetched(entry.tokenizer, self.cache), shape, folder)
            return f"the model's own tokenizer (from {entry.tokenizer})"
        if shape.architecture.startswith("XLMRoberta"):
            stand_in_files.write_small_xlm_tokenizer(self._fetched(WORDS, self.cache) / "vocab.txt", folder)
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
            raise StandInError(f"{folder} exists and is not a stand-in: it is kept; pass another folder with --to")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def _finish(self, name: str, folder: Path, what: str) -> None:
        fetch.record_all(folder, f"{STAND_IN}: random weights")
        self.made.append(Made(name, folder, what, is_stand_in=True))


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m models.stand_in", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("preset", metavar="PRESET", help=f"{', '.join(available_presets())}, or a preset's file")
    parser.add_argument("--to", type=Path, required=True, metavar="DIR", help="folder for the models, one folder each")
    options = parser.parse_args(arguments)
    try:
        made = make_stand_ins(_preset(options.preset), options.to, say=lambda line: print(line, file=sys.stderr))
    except (StandInError, ValueError, OSError) as error:
        print(f"stand_in: {error}", file=sys.stderr)
        return 1
    for one in made:
        print(f"{one.name}: {one.what}")
    count = sum(one.is_stand_in for one in made)
    print(f"{options.to}: {count} stand-in(s), {len(made) - count} real; for tests of wiring, not of quality")
    return 0


def _preset(name: str) -> dict[str, Any]:
    preset = read_preset(name)
    if preset is None:
        raise StandInError(f"no preset {name!r}; shipped presets: {', '.join(available_presets())}")
    return preset


if __name__ == "__main__":
    end_with(main)
