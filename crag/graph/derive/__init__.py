"""Rules that derive answers from the graph's values: comparisons, differences, counts, spans of time.

Small models compare and count badly. A rule gives an answer only if all values are known and the question is
unambiguous; the first answer wins. `crag.text.reasoning` does the arithmetic.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from crag.graph.derive import comparison, games, infobox, totals, values
from crag.graph.derive.direct import value_itself
from crag.graph.derive.games import may_be_outdated
from crag.graph.derive.near_misses import asks_for_other
from crag.graph.derive.readings import CallResults, Derived, Reading, RuleInputs, read_inputs
from crag.graph.language import Average, Call, Previous, Program, Statement
from crag.graph.results import Result

__all__ = [
    "JUST_THE_VALUE",
    "CallResults",
    "Derived",
    "answer_from_values",
    "derived_answer",
    "direct_answer",
    "may_be_outdated",
]

JUST_THE_VALUE = "the graph gave just the value that was asked for"
"""The reason of an answer that no rule computed."""

RULES: Sequence[Callable[[RuleInputs], Derived | None]] = (
    comparison.which_is_more,
    comparison.whether_one_is_more,
    comparison.how_much_more,
    comparison.put_side_by_side,
    totals.of_all_names,
    values.age,
    values.several_years,
)
"""Rules about the readings together, in the order in which they are tried."""
RULES_OF_ONE_READING: Sequence[Callable[[RuleInputs, Reading], Derived | None]] = (
    games.count_of_games,
    games.opponents,
    games.one_game,
    games.whether_won,
    values.original_title,
    values.original_language,
    values.awards_up_to,
    values.count_of_rows,
    values.days_that_meet,
    values.volume_of_days,
    values.life_span,
    values.confirmed_name,
    infobox.infobox_entry,
)
"""Rules about a single reading, which are tried after the others."""
_SIMULTANEOUS = re.compile(r"\bat the (?:same )?time\b")


def answer_from_values(
    calls: CallResults,
    *,
    direct: bool = True,
    derived: bool = True,
) -> Derived | None:
    """The requested value itself, else one that rules compute, each only if allowed; None if neither is sure.

    None also for a last game that is too long ago to be the last one: the graph then probably lacks later games.
    """
    if calls.today is not None and may_be_outdated(calls.program, calls.results, calls.today):
        return None

    if direct:
        value = direct_answer(calls)
        if value is not None:
            return Derived(value, JUST_THE_VALUE)
    return derived_answer(calls) if derived else None


def direct_answer(calls: CallResults) -> str | None:
    """The values of a single call in words if they answer the question by themselves, else None."""
    inputs = read_inputs(calls)
    if inputs is None or len(inputs.readings) != 1:
        return None
    return value_itself(inputs, inputs.readings[0])


def derived_answer(calls: CallResults) -> Derived | None:
    """The answer that follows from the results, and how; None if no rule is sure."""
    inputs = read_inputs(calls)
    if inputs is None or not inputs.readings:
        return None
    if any(asks_for_other(inputs, reading) for reading in inputs.readings):
        return None
    # The rules run one by one, only until one of them is sure
    for answer in _apply_rules(inputs.by_entity):
        if answer:
            return answer
    return _end_of_chain(calls)


def _apply_rules(inputs: RuleInputs) -> Iterator[Derived | None]:
    """What each rule says, in order; the rules of one reading only where there is one."""
    for rule in RULES:
        yield rule(inputs)
    if len(inputs.readings) == 1:
        for rule_of_one in RULES_OF_ONE_READING:
            yield rule_of_one(inputs, inputs.readings[0])


def _end_of_chain(calls: CallResults) -> Derived | None:
    """The values of the last call, if they are the answer and each earlier call feeds the next one."""
    statements = calls.program.statements
    call_indices = [index for index, statement in enumerate(statements) if isinstance(statement, Call)]
    if len(call_indices) < 2:
        return None

    # The result before each later call: that of the earlier call, or of its last sort.
    earlier_results = [calls.results[index - 1] for index in call_indices[1:]]
    later_calls = [statements[index] for index in call_indices[1:]]
    if not all(map(_feeds, earlier_results, later_calls)):
        return None

    # "At the time" no longer needs thought: the earlier calls have found the time.
    plain_question = _SIMULTANEOUS.sub("when", calls.question)
    start = call_indices[-1]
    last_call = replace(
        calls,
        question=plain_question,
        program=Program(statements[start:]),
        results=calls.results[start:],
    )
    answer = direct_answer(last_call)
    if not answer:
        return None

    earlier_calls = "; ".join(result.call for result in earlier_results)
    return Derived(answer, f"the last of several calls, which asks about what those before it found: {earlier_calls}")


def _feeds(result: Result, next_call: Statement) -> bool:
    """Whether the next call uses the values of a result."""
    if isinstance(next_call, Average):
        return False

    # What the next call is given: by `*`, or the values themselves.
    arguments = next_call.arguments if isinstance(next_call, Call) else ()
    condition_values = [condition.value for condition in next_call.conditions]
    given_values = [*arguments, *condition_values]
    if any(isinstance(value, Previous) for value in given_values):
        return True
    if not result.values:
        return False

    given_texts: set[str] = set()
    for value in given_values:
        entries = value if isinstance(value, tuple) else (value,)
        for entry in entries:
            if isinstance(entry, str):
                given_texts.add(entry.casefold())
    # Spelled out, all of the values must be there: a part of them would be another question
    return all(str(value).casefold() in given_texts for value in result.values)
