import pytest

from agents.kg.results import Status
from agents.kg.tables.encyclopedia import plain
from tests.agents.kg.conftest import Run


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("[[Foo (city)|Foo]]<ref name=a>b [[c]]</ref>, [[Bar]]", "Foo, Bar"),
        ("{{convert|828|m|abbr=on}}", "828 m"),
        ("{{nowrap|{{val|3|u=km}} [http://x.y home page]}}<br/>'''b'''", "3 home page b"),
        ("a &amp; b<!-- hidden -->{{efn|note}}", "a & b"),
        ("", ""),
        ("{{" * 500 + "[[" * 500, "{{" * 500 + "[[" * 500),
    ],
)
def test_markup_gives_way_to_text(markup: str, text: str) -> None:
    assert plain(markup) == text


def test_an_article_and_its_entries(run: Run) -> None:
    (whole,) = run("open", 'get_open("tall tower")').results
    assert whole.text == "Tall Tower: The Tall Tower stands in Foo. Its facts: height 828 m; location Foo."
    assert "{{convert" in str(whole.values[0])  # as the server has it
    assert run("open", 'get_open("Tall Tower")["height"]').results[0].values == ("828 m",)
    assert run("open", 'get_open("tall tower")["weight"]').results[0].status is Status.NOT_FOUND


def test_a_title_without_an_article_and_an_unknown_one_are_not_found(run: Run) -> None:
    for title, reason in (("tall tower (novel)", "no article"), ("long tower bridge", "nearest:")):
        (result,) = run("open", f'get_open("{title}")').results
        assert result.status is Status.NOT_FOUND
        assert reason in result.explanation[0]
