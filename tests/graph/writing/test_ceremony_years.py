"""Calls for awards get the year of the ceremony that the question names by its number."""

import pytest

from crag.graph.language import parse, render
from crag.graph.schema import Domain
from crag.graph.writing import with_ceremony_years

OSCARS = 'get_movie_person_oscar(None,None,[eq(year,"{}"),eq(category,"best picture"),eq(winner,"true")])["film"]'
GRAMMYS = 'get_grammy_year("{}")["song_of_the_year"]'


@pytest.mark.parametrize(
    ("question", "domain", "calls", "written", "expected"),
    [
        # Held on 2020-02-09, 1998-03-23, 1973-03-27, 1934-03-16
        ("what won best picture at the 92nd ceremony?", Domain.MOVIE, OSCARS, "1998", "2020"),
        ("What won best picture at the 70th Academy Awards?", Domain.MOVIE, OSCARS, "2014", "1998"),
        ("what won best picture at the forty-fifth annual academy awards?", Domain.MOVIE, OSCARS, "2014", "1973"),
        ("what won at the 6th oscars?", Domain.MOVIE, OSCARS, "2014", "1934"),
        # Held on 2019-02-10 and 2000-02-23
        ("what was song of the year at the 61st grammys?", Domain.MUSIC, GRAMMYS, "2019", "2018"),
        ("what was song of the year at the forty-second grammy awards?", Domain.MUSIC, GRAMMYS, "2000", "1999"),
        # The question says the year, or names two ceremonies, or one of the years without a rule, or none
        ("what won at the 92nd oscars in 2020?", Domain.MOVIE, OSCARS, "2020", "2020"),
        ("what was song of the year at the 61st grammy (2018)?", Domain.MUSIC, GRAMMYS, "2018", "2018"),
        ("what won more, from the 90th oscars to the 92nd oscars?", Domain.MOVIE, OSCARS, "2018", "2018"),
        ("what won at the 2nd academy awards?", Domain.MOVIE, OSCARS, "1930", "1930"),
        ("what won best picture for the 3rd time?", Domain.MOVIE, OSCARS, "1998", "1998"),
    ],
)
def test_the_year_follows_from_the_number_of_the_ceremony(
    question: str, domain: Domain, calls: str, written: str, expected: str
) -> None:
    program = with_ceremony_years(question, parse(calls.format(written), domain))
    assert render(program) == calls.format(expected)


def test_spans_of_years_and_other_tables_stay() -> None:
    question = "who directed the film that won at the 92nd oscars?"
    for calls in ('get_movie_person_oscar(None,None,ge(year,"2010"))["film"]', 'get_movie("parasite")["length"]'):
        program = parse(calls, Domain.MOVIE)
        assert with_ceremony_years(question, program) == program
