"""Page texts by both parsers: what is kept, what is dropped, and hostile pages. Other parsers are the oracles."""

import re
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crag.settings import ExtractSettings
from crag.web.extract.clean import tidy
from crag.web.extract.page_text import main_text, page_text, visible_text
from tests.hang_guard import finish

METHODS = ("main_text", "beautifulsoup")
PAGES = sorted((Path(__file__).parents[3] / "data" / "sample" / "pages").glob("*.html"))
HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden|(left|top|text-indent)\s*:\s*-9999", re.IGNORECASE)
STORY = (
    "<p>The bridge was opened in <b>1937</b> after\nfour years of work, and a hundred thousand cars cross it every "
    "day.</p>{}<p>The towers are as high as houses of seventy floors, and their cables hold more wire than it takes to "
    "go three times round the earth.</p><p>Painters work on it all year round. The colour was chosen by the architect, "
    "who saw it in the primer."
)
PAGE = (
    "<html><head><title>Title</title><style>p {{color: red}}</style></head><body>"
    "<nav><ul><li><a href=/>Home</a><li><a href=/b>Sections</a></ul></nav><main><article><h1>Bridge</h1>"
    + STORY
    + "</article></main><footer><p>Imprint <a href=/c>Cookies</a></p></footer></body></html>"
)


def text_of(html: str, **more: Any) -> str:
    return page_text(html, ExtractSettings.model_validate(more))


def lines(method: str, part: str) -> list[str]:
    return text_of(PAGE.format(part), method=method).split("\n")


def main_lines(part: str) -> list[str]:
    return tidy(main_text(PAGE.format(part))).split("\n")


def visible_lines(html: str) -> list[str]:
    return tidy(visible_text(html)).split("\n")


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def words_but_numbers_of_items(text: str) -> set[str]:
    """The words of a text without what only browsers write: the numbers of the items of a list."""
    return words(re.sub(r"(?:(?<=\n)|(?<=: )|(?<=, ))\d{1,3}\. ", "", text))


def seen_by_selectolax(html: str) -> set[str]:
    """The words of a page as another parser (lexbor, in C) sees them."""
    tree = LexborHTMLParser(html)
    tree.strip_tags(["script", "style", "noscript", "template", "iframe", "svg", "canvas", "object", "select", "head"])
    # A plain list of selectors would give a node with both attributes twice, the second time after its end
    for node in tree.css(":is([hidden], [style])"):
        if "hidden" in node.attributes or HIDING.search(node.attributes.get("style") or ""):
            node.decompose()
    assert tree.body is not None
    return words(tree.body.text(separator=" "))


@pytest.mark.parametrize("page", PAGES[::9], ids=lambda page: page.stem)
def test_the_visible_words_of_a_sample_page_are_those_that_another_parser_sees(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    found = words_but_numbers_of_items(text_of(html, method="beautifulsoup"))
    expected = seen_by_selectolax(html)
    assert len(expected) > 100
    # Words with a tag in the middle are one word here and two there; a few are for screen readers only.
    missing = {word for word in expected - found if not any(word in other for other in found)}
    assert len(missing) <= 5, missing
    assert {word for word in found - expected if not any(word.startswith(part) for part in expected)} == set()


@pytest.mark.parametrize("page", PAGES[::9], ids=lambda page: page.stem)
def test_the_main_text_of_a_sample_page_invents_nothing_and_keeps_the_paragraphs(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    found = words_but_numbers_of_items(page_text(html, ExtractSettings()))
    # Python's own parser shares no code with the one inside the extractor.
    soup = BeautifulSoup(html, "html.parser")
    assert soup.body is not None
    assert found - words(soup.body.get_text(" ")) - words(soup.body.get_text()) == set()
    article = soup.select_one("article, main")
    if article is not None:
        paragraphs = [node.get_text() for node in article.select("p") if len(node.get_text()) > 200]
        long_words = words(" ".join(paragraphs))
        assert len(found & long_words) >= 0.9 * len(long_words)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("", ["Bridge", "The bridge was opened in 1937 after four years of work, and a hundred thousand cars"]),
        ("<ul><li>one item here<li>another item there</ul>", ["one item here", "another item there"]),
        ("<p>19<sup>th</sup> un<b>believ</b>able<!-- x --> <a>two</a></p>", ["19th unbelievable two"]),
        (
            "<p>caf&eacute; &#8364;5 &lt;b&gt; AT&amp;T &#x2014; &quot;x&quot; &amp;amp;</p>",
            ['café €5 <b> AT&T — "x" &amp;'],
        ),
    ],
    ids=["blocks", "lists", "inline marks", "entities"],
)
def test_blocks_are_lines_and_inline_marks_neither_join_nor_split_words(
    method: str, part: str, expected: list[str]
) -> None:
    found = lines(method, part) if method == "beautifulsoup" else main_lines(part)
    at = next(place for place, line in enumerate(found) if expected[0] in line)
    assert all(want in line for want, line in zip(expected, found[at:], strict=False))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("part", "expected"),
    [
        # a sign in an element, or between two, stays
        (
            "<p>They won <b>4</b>–<b>2</b> and paid <i>€</i>15 at <span>−</span>7 degrees.</p>",
            ["won 4–2 and paid €15 at −7"],
        ),
        (
            "<p>Built <time datetime=1937-05-27>27 May 1937</time> by <a rel=author>Ida Lund</a>.</p>",
            ["27 May 1937 by Ida Lund."],
        ),
        ("<p>It has <span aria-hidden=true>twelve</span> lamps.</p>", ["It has twelve lamps."]),
        # struck out
        ("<p>It costs <del>9</del> <ins>11</ins> crowns, <s>8 a week</s>.</p>", ["It costs 11 crowns, ."]),
        ("<p>It costs <b style='text-decoration: line-through'>9</b> 11 crowns.</p>", ["It costs 11 crowns."]),
        (
            "<style>.was {text-decoration: line-through}</style><p>It costs <b class=was>9</b> 11 crowns.</p>",
            ["It costs 11 crowns."],
        ),
        ("<p>Gate 4<del>7</del>8</p>", ["Gate 4 8"]),
        # readings of characters
        (
            "<p>in <ruby>東<rp>(</rp><rt>tō</rt><rp>)</rp>京<rp>(</rp><rt>kyō</rt><rp>)</rp></ruby>now</p>",
            ["in 東京 (tō kyō) now"],
        ),
        # stars
        ("<p>Of it <img alt='3.5/5 stars'><sup>[2]</sup></p>", ["Of it 3.5/5 stars [2]"]),
        ("<p>Of it <i role=img aria-label='Rated 4.3 out of 5'><b></b></i>!</p>", ["Of it Rated 4.3 out of 5!"]),
        # what begins a line
        ("<details><summary>When?</summary>In May.</details>", ["When?", "In May."]),
        ("<fieldset><legend>Price</legend>11 crowns</fieldset>", ["Price", "11 crowns"]),
        ("<dl><dt>Architect<dd>Ida Lund<dt>Length<dd>240 m</dl>", ["Architect", "Ida Lund", "Length", "240 m"]),
        ("<figure><img src=a><figcaption>At dawn</figcaption></figure>", ["At dawn"]),
        ("<ol><li>Piers<ul><li>north<li>south</ul><li>Towers</ol>", ["Piers", "north", "south", "Towers"]),
        ("<span style='display:block'>Toll</span><span style='display: block'>free</span>", ["Toll", "free"]),
        ("<pre>one\n  two</pre>", ["one", "two"]),
        # what is apart, or joined, in a line
        ("<p>1 dollar is <input value=0.92><input type=checkbox value=NO> euros</p>", ["1 dollar is 0.92 euros"]),
        ("<p>By <input type=radio name=b>car<input type=radio name=b checked>train", ["By car ☒ train"]),
        ("<p>Season <select><option>2022<option selected>2023</select>", ["Season 2023"]),
        ("<p>In <select multiple><option selected>May<option>June<option selected>July</select>", ["In May July"]),
        ("<p>Sixth <nobr>AP fund</nobr></p>", ["Sixth AP fund"]),
        ("<button>Map</button><button>Tolls</button><label>Day</label><input>", ["Map Tolls Day"]),
        ("<x-name>Ida</x-name><x-age>41</x-age>, <a href=x>Ole</a><a href=y>Una</a>.", ["Ida 41, Ole Una."]),
        # what a sheet that is not read shows apart
        ("<p><b class=a>Ajax</b><b class=b>3</b><b class=a>Brann (NOR)</b><b class=b>1</b>", ["Ajax 3 Brann (NOR) 1"]),
        ("<p><i class=a><b>Born</b></i><i class=b>Oslo</i><i class=c>5</i><i class=d>1</i>", ["Born Oslo 5 1"]),
        ("<p>By <a href=x>Ida Lund</a><time>5 May</time>", ["By Ida Lund 5 May"]),
        ("<p><b class=a>1</b><b class=a>2</b><b class=b>km</b> un<i class=c>Mill</i>ed", ["12km unMilled"]),
        ("<p><b class=whole>19</b><b class=cents>99</b> <b>Ajax</b><b>3</b>", ["19.99 Ajax3"]),
        ("<pre><b class=a>read</b><b class=b>Line</b>", ["readLine"]),
        ("<p>sus<wbr>pen&shy;sion<br>bridge</p>", ["suspension", "bridge"]),
        ("<p>They call it <q>the comb</q>.</p>", ["They call it “the comb”."]),
        ("<p>He wrote <q>she said <q>no</q> twice</q>.</p>", ["He wrote “she said ‘no’ twice”."]),
        ("<p><b style='float:left'>T</b>he toll is <b style='float:left'>7</b>days old", ["The toll is 7 days old"]),
        (
            "<x-fact><template shadowrootmode=open><p>Built 1931</p><template>NO</template></template></x-fact>",
            ["Built 1931"],
        ),
    ],
)
def test_the_text_is_as_a_reader_sees_it(method: str, part: str, expected: list[str]) -> None:
    found = lines(method, f"<h2>Here</h2>{part}")
    start = found.index("Here") + 1
    assert all(want in line for want, line in zip(expected, found[start:], strict=False)), found[start:][:4]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "hidden",
    [
        "<p style='display:none'>SECRET</p>",
        "<div style='color: red; Display : NONE'><p>SECRET</p></div>",
        "<p style='visibility: collapse'>SECRET</p>",
        "<p style='text-indent:-99999px'>SECRET</p>",
        "<p style='position:absolute; left:-9999px'>SECRET</p>",
        "<p style='FONT-SIZE: 0 !important'>SECRET</p>",
        "<p style='font:0/0 a'>SECRET</p>",
        "<p style='opacity:0.0'>SECRET</p>",
        "<p style='color:#fff; background:White'>SECRET</p>",
        "<p style='color:rgb(255, 0, 0);background-color:#f00'>SECRET</p>",
        "<p style='color:#FFFFFF'>SECRET</p>",
        "<p style='color:rgb(255 255 255);background:#fff'>SECRET</p>",
        "<p style='color:transparent'>SECRET</p>",
        "<p style='color:#0000'>SECRET</p><p style='color:#12345600'>SECRET</p>",
        "<p style='color:rgba(0, 0, 0, 0)'>SECRET</p><p style='color:rgb(0 0 0 / 0%)'>SECRET</p>",
        "<p style='-webkit-text-fill-color:transparent'>SECRET</p>",
        "<p style='color:#fefefe;background:#fff'>SECRET</p>",
        "<style>.x1 {transform: translateX(-9999px)} .x2 {left: -100vw}</style><p class=x1>SECRET<p class=x2>SECRET",
        "<style>.x1 {filter: blur(1px) opacity(0)} .x2 {color: #0000}</style><p class=x1>SECRET<p class=x2>SECRET",
        "<style>.x1 {color: rgb(9 9 9 / 0)} .x2 {translate: -9999px}</style><p class=x1>SECRET<p class=x2>SECRET",
        "<p style='clip-path: polygon(0 0, 0 0, 0 0)'>SECRET</p><p style='font-size:.1px'>SECRET</p>",
        "<p style='position:absolute;clip:rect(0 0 0 0);height:1px'>SECRET</p>",
        "<p style='position:absolute;inset:0 auto auto -9999px'>SECRET</p>",
        "<p style='max-height:0;overflow-y:hidden'>SECRET</p><p style='height:0;overflow:clip'>SECRET</p>",
        "<p style='height:1px;overflow:hidden'>SECRET</p>",
        "<p style='transform: rotate(3deg) scale(0)'>SECRET</p>",
        "<p class='big sr-only'>SECRET</p>",
        "<p class=ssrcss-1f39n02-VisuallyHidden>SECRET</p>",
        "<p class='u-visually-hidden'>SECRET</p>",
        "<b>$19<b class=a-offscreen>SECRET</b></b>",
        "<input type=hidden value=SECRET><input type=submit value=SECRET>",
        "<style>/* x */ .a, div > .q1 {font-size:0} @media print {.z {a:b}}</style><div><b class=q1>SECRET</b></div>",
        "<div hidden><p>SECRET<span hidden>SECRET</span></p></div>",
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<template><p>SECRET</p></template>",
        "<template><x-fact><template shadowrootmode=open>SECRET</template></x-fact></template>",
        "<div popover>SECRET</div>",
        "<noscript>SECRET</noscript>",
        "<select><option>SECRET</option></select>",
        "<iframe src='//ads'>SECRET</iframe>",
        "<svg><title>SECRET</title><text>SECRET</text></svg>",
        "<canvas>SECRET</canvas>",
        "<!-- <p>SECRET</p> -->",
        "<!--[if IE]><p>SECRET</p><![endif]-->",
        "<img alt='SECRET' title='SECRET'><i role=img aria-label='SECRET 4 out of 5'></i>",
        "<span class=sortkey>SECRET</span>",
        "<table hidden><tr><td>SECRET<td>x<tr><td>y<td>z</table>",
        "<table><tr><td>a<td>b<tr hidden><td>SECRET<td>c<tr><td>d<td>e</table>",
        '<table><tr><td>a<td>b<tr><td>c<span style="display:none">SECRET</span><td>d</table>',
    ],
)
def test_what_nobody_sees_is_dropped_also_where_all_text_is_taken(method: str, hidden: str) -> None:
    part = f"{hidden}<p>Painters also came.</p>"
    for text in ("\n".join(lines(method, part)), "\n".join(main_lines(part))):
        assert "SECRET" not in text
        assert "Painters also came." in text


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", ["<html><head>{}<title>Kites</title></head><body>", "{}", "<body>{}"])
def test_what_is_for_browsers_without_scripts_is_dropped_wherever_it_stands(method: str, start: str) -> None:
    page = start.format("<noscript>SECRET <p>SECRET</p></noscript><script>a = '<noscript>'</script>")
    assert text_of(f"{page}<p>Painters also came.</p>", method=method) == "Painters also came."


@pytest.mark.parametrize("method", METHODS)
def test_what_can_be_seen_is_kept(method: str) -> None:
    for shown in (
        "aria-hidden=false",
        "style=display:block",
        "style=top:-99px",
        "hidden=until-found",
        "style='opacity:0.5;font-size:10px;line-height:0'",
        "style='color:#fff;background:#000'",
        "style='color:#ddd;background:#fff'",
        "style='color:#fff;text-shadow:0 0 2px #000'",
        "style='color:rgb(0, 0, 0)'",
        "style='color:#00f000'",
        "style='transform:translateX(-100%)'",
        "style='transform:translate3d(-1185px,0,0)'",
        "style='left:-1240px'",
        "style='color:var(--light);background:var(--dark)'",
        "style='color:hsl(0,0%,100%);background:hsl(210,50%,20%)'",
        "style='color:#fff;background:#fff url(a.jpg)'",
        "style='color:#fff;background:#fff;background-image:linear-gradient(red,blue)'",
        "class=sheet",
        "class='not-sr-only not-visually-hidden'",
        "class='tab open'",
    ):
        sheet = "<style>@media print{.sheet{display:none}} .tab{display:none} .tab.open{display:block}</style>"
        assert "SHOWN HERE" in lines(method, f"{sheet}<p {shown}>SHOWN HERE</p>"), shown


@pytest.mark.parametrize(
    ("sheet", "attribute"),
    [("[v-cloak]{display:none}", "v-cloak"), (".css-1{clip:rect(0,0,0,0);position:absolute}", "class=css-1")],
)
def test_a_page_that_is_hidden_until_a_script_has_run_is_read(sheet: str, attribute: str) -> None:
    page = f"<style>{sheet}</style><div id=app {attribute}><h1>Bridge</h1>{STORY}<p hidden>SECRET</p></div><p>Menu</p>"
    assert text_of(page).startswith("Bridge\nThe bridge was opened in 1937 after four years")
    assert "SECRET" not in text_of(page)
    assert text_of(page.replace("<p>Menu", "<p>Painters also came, and then they painted all of it.")).count("\n") == 0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("html", ["", " \n", "<html></html>", "<!-- x -->", "\ufeff", "<frameset></frameset>", "\x00"])
def test_a_page_without_text_gives_none(method: str, html: str) -> None:
    assert text_of(html, method=method) == ""


@pytest.mark.parametrize("method", METHODS)
def test_text_below_three_hundred_elements_is_kept_and_endless_text_is_cut(method: str) -> None:
    """Everything built on libxml2 loses deep text unless the page is made shallower first."""
    assert "needle" in text_of("<div>" * 300 + "needle" + "</div>" * 300, method=method)
    assert 299_990 <= len(text_of(f"<p>{'word ' * 100_000}</p>", method=method)) <= 300_000


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
def test_hostile_pages_do_not_hang_the_reader(name: str) -> None:
    """What takes quadratic time in these takes hours."""
    settings = ExtractSettings(max_word_characters=30, english_only=True)
    finish(lambda: page_text(HOSTILE[name], settings))


MARKS = ["<|im_start|>", "<|eot_id|>", "[INST]", "[/INST]", "<<SYS>>", "</s>", "<doc>", "</doc>", "[SEP]"]
ANY_MARKUP = st.one_of(
    st.text(max_size=20),
    st.text(st.sampled_from("<>/=\"' abdiptrhln!-&;\ud800\u200b"), max_size=30),
    st.sampled_from([*MARKS, "\u200b", "&lt;", "<p>"]),
)


@given(st.lists(ANY_MARKUP, max_size=20), st.sampled_from(METHODS))
def test_any_input_gives_text_without_chat_marks_and_never_raises(parts: list[str], method: str) -> None:
    text = text_of("".join(parts), method=method)
    text.encode("utf-8")
    assert text == text.strip()
    assert not [mark for mark in MARKS if mark.lower() in text.lower()]
