"""The numbers of ordered lists are those that a browser shows."""

import pytest

from tests.web.extract.test_page_text import METHODS, lines


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol><li>Vann<li>Femund</ol>", ["1. Vann", "2. Femund"]),
        ("<ol start=4><li>Vann<li>Femund</ol>", ["4. Vann", "5. Femund"]),
        ("<ol start=-1><li>Vann<li>Femund</ol>", ["-1. Vann", "0. Femund"]),
        ("<ol start=x><li>Vann</ol>", ["1. Vann"]),
        ("<ol reversed><li>Vann<li>Femund</ol>", ["2. Vann", "1. Femund"]),
        ("<ol reversed start=50><li>Vann<li>Femund</ol>", ["50. Vann", "49. Femund"]),
        ("<ol><li value=10>Vann<li>Femund</ol>", ["10. Vann", "11. Femund"]),
        ("<ol type=a><li>Vann<li value=28>Femund</ol>", ["a. Vann", "ab. Femund"]),
        ("<ol type=I><li>Vann<li type=i value=4>Femund</ol>", ["I. Vann", "iv. Femund"]),
        ("<ol><li>Vann<ol><li>Its isle</ol><li>Femund</ol>", ["1. Vann", "1. Its isle", "2. Femund"]),
        ("<ol><li><h3>Vann</h3><p>The deepest.</p></ol>", ["1. Vann", "The deepest."]),
        ("<ol><li><a href=x>Vann</a></ol>", ["1. Vann"]),
        ("<ol><li hidden>Old<li>Vann</ol>", ["1. Vann"]),
        ("<ol><li><img src=a><li>Vann</ol>", ["2. Vann"]),
        ("<ol><li>1. Vann<li><b>2</b>) Femund<li>3.1 Tinn</ol>", ["1. Vann", "2) Femund", "3. 3.1 Tinn"]),
        ("<ol><li>9:30 ferry<li>1984</ol>", ["1. 9:30 ferry", "2. 1984"]),
        ("<ul><li>Vann<li>Femund</ul>", ["Vann", "Femund"]),
    ],
)
def test_an_item_stands_behind_its_number(method: str, html: str, expected: list[str]) -> None:
    found = lines(method, f"<h2>Here</h2>{html}")
    start = found.index("Here") + 1
    assert found[start : start + len(expected)] == expected


def test_numbers_are_written_in_cells_too_and_make_no_content_of_a_menu() -> None:
    table = "<table><tr><th>Cup<th>Places<tr><td>North<td><ol><li>Ann<li>Bo</ol><tr><td>South<td>none</table>"
    assert "North | 1. Ann, 2. Bo" in lines("main_text", table)

    links = "".join(f"<li><a href=/{name}>{name} closes</a>" for name in ("Storm", "Mill", "Ferry"))
    assert "Storm" not in "\n".join(lines("main_text", f"<div><h3>Most read</h3><ol>{links}</ol></div>"))
