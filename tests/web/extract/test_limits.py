import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crag.web.extract.limits import cut_bytes, flatten
from tests.hang_guard import finish


def depth(html: str) -> int:
    """Of the tree that an independent parser (Lexbor through selectolax) builds, below `body`."""
    deepest, stack = 0, [(LexborHTMLParser(html).body, 0)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        stack += [(child, level + 1) for child in (node.iter() if node is not None else ())]
    return deepest


def text_of(html: str) -> str:
    body = LexborHTMLParser(html).body
    assert body is not None
    return body.text()


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 3000 + "needle" + "</div>" * 3000 + "end",
        "<b><i>" * 1500 + "needle",
        "<div><table><tr><td></div>" * 800 + "needle",
        "<div><script>'</div>'</script>" * 900 + "needle",
        "<div><!-- </div> -->" * 900 + "needle",
        '<div title="</div>">' * 900 + "needle",
        "<table><tr><td><table></td></tr>" * 500 + "needle",
        "<ul><li>" * 900 + "needle",
        ("<div>" + "<b>" * 300 + "</div>") * 300 + "needle",
    ],
    ids=["divs", "inline", "tables", "scripts", "comments", "attributes", "outer cells", "lists", "unclosed"],
)
def test_depth_is_bounded_and_the_text_is_kept(html: str) -> None:
    flat = flatten(html, 100)
    assert depth(flat) <= 300  # the tree also holds elements that a browser adds, such as tbody
    assert "needle" in text_of(flat)


@pytest.mark.parametrize(
    "part", ["<div>", "<script>", "<!--", "<a '", '<a "', "<a =", "</td>", "<td></div>", "<", "<a b=\"'"]
)
def test_scanning_is_linear(part: str) -> None:
    html = part * (2_000_000 // len(part))
    finish(lambda: flatten(html, 512))  # quadratic: hours


@given(st.text(st.sampled_from("<>/divp tabler!-='\" "), max_size=200), st.integers(1, 5))
def test_any_markup_is_survived_and_nothing_is_added(html: str, limit: int) -> None:
    flat = flatten(html, limit)
    rest = iter(html)
    assert all(character in rest for character in flat)


def test_bytes_are_bounded_and_scripts_go_before_text() -> None:
    html = "<p>start</p><SCRIPT>" + "x" * 3000 + "</SCRIPT><style>" + "y" * 3000 + "</style><p>the end</p>"
    assert cut_bytes(html, 1000) == "<p>start</p><p>the end</p>"
    assert len(cut_bytes("é" * 5000, 1000).encode()) <= 1000
    assert cut_bytes("short <script>1</script>", 1000) == "short <script>1</script>"


def test_raw_text_ends_at_its_tag_in_any_case_and_takes_linear_time() -> None:
    page = "<script>a</SCRIPT><style>b</sTyLe>" + "<div>" * 40 + "needle"
    assert flatten(page, 30).endswith("<div>" * 30 + "needle")
    finish(lambda: flatten("<script></SCRIPT>" * 110_000, 100))
    assert finish(lambda: cut_bytes("<p>a</p>" + "<script>" * 400_000, 2_000_000)) == "<p>a</p>"
