"""Brings an index up to date with the files: what is new or changed is read, what is gone is forgotten.

Each batch is a change of its own, so whoever kills the process loses a batch.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from tqdm import tqdm

from crag.asking.documents import open_pool, read_files
from crag.asking.index.files import FoundFile, digest_file, is_settled
from crag.asking.index.store import FileState, IndexStore, Piece
from crag.asking.sources import Warn
from crag.engines.encoders import DenseEncoder
from crag.settings import ExtractSettings
from crag.web import ExtractionPool, indexed_terms

FILES_AT_A_TIME = 100
PAGES_AT_A_TIME = 500
PIECES_AT_A_TIME = 256
MOST_VECTORS = 200_000
"""Pieces that are searched by meaning too: 770 bytes of memory and about 20 ms of encoding each."""

PIECE = re.compile(r"\S[\s\S]{0,600}\S*")
"""About 128 tokens, which the encoder reads; never a part of a word."""

T = TypeVar("T")


def update_files(store: IndexStore, files: Sequence[FoundFile], settings: ExtractSettings) -> None:
    """Read the files that are new or changed; forget those that are gone."""
    states = store.read_states()
    gone = states.keys() - {file.path for file in files}
    if gone:
        with store.changes():
            store.delete_files(sorted(gone))

    unknown = FileState("", "")
    stale = [file for file in files if not file.stamp or states.get(file.path, unknown).stamp != file.stamp]
    if not stale:
        return
    with open_pool(settings) as pool:
        for batch in _batches_with_progress(stale, FILES_AT_A_TIME, "reading", "file"):
            _update_batch(store, batch, states, pool)


def _update_batch(
    store: IndexStore, batch: Sequence[FoundFile], states: Mapping[str, FileState], pool: ExtractionPool
) -> None:
    """Read the files whose content is new, and give all of them their new stamps, in one change of the store."""
    digests = {file.path: digest_file(file) for file in batch}
    changed = []
    for file in batch:
        is_known = file.path in states and states[file.path].digest == digests[file.path] != ""
        if not is_known:
            changed.append(file)

    readings = read_files([file.location for file in changed], pool)
    with store.changes():
        for file in batch:
            store.restamp_file(file.path, _trusted_stamp(file))
        for file, reading in zip(changed, readings, strict=True):
            # What a clock or the system decided is tried again at the next start.
            stamp = _trusted_stamp(file) if reading.is_final else ""
            digest = digests[file.path] if reading.is_final else ""
            store.replace_file(file, stamp, digest, reading)


def _trusted_stamp(file: FoundFile) -> str:
    return file.stamp if is_settled(file) else ""


def list_notes(store: IndexStore, files: Sequence[FoundFile]) -> Iterator[str]:
    """The notes that were made about the files when they were read, with their paths as they are written now."""
    notes = store.read_notes()
    for file in files:
        location, lines = notes.get(file.path, (file.location, []))
        for line in lines:
            yield line.replace(location, file.location)


def update_words(store: IndexStore) -> None:
    """Cut the pages that are new into pieces, and index the words of these."""
    uncut = store.count_uncut_pages()
    with tqdm(total=uncut, desc="indexing", unit="page", disable=None if uncut else True) as progress:
        while pages := store.read_uncut_pages(PAGES_AT_A_TIME):
            with store.changes():
                for number, title, text in pages:
                    store.add_pieces(number, _cut(title, text))
            progress.update(len(pages))


def _cut(title: str, text: str) -> Iterator[Piece]:
    """The pieces of a page, each with its words and those of the title."""
    title_words = " ".join(indexed_terms(title))
    for match in PIECE.finditer(text):
        yield Piece(match.start(), match.end(), title_words, " ".join(indexed_terms(match[0])))


def update_vectors(store: IndexStore, encoder: DenseEncoder, warn: Warn) -> None:
    """Encode the pieces that have no vector, the first `MOST_VECTORS` of all."""
    pieces, without_vector = store.count_pieces()
    if pieces > MOST_VECTORS:
        warn(f"index: {pieces - MOST_VECTORS:,} of {pieces:,} passages are searched by their words alone")
    room = MOST_VECTORS - (pieces - without_vector)
    missing = max(0, min(without_vector, room))

    with tqdm(total=missing, desc="encoding", unit="passage", disable=None if missing else True) as progress:
        while missing > 0:
            batch = store.read_unencoded_pieces(min(missing, PIECES_AT_A_TIME))
            if not batch:
                return
            vectors, _ = encoder.encode_passages([f"{title}\n{text}" for _, title, text in batch])
            with store.changes():
                store.add_vectors([number for number, _, _ in batch], vectors.astype(np.float16))
            missing -= len(batch)
            progress.update(len(batch))


def _batches_with_progress(items: Sequence[T], size: int, title: str, unit: str) -> Iterator[Sequence[T]]:
    """The items in batches; a progress bar on a terminal, if it is worth one."""
    is_long = len(items) > size
    with tqdm(total=len(items), desc=title, unit=unit, disable=None if is_long else True) as progress:
        for start in range(0, len(items), size):
            batch = items[start : start + size]
            yield batch
            progress.update(len(batch))
