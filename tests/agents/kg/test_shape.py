"""A program must have the shape that its question asks for."""

import pytest

from agents.kg.language import parse
from agents.kg.schema import Domain
from agents.kg.shape import wrong_shapes

CASES = r"""
music | what is the latest song of zoe vox? | get_person("zoe vox")["music"]\nsort(None,-release_date)["name"] |
music | what is the latest song of zoe vox? | get_person("zoe vox")["music"]\nsort(None,release_date)["name"] | lowest
music | what was zoe vox's debut? | get_person("zoe vox")["music"]\nsort(None,-release_date)["name"] | highest
music | what did zoe vox sing last year? | get_person("zoe vox")["music"]\nsort(None,release_date)["name"] |
music | who is in zoe vox? | get_person("zoe vox")["members"]["len"] | a count
music | how many are in zoe vox? | get_person("zoe vox")["members"]["len"] |
movie | when was the most wanted released? | get_movie("the most wanted")["len"] | a count
finance | what did abc pay in total? | get_stock_dividend("abc")\nsort(None,-value)["value"] | one value
finance | what is abc's lowest dividend? | get_stock_dividend("abc")\nsort(None,-value)["value"] | highest
finance | what was the price of abc? | get_stock_price("abc","2023")["close"]\naverage | a mean
finance | what was the average price of abc? | get_stock_price("abc","2023")["close"]\naverage |
"""


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_what_the_question_does_not_ask_for_is_named(case: str) -> None:
    domain, question, program, wrong = (part.strip() for part in case.split("|"))
    parsed = parse(program.replace("\\n", "\n"), Domain(domain))
    found = ", ".join(wrong_shapes(question, Domain(domain), parsed))
    assert (wrong in found) if wrong else not found
