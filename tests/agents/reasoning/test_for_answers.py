"""Which answers are formulas, and which only look like one."""

import datetime as dt

import pytest

from agents.reasoning import computed


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("= 2021 - 1985", "36"),
        ("=2021-1985.", "36"),
        ("2021 - 1985 = 35 years", "36 years"),
        ("= 3 > 2", "yes"),
        ("= days between 2019-03-01 and 2020-02-11", "347 days"),
        ("= years between 1990-01-01 and today", "34 years"),
        ("3 / 4 = 75%", "75%"),
        ("(90 - 60) / 60 = 0.5 = 50%", "50%"),
        ("1 / 3 = 33%", "33.33%"),
        ("$5 + $6 = 11", "$11"),
        ("1 mile - 1 km = 0.61 km", "0.6093 km"),
        ("2021-1985=36", "36"),
        ("= 2 + 2 = 5", "4"),
        ("= 2 x 4 x 6", "48"),
        ("= 6 feet 3 inches - 190 cm", "0.0164 feet"),
        ("2024-01-31 + 1 month = 2024-02-28", "2024-02-29"),
    ],
)
def test_a_formula_is_worked_out(answer: str, text: str) -> None:
    computation = computed(answer, dt.date(2024, 3, 5))
    assert computation is not None
    assert computation.text == text
    assert computation.explanation == f"computed {computation.expression} = {text}"


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "36",
        "= 36",
        "i don't know",
        "2021 - 1985",
        "days between 2019-03-01 and 2020-02-11",
        "2 x 4 x 6",
        "march 2020 = 2020-03-05",
        "2 + 2 = 5",
        "1984 - 1949 = big brother",
        "$5 + $6 = 11 euros",
        "1 / 0 = 5",
        "a\n= 1 + 1",
        "= " + "1 + " * 200 + "1",
    ],
)
def test_everything_else_is_left_alone(answer: str) -> None:
    assert computed(answer) is None
