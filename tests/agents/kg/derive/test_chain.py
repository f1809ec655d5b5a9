"""The last of several calls answers where those before it only served it."""

import pytest

from tests.agents.kg.derive.cases import derived

WON = 'get_movie_person_oscar(None,"ann lee",[eq(category,"best actress"),eq(winner,"true")])["year"]\n'
BEST = 'get_movie_person_oscar(None,None,[eq(year,{year}),eq(category,"best picture"),eq(winner,"true")])["film"]'


@pytest.mark.parametrize(
    ("year", "expected"),
    [('"2018"', "Red Kite"), ("*", "Red Kite"), ('"2017"', None)],
)
def test_only_what_uses_the_values_before_it_is_the_end_of_a_chain(year: str, expected: str | None) -> None:
    question = "at the time ann lee won best actress, which movie won best picture?"
    assert derived(question, "movie", WON + BEST.format(year=year), (2018,), ("Red Kite",)) == expected


def test_the_last_value_must_be_of_the_kind_that_is_asked_for() -> None:
    question = "how many people saw the movie that won best picture when ann lee won best actress?"
    assert derived(question, "movie", WON + BEST.format(year="*"), (2018,), ("Red Kite",)) is None
