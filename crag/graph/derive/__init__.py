"""Rules that derive answers from the graph's values: comparisons, differences, counts, spans of time.

Small models compare and count badly. A rule gives an answer only if all values are known and the question is
unambiguous; the first answer wins. `crag.text.reasoning` does the arithmetic.
"""

import datetime as dt
import re
from collections.abc import Callable, Sequence

from crag.graph.derive import comparison, games, infobox, values
from crag.graph.derive.direct import value_itself
from crag.graph.derive.readings import Derived, GraphEvidence, Reading, read_case
from crag.graph.language import Average, Call, Previous, Program, Statement
from crag.graph.results import Result
from crag.graph.schema import Domain

__all__ = ["Derived", "derived_answer", "direct_answer"]

RULES: Sequence[Callable[[GraphEvidence], Derived | None]] = (
    comparison.which_is_more,
    comparison.whether_one_is_more,
    comparison.how_much_more,
    comparison.put_side_by_side,
    values.age,
    values.several_years,
)
RULES_OF_ONE_READING: Sequence[Callable[[GraphEvidence, Reading], Derived | None]] = (
    games.count_of_games,
    games.opponents,
    games.one_game,
    values.original_title,
    values.original_language,
    values.awards_up_to,
    values.count,
    values.days_that_meet,
    values.volume_of_days,
    values.life_span,
    values.confirmed_name,
    infobox.entry,
)
_SIMULTANEOUS = re.compile(r"\bat the (?:same )?time\b")


def direct_answer(question: str, domain: Domain, program: Program, results: Sequence[Result]) -> str | None:
    """The values of a single call in words if they answer the question by themselves, else None."""
    case = read_case(question, domain, program, results)
    return value_itself(case, case.readings[0]) if case and len(case.readings) == 1 else None


def derived_answer(
    question: str, domain: Domain, program: Program, results: Sequence[Result], today: dt.date | None = None
) -> Derived | None:
    """The answer that follows from a program's results (one per statement), and how; None if no rule is sure.

    `today` is the day on which the question is asked.
    """
    case = read_case(question, domain, program, results, today)
    if case is None or not case.readings:
        return None
    case = case.by_entity
    found = [rule(case) for rule in RULES]
    if len(case.readings) == 1:
        found += [rule(case, case.readings[0]) for rule in RULES_OF_ONE_READING]
    by_rule = next(filter(None, found), None)
    return by_rule or _end_of_chain(question, domain, program, results)


def _end_of_chain(question: str, domain: Domain, program: Program, results: Sequence[Result]) -> Derived | None:
    """The values of the last call, if they are the answer and each earlier call feeds the next one."""
    starts = [place for place, statement in enumerate(program.statements) if isinstance(statement, Call)]
    if len(starts) < 2 or not all(_serves(results[later - 1], program.statements[later]) for later in starts[1:]):
        return None
    last, text = starts[-1], _SIMULTANEOUS.sub("when", question)
    said = direct_answer(text, domain, Program(program.statements[last:]), results[last:])
    calls = "; ".join(results[place - 1].call for place in starts[1:])
    return (
        Derived(said, f"the last of several calls, which asks about what those before it found: {calls}")
        if said
        else None
    )


def _serves(result: Result, following: Statement) -> bool:
    """Whether the next call uses the values of a result."""
    if isinstance(following, Average):
        return False
    arguments = following.arguments if isinstance(following, Call) else ()
    inside = [*arguments, *(condition.value for condition in following.conditions)]
    if any(isinstance(value, Previous) for value in inside):
        return True
    listed = (text for value in inside for text in (value if isinstance(value, tuple) else (value,)))
    texts = {text.casefold() for text in listed if isinstance(text, str)}
    return bool(result.values) and all(str(value).casefold() in texts for value in result.values)
