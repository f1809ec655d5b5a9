"""What the model reads: the same beginning for a whole domain, all tables and keys, the question last."""

import pytest

from agents.kg.language import KgQueryError, parse
from agents.kg.schema import Domain, load_schema
from agents.kg.writing.bank import load_bank
from agents.kg.writing.prompt import schema_text, write_prompt, write_repair_prompt

BANK = load_bank()
MOVIES = [example for example in BANK if example.domain is Domain.MOVIE]


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
    one = write_prompt(Domain.MOVIE, MOVIES[:2], "who directed  jaws?", with_schema=True)
    other = write_prompt(Domain.MOVIE, MOVIES[5:7], "when was alien made?", with_schema=True)
    head = one.partition("Question:")[0]
    assert schema_text(Domain.MOVIE) in head
    assert other.startswith(head)
    assert one.endswith("Question: who directed jaws?\nCalls:\n")


def test_examples_are_shown_in_order_and_without_schema_nothing_else_is() -> None:
    prompt = write_prompt(Domain.MOVIE, MOVIES[:2], "who?", with_schema=False)
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
    prompt = write_repair_prompt("Question: who?\nCalls:\n", output, caught.value.fault)
    assert prompt.startswith(f"Question: who?\nCalls:\n{output}\n")
    assert caught.value.fault.message in prompt
    assert "^" in prompt
    assert prompt.endswith("Corrected calls:\n")


def test_a_repair_shows_no_more_than_a_piece_of_a_long_output() -> None:
    output = "I think that " * 500
    with pytest.raises(KgQueryError) as caught:
        parse(output, Domain.MOVIE)
    assert len(write_repair_prompt("", output, caught.value.fault)) < 1000
