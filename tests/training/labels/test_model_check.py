"""A language model that looks into contexts: its replies, and what is kept of them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.common.deadline import Deadline
from agents.common.files import UserError
from agents.llm import Generation, GenerationRequest, LanguageModelDiedError
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.settings import ScriptedEngine
from tests.training.labels.runs import asked, basics
from training.labels.basic_answers import BasicAnswer
from training.labels.model_check import ModelContextCheck, read_reply


class Counting(ScriptedLanguageModel):
    """Remembers what it was asked."""

    def __init__(self, **settings: object) -> None:
        super().__init__(ScriptedEngine.model_validate({"engine": "scripted", **settings}))
        self.asked: list[GenerationRequest] = []

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        self.asked += requests
        return super().generate(requests, deadline)


def three(folder: Path) -> tuple[BasicAnswer, ...]:
    return basics(folder, *(asked(name, f"what about {name}?", f"gold {name}", "x") for name in "abc"))


def check(model: Counting, path: Path, size: int = 2) -> ModelContextCheck:
    return ModelContextCheck(model, "scripted", path, size, shown=False)


def test_yes_no_and_what_cannot_be_read(tmp_path: Path) -> None:
    replies = {"gold a": "Yes, it says so", "gold b": "**no**", "gold c": "perhaps"}
    looked = check(Counting(replies=replies), tmp_path / "replies.jsonl")
    assert [result.found for result in looked.look(three(tmp_path))] == [True, False, False]
    assert looked.counts == {"yes": 1, "no": 1, "unreadable": 1}
    assert [read_reply(text) for text in ("YES", "No.", "", "not at all", "yesterday")] == [
        "yes",
        "no",
        None,
        None,
        None,
    ]


def test_it_is_reported_context_question_and_right_answer_and_asked_greedily(tmp_path: Path) -> None:
    model, (basic, *_) = Counting(), three(tmp_path)
    check(model, tmp_path / "replies.jsonl").look([basic])
    (request,) = model.asked
    assert all(text in request.messages[-1].content for text in (basic.context, basic.query, "gold a"))
    assert request.temperature == 0.0


def test_a_resumed_check_asks_only_what_is_missing(tmp_path: Path) -> None:
    """Killed in the middle of writing a line: what was whole is used, the torn line is asked again."""
    path, rows = tmp_path / "replies.jsonl", three(tmp_path)
    with pytest.raises(LanguageModelDiedError):
        check(Counting(default_reply="yes", fault="die_after", fault_after=2), path).look(rows)
    assert len(path.read_bytes().splitlines()) == 2
    path.write_bytes(path.read_bytes()[:-5])
    model = Counting(default_reply="no")
    resumed = check(model, path)
    assert [result.found for result in resumed.look(rows)] == [True, False, False]
    assert len(model.asked) == 2
    again = check(Counting(fault="error"), path)
    assert [result.found for result in again.look(rows)] == [True, False, False]


@pytest.mark.parametrize("fault", ["error", "short_list"])
def test_requests_that_failed_count_as_no_and_are_asked_again(tmp_path: Path, fault: str) -> None:
    path, rows = tmp_path / "replies.jsonl", three(tmp_path)
    failing = check(Counting(fault=fault, default_reply="yes"), path)
    assert [result.found for result in failing.look(rows)] == [False] * 3
    assert failing.counts["failed"] == 3
    assert all(result.found for result in check(Counting(default_reply="yes"), path).look(rows))


def test_a_reply_of_another_model_is_not_used(tmp_path: Path) -> None:
    path, rows = tmp_path / "replies.jsonl", three(tmp_path)
    check(Counting(default_reply="yes"), path).look(rows)
    other = ModelContextCheck(Counting(default_reply="no"), "another", path, 2, shown=False)
    assert not any(result.found for result in other.look(rows))


def test_a_file_of_something_else_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('{"a": 1}\n{"b": 2}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"replies\.jsonl, line 1: expected"):
        check(Counting(), path).look(three(tmp_path))
    assert len(path.read_bytes().splitlines()) == 2
