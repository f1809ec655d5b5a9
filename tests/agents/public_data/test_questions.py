from datetime import datetime

import pytest

from agents.contracts import Query
from agents.public_data.questions import years_of


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("who won best actor in 1994?", (1994,)),
        ("which won first, in 2001 or in 1999?", (2001, 1999)),
        ("who hosted the 80th academy awards?", (2008,)),
        ("who opened the 62nd annual Grammy awards (2019)?", (2020,)),
        ("what won the oscar this year?", (2024,)),
        ("what won the oscar last year?", (2023,)),
        ("who are the 10000 maniacs?", ()),
    ],
)
def test_years_are_read_as_people_say_them(text: str, years: tuple[int, ...]) -> None:
    assert years_of(Query("1", text, "", datetime(2024, 3, 5), ())) == years
