"""What the model reads: the same beginning for a whole domain, all tables and keys, the question last."""

from collections.abc import Sequence

import pytest

from crag.engines.llm.base import GenerationRequest
from crag.graph.language import KgQueryError, parse
from crag.graph.schema import Domain
from crag.graph.writing.bank import Example, load_bank
from crag.graph.writing.choice import Neighbourhood
from crag.graph.writing.prompt import write_prompt, write_repair_prompt
from crag.settings import KgWriterSettings

BANK = load_bank()
MOVIES = [example for example in BANK if example.domain is Domain.MOVIE]


def text_of(settings: KgWriterSettings, examples: Sequence[Example], question: str) -> str:
    return write_prompt(settings, Neighbourhood(Domain.MOVIE, tuple(examples)), question).prompt or ""


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
