"""Templates as ten model families write them, in our words; what they render is what transformers 5 renders."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from crag.engines.llm import Message
from crag.engines.llm.tokenizer import ChatTokenizer, PromptError

SYSTEM = Message("system", "Be <brief> & plain.")
QUESTION = Message("user", "  Who rules Zembla? ")
EARLIER = (Message("user", "Where is it?"), Message("assistant", "\nUp north – “far”.\n"))

CHATML = """\
{%- if tools %}
    {{- '<|turn|>system\\nTools: ' + tools | tojson + '<|end|>\\n' }}
{%- elif messages[0].role != 'system' %}
    {{- '<|turn|>system\\nYou are made in Zembla.<|end|>\\n' }}
{%- endif %}
{%- for m in messages %}
    {{- '<|turn|>' + m.role + '\\n' + m.content + '<|end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|turn|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}
"""

LLAMA_3 = """\
{{- bos_token }}
{%- if not date_string is defined %}
    {%- set date_string = '26 Jul 2024' %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = '' %}
{%- endif %}
{{- '<|turn|>system\\n\\n' }}
{%- if tools is not none %}{{- 'Environment: ipython\\n' }}{%- endif %}
{{- 'Today: ' + date_string + '\\n\\n' + system_message + '<|end|>' }}
{%- for message in messages %}
    {{- '<|turn|>' + message['role'] + '\\n\\n' + message['content'] | trim + '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|turn|>assistant\\n\\n' }}{%- endif %}
"""

LLAMA_2 = """\
{% if messages[0]['role'] == 'system' %}{% set rest = messages[1:] %}{% set about = messages[0]['content'] %}\
{% else %}{% set rest = messages %}{% set about = false %}{% endif %}\
{% for m in rest %}\
{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns must alternate') }}{% endif %}\
{% if loop.index0 == 0 and about != false %}{% set text = '(( ' + about + ' ))\\n\\n' + m['content'] %}\
{% else %}{% set text = m['content'] %}{% endif %}\
{% if m['role'] == 'user' %}{{ bos_token + '{I} ' + text.strip() + ' {/I}' }}\
{% elif m['role'] == 'assistant' %}{{ ' ' + text.strip() + ' ' + eos_token }}{% endif %}\
{% endfor %}
"""

MISTRAL = """\
{%- set ns = namespace(index=0, system='') %}
{%- for m in messages if m.role in ['user', 'assistant'] %}
    {%- if (m.role == 'user') != (ns.index % 2 == 0) %}
        {{- raise_exception('turns must alternate, not ' ~ m.role) }}
    {%- endif %}
    {%- set ns.index = ns.index + 1 %}
{%- endfor %}
{{- bos_token }}
{%- for m in messages %}
    {%- if m.role == 'system' %}
        {%- set ns.system = m.content + '\\n\\n' %}
    {%- elif m.role == 'user' %}
        {%- if tools is not none and loop.last %}{{- '{T}' ~ (tools | tojson) }}{%- endif %}
        {{- '{I}' + (ns.system if loop.last else '') + m.content + '{/I}' }}
    {%- else %}
        {{- ' ' + m.content | trim + eos_token }}
    {%- endif %}
{%- endfor %}
"""

GEMMA = """\
{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- set first_user_prefix = messages[0]['content'] + '\\n\\n' -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if message['role'] == 'assistant' -%}{%- set role = 'model' -%}
    {%- else -%}{%- set role = message['role'] -%}{%- endif -%}
    {{ '{turn}' + role + '\\n' + (first_user_prefix if loop.first else '') }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}{{ item['text'] | trim }}{%- endfor -%}
    {%- endif -%}
    {{ '{/turn}\\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}{{ '{turn}model\\n' }}{%- endif -%}
"""

PHI = """\
{% for message in messages %}{% if message['content'] %}\
{{'<|' + message['role'] + '|>' + '\\n' + message['content'] + '<|end|>' + '\\n'}}{% endif %}{% endfor %}\
{% if add_generation_prompt %}{{ '<|assistant|>' + '\\n' }}{% else %}{{ eos_token }}{% endif %}
"""

DEEPSEEK = """\
{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}\
{% set ns = namespace(is_first=true, system='') %}\
{%- for message in messages %}{%- if message['role'] == 'system' %}\
{%- if ns.is_first %}{% set ns.system = ns.system + message['content'] %}{% set ns.is_first = false %}\
{%- else %}{% set ns.system = ns.system + '\\n\\n' + message['content'] %}{%- endif %}{%- endif %}{%- endfor %}\
{{ bos_token }}{{ ns.system }}\
{%- for message in messages %}{% set content = message['content'] %}\
{%- if message['role'] == 'user' %}{{ '｛U｝' + content }}{%- endif %}\
{%- if message['role'] == 'assistant' and message['content'] is not none %}\
{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}\
{{ '｛A｝' + content + '｛end｝' }}{%- endif %}{%- endfor %}\
{% if add_generation_prompt %}{{ '｛A｝' }}{% endif %}
"""

COMMAND_R = """\
{{ bos_token }}{% if documents %}{% set mode = 'grounded' %}{% endif %}\
{% macro show(documents) %}{% for d in documents %}Document: {{ loop.index0 }}
{{ d | tojson(indent=4) }}
{% endfor %}{% endmacro %}
{%- if documents is none and tools is none %}{% set mode = 'plain' %}{% endif %}\
{{ '{S}mode: ' ~ mode }}{% if documents %}{{ show(documents) }}{% endif %}
{%- for message in messages %}
  {% if message.role == 'system' %}{{ '\\n' + message.content }}{% endif %}
  {%- if message.role == 'user' %}{{ '{U}' + message.content.strip() }}{% endif %}
  {%- if message.role|lower == 'assistant' %}
    {% generation %}{{ '{C}' + message.content + '{E}' }}{% endgeneration %}
  {% endif %}
{% endfor %}
{%- if add_generation_prompt -%}{{ '{C}' }}{%- endif %}
"""

GRANITE = """\
{%- set tools_text = (tools or []) | tojson(ensure_ascii=true) -%}
{%- set settings = {'lang': 'é <b>', 'n': [1, 2.5, none, true]} -%}
{%- if messages[0]['role'] == 'system' -%}
{%- set system_message = messages[0]['content'] -%}
{%- set loop_messages = messages[1:] -%}
{%- else -%}
{%- set system_message = 'Year ' ~ (strftime_now('%Y') | int > 2000) ~ '. You are Zembla.' -%}
{%- set loop_messages = messages -%}
{%- endif -%}
{{ '[role]system[/role]' + system_message + ' ' + settings | tojson + tools_text + '[eot]\\n' }}
{% for message in loop_messages %}
{{ '[role]' + message['role'] + '[/role]' + message['content'] + '[eot]\\n' }}
{%- if loop.last and add_generation_prompt %}
{{ '[role]assistant' }}
{%- if controls %}{{ ' ' + controls | tojson }}{%- endif %}
{{ '[/role]' }}
{%- endif %}
{%- endfor %}
"""

SMOLLM = """\
{%- set found = namespace(value=dict(a=1)) -%}
{%- for m in messages -%}
    {%- if m.role == 'tool' -%}{%- continue -%}{%- endif -%}
    {%- if m.role == 'assistant' -%}
        {%- generation -%}
        {%- set leaked = true -%}
        {{- '<|turn|>assistant\\n' + m.content.lstrip('\\n') + '<|end|>\\n' -}}
        {%- endgeneration -%}
    {%- else -%}
        {{- '<|turn|>' ~ m.role ~ '\\n' ~ m.content ~ '<|end|>\\n' -}}
    {%- endif -%}
    {%- if loop.index > 8 -%}{%- break -%}{%- endif -%}
{%- endfor -%}
{{- '(' ~ (leaked is defined) ~ found.value.a ~ ')' -}}
{%- if add_generation_prompt -%}{{- '<|turn|>assistant\\n' -}}{%- endif -%}
"""

ASKED = "<|turn|>system\nBe <brief> & plain.<|end|>\n<|turn|>user\n  Who rules Zembla? <|end|>\n"
FAMILIES = {
    "ChatML, as Qwen": (CHATML, ASKED + "<|turn|>assistant\n"),
    "Llama 3": (
        LLAMA_3,
        (
            "<|begin|><|turn|>system\n\nToday: 26 Jul 2024\n\nBe <brief> & plain.<|end|>"
            "<|turn|>user\n\nWho rules Zembla?<|end|><|turn|>assistant\n\n"
        ),
    ),
    "Llama 2": (LLAMA_2, "<|begin|>{I} (( Be <brief> & plain. ))\n\n  Who rules Zembla? {/I}"),
    "Mistral": (MISTRAL, "<|begin|>{I}Be <brief> & plain.\n\n  Who rules Zembla? {/I}"),
    "Gemma": (GEMMA, "<|begin|>{turn}user\nBe <brief> & plain.\n\nWho rules Zembla?{/turn}\n{turn}model\n"),
    "Phi": (PHI, "<|system|>\nBe <brief> & plain.<|end|>\n<|user|>\n  Who rules Zembla? <|end|>\n<|assistant|>\n"),
    "DeepSeek": (DEEPSEEK, "<|begin|>Be <brief> & plain.｛U｝  Who rules Zembla? ｛A｝"),
    "Command R": (COMMAND_R, "<|begin|>{S}mode: plain\nBe <brief> & plain.{U}Who rules Zembla?{C}"),
    "Granite": (
        GRANITE,
        (
            '[role]system[/role]Be <brief> & plain. {"lang": "é <b>", "n": [1, 2.5, null, true]}[][eot]\n\n'
            "[role]user[/role]  Who rules Zembla? [eot]\n[role]assistant[/role]"
        ),
    ),
    "SmolLM": (SMOLLM, ASKED + "(False1)<|turn|>assistant\n"),
}
CHATS = {
    "system and question": (SYSTEM, QUESTION),
    "a question": (QUESTION,),
    "a chat": (*EARLIER, QUESTION),
    "all": (SYSTEM, *EARLIER, QUESTION),
}


@pytest.fixture
def model_folder(tmp_path: Path, tiny_llama: Path) -> Path:
    """A model without a template."""
    folder = tmp_path / "model"
    shutil.copytree(tiny_llama, folder)
    (folder / "chat_template.jinja").unlink()
    return folder


def rendered_by_transformers(folder: Path, messages: Sequence[Message]) -> str:
    tokenizer = PreTrainedTokenizerFast.from_pretrained(str(folder))
    chat = [{"role": message.role, "content": message.content} for message in messages]
    text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    return str(text)


@pytest.mark.parametrize(("template", "expected"), FAMILIES.values(), ids=FAMILIES)
def test_a_chat_is_what_the_model_was_trained_on(model_folder: Path, template: str, expected: str) -> None:
    (model_folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    assert ChatTokenizer(model_folder).render(CHATS["system and question"]) == expected
    for chat in CHATS.values():
        assert ChatTokenizer(model_folder).render(chat) == rendered_by_transformers(model_folder, chat)


def config_of(folder: Path, **changes: object) -> None:
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}), encoding="utf-8")


SHOWS_TOKENS = "{{ bos_token }}|{{ image_token }}|{{ pad_token is defined }}|{{ messages[0].content }}"


def test_the_template_and_its_tokens_are_found_where_transformers_finds_them(model_folder: Path) -> None:
    several = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": SHOWS_TOKENS}]
    config_of(model_folder, chat_template=several, extra_special_tokens={"image_token": "<|turn|>"}, pad_token=None)
    assert ChatTokenizer(model_folder).render([QUESTION]) == "<|begin|>|<|turn|>|False|  Who rules Zembla? "
    assert ChatTokenizer(model_folder).render([QUESTION]) == rendered_by_transformers(model_folder, [QUESTION])

    more = model_folder / "additional_chat_templates"
    more.mkdir()
    (more / "tool_use.jinja").write_text("tools", encoding="utf-8")
    (more / "default.jinja").write_text("of the folder", encoding="utf-8")
    assert ChatTokenizer(model_folder).render([QUESTION]) == "of the folder"
    assert rendered_by_transformers(model_folder, [QUESTION]) == "of the folder"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ raise_exception('no system here') }}", "no system here"),
        ("{{ tools | length }}", "has no len"),
        ("{{ messages[7].content }}", "refuses these messages"),
        ("{{ namespace(_x=1) }}", "begins with an underscore"),
        ("{% if %}", "refuses these messages"),
        ("{{ messages.__class__.mro() }}", "unsafe"),
    ],
)
def test_a_template_that_fails_is_told_in_one_line(model_folder: Path, template: str, said: str) -> None:
    (model_folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    with pytest.raises(PromptError, match=said):
        ChatTokenizer(model_folder).render([QUESTION])
