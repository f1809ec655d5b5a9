"""What follows a call and stands before it, and on which rows the next statement works."""

import pytest

from agents.kg.language import KgQueryError, parse, render
from agents.kg.schema import Domain


def read(text: str, domain: str) -> str:
    return render(parse(text, Domain(domain)))


@pytest.mark.parametrize(
    ("domain", "written", "canonical"),
    [
        # how many
        ("movie", '12345 get_movie("x")', 'get_movie("x")[:12345]'),
        ("movie", 'ALL get_movie("x")["title"][:2]', 'get_movie("x")["title"][:2]'),
        ("movie", 'get_movie("x")["title"]["len"][:3]', 'get_movie("x")["title"]["len"][:3]'),
        ("open", 'get_open("x")["2"]', 'get_open("x")["2"]'),
        # a key of the rows that a key holds
        ("music", 'ALL get_person("x")["music"]["name"]', 'get_person("x")["music"]\nALL sort(None)["name"]'),
        ("music", '3 get_person("x")["music"]["name"]', 'get_person("x")["music"]\nsort(None)["name"][:3]'),
        ("music", 'get_person("x")["music"][:3]["name"]', 'get_person("x")["music"]\nsort(None)["name"][:3]'),
        ("music", 'get_person("x")["music"]["name"]["len"]', 'get_person("x")["music"]\nsort(None)["name"]["len"]'),
        # the mean
        ("movie", 'get_movie("x")["budget"]\nmean', 'get_movie("x")["budget"]\naverage'),
        ("movie", 'get_movie("x")["budget"]\nmean()', 'get_movie("x")["budget"]\naverage'),
        ("movie", 'mean(get_movie("x")["budget"])', 'get_movie("x")["budget"]\naverage'),
        # brackets round all
        ("movie", "[ ] )", "None"),
    ],
)
def test_what_is_meant(domain: str, written: str, canonical: str) -> None:
    assert read(written, domain) == canonical


@pytest.mark.parametrize(
    ("domain", "written", "kind", "place"),
    [
        ("movie", 'get_movie("x")[1:]', "wrong_argument", (1, 15)),
        ("movie", 'get_movie("x")[-1]', "wrong_argument", (1, 15)),
        ("movie", 'get_movie("x")\nget_movie(*)[*]', "wrong_argument", (2, 13)),
        ("movie", 'get_movie("x")["title"]\nget_movie(*)[:*]', "wrong_argument", (2, 15)),
        ("movie", 'get_movie("x")[:1234567890]', "wrong_argument", (1, 17)),
        ("movie", 'get_movie("x")["2"]', "unknown_key", (1, 16)),
        ("movie", 'get_movie("x")["len"]["title"]', "wrong_argument", (1, 22)),
        ("movie", 'get_movie("x")["budget"]\naverage()["len"]', "wrong_argument", (2, 10)),
        ("movie", 'get_movie("x")["budget"]\naverage\naverage', "nothing_before", (3, 1)),
        ("movie", "[", "missing_bracket", (1, 2)),
        ("movie", ") None", "extra_bracket", (1, 1)),
        ("music", 'get_person("x")["music"]["len"]["name"]', "wrong_argument", (1, 32)),
        ("music", 'get_person("x")["music"]["name"]["name"]', "wrong_argument", (1, 33)),
        ("music", 'get_person("x")["music"]["birth_date"]', "unknown_key", (1, 26)),
        ("music", 'get_person("x")["music"]\nsort(None,birth_date)', "unknown_key", (2, 11)),
        ("music", 'get_person("x")["members"]["name"]', "wrong_argument", (1, 27)),
    ],
)
def test_what_does_not_fit(domain: str, written: str, kind: str, place: tuple[int, int]) -> None:
    with pytest.raises(KgQueryError) as raised:
        read(written, domain)
    fault = raised.value.fault
    assert (str(fault.kind), (fault.line, fault.column)) == (kind, place)


def test_the_limit_is_the_last_number_of_statements_that_is_read() -> None:
    eight = "\n".join(['get_movie("a")'] * 8)
    assert read(eight, "movie") == eight
