"""Segments of a search as pages of questions."""

import json
from pathlib import Path

import pytest

from evaluation.datasets import DatasetError
from training.segments import main, questions_of


def test_each_segment_is_a_page_with_its_title(tmp_path: Path) -> None:
    file = tmp_path / "contexts.jsonl"
    segments = [
        {"score": 2.0, "text": "A <title>\n:\nA line that\ngoes on.  \nA new line.\n\nA paragraph."},
        {"text": "bare"},
    ]
    file.write_text(
        json.dumps({"interaction_id": "a", "query": "q", "run": "A", "segments": segments}), encoding="utf-8"
    )
    (pair,) = questions_of(file)
    first, second = pair["search_results"]
    assert first["page_name"] == "A <title>"
    assert "<p>A line that\ngoes on.<br>A new line.</p><p>A paragraph.</p>" in first["page_result"]
    assert second["page_name"] == ""
    assert "<p>bare</p>" in second["page_result"]
    for wrong in ("", ', "segments": [{"score": 1}]', ', "segments": ["text"]'):
        file.write_text(f'{{"interaction_id": "a", "query": "q"{wrong}}}\n', encoding="utf-8")
        with pytest.raises(DatasetError, match=r'line 1, field "segments"'):
            list(questions_of(file))


def test_the_command_writes_a_question_file_or_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "contexts.jsonl", tmp_path / "new" / "questions.jsonl"
    file.write_text(
        '{"interaction_id": "a", "query": "q", "split": 0, "segments": [{"text": "t"}]}\n', encoding="utf-8"
    )
    assert main(["--contexts", str(file), "--out", str(out)]) == 0
    assert json.loads(out.read_text(encoding="utf-8"))["search_results"][0]["page_url"].endswith("/0")
    assert main(["--contexts", str(tmp_path / "none.jsonl"), "--out", str(out)]) == 1
    assert "none.jsonl: there is no such file; --contexts names the file" in capsys.readouterr().err
