"""The run card names what a training run depended on."""

import hashlib
import json
from pathlib import Path

import pytest

from crag.core.files import DatasetError
from crag.training.files import CARD_FILE, RunCard, file_hash


def test_the_card_of_a_file_has_a_folder_of_its_name(tmp_path: Path) -> None:
    card = RunCard.beside(tmp_path / "new" / "pairs.jsonl")
    assert card.write({}, {}, {}) == tmp_path / "new" / "pairs" / CARD_FILE
    assert RunCard.beside(tmp_path / "new" / "pairs.jsonl").folder == card.folder, "it may be there already"
    (tmp_path / "rows.jsonl").write_bytes(b"")
    for name in ("pairs", "new", "rows.jsonl.bz2"):
        with pytest.raises(DatasetError, match="gets the run card"):
            RunCard.beside(tmp_path / name)


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
