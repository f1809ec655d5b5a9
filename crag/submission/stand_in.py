"""Small random models in place of a preset's: they test the wiring, not the quality.

Here is decided what a preset lacks; `stand_in_networks` and `stand_in_adapters` write the files.
"""

import json
import shutil
import sys
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from crag.core.files import UserError
from crag.core.places import REPOSITORY
from crag.submission.stand_in_adapters import write_adapter
from crag.submission.stand_in_networks import write_classifier, write_network, write_sentence_transformer
from crag.weights import fetch
from crag.weights.manifest import STAND_IN, cache_folder, is_stand_in, load_manifest
from crag.weights.needed import (
    RECIPES,
    SHIPPED_ROUTERS,
    NeededFolder,
    base_of,
    needed_weights,
)

WORDS = "all-minilm-l6-v2"
"""Its tokenizer is that of BERT; XLM-RoBERTa's is in no package."""
_RANK = 8
"""Rank of an adapter's stand-in, unless the preset allows only a lower rank."""


def make_stand_ins(
    preset: Mapping[str, Any],
    to: Path,
    *,
    repository: Path = REPOSITORY,
) -> dict[str, bool]:
    """Fill `to` with everything that the preset (its TOML, or the dump of its settings) needs and the repository lacks.

    Models with files in a registry are fetched, and so are real; the repository's adapters and classifiers for them are
    used. Only stand-ins in `to` are replaced. Returns the folders' names -> whether each is a stand-in. Raises
    `UserError`: why a folder cannot be made, and the remedy.
    """
    maker = _Maker(preset, to, repository)
    needed = needed_weights(preset, repository=repository)

    # Libraries print progress to standard output, which commands use for results.
    to.mkdir(parents=True, exist_ok=True)
    with redirect_stdout(sys.stderr), FileLock(to / "stand-ins.lock"):
        for name in (*needed.models, *needed.optional):
            maker.add_model(name)
        for folder in needed.folders:
            maker.add_folder(folder)
    return maker.made


@dataclass
class _Maker:
    """Fills folders below `to`. `made`: name of a folder -> whether it is a stand-in."""

    preset: Mapping[str, Any]
    to: Path
    repository: Path
    made: dict[str, bool] = field(default_factory=dict)

    def add_model(self, name: str) -> None:
        """Make a model of the manifest: real if a registry has its files, else random."""
        entry = load_manifest().model(name)
        # A real model tests more than a random one
        if entry.files:
            with fetch.fetch_lock():
                fetch.fetch_model(name, self.to)
            self.made[name] = False
            return

        if entry.shape is None:
            raise UserError(f"{name} has no stand-in: its entry in crag/weights/manifest.toml has no shape")
        with self._stand_in(name) as folder:
            with fetch.fetch_lock():
                tokenizer_folder = fetch.fetch_model(entry.tokenizer or WORDS, cache_folder())
            write_network(entry.shape, tokenizer_folder, folder)
            if name == (self.preset.get("dense_encoder") or {}).get("model"):
                write_sentence_transformer(folder)

    def add_folder(self, needed: NeededFolder) -> None:
        """Make an adapter or a classifier: the repository's if its base is real, else random."""
        engine = self.preset["language_model"]
        base = base_of(needed, self.repository)
        if base is None and needed.kind == "adapter":
            base = str(engine.get("model"))

        # `made` is False for a real base, so the repository's own adapter fits it
        if base is None or not self.made.get(base):
            if needed.problem:
                raise UserError(f"no stand-in can be made for the {needed.kind} at {needed.key}: {needed.problem}")
            return

        with self._stand_in(needed.paths[0].relative_to(self.repository).as_posix()) as folder:
            if needed.kind == "adapter":
                # vLLM refuses an adapter above the rank that it has reserved memory for
                rank = min(_RANK, engine.get("max_adapter_rank", _RANK))
                write_adapter(self.to / base, base, rank, folder)
            else:
                write_classifier(self.to / base, base, self._labels(needed.name), folder)

    def _labels(self, classifier: str) -> dict[str, list[str]]:
        """Field of the classifier -> its classes, first those that no gate of the preset stops."""
        recipe_file = self.repository / RECIPES / f"{classifier}.toml"
        recipe = tomllib.loads(recipe_file.read_text(encoding="utf-8"))
        shipped_file = REPOSITORY / SHIPPED_ROUTERS / "cpu" / "config.json"
        shipped = json.loads(shipped_file.read_bytes())["fields"]

        # The classes of each field that a gate stops.
        gated: set[tuple[str | None, str]] = set()
        answering = self.preset.get("answering") or {}
        for gate in answering.get("gates", ()):
            for label in gate.get("classes", ()):
                # A gate may name no field
                gated.add((gate.get("field"), label))

        labels: dict[str, list[str]] = {}
        for name in recipe["fields"]:
            classes = sorted(shipped[name]["labels"])
            passing = [label for label in classes if (name, label) not in gated]
            stopped = [label for label in classes if (name, label) in gated]
            # The stand-in predicts the first class, and questions must get past the gates
            labels[name] = passing + stopped
        return labels

    @contextmanager
    def _stand_in(self, name: str) -> Iterator[Path]:
        """An empty folder, marked as a stand-in at the end. Its random numbers are the same on every machine."""
        import torch

        folder = self.to / name
        # It may hold real weights
        if folder.exists() and any(folder.iterdir()) and not is_stand_in(folder):
            raise UserError(f"{folder} exists and is not a stand-in: it is kept; pass another folder with --to")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

        # Another seed for each name; `hash` would differ between processes
        torch.manual_seed(zlib.crc32(f"0 {name}".encode()))
        yield folder
        # At the end, since the record lists all files with their hashes
        fetch.write_record(folder, {}, f"{STAND_IN}: random weights")
        self.made[name] = True
