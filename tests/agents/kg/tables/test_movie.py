import pytest

from agents.kg.results import Status
from tests.agents.kg.conftest import Run


@pytest.mark.parametrize(
    ("program", "values"),
    [
        ('get_person("ann lee")["birthday"]', ("1970-01-02",)),  # of two, the one with films
        ('get_person("ann leigh")["birthday"]', ()),
        ('get_movie("red kite")["original_title"]', ("Rot",)),
        ('get_movie("the red kite II")["revenue"]', (900,)),
        ('get_movie("blue door")["year"]', (2010,)),  # the better known comes first
        ('get_movie("blue door",eq(year,"1950"))["revenue"]', (5,)),
        ('get_movie("Blue Door (1950)")["revenue"]', (5,)),
        ('get_movie("borough")["year"]', (2005,)),
        ('get_movie("rot")["year"]', ()),  # the search knows no original titles
        ('get_movie_person_cast("the red kite")["name"][:5]', ("Bob Ray", "Ann Lee")),  # the lead first
        ('get_movie_person_cast("the red kite",None,eq(character,"king"))["name"]', ("Bob Ray",)),
        ('get_movie_person_cast("the red kite",None,eq(gender,"actress"))["name"]', ("Ann Lee",)),
        ('get_movie_person_cast("the red kite","ray")["character"]', ("The King (007)",)),
        ('ALL get_movie_person_cast(None,"ann lee")["movie_name"]', ("The Red Kite", "The Red Kite 2", "Blue Door")),
        ('get_movie_person_cast(None,"ann lee",ge(year,"2000"))["len"]', (2,)),
        ('ALL get_movie_person_cast(["the red kite","the red kite 2"])["name"]', ("Bob Ray", "Ann Lee")),
        ('get_movie_person_cast(None,["ann lee","bob ray"])["len"]', (2,)),
        ('get_movie_person_cast(["blue door","borough"])["len"]', (0,)),
        ('ALL get_movie_person_crew(None,"cy dee",eq(job,"Director"))["movie_name"]',
         ("The Red Kite", "The Red Kite 2")),
        ('get_movie_person_crew("the red kite",None,eq(job,"Producer"))["name"]', ("Ann Lee",)),
        ('get_movie_person_oscar("the red kite 2","ann lee")["category"]', ("ART DIRECTION",)),  # in a credit line
        ('get_movie_person_oscar(None,"bob ray",eq(winner,"true"))["len"]', (0,)),
        ('get_movie_person_oscar(None,None,[eq(year,"2000"),eq(category,"best director")])["name"]', ("Cy Dee",)),
        ('ALL get_movie_person_oscar(None,None,[ge(year,"2000"),le(year,"2001"),eq(winner,"true")])["film"]',
         ("The Red Kite", "The Red Kite 2")),
    ],
)  # fmt: skip
def test_values(run: Run, program: str, values: tuple[object, ...]) -> None:
    result = run("movie", program).results[-1]
    assert result.values == values
    assert result.status is (Status.OK if values else Status.NOT_FOUND)


def test_a_record_without_the_films_somebody_directed_does_not_say_that_there_are_none(run: Run) -> None:
    for person in ("dan only", "ann lee"):
        result = run("movie", f'get_movie_person_crew(None,"{person}",eq(job,"Director"))["len"]').results[0]
        assert result.status is Status.NOT_FOUND
        assert "does not list the films" in result.explanation[0]


def test_several_films_of_one_title_are_told(run: Run) -> None:
    (result,) = run("movie", 'get_movie("blue door")["revenue"]').results
    assert '2 films are called "Blue Door" (2010, 1950)' in result.explanation[0]
    assert "(1 more films match.)" in result.text


def test_years_without_award_lists_are_not_asked_for(run: Run) -> None:
    outcome = run("movie", 'get_movie_person_oscar(None,None,eq(year,"2030"))["film"]')
    assert (outcome.results[0].status, outcome.calls) == (Status.NOT_FOUND, 0)
    assert "1990 to 2021 only" in outcome.results[0].explanation[0]


def test_the_number_of_roles_needs_no_film(run: Run) -> None:
    outcome = run("movie", 'get_movie_person_cast(None,"ann lee")["len"]')
    assert (outcome.results[0].values, outcome.calls) == ((3,), 1)
