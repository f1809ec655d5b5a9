"""What a reply says in the end, whatever its model and server write around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.core.model_marks import final_text
from crag.core.text import without_control_tokens
from crag.web.extract.clean import neutralise

ANSWER = "Ida Larsen"
REPLIES = {
    "thoughts": [
        "<think>\nThe page names her.\n</think>\n\nIda Larsen",
        "<thinking>She did.</thinking>Ida Larsen",
        "<reasoning>She did.</reasoning>\nIda Larsen",
        "<THOUGHT>She did.</THOUGHT> Ida Larsen",
        "<seed:think>She did.</seed:think>Ida Larsen",
        "<longcat_think>She did.</longcat_think>Ida Larsen",
        "[THINK]She did.[/THINK]Ida Larsen",
        "◁think▷She did.◁/think▷Ida Larsen",
        "＜think＞She did.＜/think＞Ida Larsen",
        "&lt;think&gt;She did.&lt;/think&gt;Ida Larsen",
        "<|begin_of_thought|>She did.<|end_of_thought|><|begin_of_solution|>Ida Larsen<|end_of_solution|>",
        "<|START_THINKING|>She did.<|END_THINKING|><|START_RESPONSE|>Ida Larsen<|END_RESPONSE|>",
        "<|inner_prefix|>She did.<|inner_suffix|>Ida Larsen",
        "<|channel>thought\nShe did.<channel|>Ida Larsen<turn|>",
        "<unused94>thought\nShe did.<unused95>Ida Larsen",
        '<details type="reasoning" done="true"><summary>2 s</summary>She did.</details>\nIda Larsen',
        "Thinking...\nShe did.\n...done thinking.\n\nIda Larsen",
        "Here is my thought process: she did.\n\nHere is my response:\nIda Larsen",
        "<think></think>Ida Larsen",
        "<think/>Ida Larsen",
        "<think />\nIda Larsen",
        "<think:opensource>She did.</think:opensource>Ida Larsen",
        "<reasoning_content>She did.</reasoning_content>Ida Larsen",
        "<|im_start|>think\nShe did.<|im_end|>\n<|im_start|>answer\nIda Larsen<|im_end|>",
        "<scratch_pad>She did.</scratch_pad>Ida Larsen",
        "<analysis>She did.</analysis>\nIda Larsen",
        "<|think|>She did.<|end|><|begin|>assistant<|content|>Ida Larsen<|end|>",
    ],
    "half of a pair": [
        "She did, says the page.</think>Ida Larsen",
        "think>She did.</think>Ida Larsen",
        "<think\nShe did.</think>Ida Larsen",
        "She did.[/THINK]Ida Larsen",
        "<think>The mark <think> begins</think> a thought</think>Ida Larsen",
        "Ida Larsen<think>or her",
    ],
    "channels": [
        "<|channel|>analysis<|message|>Clear.<|end|><|start|>assistant<|channel|>final<|message|>Ida Larsen",
        "<|channel|>analysis<|message|>Clear.<|end|><|start|>assistant<|channel|>final<|message|>Ida Larsen<|return|>",
        "<|channel|>commentary<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Ida Larsen",
        "<|start|>assistant<|channel|>final <|constrain|>text<|message|>Ida Larsen<|end|>",
        "analysis<|message|>Clear.<|end|><|start|>assistant<|channel|>final<|message|>Ida Larsen",
        "<|channel|>final<|message|>Ida Larsen",
        "final<|message|>Ida Larsen",
        "analysisClear.assistantfinalIda Larsen",
        "analysis Clear. assistant final Ida Larsen",
        "assistantfinalIda Larsen",
    ],
    "ends of turns": [
        "Ida Larsen<|im_end|>\n<|im_start|>user\nAnd then?",
        "Ida Larsen<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nIda Larsen taught.",
        "Ida Larsen<|end|><|user|>And then?",
        "Ida Larsen<|endoftext|>Question: who else?",
        "Ida Larsen</s>",
        "Ida Larsen<end_of_turn>\n<start_of_turn>model\nIda Larsen",
        "Ida Larsen<｜end▁of▁sentence｜>",
        "Ida Larsen [INST] And then? [/INST]",
        "Ida Larsenassistant\n\nIda Larsen taught.",
        "Ida Larsenassistant",
        "Ida Larsen[|endofturn|]\n[|user|]And then?",
        "Ida Larsen[e~[\n]~b]user",
        "Ida Larsen[UNUSED_TOKEN_145]\n[UNUSED_TOKEN_146]user",
        "Ida Larsen<role>HUMAN</role>And then?",
        "Ida Larsen<eoa>",
        "Ida Larsen</longcat_s>",
        "Ida Larsen<SPECIAL_12>",
        "Ida Larsen<|im_end",
        "Ida Larsen<|",
        "Ida Larsen\nassistant\nIda Larsen taught.",
        "Ida Larsen\nuser\nAnd then?",
        "Ida Larsen\nUser: And then?",
        "Ida Larsen\n\n### Instruction:\nAnd then?",
    ],
    "beginnings of turns": [
        "<|im_start|>assistant\nIda Larsen<|im_end|>",
        "<|start_header_id|>assistant<|end_header_id|>\n\nIda Larsen<|eot_id|>",
        "assistant<|end_header_id|>\n\nIda Larsen",
        "<start_of_turn>model\nIda Larsen",
        "<s>Ida Larsen",
        "assistant\nIda Larsen",
        "Assistant: Ida Larsen</s>",
        "### Response:\nIda Larsen",
        "[|assistant|]Ida Larsen",
        "<|im_start|>user\nwho?<|im_end|>\n<|im_start|>assistant\nIda Larsen",
        "[INST] who? [/INST] Ida Larsen",
    ],
    "tags around the answer": [
        "<think>She did.</think><answer>Ida Larsen</answer>",
        "<answer>\nIda Larsen\n</answer>",
        "<answer>Ida Larsen",
        "<|begin_of_box|>Ida Larsen<|end_of_box|>",
    ],
}


@pytest.mark.parametrize("reply", [reply for replies in REPLIES.values() for reply in replies])
def test_only_the_answer_is_left(reply: str) -> None:
    assert final_text(reply).strip() == ANSWER


CUT = [
    "<think>\nThe page", "<think", "<thi", "[THINK]The page", "◁think▷The page", "<|START_THINKING|>The",
    "<|channel|>analysis<|message|>The page", "<|channel|>analysis<|message|>The page.<|end|>", "<|channel|>analysis",
    "analysisThe page says", "<reasoning>a</reasoning>", "Thinking...\nThe page",
]  # fmt: skip


@pytest.mark.parametrize("reply", CUT)
def test_a_thought_that_was_cut_is_no_answer(reply: str) -> None:
    assert final_text(reply) == ""


PLAIN = [
    " Oslo", "Analysis of a Murder", "the final analysis", "He was an executive assistant\n\nuntil 1990.",
    "1 < 2 and 3 > 2", "I think [1] names her", "the <s tag", "<3", "Model T", "analysis", "a line\n\nanother  ",
    "assistant", "the user\nassistants", "[e] and ]~[", "a role: user",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
def test_a_text_without_marks_stays_as_it_is(text: str) -> None:
    assert final_text(text) == text


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<|end|>", "<|message|>", "final", "assistant", "a", " ", "\n"]))
)
def test_any_reply_can_be_read_and_nothing_is_added(parts: list[str]) -> None:
    reply = "".join(parts)
    assert len(final_text(reply)) <= len(reply)
    assert "<|message|>" not in final_text(reply)


@pytest.mark.parametrize(
    "mark", ["<think>", "</think>", "[THINK]", "[/THINK]", "◁think▷", "<|channel|>", "<channel|>", "<unused94>"]
)
def test_the_same_marks_cannot_stand_in_a_prompt(mark: str) -> None:
    assert mark not in without_control_tokens(f"a {mark} b")
    assert mark not in neutralise(f"a {mark} b")
