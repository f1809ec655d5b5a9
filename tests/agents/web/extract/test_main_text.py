"""The main text of a page: what is kept, what is dropped, and when all text is taken instead."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from agents.settings import ExtractSettings
from agents.web.extract import load_extractor
from agents.web.extract.base import tidy
from agents.web.extract.main_text import MainTextExtractor

PAGES = sorted((Path(__file__).parents[4] / "data" / "sample" / "pages").glob("*.html"))
STORY = (
    "<p>The bridge was opened in 1937 after four years of work, and a hundred thousand cars cross it every day.</p>"
    "<p>Painters work on it all year round. The colour was chosen by the architect, who saw it in the primer.</p>"
)
MENU = "<nav><ul><li><a href=/>Home</a><li><a href=/b>Bridges</a></ul></nav>"
FOOTER = "<footer><p>Imprint <a href=/c>Cookies</a></p></footer>"


def lines(part: str, *, fallback_characters: int = 50) -> list[str]:
    html = f"<html><body>{MENU}<main><article><h1>Bridge</h1>{STORY}{part}</article></main>{FOOTER}</body></html>"
    return tidy(MainTextExtractor(fallback_characters).extract(html)).split("\n")


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


@pytest.mark.parametrize("page", PAGES[::9], ids=lambda page: page.stem)
def test_the_main_text_of_a_sample_page_invents_nothing_and_keeps_the_paragraphs(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    found = words(load_extractor(ExtractSettings(max_text_characters=5_000_000)).extract(html))
    # Python's own parser shares no code with the one inside the extractor.
    soup = BeautifulSoup(html, "html.parser")
    assert soup.body is not None
    assert found - words(soup.body.get_text(" ")) - words(soup.body.get_text()) == set()
    article = soup.select_one("article, main")
    if article is not None:
        paragraphs = [node.get_text() for node in article.select("p") if len(node.get_text()) > 200]
        told = words(" ".join(paragraphs))
        assert len(found & told) >= 0.9 * len(told)


def test_lists_are_one_item_a_line() -> None:
    found = lines("<ul><li>one item here<li>another item there</ul>", fallback_characters=100_000)
    start = found.index("one item here")
    assert found[start + 1] == "another item there"


def test_a_definition_list_keeps_each_term_before_its_definition() -> None:
    text = " ".join(lines("<dl><dt>Opened</dt><dd>in May</dd><dt>Length</dt><dd>2,737 m</dd></dl>"))
    assert "Opened in May Length 2,737 m" in text


def test_entities_are_read_once() -> None:
    assert 'café €5 <b> AT&T — "x" &amp;' in lines(
        "<p>caf&eacute; &#8364;5 &lt;b&gt; AT&amp;T &#x2014; &quot;x&quot; &amp;amp;</p>"
    )


def test_rows_keep_values_in_their_columns_and_entities_in_cells_are_read_once() -> None:
    found = lines(
        "<table><tr><th>Year<th>Club<th>Score<tr><td>2021<td><td>1<br>0"
        "<tr><td>2022<td><a href=x>A&amp;B</a> <i>AFC</i><td>&lt;2</table>"
    )
    start = found.index("Year | Club | Score")
    assert found[start : start + 3] == ["Year | Club | Score", "2021 | | 1 0", "2022 | A&B AFC | <2"]


def test_only_the_innermost_table_is_written_as_rows() -> None:
    inner = "<table><tr><td>Height</td><td>227 m</td></tr><tr><td>Width</td><td>27 m</td></tr></table>"
    found = lines(f"<table><tr><td>Left column</td><td>{inner}</td></tr><tr><td>a</td><td>b</td></tr></table>")
    assert found.count("Height | 227 m") == 1
    assert found.count("Width | 27 m") == 1


def test_preformatted_text_keeps_its_lines() -> None:
    found = lines("<pre>first line\nsecond line</pre>")
    assert "second line" in found
    assert found.index("first line") + 1 == found.index("second line")


@pytest.mark.parametrize(
    "hidden",
    [
        "<iframe src='//ads'>SECRET</iframe>",
        "<svg><title>SECRET</title><text>SECRET</text></svg>",
        "<canvas>SECRET</canvas>",
        "<div hidden><p>SECRET</p></div>",
        "<p style='DISPLAY:none'>SECRET</p>",
        "<p style='visibility: collapse'>SECRET</p>",
        "<p style='text-indent:-99999px'>SECRET</p>",
        "<!-- <p>SECRET</p> -->",
        "<!--[if IE]><p>SECRET</p><![endif]-->",
        "<img alt='SECRET' title='SECRET'>",
        "<table hidden><tr><td>SECRET<td>x<tr><td>y<td>z</table>",
        "<table><tr><td>a<td>b<tr hidden><td>SECRET<td>c<tr><td>d<td>e</table>",
    ],
)
@pytest.mark.parametrize("fallback", [50, 100_000])
def test_hidden_text_of_every_kind_goes_also_where_all_text_is_taken(hidden: str, fallback: int) -> None:
    text = "\n".join(lines(f"{hidden}<p>Painters also came.</p>", fallback_characters=fallback))
    assert "SECRET" not in text
    assert "Painters also came." in text


@pytest.mark.parametrize(
    "wrapped",
    [
        "<div hidden>{}</div>",
        "<div style='display:none'><p>x</p>{}</div>",
        "<noscript>{}</noscript>",
        "<canvas>{}</canvas>",
        "<object>{}</object>",
    ],
)
def test_a_table_inside_something_hidden_is_not_put_back(wrapped: str) -> None:
    table = "<table><tr><td>SECRET<td>x<tr><td>y<td>z</table>"
    assert "SECRET" not in "\n".join(lines(wrapped.format(table)))


def test_a_table_beside_the_article_is_put_back_even_if_its_head_is_like_that_of_another() -> None:
    inside = "<table><tr><th>Team<th>Points<tr><td>Ajax<td>71</table>"
    beside = "<aside class=sidebar><table><tr><th>Team<th>Points<tr><td>Feyenoord<td>68</table></aside>"
    found = lines(inside + beside)
    assert "Ajax | 71" in found
    assert "Feyenoord | 68" in found


def test_boilerplate_is_dropped_here_and_kept_where_all_text_is_asked_for() -> None:
    html = f"<html><body>{MENU}<main><article><h1>Bridge</h1>{STORY}</article></main>{FOOTER}</body></html>"
    main = load_extractor(ExtractSettings(fallback_characters=50)).extract(html)
    whole = load_extractor(ExtractSettings(method="beautifulsoup")).extract(html)
    for boilerplate in ("Home", "Bridges", "Imprint", "Cookies"):
        assert boilerplate not in main
        assert boilerplate in whole
    assert words(main) <= words(whole)


def test_a_menu_made_of_a_table_is_not_put_back() -> None:
    table = "<table><tr><td>Bays<td>Capes<tr><td>Dams<td>Locks</table>"
    html = f"<html><body><nav>{table}</nav><main><article><h1>Bridge</h1>{STORY}</article></main></body></html>"
    assert "Bays" not in MainTextExtractor(50).extract(html)


def test_the_fallback_begins_below_its_number_of_characters() -> None:
    main = "\n".join(lines(""))
    assert "Cookies" not in "\n".join(lines("", fallback_characters=len(main) - 5))
    assert "Cookies" in "\n".join(lines("", fallback_characters=len(main) + 100))


def test_a_table_is_told_once_whichever_way_it_was_found() -> None:
    table = "<table><tr><th>Height<td>227 m<tr><th>Designer<td>J. Strauss</table>"
    assert "\n".join(lines(table)).count("J. Strauss") == 1
    assert "\n".join(lines(f"<aside>{table}</aside>")).count("J. Strauss") == 1
    assert "\n".join(lines(table, fallback_characters=100_000)).count("J. Strauss") == 1


def test_english_only_drops_lines_in_other_scripts_and_keeps_names_and_numbers() -> None:
    html = (
        "<p>Tokyo (東京) is large.</p><p>東京は日本の首都です</p><p>Москва столица</p><p>37.4 — 1937</p><p>Zürich</p>"
    )
    both = load_extractor(ExtractSettings()).extract(html)
    english = load_extractor(ExtractSettings(english_only=True)).extract(html)
    assert english.split("\n") == ["Tokyo (東京) is large.", "37.4 — 1937", "Zürich"]
    assert "Москва столица" in both


def test_words_too_long_are_dropped_and_words_of_just_that_length_stay() -> None:
    html = f"<p>before {'x' * 30} between {'y' * 31} after</p><p>{'z' * 40}</p><p>end</p>"
    text = load_extractor(ExtractSettings(max_word_characters=30)).extract(html)
    assert text == f"before {'x' * 30} between after\nend"


MARKS = ["<|im_start|>", "<|eot_id|>", "[INST]", "[/INST]", "<<SYS>>", "</s>", "<doc>", "</doc>", "[SEP]"]


@given(st.lists(st.one_of(st.text(max_size=20), st.sampled_from([*MARKS, "\u200b", "&lt;", "<p>"])), max_size=20))
def test_any_input_gives_text_without_chat_marks_and_never_raises(parts: list[str]) -> None:
    text = load_extractor(ExtractSettings()).extract("".join(parts))
    text.encode("utf-8")
    assert text == text.strip()
    assert not [mark for mark in MARKS if mark.lower() in text.lower()]
