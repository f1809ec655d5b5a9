"""The run card names what a training run depended on."""

import hashlib
from pathlib import Path

import pytest

from crag.evaluation.datasets import DatasetError
from crag.training.files import CARD_FILE, RunCard, file_hash


def test_the_card_of_a_file_has_a_folder_of_its_name(tmp_path: Path) -> None:
    card = RunCard.beside(tmp_path / "new" / "pairs.jsonl")
    assert card.write({}, {}, {}) == tmp_path / "new" / "pairs" / CARD_FILE
    assert RunCard.beside(tmp_path / "new" / "pairs.jsonl").folder == card.folder, "it may be there already"
    (tmp_path / "rows.jsonl").write_bytes(b"")
    for name in ("pairs", "new", "rows.jsonl.bz2"):
        with pytest.raises(DatasetError, match="gets the run card"):
            RunCard.beside(tmp_path / name)


def test_a_cut_file_has_the_hash_of_the_whole(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl.part1").write_bytes(b"first ")
    (tmp_path / "rows.jsonl.part2").write_bytes(b"second")
    assert file_hash(tmp_path / "rows.jsonl") == hashlib.sha256(b"first second").hexdigest()
