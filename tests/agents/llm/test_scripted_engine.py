import time
from typing import Literal

import pytest

from agents.common.deadline import Deadline
from agents.llm import Generation, GenerationRequest, LanguageModelDiedError, Message
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.settings import ScriptedEngine

Fault = Literal["hang", "die_after", "garbage", "slow", "error", "empty", "short_list"]


def faulty(fault: Fault, after: int = 1) -> ScriptedLanguageModel:
    return ScriptedLanguageModel(
        ScriptedEngine(engine="scripted", default_reply="fine", fault=fault, fault_after=after)
    )


def requests(count: int) -> list[GenerationRequest]:
    return [GenerationRequest(messages=(Message("user", f"question {n}"),)) for n in range(count)]


def texts(generations: list[Generation]) -> list[str]:
    return [generation.text for generation in generations]


def test_the_first_matching_part_of_the_last_user_message_chooses_the_reply() -> None:
    replies = {"Paris": "France", "is": "yes"}
    model = ScriptedLanguageModel(ScriptedEngine(engine="scripted", replies=replies))
    asked = [
        GenerationRequest(messages=(Message("system", "Paris"), Message("user", "Where is Rome?"))),
        GenerationRequest(messages=(Message("user", "Where is Paris?"),)),
        GenerationRequest(prompt="nothing known"),
    ]
    assert texts(model.generate(asked, Deadline(5))) == ["yes", "France", "i don't know"]


def test_hang_ends_after_the_deadline_with_nothing() -> None:
    started = time.monotonic()
    generations = faulty("hang").generate(requests(3), Deadline(0.2))
    assert texts(generations) == ["fine", "", ""]
    assert [generation.finish_reason for generation in generations[1:]] == ["deadline", "deadline"]
    assert time.monotonic() - started > 0.6


def test_die_after_serves_that_many_and_then_no_more() -> None:
    model = faulty("die_after", after=2)
    assert texts(model.generate(requests(2), Deadline(5))) == ["fine", "fine"]
    for _ in range(2):
        with pytest.raises(LanguageModelDiedError):
            model.generate(requests(1), Deadline(5))


def test_garbage_is_nasty_and_the_same_in_every_run() -> None:
    rounds = [texts(faulty("garbage", after=0).generate(requests(60), Deadline(5))) for _ in range(2)]
    assert rounds[0] == rounds[1]
    assert any("\n" in text for text in rounds[0])
    assert any("<|im_end|>" in text for text in rounds[0])
    assert any(len(text) > 50_000 for text in rounds[0])
    assert any(any("\ud800" <= character <= "\udfff" for character in text) for text in rounds[0])


def test_slow_takes_its_time_but_not_more_than_there_is() -> None:
    model = faulty("slow")
    started = time.monotonic()
    generations = model.generate(requests(3), Deadline(1.0, lambda: 2.0 if model._served == 3 else 0.0))
    assert [generation.finish_reason for generation in generations] == ["stop", "stop", "deadline"]
    assert time.monotonic() - started >= 0.5


def test_error_empty_and_short_list() -> None:
    assert [g.finish_reason for g in faulty("error").generate(requests(2), Deadline(5))] == ["stop", "error"]
    assert texts(faulty("empty").generate(requests(2), Deadline(5))) == ["fine", ""]
    assert texts(faulty("short_list", after=2).generate(requests(4), Deadline(5))) == ["fine", "fine"]
