"""The run card names what a training run depended on."""

import hashlib
from pathlib import Path

import pytest

from evaluation.datasets import DatasetError
from training.run_card import CARD_FILE, card_folder, file_hash, write_card


def test_the_card_of_a_file_has_a_folder_of_its_name(tmp_path: Path) -> None:
    folder = card_folder(tmp_path / "new" / "pairs.jsonl")
    assert write_card(folder, {}) == tmp_path / "new" / "pairs" / CARD_FILE
    assert card_folder(tmp_path / "new" / "pairs.jsonl") == folder, "a folder that is there already is taken"
    (tmp_path / "rows.jsonl").write_bytes(b"")
    for name in ("pairs", "new", "rows.jsonl.bz2"):
        with pytest.raises(DatasetError, match="gets the run card"):
            card_folder(tmp_path / name)


def test_a_cut_file_has_the_hash_of_the_whole(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl.part1").write_bytes(b"first ")
    (tmp_path / "rows.jsonl.part2").write_bytes(b"second")
    assert file_hash(tmp_path / "rows.jsonl") == hashlib.sha256(b"first second").hexdigest()
