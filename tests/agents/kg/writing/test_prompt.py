"""What the model reads: the same beginning for a whole domain, all tables and keys, the question last."""

from collections.abc import Sequence

import pytest

from agents.kg.language import KgQueryError, parse
from agents.kg.schema import Domain, load_schema
from agents.kg.writing.bank import Example, load_bank
from agents.kg.writing.prompt import schema_text, write_prompt, write_repair_prompt
from agents.llm.base import GenerationRequest
from agents.settings import KgWriterSettings

BANK = load_bank()
MOVIES = [example for example in BANK if example.domain is Domain.MOVIE]


def text_of(settings: KgWriterSettings, examples: Sequence[Example], question: str) -> str:
    return write_prompt(settings, Domain.MOVIE, examples, question).prompt or ""


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
    fault, request = caught.value.fault, GenerationRequest(prompt="Question: who?\nCalls:\n")
    prompt = write_repair_prompt(request, output, fault).prompt or ""
    assert prompt.startswith(f"Question: who?\nCalls:\n{output}\n")
    assert fault.message in prompt
    assert "^" in prompt
    assert prompt.endswith("Corrected calls:\n")
    assert len(write_repair_prompt(request, "I think that " * 500, fault).prompt or "") < 1000
