"""What is read from a run: the question as the model was asked it, and its first answer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.common.files import UserError
from tests.training.labels.runs import CONTEXT, asked, basics, written
from training.labels.basic_answers import basic_answers


def test_the_first_answer_counts_not_the_one_that_was_given(tmp_path: Path) -> None:
    (only,) = basics(tmp_path, asked("a", "where was ada born?", "london", "Answer: London\n"))
    assert only.answer == "London"
    assert [message.content for message in only.messages] == ["Answer.", f"{CONTEXT}\nwhere was ada born?"]
    assert (only.context, only.golds, only.labels) == (CONTEXT, ("london",), {"domain": "open"})


def test_a_text_prompt_stays_a_text(tmp_path: Path) -> None:
    record, trace = asked("a", "where?", "london", "London")
    trace["prompts"]["answer"] = "Text: ... Question: where?"
    (only,) = basics(tmp_path, (record, trace))
    assert (only.prompt, only.messages) == ("Text: ... Question: where?", ())


@pytest.mark.parametrize("how", [{"finish_reason": "error"}, {"finish_reason": "deadline"}, {"text": ""}])
def test_an_answer_that_did_not_happen_is_missing(tmp_path: Path, how: dict[str, str]) -> None:
    record, trace = asked("a", "where?", "london", "London")
    trace["generations"]["answer"] |= how
    assert basics(tmp_path, (record, trace))[0].answer == "i don't know"


def test_what_cannot_be_labelled_is_counted(tmp_path: Path) -> None:
    from_graph = asked("graph", "who?", "ada", "Ada")
    from_graph[1]["prompts"] = {"graph_answer": []}
    found = basic_answers(
        [
            written(tmp_path / "1", asked("a", "where?", "london", "London"), from_graph),
            written(tmp_path / "2", asked("a", "where?", "london", "Paris"), asked("b", "who?", None, "Ada")),
        ]
    )
    assert [row.answer for row in found.rows] == ["London"]
    assert found.left_out == {
        "not asked about web pages": 1,
        "asked twice in the same words": 1,
        "without a right answer": 1,
    }


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda trace: trace.update(context=None),
            r'traces\.jsonl, question a: field "context": Input should be',
        ),
        (lambda trace: trace["generations"].clear(), r'question a: field "generation": Input should be'),
        (lambda trace: trace["prompts"].update(answer=[{"role": "tool"}]), r'question a: field "prompt\.'),
        (lambda trace: trace["prompts"].clear(), "nothing to label .1 not asked about web pages"),
    ],
)
def test_faults_name_file_question_and_field(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], None], message: str
) -> None:
    record, trace = asked("a", "where?", "london", "London")
    spoil(trace)
    with pytest.raises(UserError, match=message):
        basics(tmp_path, (record, trace))
