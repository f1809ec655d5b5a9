"""What the answering model is asked, and the draft that its reply gives."""

import pytest

from agents.answering import PROMPTS, Answerer, draft_of, generate_all, request_of, shown
from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION, Decision, Query
from agents.common.deadline import Deadline
from agents.llm import Generation
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.settings import AnsweringSettings, ScriptedEngine, SelfAssessmentSettings

QUERY = Query("1", "who directed rain man?", "03/05/2024, 23:18:31 PT", None, ())


def scripted(**settings: object) -> ScriptedLanguageModel:
    return ScriptedLanguageModel(ScriptedEngine.model_validate({"engine": "scripted", **settings}))


def test_a_request_has_the_prompt_and_decoding_of_the_preset() -> None:
    settings = AnsweringSettings(prompt="basic", adapter="web_answerer", max_new_tokens=9, temperature=0.5, top_p=0.9)
    request = Answerer(settings, scripted()).request(QUERY, "a page about films")
    assert (request.adapter, request.max_tokens) == ("web_answerer", 9)
    assert (request.temperature, request.top_p) == (0.5, 0.9)
    assert request.with_log_probability, "gates and P(correct) read it"
    assert QUERY.text in request.messages[1].content
    assert "a page about films" in request.messages[1].content
    assert [turn["role"] for turn in shown(request)] == ["system", "user"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("prompt", ["nec_refine", "refine"])
def test_a_base_model_reads_plain_text(prompt: str) -> None:
    settings = AnsweringSettings(form="completion")
    request = request_of(
        settings, PROMPTS[prompt], QUERY, "a page about films", "Barry Levinson", max_tokens=7, adapter=None
    )
    assert request.messages == ()
    assert request.prompt == shown(request)
    for part in (QUERY.text, "a page about films", "Barry Levinson"):
        assert part in (request.prompt or "")


def test_generations_that_an_engine_leaves_out_are_failures_of_their_own() -> None:
    model = scripted(fault="short_list", fault_after=1, default_reply="fine")
    request = Answerer(AnsweringSettings(), model).request(QUERY, "")
    found = generate_all(model, [request] * 3, Deadline(10))
    assert [generation.finish_reason for generation in found] == ["stop", "error", "error"]


def test_an_assessment_is_taken_out_of_the_text() -> None:
    settings = AnsweringSettings(prompt="assessed", self_assessment=SelfAssessmentSettings())
    said = Generation("tin\nConfidence: medium", -0.1, 1, 1, "stop")
    draft = Answerer(settings, scripted()).read(said, "context", "web")
    assert (draft.answer.text, draft.level, draft.evidence) == ("tin", "medium", "context")


@pytest.mark.parametrize(
    ("said", "finish_reason", "text", "decision", "reason"),
    [
        ("Barry Levinson", "stop", "Barry Levinson", Decision.ANSWERED, "answered"),
        ("Barry Levinson and", "length", "Barry Levinson and", Decision.ANSWERED, "answered"),
        ("invalid question", "stop", INVALID_QUESTION, Decision.INVALID_QUESTION, "false premise"),
        ("Barry Lev", "deadline", I_DONT_KNOW, Decision.ABSTAINED, "time ran out"),
        ("", "error", I_DONT_KNOW, Decision.ABSTAINED, "out of memory"),
    ],
)
def test_only_finished_text_becomes_an_answer(
    said: str, finish_reason: str, text: str, decision: Decision, reason: str
) -> None:
    answer = draft_of(Generation(said, -0.1, 10, 5, finish_reason, "out of memory"), "web").answer  # type: ignore[arg-type]
    assert (answer.text, answer.decision, answer.source) == (text, decision, "web")
    assert reason in answer.reason
