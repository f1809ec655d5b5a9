"""Answers that follow from several values of the graph, or from many: comparisons, differences, counts, spans of time.

Small models compare and count badly, and a wrong answer costs as much as a right one gains. Each rule says nothing
unless all values are there and the question's words mean one thing; the first that says something is the answer. The
arithmetic is that of `agents.reasoning`, so that the trace can show the formula.
"""

import datetime as dt
from collections.abc import Callable, Sequence

from agents.kg.derive import comparison, games, infobox, values
from agents.kg.derive.chain import end_of_chain
from agents.kg.derive.readings import Derived, GraphEvidence, read_case
from agents.kg.language import Program
from agents.kg.results import Result
from agents.kg.schema import Domain

__all__ = ["Derived", "derived_answer"]

RULES: Sequence[Callable[[GraphEvidence], Derived | None]] = (
    comparison.which_is_more,
    comparison.whether_one_is_more,
    comparison.whether_beyond_a_number,
    comparison.how_much_more,
    comparison.put_side_by_side,
    games.count_of_games,
    games.total_of_games,
    games.opponents,
    games.one_game,
    values.original_title,
    values.original_language,
    values.awards_up_to,
    values.count,
    values.days_that_meet,
    values.volume_of_days,
    values.life_span,
    values.age,
    values.several_years,
    values.confirmed_name,
    infobox.entry,
)


def derived_answer(
    question: str, domain: Domain, program: Program, results: Sequence[Result], today: dt.date | None = None
) -> Derived | None:
    """What follows from the results of a program, and how; None where no rule is sure.

    `results` are those of the program's statements, one each; `today` is the day on which the question is asked.
    """
    case = read_case(question, domain, program, results, today)
    if case is None or not case.readings:
        return None
    by_rule = next((said for rule in RULES if (said := rule(case)) is not None), None)
    return by_rule or end_of_chain(question, domain, program, results)
