import pytest

from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text
from tests.web.extract.test_page_text import METHODS, lines, main_lines

INNER = "<table><tr><td>Height</td><td>227 m</td></tr><tr><td>Width</td><td>27 m</td></tr></table>"


@pytest.mark.parametrize("method", METHODS)
def test_rows_keep_values_in_their_columns_and_entities_are_read_once(method: str) -> None:
    found = lines(
        method,
        "<table><tr><th>Year<th>Club<th>Score<tr><td>2021<td><td>1<br>0"
        "<tr><td>2022<td><a href=x>A&amp;B</a> <i>AFC</i><td>&lt;2\n  1<tr><td></td><td>last</td></table>",
    )
    start = found.index("Year | Club | Score")
    assert found[start : start + 4] == ["Year | Club | Score", "2021 | | 1 0", "2022 | A&B AFC | <2 1", "last"]


def labelled(html: str) -> list[str]:
    settings = ExtractSettings(labelled_tables=True)
    return page_text(f"<article><p>{'A sentence about the clubs. ' * 20}</p>{html}</article>", settings).split("\n")


def test_headers_and_cells_that_span_columns_keep_the_columns() -> None:
    found = labelled(
        "<table><tr><th>Year<th colspan=2>Winner<th>Place</tr><tr><td rowspan=2>1990<td>Ann<td>Berg<td>Rome</tr>"
        "<tr><td>Bob<td>Lund<td>Oslo</tr><tr><td>1991<td colspan=2>nobody<td>Bonn</tr></table>"
    )
    assert "Year: 1990 | Winner: Ann | Winner: Berg | Place: Rome" in found
    assert "Bob | Lund | Oslo" in found
    assert "Year: 1991 | Winner: nobody | Place: Bonn" in found


def test_long_headers_do_not_multiply_a_page() -> None:
    head = "<th>Year<th>" + "word " * 200
    found = labelled(f"<table><tr>{head}</tr>" + "<tr><td>1</td><td>2</td></tr>" * 50 + "</table>")
    assert sum(map(len, found)) < 10_000


def test_a_box_of_facts_becomes_labels_with_values() -> None:
    found = labelled("<table><tr><th>Born<td>1969<tr><th>Height<td>1.92 m<tr><th>Clubs<td>Ajax<td>1990</table>")
    assert {"Born: 1969", "Height: 1.92 m", "Clubs | Ajax | 1990"} <= set(found)


def test_a_table_beside_the_article_is_put_back_even_if_its_head_is_like_that_of_another() -> None:
    inside = "<table><tr><th>Team<th>Points<tr><td>Ajax<td>71</table>"
    beside = "<aside class=sidebar><table><tr><th>Team<th>Points<tr><td>Feyenoord<td>68</table></aside>"
    assert {"Ajax | 71", "Feyenoord | 68"} <= set(main_lines(inside + beside))


@pytest.mark.parametrize("around", ["div hidden", "div style='display:none'", "noscript", "canvas", "object", "nav"])
def test_a_table_inside_something_hidden_or_a_menu_is_not_put_back(around: str) -> None:
    assert "Height" not in "\n".join(main_lines(f"<{around}><b>x</b>{INNER}</{around.split(maxsplit=1)[0]}>"))
