"""Calls of a similar question, with the names of this one."""

import pytest

from crag.graph.language import parse
from crag.graph.schema import Domain
from crag.graph.writing.analogy import Analogies, with_names_of
from crag.graph.writing.bank import Example

DIRECTOR = 'get_movie_person_crew("rear window",None,eq(job,"director"))["name"]'
BIRTHDAYS = 'get_person("elton john")["birthday"]\nget_person("rod stewart")["birthday"]'
PRICE = 'get_stock_price("general mills","last friday")["open"]'


def example(domain: Domain, question: str, calls: str) -> Example:
    return Example(domain, question, calls, parse(calls, domain))


@pytest.mark.parametrize(
    ("known", "question", "calls"),
    [
        (
            example(Domain.MOVIE, "who directed rear window?", DIRECTOR),
            "Who directed Emma Goldman: An Exceedingly Dangerous Woman?",
            DIRECTOR.replace("rear window", "emma goldman: an exceedingly dangerous woman"),
        ),
        (
            example(Domain.MOVIE, "who is older, elton john or rod stewart?", BIRTHDAYS),
            "so, who is older, leonardo dicaprio or brad pitt?",
            BIRTHDAYS.replace("elton john", "leonardo dicaprio").replace("rod stewart", "brad pitt"),
        ),
        (
            example(Domain.FINANCE, "what did general mills open at on last friday?", PRICE),
            "what did gpi's stock open at on last friday?",
            PRICE.replace("general mills", "gpi's stock"),
        ),
        # No words in common: everything could be the name, and the names stay
        (example(Domain.MOVIE, "rear window?", DIRECTOR), "", DIRECTOR),
    ],
)
def test_names_of_an_example_give_way_to_what_stands_in_their_place(known: Example, question: str, calls: str) -> None:
    assert with_names_of(question, known) == f"{known.domain}\n{calls}"


def test_the_nearest_example_of_the_domain_tells_the_calls() -> None:
    director = example(Domain.MOVIE, "who directed rear window?", DIRECTOR)
    price = example(Domain.FINANCE, "what did general mills open at on last friday?", PRICE)
    analogies = Analogies([director, price])

    assert analogies.guess("who directed jaws?", None) == f"movie\n{DIRECTOR.replace('rear window', 'jaws')}"
    assert analogies.guess("who directed jaws?", Domain.FINANCE).startswith("finance\nget_stock_price(")
