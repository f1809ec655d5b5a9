"""The shipped examples can be read, cover the language and the tables, and are not the benchmark's own questions."""

import re
from datetime import datetime
from pathlib import Path

import llguidance
import pytest

from crag.evaluation.datasets import read_records
from crag.graph.language import Call, Program, render
from crag.graph.schema import Domain, load_schema
from crag.graph.writing.bank import BankError, Example, load_bank, load_examples, write_examples
from crag.graph.writing.prompt import output_grammar
from crag.text.dates import resolve_date

SHARED = Path(__file__).parents[4] / "shared/data"
LABELLED = [SHARED / "kg/kg_questions_split0.jsonl", SHARED / "crag/questions_split0.jsonl"]


def of(domain: Domain) -> list[Example]:
    return [example for example in load_bank() if example.domain is domain]


@pytest.mark.parametrize("domain", Domain)
def test_every_table_is_called(domain: Domain) -> None:
    called = {each.table for example in of(domain) for each in example.program.statements if isinstance(each, Call)}
    assert called == {table.name for table in load_schema(domain).callable_tables}


@pytest.mark.parametrize("domain", Domain)
def test_the_grammar_allows_every_example_and_the_empty_line_after_it(domain: Domain) -> None:
    tokenizer = llguidance.LLTokenizer("byte")
    grammar = llguidance.LLMatcher.grammar_from_lark(output_grammar(domain))
    for example in of(domain):
        matcher = llguidance.LLMatcher(tokenizer, grammar)
        tokens = tokenizer.tokenize_str(example.calls)
        assert matcher.validate_tokens(tokens) == len(tokens), example.calls
        assert matcher.consume_tokens(tokens)
        assert matcher.is_accepting(), example.calls
        assert matcher.consume_tokens(tokenizer.tokenize_str("\n\n"))
        assert matcher.is_stopped()


def test_every_date_of_a_call_can_be_resolved() -> None:
    asked_at = datetime(2024, 2, 28, 12)
    dates = 0
    for example in load_bank():
        calls = [statement for statement in example.program.statements if isinstance(statement, Call)]
        for call in calls:
            parameters = load_schema(example.domain).tables[call.table].parameters
            for parameter, argument in zip(parameters, call.arguments, strict=False):
                if not parameter.kind.is_entity and isinstance(argument, str):
                    dates += 1
                    assert resolve_date(argument, asked_at), f"{example.question}: {argument}"
    assert dates > 50


@pytest.mark.parametrize("path", LABELLED, ids=lambda path: path.name)
def test_no_question_of_the_benchmark_is_in_the_bank(path: Path) -> None:
    if not path.is_file():
        pytest.skip(f"{path} is not here")

    def bare(question: str) -> str:
        return " ".join(re.findall(r"\w+", question.lower()))

    theirs = {bare(record.data["query"]) for record in read_records(path)}
    assert not theirs & {bare(example.question) for example in load_bank()}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('"who?" = "get_persons(\\"x\\")"', "get_persons"),
        ('"who?" = "get_person( \'x\' )"', 'canonical form is\nget_person("x")'),
        ('"who?" = 3', "must be a string"),
        ('"who?" =', "cannot be read"),
    ],
)
def test_a_bad_example_is_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "movie.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BankError) as caught:
        load_examples(path, Domain.MOVIE)
    assert str(path) in str(caught.value)
    assert complaint in str(caught.value)


@pytest.mark.parametrize("domain", Domain)
def test_what_is_written_is_read_as_it_was(tmp_path: Path, domain: Domain) -> None:
    own = tuple(example for example in load_bank() if example.domain is domain)
    program = Program((Call("get_movie", ("it's x'''y \\ \x7f é'",)),))
    strange = Example(Domain.MOVIE, 'say "x"\\ or \t?', render(program), program)
    examples = (*own, strange) if domain is Domain.MOVIE else own
    write_examples(tmp_path / "some.toml", "a comment", examples)
    assert load_examples(tmp_path / "some.toml", domain) == examples
