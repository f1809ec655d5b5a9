"""Context and question reach the engine in one call, and every query gets a draft."""

from collections.abc import Sequence

from agents.answering.answerer import Answerer
from agents.contracts import Query
from agents.deadline import Deadline
from agents.llm.base import Generation, GenerationRequest
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.settings import AnsweringSettings, ScriptedEngine, SelfAssessmentSettings

QUERIES = [Query(str(number), f"question {number}?", "03/05/2024, 23:18:31 PT", None, ()) for number in range(3)]


class Recorder(ScriptedLanguageModel):
    """The scripted engine, remembering what it was asked."""

    def __init__(self, **settings: object) -> None:
        super().__init__(ScriptedEngine.model_validate({"engine": "scripted", **settings}))
        self.calls: list[list[GenerationRequest]] = []

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        self.calls.append(list(requests))
        return super().generate(requests, deadline)


def test_a_batch_is_one_call_with_the_settings_of_the_preset() -> None:
    model = Recorder(adapters={"web_answerer": "x"})
    settings = AnsweringSettings(prompt="basic", adapter="web_answerer", max_new_tokens=9, temperature=0.5, top_p=0.9)
    drafts = Answerer(settings, model).draft(QUERIES, ["context a", "context b", "context c"], Deadline(10))
    assert len(drafts) == 3
    (requests,) = model.calls
    for request, query, context in zip(requests, QUERIES, ("context a", "context b", "context c"), strict=True):
        assert (request.adapter, request.max_tokens) == ("web_answerer", 9)
        assert (request.temperature, request.top_p) == (0.5, 0.9)
        assert request.with_log_probability, "gates and P(correct) read it"
        assert query.text in request.messages[1].content
        assert context in request.messages[1].content


def test_a_missing_generation_costs_its_own_question_only() -> None:
    model = Recorder(fault="short_list", fault_after=1, default_reply="fine")
    drafts = Answerer(AnsweringSettings(), model).draft(QUERIES, [""] * 3, Deadline(10))
    assert [draft.generation.finish_reason for draft in drafts] == ["stop", "error", "error"]
    assert drafts[0].generation.text == "fine"


def test_an_assessment_is_taken_out_of_the_text() -> None:
    model = Recorder(default_reply="tin\nConfidence: medium")
    settings = AnsweringSettings(prompt="assessed", self_assessment=SelfAssessmentSettings())
    (draft,) = Answerer(settings, model).draft(QUERIES[:1], ["context"], Deadline(10))
    assert (draft.said.text, draft.said.level, draft.assessed) == ("tin", "medium", True)


def test_a_base_model_gets_plain_text() -> None:
    model = Recorder()
    Answerer(AnsweringSettings(prompt="nec", form="completion"), model).draft(QUERIES[:1], ["context a"], Deadline(10))
    (request,) = model.calls[0]
    assert request.prompt is not None
    assert request.prompt.count("question 0?") == 2
