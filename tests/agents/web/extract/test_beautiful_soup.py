"""All visible text: what the extractor alone makes of HTML, and on whole pages, compared with another parser."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from agents.settings import ExtractSettings
from agents.web.extract import load_extractor
from agents.web.extract.base import tidy
from agents.web.extract.beautiful_soup import BeautifulSoupExtractor

PAGES = sorted((Path(__file__).parents[4] / "data" / "sample" / "pages").glob("*.html"))
UNSEEN = "script, style, noscript, template, iframe, svg, canvas, object, select, head, [hidden]"
HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|(left|top|text-indent)\s*:\s*-9999", re.IGNORECASE)


def lines(html: str) -> list[str]:
    return tidy(BeautifulSoupExtractor().extract(html)).split("\n")


def seen_by_selectolax(html: str) -> set[str]:
    """The words of a page as another parser (lexbor, in C) sees them."""
    tree = LexborHTMLParser(html)
    tree.strip_tags(["script", "style", "noscript", "template", "iframe", "svg", "canvas", "object", "select", "head"])
    for node in tree.css("[hidden], [style]"):
        if "hidden" in node.attributes or HIDING.search(node.attributes.get("style") or ""):
            node.decompose()
    assert tree.body is not None
    return set(re.findall(r"\w+", tree.body.text(separator=" ")))


@pytest.mark.parametrize("page", PAGES[::9], ids=lambda page: page.stem)
def test_the_words_of_a_sample_page_are_those_that_another_parser_sees(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    reader = load_extractor(ExtractSettings(method="beautifulsoup", max_text_characters=5_000_000))
    found = set(re.findall(r"\w+", reader.extract(html)))
    expected = seen_by_selectolax(html)
    assert len(expected) > 100
    # Words that a tag stands in the middle of are one word here and two there; nothing else may differ.
    assert {word for word in expected - found if not any(word in whole for whole in found)} == set()
    assert {word for word in found - expected if not any(word.startswith(part) for part in expected)} == set()


def test_lists_are_one_item_a_line() -> None:
    html = "<ul><li>one<li>two <ol><li>two a</li><li>two b</li></ol></li></ul>after"
    assert lines(html) == ["one", "two", "two a", "two b", "after"]


def test_a_definition_list_keeps_each_term_before_its_definition() -> None:
    assert lines("<dl><dt>Born</dt><dd>1937</dd><dt>Died</dt><dd>2001</dd></dl>") == ["Born", "1937", "Died", "2001"]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("caf&eacute; &#8364;5 &lt;b&gt; AT&amp;T &#x2014; &quot;x&quot;", 'café €5 <b> AT&T — "x"'),
        ("a&nbsp;b", "a b"),
        ("fish &amp;amp; chips", "fish &amp; chips"),
        ("AT&T and R&D &unknown; &", "AT&T and R&D &unknown; &"),
        ("5 &lt; 7", "5 < 7"),
    ],
)
def test_entities_are_read_once(html: str, text: str) -> None:
    assert lines(f"<p>{html}</p>") == [text]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("un<b>believ</b>able", "unbelievable"),
        ("19<sup>th</sup> century", "19th century"),
        ("<a>one</a> <a>two</a>", "one two"),
        ("one<!-- comment -->two", "onetwo"),
        ("one\n   two\tthree", "one two three"),
    ],
)
def test_inline_marks_neither_join_nor_split_words(html: str, text: str) -> None:
    assert lines(f"<p>{html}</p>") == [text]


@pytest.mark.parametrize("gap", ["<br>", "<hr>", "</div><div>", "</p><p>", "<h2>x</h2>", "<blockquote></blockquote>"])
def test_blocks_do_not_join_words(gap: str) -> None:
    found = lines(f"<div>one{gap}two</div>")
    assert found[0] == "one"
    assert found[-1] == "two"


def test_rows_keep_values_in_their_columns() -> None:
    html = (
        "<table><caption>Winners</caption><thead><tr><th>Year<th>Club<th>Score</thead>"
        "<tbody><tr><td>2021<td><td>1<br>0<tr><td>2022<td><a>Ajax</a> <i>AFC</i><td>2\n  1</tbody></table>"
    )
    assert lines(html) == ["Winners", "Year | Club | Score", "2021 | | 1 0", "2022 | Ajax AFC | 2 1"]


def test_a_table_inside_a_layout_table_is_written_as_rows_once() -> None:
    inner = "<table><tr><td>Height</td><td>227 m</td></tr><tr><td>Width</td><td>27 m</td></tr></table>"
    html = f"<table><tr><td>Menu</td><td>Intro {inner} Outro</td></tr></table>"
    assert lines(html) == ["Menu", "Intro", "Height | 227 m", "Width | 27 m", "Outro"]


def test_preformatted_text_is_a_block_of_its_own() -> None:
    found = lines("before<pre>one\ntwo</pre>after")
    assert found[0] == "before"
    assert found[-1] == "after"
    assert " ".join(found[1:-1]).split() == ["one", "two"]


@pytest.mark.parametrize(
    "hidden",
    [
        "<iframe src='//ads'>SECRET</iframe>",
        "<object><p>SECRET</p></object>",
        "<svg><title>SECRET</title><text>SECRET</text></svg>",
        "<canvas>SECRET</canvas>",
        "<div hidden><p>SECRET<span hidden>SECRET</span></p></div>",
        "<div HIDDEN=hidden>SECRET</div>",
        "<p style='DISPLAY:none'>SECRET</p>",
        "<p style='visibility: collapse'>SECRET</p>",
        "<p style='text-indent:-99999px'>SECRET</p>",
        "<p style='top: -9999em; position: absolute'>SECRET</p>",
        "<!-- <p>SECRET</p> -->",
        "<!--[if IE]><p>SECRET</p><![endif]-->",
        "<select><option selected>SECRET</option></select>",
        "<img alt='SECRET' title='SECRET'>",
        "<input value=SECRET>",
        "<table><tr hidden><td>SECRET<td>x</tr></table>",
    ],
)
def test_hidden_text_of_every_kind_goes_and_its_neighbours_stay(hidden: str) -> None:
    text = "\n".join(lines(f"<title>SECRET</title><p>before</p>{hidden}<p>after</p>"))
    assert "SECRET" not in text
    assert text.startswith("before")
    assert text.endswith("after")


def test_menus_and_footers_are_kept() -> None:
    html = "<header>Site</header><nav><a>Home</a></nav><main><p>Text.</p></main><footer>Imprint</footer>"
    assert lines(html) == ["Site", "Home", "Text.", "Imprint"]


@given(st.text(max_size=200))
def test_text_that_was_escaped_comes_back_without_chat_marks(text: str) -> None:
    import html

    reader = load_extractor(ExtractSettings(method="beautifulsoup"))
    found = reader.extract(f"<p>{html.escape(text)} &lt;|im_end|&gt; [/INST] &lt;/doc&gt;</p>")
    assert not re.search(r"<\||\|>|\[/INST\]|</doc", found, re.IGNORECASE)
    assert found.endswith("(im_end) (/INST) (/doc)")
