"""The run card names what a training run depended on."""

import hashlib
import json
from pathlib import Path

import pytest

from evaluation.datasets import DatasetError
from training.run_card import CARD_FILE, card_folder, file_hash, run_card, write_card


def test_data_is_known_by_name_size_and_hash_but_not_by_place(tmp_path: Path) -> None:
    data = tmp_path / "questions.jsonl"
    data.write_bytes(b'{"query": "who?"}\n')
    card = run_card({"train": data}, {"rate": 0.5}, 12.34, {"accuracy": 1.0}, ["numpy", "no-such-package"])
    digest = hashlib.sha256(data.read_bytes()).hexdigest()
    assert card["data"] == {"train": {"name": "questions.jsonl", "bytes": 18, "sha256": digest}}
    assert set(card["versions"]) == {"python", "numpy"}
    assert str(tmp_path) not in json.dumps(card)
    assert json.loads(write_card(tmp_path, card).read_text(encoding="utf-8")) == card


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
