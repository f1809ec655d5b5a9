"""What both extractors promise."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.settings import ExtractSettings
from agents.web.extract import Extractor, load_extractor

METHODS = ("main_text", "beautifulsoup")

ARTICLE = """<html><head><title>Title</title><style>p {{color: red}}</style></head><body>
<nav><a href="/">Home</a> <a href="/a">Sections</a></nav>
<main><article><h1>The bridge</h1>
<p>The bridge was opened in <b>1937</b> after
four years of work. It is 2,737 metres long, and a hundred thousand cars cross it every day.</p>
{}
<p>Painters work on it all year round. The colour is called international orange, chosen by the architect.</p>
</article></main><footer>Imprint</footer></body></html>"""


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def extractor(method: str, **more: Any) -> Extractor:
    return load_extractor(ExtractSettings.model_validate({"method": method, "fallback_characters": 50, **more}))


def lines(method: str, part: str) -> list[str]:
    return extractor(method).extract(ARTICLE.format(part)).split("\n")


def test_blocks_are_lines_and_inline_marks_are_none(method: str) -> None:
    found = lines(method, "")
    assert "The bridge" in found
    assert any(line.startswith("The bridge was opened in 1937 after four years of work. It is 2,737") for line in found)


@pytest.mark.parametrize(
    "hidden",
    [
        '<p style="display:none">SECRET</p>',
        '<div style="color: red; Display : NONE"><p>SECRET</p></div>',
        '<span style="visibility:hidden">SECRET</span>',
        "<p hidden>SECRET</p>",
        '<p hidden=""><b>SECRET</b></p>',
        '<p style="position:absolute; left:-9999px">SECRET</p>',
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<template><p>SECRET</p></template>",
        "<noscript>SECRET</noscript>",
        "<select><option>SECRET</option></select>",
        "<!-- SECRET -->",
        '<table><tr><td>a<td>b<tr><td>c<span style="display:none">SECRET</span><td>d</table>',
    ],
)
def test_what_nobody_sees_is_dropped_also_where_all_text_is_taken(method: str, hidden: str) -> None:
    for fallback in (50, 100_000):
        text = extractor(method, fallback_characters=fallback).extract(ARTICLE.format(hidden))
        assert "SECRET" not in text
        assert "Painters work" in text


@pytest.mark.parametrize(
    "shown",
    [
        '<p aria-hidden="false">SHOWN HERE</p>',
        '<p style="overflow:hidden">SHOWN HERE</p>',
        '<p hidden="until-found">SHOWN HERE</p>',
    ],
)
def test_what_can_be_seen_is_kept(method: str, shown: str) -> None:
    assert "SHOWN HERE" in lines(method, shown)


def test_tables_become_rows(method: str) -> None:
    table = (
        "<table><tr><th>Year</th><th>Film</th></tr><tr><td>1999</td><td>The<br>Matrix <i>(film)</i></td></tr>"
        "<tr><td></td><td>Fight &amp; Club</td></tr></table>"
    )
    found = lines(method, table)
    assert found[found.index("Year | Film") :][:3] == ["Year | Film", "1999 | The Matrix (film)", "Fight & Club"]


def test_a_table_of_facts_beside_the_article_is_not_lost() -> None:
    rows = "<tr><th>Height</th><td>227 m</td></tr><tr><th>Designer</th><td>J. Strauss</td></tr>"
    box = f"<aside class=sidebar><table>{rows}</table></aside>"
    assert "Height | 227 m" in lines("main_text", box)


def test_main_text_drops_menus_and_footers() -> None:
    text = "\n".join(lines("main_text", ""))
    assert "Imprint" not in text
    assert "Sections" not in text


def test_short_main_text_is_replaced_by_all_text() -> None:
    html = "<nav>Menu of the day</nav><div>7 pm</div>"
    assert "Menu of the day" in load_extractor(ExtractSettings(fallback_characters=300)).extract(html)


@pytest.mark.parametrize("html", ["", " \n", "<html></html>", "<!-- x -->", "\ufeff", "<frameset></frameset>", "\x00"])
def test_a_page_without_text_gives_none(method: str, html: str) -> None:
    assert extractor(method).extract(html) == ""


def test_a_lone_surrogate_is_survived(method: str) -> None:
    text = extractor(method).extract("<p>before \ud800 after</p>")
    assert text.startswith("before")
    assert text.endswith("after")
    text.encode("utf-8")


def test_zero_width_characters_do_not_split_words_and_control_tokens_are_harmless(method: str) -> None:
    assert extractor(method).extract("<p>ca\u200bli\u00adfor&#8203;nia &lt;|eot_id|&gt;</p>") == "california (eot_id)"


def test_text_below_three_hundred_elements_is_kept(method: str) -> None:
    """Everything built on libxml2 loses it unless the page is made shallower first."""
    assert "needle" in extractor(method).extract("<div>" * 300 + "needle" + "</div>" * 300)


def test_endless_text_is_cut(method: str) -> None:
    text = extractor(method, max_text_characters=1000).extract("<p>word word</p>" * 1000)
    assert 990 <= len(text) <= 1000


HOSTILE = {
    "100,000 nested elements": "<div>" * 100_000 + "needle" + "</div>" * 100_000,
    "1.5 MB of nested tables": "<table><tr><td>" * 100_000 + "needle",
    "200,000 siblings": "<p>needle</p>" * 200_000,
    "a table of 20,000 rows": "<table>" + "<tr><td>needle</td><td>1</td></tr>" * 20_000 + "</table>",
    "unclosed attributes": "needle" + "<a href='x" * 150_000,
    "unclosed comments": "needle" + "<!--" * 400_000,
    "nested formatting": "needle" + "".join(f"<b class={n}><p>" for n in range(2_000)),
    "one long word": "needle" + "x" * 1_500_000,
    "only angle brackets": "needle " + "<" * 1_000_000,
    "entities": "needle " + "&amp;" * 300_000,
    "blanks": "needle" + " \n" * 700_000 + "end",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_read_in_bounded_time(name: str) -> None:
    reader = load_extractor(ExtractSettings(max_word_characters=30, english_only=True))
    started = time.process_time()
    reader.extract(HOSTILE[name])
    assert time.process_time() - started < 8


@given(st.text(st.sampled_from("<>/=\"' abdiptrhln!-&;\ud800\u200b"), max_size=300), st.sampled_from(METHODS))
def test_any_string_is_accepted(html: str, method: str) -> None:
    extractor(method).extract(html).encode("utf-8")
