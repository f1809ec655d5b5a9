from typing import Literal

from agents.common.deadline import Deadline
from agents.llm import Generation, GenerationRequest, Message
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


def test_garbage_is_nasty_and_the_same_in_every_run() -> None:
    rounds = [texts(faulty("garbage", after=0).generate(requests(60), Deadline(5))) for _ in range(2)]
    assert rounds[0] == rounds[1]
    assert any("\n" in text for text in rounds[0])
    assert any("<|im_end|>" in text for text in rounds[0])
    assert any(len(text) > 50_000 for text in rounds[0])
    assert any(any("\ud800" <= character <= "\udfff" for character in text) for text in rounds[0])
