"""Calls of which each asks about what the one before found: the last one holds the answer."""

import re
from collections.abc import Sequence
from itertools import pairwise

from agents.kg.derive.readings import Derived
from agents.kg.direct import direct_answer
from agents.kg.language import Average, Call, Previous, Program, Statement
from agents.kg.results import Result
from agents.kg.schema import Domain

_SIMULTANEOUS = re.compile(r"\bat the (?:same )?time\b")


def end_of_chain(question: str, domain: Domain, program: Program, results: Sequence[Result]) -> Derived | None:
    """The values of the last call, where they are the answer and each call before it serves the next one."""
    starts = [place for place, statement in enumerate(program.statements) if isinstance(statement, Call)]
    if len(starts) < 2 or not all(_serves(results[later - 1], program.statements[later]) for later in starts[1:]):
        return None
    last = starts[-1]
    said = direct_answer(
        _SIMULTANEOUS.sub("when", question), domain, Program(program.statements[last:]), results[last:]
    )
    calls = "; ".join(results[place - 1].call for _, place in pairwise(starts))
    return (
        Derived(said, f"the last of several calls, which asks about what those before it found: {calls}")
        if said
        else None
    )


def _serves(result: Result, following: Statement) -> bool:
    """Whether the values of a result stand in the call after it."""
    if isinstance(following, Average):
        return False
    arguments = following.arguments if isinstance(following, Call) else ()
    inside = [*arguments, *(condition.value for condition in following.conditions)]
    texts = {
        text.casefold()
        for value in inside
        for text in (value if isinstance(value, tuple) else (value,))
        if isinstance(text, str)
    }
    if any(isinstance(value, Previous) for value in inside):
        return True
    return bool(result.values) and all(str(value).casefold() in texts for value in result.values)
