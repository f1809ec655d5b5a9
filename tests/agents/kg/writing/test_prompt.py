"""What the model reads: the same beginning for a whole domain, all tables and keys, the question last."""

from collections.abc import Sequence

import pytest

from agents.kg.language import KgQueryError, parse
from agents.kg.schema import Domain, load_schema
from agents.kg.writing.bank import Example, load_bank
from agents.kg.writing.prompt import RULES, RULES_ONE_BY_ONE, CallPrompt, schema_text, write_prompt, write_repair_prompt
from agents.settings import KgWriterSettings

BANK = load_bank()
MOVIES = [example for example in BANK if example.domain is Domain.MOVIE]
CHAT = KgWriterSettings(form="chat", schema_detail="described")


def text_of(settings: KgWriterSettings, examples: Sequence[Example], question: str) -> str:
    """The prompt of a film question, which is one text whatever the form."""
    prompt = write_prompt(settings, Domain.MOVIE, examples, question)
    return prompt.text if prompt.text is not None else "\n".join(turn.content for turn in prompt.messages)


@pytest.mark.parametrize("domain", Domain)
def test_the_schema_names_every_table_and_every_key(domain: Domain) -> None:
    lines = {line.split("(")[0]: line for line in schema_text(domain).splitlines()[1:]}
    for table in load_schema(domain).callable_tables:
        line = lines.pop(table.name)
        shared = line.partition("keys of ")[2]
        known = load_schema(domain).tables[shared].columns if shared else {}
        for column in table.columns:
            assert column in line or column in known
        for name in known:
            assert table.column(name), f"{table.name} has no {name}"
    assert not lines


def test_rules_and_tables_come_first_and_are_the_same_for_all_questions() -> None:
    one = text_of(KgWriterSettings(), MOVIES[:2], "who directed  jaws?")
    other = text_of(KgWriterSettings(), MOVIES[5:7], "when was alien made?")
    head = one.partition("Question:")[0]
    assert schema_text(Domain.MOVIE) in head
    assert other.startswith(head)
    assert one.endswith("Question: who directed jaws?\nCalls:\n")


def test_examples_are_shown_in_order_and_without_schema_nothing_else_is() -> None:
    prompt = text_of(KgWriterSettings(schema_in_prompt=False), MOVIES[:2], "who?")
    first, second = MOVIES[:2]
    assert prompt == (
        f"Question: {first.question}\nCalls:\n{first.calls}\n\n"
        f"Question: {second.question}\nCalls:\n{second.calls}\n\n"
        "Question: who?\nCalls:\n"
    )


def test_a_repair_shows_the_output_the_named_error_and_its_place() -> None:
    output = 'get_movie("jaws")["directr"]'
    with pytest.raises(KgQueryError) as caught:
        parse(output, Domain.MOVIE)
    prompt = write_repair_prompt(CallPrompt(text="Question: who?\nCalls:\n"), output, caught.value.fault).text or ""
    assert prompt.startswith(f"Question: who?\nCalls:\n{output}\n")
    assert caught.value.fault.message in prompt
    assert "^" in prompt
    assert prompt.endswith("Corrected calls:\n")
    long = write_repair_prompt(CallPrompt(text=""), "I think that " * 500, caught.value.fault).text or ""
    assert len(long) < 1000


def test_a_chat_is_an_instruction_with_schema_rules_examples_and_the_question_last() -> None:
    system, user = write_prompt(CHAT, Domain.MOVIE, MOVIES[:2], "who directed  jaws?").messages
    assert (system.role, user.role) == ("system", "user")
    order = [
        schema_text(Domain.MOVIE, "described"),
        RULES_ONE_BY_ONE,
        MOVIES[0].calls,
        MOVIES[1].calls,
        "Use only what the question says",
        "Question: who directed jaws?\nCalls:",
    ]
    places = [user.content.index(part) for part in order]
    assert places == sorted(places)
    assert user.content.endswith(order[-1])
    assert RULES not in user.content
