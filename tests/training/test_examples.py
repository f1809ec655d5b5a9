"""The file of what a language model is tuned on."""

import json
from pathlib import Path
from typing import Any

import pytest

from crag.core.files import DatasetError, write_rows
from crag.engines.llm import Message
from crag.training.files import TrainingExample, read_examples

CHAT = TrainingExample(
    "paris",
    messages=(Message("system", "be brief"), Message("user", "capital of france?")),
    groups=("france",),
    source="real",
    query="capital of france?",
    answers=("paris", "city of light"),
)
TEXT = TrainingExample('get_movie("heat")', prompt="Question: heat\nCalls:\n", groups=("heat",))


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    write_rows(tmp_path / "examples.jsonl", [CHAT.to_row(), TEXT.to_row()])
    assert read_examples(tmp_path / "examples.jsonl") == [CHAT, TEXT]


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"prompt": "too"}, 'line 2: give either field "prompt" or field "messages"'),
        ({"messages": [{"role": "judge", "content": "x"}]}, 'line 2, field "messages.0.role": Input should be'),
        ({"answers": [1]}, 'line 2, field "answers.0": Input should be a valid string'),
    ],
)
def test_a_wrong_row_is_refused_with_file_line_and_field(tmp_path: Path, change: dict[str, Any], reported: str) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text(f"{json.dumps(CHAT.to_row())}\n{json.dumps(CHAT.to_row() | change)}\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"examples\.jsonl") as caught:
        read_examples(path)
    assert reported in str(caught.value)


def test_a_file_without_examples_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "examples.jsonl"
    path.write_text("", encoding="utf-8")
    with pytest.raises(DatasetError, match="it has no rows"):
        read_examples(path)
