"""The form of a tuned writer: it reads the question alone, and writes the domain of the tables, then the calls.

    question:   When was Jaws released?
    completion: movie
                get_movie("jaws")["release_date"]

Training and serving take prompt and completion from here. Names and values are in lower case, so that a call has one
spelling; a question that the graph cannot answer has ``None`` in place of the calls.
"""

import functools
from dataclasses import replace

from crag.engines.llm.base import GenerationRequest, Message
from crag.graph.language import (
    Argument,
    Average,
    Call,
    Condition,
    Program,
    Statement,
    constraint_with_domain,
    render,
)
from crag.graph.schema import Domain
from crag.graph.writing.bank import load_bank


def question_prompt(question: str) -> GenerationRequest:
    """The question as the user's turn, without a system turn."""
    one_line = " ".join(question.split())
    return GenerationRequest(messages=(Message("user", one_line),), exact_turns=True)


def domain_and_calls(domain: Domain, program: Program) -> str:
    """What a tuned writer should write for a question of this domain."""
    statements = tuple(map(_in_lower_case, program.statements))
    return f"{domain}\n{render(Program(statements))}"


@functools.cache
def shipped_completions() -> tuple[str, ...]:
    """What a tuned writer should write for the questions of the example bank."""
    return tuple(domain_and_calls(example.domain, example.program) for example in load_bank())


def output_grammar(domain: Domain | None) -> str:
    """The texts that the writer may write: for this domain, or for any if it is None."""
    return constraint_with_domain(tuple(Domain) if domain is None else (domain,))


def split_domain(text: str) -> tuple[Domain | None, str]:
    """The domain in the first line of a text, and the calls after it; None and the whole text if it names none."""
    first_line, _, calls = text.partition("\n")
    name = first_line.strip().lower()
    return (Domain(name), calls) if name in set(Domain) else (None, text)


def _in_lower_case(statement: Statement) -> Statement:
    """The statement with its names and values in lower case; keys stay as they are."""
    if isinstance(statement, Average):
        return statement

    conditions = tuple(map(_condition_in_lower_case, statement.conditions))
    if isinstance(statement, Call):
        arguments = tuple(map(_argument_in_lower_case, statement.arguments))
        return replace(statement, arguments=arguments, conditions=conditions)
    return replace(statement, conditions=conditions)


def _condition_in_lower_case(condition: Condition) -> Condition:
    value = condition.value
    return replace(condition, value=value.lower()) if isinstance(value, str) else condition


def _argument_in_lower_case(argument: Argument) -> Argument:
    if isinstance(argument, str):
        return argument.lower()
    if isinstance(argument, tuple):
        return tuple(name.lower() for name in argument)
    return argument
