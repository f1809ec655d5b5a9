"""The run card names what a training run depended on."""

import hashlib
import json
from pathlib import Path

import pytest

from crag.core.files import DatasetError
from crag.training.files import CARD_FILE, RunCard, file_hash, make_output_folder


def test_the_card_of_a_file_has_a_folder_of_its_name(tmp_path: Path) -> None:
    card = RunCard.beside(tmp_path / "new" / "pairs.jsonl")
    assert card.write({}, {}, {}) == tmp_path / "new" / "pairs" / CARD_FILE
    assert RunCard.beside(tmp_path / "new" / "pairs.jsonl").folder == card.folder, "it may be there already"
    (tmp_path / "rows.jsonl").write_bytes(b"")
    for name in ("pairs", "new", "rows.jsonl.bz2"):
        with pytest.raises(DatasetError, match="gets the run card"):
            RunCard.beside(tmp_path / name)


def test_a_file_of_labels_is_not_replaced_by_what_is_made_from_it(tmp_path: Path) -> None:
    questions, link = tmp_path / "questions.jsonl", tmp_path / "link.jsonl"
    questions.write_text("hours of work", encoding="utf-8")
    link.symlink_to(questions)
    for out in (questions, link):
        with pytest.raises(DatasetError, match="this file is an input and would be replaced: choose another name"):
            RunCard.beside(out, tmp_path / "others.jsonl", questions)


def test_an_output_that_is_a_file_is_refused_before_the_training(tmp_path: Path) -> None:
    (tmp_path / "mine").touch()
    with pytest.raises(DatasetError, match="mine: is a file, and a folder is written"):
        make_output_folder(tmp_path / "mine")
    with pytest.raises(DatasetError, match="cannot be made: Not a directory"):
        make_output_folder(tmp_path / "mine" / "router")


def test_the_card_tells_what_a_file_was_made_from_unless_it_was_changed(tmp_path: Path) -> None:
    questions, pairs = tmp_path / "questions.jsonl", tmp_path / "pairs.jsonl"
    questions.write_text("asked", encoding="utf-8")
    pairs.write_text("labelled", encoding="utf-8")
    RunCard.beside(pairs).write({"questions": questions}, {"limit": 3}, {"sha256": file_hash(pairs)})

    for content, has_origin in (("labelled", True), ("changed", False)):
        pairs.write_text(content, encoding="utf-8")
        card_path = RunCard(tmp_path / "adapter").write({"train": pairs}, {}, {})
        description = json.loads(card_path.read_text(encoding="utf-8"))["data"]["train"]
        assert ("made_from" in description) is has_origin
        if has_origin:
            assert description["made_from"]["data"]["questions"]["sha256"] == file_hash(questions)
            assert description["made_from"]["settings"] == {"limit": 3}


def test_a_cut_file_has_the_hash_of_the_whole(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl.part1").write_bytes(b"first ")
    (tmp_path / "rows.jsonl.part2").write_bytes(b"second")
    assert file_hash(tmp_path / "rows.jsonl") == hashlib.sha256(b"first second").hexdigest()
