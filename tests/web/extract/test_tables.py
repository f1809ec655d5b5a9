"""Tables: HTML's own grid (WHATWG, forming a table), and what is header, title or value in it."""

import pytest

from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text
from tests.web.extract.test_page_text import METHODS, lines, main_lines

INNER = "<table><tr><td>Height</td><td>227 m</td></tr><tr><td>Width</td><td>27 m</td></tr></table>"
STORY = f"<p>{'A sentence about the clubs. ' * 20}</p>"


def labelled(html: str) -> list[str]:
    """The lines of a page with labelled cells, without those of its story."""
    text = page_text(f"<article>{STORY}{html}</article>", ExtractSettings(labelled_tables=True))
    return text.split("\n")[1:]


@pytest.mark.parametrize("method", METHODS)
def test_rows_keep_values_in_their_columns_and_entities_are_read_once(method: str) -> None:
    found = lines(
        method,
        "<table><tr><th>Year<th>Club<th>Score<tr><td>2021<td><td>1<br>0"
        "<tr><td>2022<td><a href=x>A&amp;B</a> <i>AFC</i><td>&lt;2\n  1<tr><td></td><td>last</td></table>",
    )
    start = found.index("Year | Club | Score")
    assert found[start : start + 4] == ["Year | Club | Score", "2021 | | 1 0", "2022 | A&B AFC | <2 1", "last"]


@pytest.mark.parametrize("method", METHODS)
def test_a_cell_over_several_rows_stands_in_each_of_them(method: str) -> None:
    found = lines(
        method,
        "<table><tr><td rowspan=3>1990<td>Ann<td>Rome<tr><td>Bob<td rowspan=0>Oslo<tr><td>Cy<tr><td>1991<td>Dan"
        "</table>",
    )
    assert found[found.index("1990 | Ann | Rome") + 1 :][:3] == [
        "1990 | Bob | Oslo",
        "1990 | Cy | Oslo",
        "1991 | Dan | Oslo",
    ]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        pytest.param(
            "<tr><th>Year<th colspan=2>Winner<th>Place</tr><tr><td rowspan=2>1990<td>Ann<td>Berg<td>Rome</tr>"
            "<tr><td>Bob<td>Lund<td>Oslo</tr><tr><td>1991<td colspan=2>nobody<td>Bonn</tr>",
            [
                "Year: 1990 | Winner: Ann | Winner: Berg | Place: Rome",
                "Year: 1990 | Winner: Bob | Winner: Lund | Place: Oslo",
                "Year: 1991 | Winner: nobody | Place: Bonn",
            ],
            id="a header over columns, a year over rows",
        ),
        pytest.param(
            "<tr><th>Day<th>Ferry<th>Bus<tr><td>Monday<td colspan=2>cancelled<tr><td>Tuesday<td>9:10<td>9:30",
            ["Day: Monday | Ferry: cancelled | Bus: cancelled", "Day: Tuesday | Ferry: 9:10 | Bus: 9:30"],
            id="a value over columns belongs to each",
        ),
        pytest.param(
            "<tr><th rowspan=2>Club<th colspan=2>Goals<tr><th>Home<th>Away<tr><td>Ajax<td>3<td>1",
            ["Club: Ajax | Goals Home: 3 | Goals Away: 1"],
            id="a header over columns is one of each",
        ),
        pytest.param(
            "<tr><th colspan=2>Gull Tower<tr><th>Status<td>Built<tr><td colspan=2>Size<tr><th>Height:<td>80 m",
            ["Gull Tower", "Status: Built", "Size", "Height: 80 m"],
            id="a title and a section of a box of facts",
        ),
        pytest.param(
            "<tr><th>Year<th>Winner<tr><th colspan=2>Men<tr><td>2001<td>Bo<tr><th colspan=2>Women<tr><td>2001<td>Ann",
            ["Men", "Year: 2001 | Winner: Bo", "Women", "Year: 2001 | Winner: Ann"],
            id="sections below the headers",
        ),
        pytest.param(
            "<caption>Points in May</caption><thead><tr><td>Club<td>Points<tfoot><tr><td>Sum<td>9"
            "<tbody><tr><td>Ajax<td>5<tr><td>Brann<td>4",
            ["Points in May", "Club: Ajax | Points: 5", "Club: Brann | Points: 4", "Club: Sum | Points: 9"],
            id="the caption is first, the foot last",
        ),
        pytest.param(
            "<tbody><tr><td>Ajax<td>5<tr><td>Brann<td>4</tbody><thead><tr><th>Club<th>Points</thead>",
            ["Club: Ajax | Points: 5", "Club: Brann | Points: 4"],
            id="the head is first, wherever it is written",
        ),
        pytest.param(
            "<thead><tr><td>Club<td>Points<sup>1</sup></thead><tr><td>Ajax<td>5<tr><td>Brann<td>4",
            ["Club: Ajax | Points: 5", "Club: Brann | Points: 4"],
            id="a head of plain cells; its footnote marks are not repeated",
        ),
        pytest.param(
            "<tr><th>Club<th>Goals<tr><td>Ajax<td>3<tr><th>All<th>12<tr><th>Coach<th>Since<tr><td>Berg<td>2001",
            ["Club: Ajax | Goals: 3", "Club: All | Goals: 12", "Coach: Berg | Since: 2001"],
            id="sums among header cells, and headers of another part",
        ),
        pytest.param(
            "<tr><th>Length<th>Surface<tr><td>1,200 m<td>grass<tr><th colspan=2>Passengers<td>4,100",
            ["Length: 1,200 m | Surface: grass", "Passengers: 4,100"],
            id="a header over columns is the label of the value beside it",
        ),
        pytest.param(
            "<tr><th><th>2010<th>2011<tr><th scope=row>Ajax<td>71<td>68",
            ["Ajax | 2010: 71 | 2011: 68"],
            id="a column without a header",
        ),
        pytest.param(
            "<tr><th>Born<td>1969<tr><th>Height<td>1.92 m<tr><th>Clubs<td>Ajax<td>1990",
            ["Born: 1969", "Height: 1.92 m", "Clubs | Ajax | 1990"],
            id="labels beside values",
        ),
        pytest.param(
            "<tr><th>Cast<td><ul><li>Ann Berg<li>Bo Ek</ul><tr><th>Year<td>1999",
            ["Cast: Ann Berg, Bo Ek", "Year: 1999"],
            id="a list in a cell",
        ),
        pytest.param(
            "<tr><th>Cast<td><a href=a>Ann Berg</a><br>\n<a href=b>Bo Ek</a><br>(voice)<tr><th>Born<td>1931<br>Oslo"
            "<tr><th>Crew<td><p>Cy Lund <a href='#n'>[1]</a></p><p>Di Moe</p><p>(2001–2005)</p><p>Eli Vik, Jr.</p>"
            "<tr><th>Sum<td><img alt=Fiji width=9> Jo<br><img alt=Peru width=9> Mo<br><img alt=Oman width=9> Al"
            "<tr><th>Gross<br>Net<br>Tax<td>It was 5 m.<br>It is 6 m.<br>Nobody knows why<br>it grew",
            [
                "Cast: Ann Berg, Bo Ek (voice)",
                "Born: 1931 Oslo",
                "Crew: Cy Lund [1], Di Moe (2001–2005), Eli Vik, Jr.",
                "Sum: (Fiji) Jo, (Peru) Mo, (Oman) Al",
                "Gross Net Tax: It was 5 m. It is 6 m. Nobody knows why it grew",
            ],
            id="lines of a cell that are the items of a list",
        ),
        pytest.param("<tr><th>One<th>Two<tr><th>Three<th>Four", ["One | Two", "Three | Four"], id="only headers"),
        pytest.param(
            f"<tr><td>{INNER}<td>Beside the box<tr><th>Year<td>1999<tr><th>Place<td>Rome",
            ["Height | 227 m", "Width | 27 m", "Beside the box", "Year: 1999", "Place: Rome"],
            id="a row that holds a table is layout",
        ),
        pytest.param(
            "<tr><th><th colspan=2>Home<tr><th>Club<th>W<th>L<tr><td>Ajax<td>4<td>2",
            ["Club: Ajax | Home W: 4 | Home L: 2"],
            id="a single header over some of the headers below it",
        ),
        pytest.param(
            "<tr><th><th>Points<tr><th>Ajax<td>5<tr><th>Brann<td>4",
            ["Ajax | Points: 5", "Brann | Points: 4"],
            id="a single header over values",
        ),
        pytest.param(
            "<tr><th>Club<th>Points<tr><td>Ajax<td>5<tr><th><th>1990s<tr><td>Brann<td>4",
            ["Club: Ajax | Points: 5", "1990s", "Club: Brann | Points: 4"],
            id="a single header within a table",
        ),
        pytest.param(
            "<tr><th>Born<td>1931<th>Died<td>1999<tr><td>Job:<td>cook<td>Land:<td>Norway",
            ["Born: 1931 | Died: 1999", "Job: cook | Land: Norway"],
            id="several labels in a row, each beside its value",
        ),
        pytest.param(
            "<tr><th>Year<th>Winner<th>Note<tr><td>2001<td>Ann<td>late<tr><td><td>Bob<td><tr><td>Men<td><td>",
            ["Year: 2001 | Winner: Ann | Note: late", "Winner: Bob", "Men"],
            id="a value alone below its header, and the name of a section",
        ),
        pytest.param(
            "<tr><td><b>Year</b><td><strong><a href=x>Club</a></strong><tr><td>2001<td>Ajax<tr><td>2002<td>Brann",
            ["Year: 2001 | Club: Ajax", "Year: 2002 | Club: Brann"],
            id="headers in bold type",
        ),
        pytest.param(
            "<tr><td style='font-weight:bold'>Year<td><p><b style='font-weight:inherit'>Club</b></p>"
            "<tr style='font-weight:bold'><td style='font-weight:400'>2001<td><b style='font-weight:normal'>Ajax</b>",
            ["Year: 2001 | Club: Ajax"],
            id="headers in bold type by style",
        ),
        pytest.param(
            "<style>.h{font-weight:700}</style><tr><td class=h>Year<td class=h>Club<tr><td>2001<td>Ajax",
            ["Year: 2001 | Club: Ajax"],
            id="headers in bold type by a sheet",
        ),
        pytest.param(
            "<tr><td><b>1</b><td><b>Ajax</b><td><b>40</b><tr><td>2<td>Brann<td>39",
            ["1 | Ajax | 40", "2 | Brann | 39"],
            id="the first of a ranking in bold type",
        ),
        pytest.param(
            "<tr><td><b>Born</b><td><b>1931</b><tr><td><b>Job</b><td>cook",
            ["Born | 1931", "Job | cook"],
            id="labels in bold type",
        ),
        pytest.param(
            "<tr><th>Item<th colspan=3>2020<tr><td>Sales<td>$<td>412<td><tr><td>Loss<td>$<td>(398<td>)"
            "<tr><td>Share<td><td>41<td>%",
            ["Item: Sales | 2020: $412", "Item: Loss | 2020: $(398)", "Item: Share | 2020: 41%"],
            id="signs in cells of their own",
        ),
        pytest.param(
            "<tr><td>Boat<td>12<td>€<td>€<td>15<tr><td>Car<td>7<td>€<td>€<td>8",
            ["Boat | 12€ | €15", "Car | 7€ | €8"],
            id="the sign of a currency behind and before its number",
        ),
        pytest.param(
            "<tr><th>Item<th>Currency<th>Price<tr><td>Boat<td>$<td>12<tr><td>Car<td>€<td>15",
            ["Item: Boat | Currency: $ | Price: 12", "Item: Car | Currency: € | Price: 15"],
            id="a column of signs with a header of its own",
        ),
        pytest.param(
            "<tr><td>Ajax<td>3<td>-<td>1<td>Brann<tr><td>Vik<td>0<td>-<td>2<td>Nes",
            ["Ajax | 3 | - | 1 | Brann", "Vik | 0 | - | 2 | Nes"],
            id="the hyphen of a result is no sign",
        ),
        pytest.param(
            "<tr><th>Nation<th>Name<th>Won<th>Page<tr><td><a href=x><img alt=Norway></a><td>Ann<td><img alt=Yes>"
            "<td><img alt='Edit this'><tr><td><img alt='Flag.svg'><td>Bo<td><img alt=No><img alt=No><td><img alt=logo>",
            ["Nation: Norway | Name: Ann | Won: Yes", "Name: Bo | Won: No No"],
            id="pictures in the place of words",
        ),
        pytest.param(
            "<tr><th>Name<th>Change<tr><td><img alt=Norway width=22> Ann<td><img alt=Decrease height=11px>112"
            "<tr><td>Bo <img alt='Red card' width=10> 54'<td><img alt=Photo width=99>5"
            "<tr><td><img alt=Fiji width=22> Fiji<td><img alt='4/5 stars' width=30><img alt=a.svg width=9>",
            [
                "Name: (Norway) Ann | Change: (Decrease) 112",
                "Name: Bo (Red card) 54' | Change: 5",
                "Name: Fiji | Change: 4/5 stars",
            ],
            id="small pictures beside words",
        ),
        pytest.param(
            "<tr><td><img alt='Gold medal'><td>Ann<td>Oslo<tr><td><img alt='Silver medal'><td>Bo<td>Rome",
            ["Gold medal | Ann | Oslo", "Silver medal | Bo | Rome"],
            id="pictures in a table without headers",
        ),
        pytest.param(
            "<tr><th><b class=sr-only>Plan</b><th>Wifi<th>Gym<th>Change"
            "<tr><td>A<td><svg aria-label=Yes></svg><td><i class='fa fa-check' title=Yes></i>"
            "<td><svg width=9 aria-label=Up></svg>5<svg></svg>"
            "<tr><td>B<td><svg><title>No</title><g></g></svg><td><svg></svg><b class=visually-hidden>Not <i>yet</i></b>"
            "<td><a title=None><img alt=None></a>",
            ["Plan: A | Wifi: Yes | Gym: Yes | Change: (Up)5", "Plan: B | Wifi: No | Gym: Not yet | Change: None"],
            id="drawings, signs of fonts and words for screen readers in the place of words",
        ),
        pytest.param(
            "<tr><th colspan=2><img alt='A boat'><tr><th>Length<td>9 m",
            ["Length: 9 m"],
            id="a picture alone in its row",
        ),
        pytest.param(
            "<tr><td>a<td><td>b<tr><td colspan=2>c<td>d", ["a | b", "c | d"], id="a column without text is not a column"
        ),
    ],
)
def test_cells_carry_their_headers(table: str, expected: list[str]) -> None:
    assert labelled(f"<table>{table}</table>") == expected


def test_boxes_with_the_roles_of_a_table_are_one() -> None:
    head = "<div role=row><b role=x></b><span role=columnheader>Year</span><span role=columnheader>Winner</span></div>"
    row = "<div role=row><span role=cell>2001</span><span role=cell>Ann</span></div>"
    assert "Year: 2001 | Winner: Ann" in labelled(
        f"<div role=table><div>{head}</div><div role=rowgroup>{row}</div></div>"
    )


@pytest.mark.parametrize(("table", "row"), [("div", "div"), ("ul", "li"), ("x-table", "x-row"), ("section", "p")])
def test_lists_and_elements_of_the_pages_own_making_may_be_tables_too(table: str, row: str) -> None:
    head = f"<{row} role=row><span role=columnheader>Year</span><span role=columnheader>Winner</span></{row}>"
    values = f"<{row} role=row><x-cell role=gridcell>2001</x-cell><x-cell role=gridcell>Ann</x-cell></{row}>"
    assert labelled(f"<{table} role=treegrid>{head}{values}</{table}>") == ["Year: 2001 | Winner: Ann"]


@pytest.mark.parametrize("method", METHODS)
def test_what_stands_between_cells_is_not_lost(method: str) -> None:
    found = lines(method, "<table><div>Stray words</div><tr><td>a<td>b<tr><td>c<td>d</table>")
    assert {"Stray words", "a | b", "c | d"} <= set(found)


def test_long_headers_and_wide_spans_do_not_multiply_a_page() -> None:
    head = "<th>Year<th>" + "word " * 200
    found = labelled(f"<table><tr>{head}</tr>" + "<tr><td>1</td><td>2</td></tr>" * 50 + "</table>")
    assert sum(map(len, found)) < 10_000

    rows = "<tr><td rowspan=65000 colspan=1000>word word word" + "<tr><td>1" * 20_000
    assert len(page_text(f"<table>{rows}</table>", ExtractSettings(labelled_tables=True))) <= 300_000


def test_headers_that_differ_at_their_end_stay_apart() -> None:
    years = "".join(
        f"<th>Net revenue of the financial year that ended on the 31st of March {year}" for year in (2022, 2023)
    )
    [line] = labelled(f"<table><tr><th>Item{years}<tr><td>Boats<td>12<td>15</table>")
    assert line == (
        "Item: Boats | Net revenue of the financial year … on the 31st of March 2022: 12"
        " | Net revenue of the financial year … on the 31st of March 2023: 15"
    )


def test_a_table_may_have_a_column_for_each_day_of_a_year() -> None:
    head = "".join(f"<th>day {day}" for day in range(1, 366))
    values = "".join(f"<td>{day}.5" for day in range(1, 366))
    [line] = labelled(f"<table><tr><th>Town{head}<tr><td>Oslo{values}</table>")
    assert line.startswith("Town: Oslo | day 1: 1.5 |")
    assert line.endswith("| day 365: 365.5")


@pytest.mark.parametrize("around", ["div hidden", "div style='display:none'", "noscript", "canvas", "object", "nav"])
def test_a_table_inside_something_hidden_or_a_menu_is_left_out(around: str) -> None:
    assert "Height" not in "\n".join(main_lines(f"<{around}><b>x</b>{INNER}</{around.split(maxsplit=1)[0]}>"))
