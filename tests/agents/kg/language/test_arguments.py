"""What stands in the brackets of a call: spellings of operators, years, lists, names of arguments, and their faults."""

import pytest

from agents.kg.language import KgQueryError, parse, render
from agents.kg.schema import Domain


def read(text: str, domain: str = "movie") -> str:
    return render(parse(text, Domain(domain)))


@pytest.mark.parametrize(
    ("operator", "spellings"),
    [
        ("eq", "= == equal equals EQ"),
        ("neq", "!= <> ≠ ne not_equal notequal"),
        ("ge", ">= > ≥ gte gt"),
        ("le", "<= < ≤ lte lt"),
    ],
)
def test_every_spelling_of_an_operator(operator: str, spellings: str) -> None:
    for spelling in spellings.split():
        written = f"{spelling}(order,3)" if spelling[0].isalpha() else f"order{spelling}3"
        assert read(f'get_movie_person_cast("a",None,{written})') == (
            f'get_movie_person_cast("a",None,{operator}(order,"3"))'
        )


@pytest.mark.parametrize(
    ("domain", "written", "canonical"),
    [
        # years
        ("movie", 'get_movie("x",1850)', 'get_movie("x",eq(year,"1850"))'),
        ("movie", 'get_movie_person_cast(["2012","b"])', 'get_movie_person_cast(["2012","b"])'),
        ("music", "get_grammy_year(1999)", 'get_grammy_year("1999")'),
        ("music", 'get_song("x",2001)', 'get_song("x",eq(release_date,"2001"))'),
        ("finance", "get_stock_price(2024,2023)", 'get_stock_price("2024","2023")'),
        ("open", 'get_open("x")\nsort(2012)', 'get_open("x")\nsort(None,"2012")'),
        ("movie", 'get_movie("x")\nsort(2012,2013)', 'get_movie("x")\nsort([eq(year,"2012"),eq(year,"2013")])'),
        # nothing at all
        ("movie", 'get_movie_person_cast(["",None],"a")', 'get_movie_person_cast(None,"a")'),
        ("movie", 'get_movie_person_cast(["",b],"a")', 'get_movie_person_cast("b","a")'),
        ("movie", "get_movie_person_cast([eq(year,2012),None,])", 'get_movie_person_cast(None,None,eq(year,"2012"))'),
        ("movie", 'get_movie_person_cast([eq(year,2012),None],"a")', 'get_movie_person_cast("a",None,eq(year,"2012"))'),
        # arguments by name; a name that is taken is a key
        ("movie", 'get_movie_person_cast(person="b")', 'get_movie_person_cast(None,"b")'),
        ("movie", 'get_movie_person_cast("a",movie="b")', 'get_movie_person_cast("a",None,eq(movie_name,"b"))'),
        ("movie", "get_movie_person_cast(movie>=3)", 'get_movie_person_cast(None,None,ge(movie_name,"3"))'),
        # a key is compared with a key where both have an order or the second is bare, never with itself
        ("finance", 'get_stock_price("x",ge("close","open"))', 'get_stock_price("x",None,None,ge(close,open))'),
        ("finance", 'get_stock_price("x",eq(time,"close"))', 'get_stock_price("x",None,None,eq(time,"close"))'),
        ("movie", 'get_movie("x",eq(year,year))', 'get_movie("x",eq(year,"year"))'),
        ("movie", 'get_movie("x",eq(title,"original_title"))', 'get_movie("x",eq(title,"original_title"))'),
        # flags in small letters, texts as they are
        ("movie", 'get_movie("x",eq(title,"TRUE"))', 'get_movie("x",eq(title,"TRUE"))'),
        # any dash orders downwards
        ("movie", 'get_movie("x")\nsort(None,–year)', 'get_movie("x")\nsort(None,-year)'),
        ("movie", 'get_movie("x")\nsort(None,"— year")', 'get_movie("x")\nsort(None,-year)'),
    ],
)  # fmt: skip
def test_what_is_meant(domain: str, written: str, canonical: str) -> None:
    assert read(written, domain) == canonical


@pytest.mark.parametrize(
    ("domain", "written", "kind", "place", "told"),
    [
        ("movie", 'get_movie("x")\nsort(None,*)', "wrong_argument", (2, 11), "sort takes conditions or None"),
        ("movie", 'get_movie("x")\nsort(None,["a","b"])', "wrong_argument", (2, 11), "sort takes conditions or None"),
        ("movie", "get_movie(sort(year))", "wrong_argument", (1, 11), "a call cannot stand in a call"),
        ("movie", 'get_movie("x",eq(year,2012)["a"])', "wrong_argument", (1, 15), "one key and one value"),
        ("movie", 'get_movie("x",eq(year,2012,2013))', "wrong_argument", (1, 15), "one key and one value"),
        ("movie", 'get_movie("x",eq(title,""))', "wrong_argument", (1, 24), "needs a value"),
        ("movie", 'get_movie("x")\nget_movie_person_cast(["a",*])', "wrong_argument", (2, 23), "a list holds names"),
        ("movie", 'get_movie("x",eq(title,"y"),"z")', "wrong_argument", (1, 29), "takes movie, then conditions"),
        ("finance", 'get_stock_price("x","2024","2025","2026")', "wrong_argument", (1, 35), "company, date, last_date"),
        ("open", 'get_open("x",2012)', "wrong_argument", (1, 14), "takes title"),
        ("finance", 'get_stock_price("x",["2024-01-01","2024-01-02"])', "wrong_argument", (1, 21), "not a list"),
        ("movie", 'get_movie("x")["-"]', "unknown_key", (1, 16), "no key '-'"),
        ("open", 'get_open("x")["-"]', "unknown_key", (1, 15), "no key '-'"),
        ("open", 'get_open("x",eq(none,"x"))', "unknown_key", (1, 17), "no key 'none'"),
    ],
)
def test_what_does_not_fit(domain: str, written: str, kind: str, place: tuple[int, int], told: str) -> None:
    with pytest.raises(KgQueryError) as raised:
        read(written, domain)
    fault = raised.value.fault
    assert (str(fault.kind), (fault.line, fault.column)) == (kind, place)
    assert told in fault.message
