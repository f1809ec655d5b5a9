"""What is read of texts, sheets and presentations of OpenDocument: what LibreOffice shows, words and numbers apart."""

from pathlib import Path

import pytest

from crag.asking.documents import read_documents
from crag.asking.kinds import Kind, find_kind
from crag.asking.opendocument.process import read_open_document_file
from crag.asking.opendocument.reading import read_open_document
from crag.asking.parts import split_address
from crag.asking.reading_process import UnreadableFileError
from crag.settings import ExtractSettings
from crag.web import page_text
from tests.asking.open_document_files import (
    MEDIA_TYPE,
    SPACES,
    box,
    build,
    build_flat,
    cell,
    content_xml,
    frame,
    meta_xml,
    note,
    pack,
    paragraph,
    row,
    span,
    style,
    table,
)

SETTINGS = ExtractSettings(labelled_tables=True)


def lines_of(content: bytes) -> list[str]:
    """The lines of all pages."""
    pages = read_open_document(content)["pages"]
    return [line for page in pages for line in page_text(page["html"], SETTINGS).splitlines()]


def note_of(content: bytes) -> str:
    return read_open_document(content)["note"]


# --- how text looks ---------------------------------------------------------------------------------------------------

SUPER = 'style:text-position="super 58%"'
LINE, NO_LINE = (f'style:text-line-through-style="{value}"' for value in ("solid", "none"))
HIDDEN, SHOWN = (f'text:display="{value}"' for value in ("none", "true"))
NAMED = style("Power", SUPER) + style("Old", LINE, "paragraph") + style("Draft", HIDDEN, "paragraph")
AUTOMATIC = "".join(
    [
        style("T1", SUPER),
        style("T2", "", base="Power"),
        style("T3", 'style:text-position="33% 100%"'),
        style("T4", 'style:text-position="3% 100%"'),
        style("T5", 'style:text-position="sub 58%"'),
        style("T6", 'style:text-position="0% 100%"', base="Power"),
        style("S1", LINE),
        style("S2", 'style:text-line-through-type="double"'),
        style("S3", NO_LINE),
        style("H1", HIDDEN),
        style("H2", SHOWN),
        style("P1", "", "paragraph", base="Old"),
        style("Loop", "", base="Loop2"),
        style("Loop2", "", base="Loop"),
    ]
)


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        (paragraph(f"10{span('6', 'T1')} ships"), ["10^6 ships"]),
        (paragraph(f"10{span('6', 'T2')} ships"), ["10^6 ships"]),
        (paragraph(f"10{span('6', 'T3')} ships"), ["10^6 ships"]),
        (paragraph(f"5,300{span('.25', 'T4')}"), ["5,300.25"]),
        (paragraph(f"10{span('6', 'T6')}"), ["106"]),
        (paragraph(f"H{span('2', 'T5')}O, 101{span('2', 'T5')}"), ["H2O, 101_2"]),
        (paragraph(span("2024", "T1")), ["2024"]),
        (paragraph(f"costs {span('10', 'S1')}{span('9', 'S2')}12"), ["costs 12"]),
        (paragraph(f"costs 10 {span('12', 'S3')}", "P1"), ["12"]),
        (paragraph(f"10{span('9', 'S1')}12"), ["10 12"]),
        (paragraph(f"code {span('8642 ', 'H1')}is new"), ["code is new"]),
        (paragraph(f"all of it{span('but this', 'H2')}", "Draft"), ["but this"]),
        (paragraph(span(f"old {span('new', 'S3')}", "S1")), ["new"]),
        (paragraph(f"a{span('b', 'Loop')}{span('c', 'None')}"), ["abc"]),
    ],
)
def test_styles_raise_hide_and_strike_out(written: str, lines: list[str]) -> None:
    assert lines_of(build(written, automatic=AUTOMATIC, named=NAMED)) == lines
    assert lines_of(build_flat(written, automatic=AUTOMATIC, named=NAMED)) == lines


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        ("two<text:tab/>words<text:s text:c='999999999'/>and\nmore", ["two words and more"]),
        ("line<text:line-break/>break", ["line", "break"]),
        ("ends<text:soft-page-break/> here", ["ends here"]),
        ("on <text:date>5 March</text:date>, <text:page-number>3</text:page-number>", ["on 5 March, 3"]),
        ("<text:hidden-text text:is-hidden='true'>secret</text:hidden-text>open", ["open"]),
        ("<text:variable-set text:display='none'>secret</text:variable-set>open", ["open"]),
        ("<text:hidden-paragraph text:is-hidden='true'/>secret", []),
        ("<text:hidden-paragraph text:is-hidden='false'/>open", ["open"]),
        ("x<office:annotation><text:p>comment</text:p></office:annotation>y", ["xy"]),
        (
            "<text:ruby><text:ruby-base>東京</text:ruby-base><text:ruby-text>とうきょう</text:ruby-text></text:ruby>",
            ["東京"],
        ),
        ("<text:a xlink:href='#x'>a link</text:a>", ["a link"]),
        ("price <text:change text:change-id='c'/><text:change-start text:change-id='d'/>12", ["price 12"]),
        (f"48,312{note('Without the port.')}", ["48,312 [1]", "[1] Without the port."]),
        (f"{span(note('gone'), 'H1')}{span(note('gone'), 'S1')}text", ["text"]),
        (f"before{box('in the box')} after", ["before after", "in the box"]),
        ("<draw:custom-shape><text:p>in a shape</text:p></draw:custom-shape>", ["in a shape"]),
        (f"<draw:g>{box('one')}{box('two')}</draw:g>", ["one", "two"]),
    ],
)
def test_what_stands_in_a_paragraph(written: str, lines: list[str]) -> None:
    assert lines_of(build(paragraph(written), automatic=AUTOMATIC)) == lines


DELETED = (
    "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
    "</text:changed-region></text:tracked-changes>"
)
CONTENTS = (
    "<text:table-of-content><text:table-of-content-source><text:index-title-template>Pattern"
    "</text:index-title-template></text:table-of-content-source><text:index-body><text:p>Kites</text:p>"
    "</text:index-body></text:table-of-content>"
)
LIST = (
    "<text:list><text:list-header><text:p>head</text:p></text:list-header><text:list-item><text:number>1."
    "</text:number><text:p>one</text:p><text:list><text:list-item><text:p>two</text:p></text:list-item>"
    "</text:list></text:list-item></text:list>"
)


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        (f"<text:section text:display='none'>{paragraph('secret')}</text:section>", []),
        (f"<text:section text:display='condition' text:is-hidden='true'>{paragraph('x')}</text:section>", []),
        (f"<text:section text:display='condition'>{paragraph('open')}</text:section>", ["open"]),
        (DELETED + paragraph("stays"), ["stays"]),
        (CONTENTS, ["Kites"]),
        (LIST, ["head", "one", "two"]),
        (box("on the page"), ["on the page"]),
    ],
)
def test_what_stands_in_the_body(written: str, lines: list[str]) -> None:
    assert lines_of(build(written)) == lines


def test_the_title_is_that_of_the_author_or_else_the_first_heading() -> None:
    automatic = style("P1", "", "paragraph", base="Title")
    body = paragraph("Kite report", "P1") + '<text:h text:outline-level="2">Winds</text:h>' + paragraph("Text.")
    assert read_open_document(build(body, automatic=automatic, named=style("Title", "", "paragraph")))["title"] == (
        "Kite report"
    )
    reply = read_open_document(build(body, automatic=automatic, parts={"meta.xml": meta_xml("Own &amp; given")}))
    assert reply["title"] == "Own & given"
    assert "<h2>Winds</h2>" in reply["pages"][0]["html"]


# --- tables -----------------------------------------------------------------------------------------------------------

STAFF = ("name", "room"), ("Ines Falkner", "B14"), ("Tomas Reuel", "A01")


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([row(*texts) for texts in STAFF], ["name: Ines Falkner | room: B14", "name: Tomas Reuel | room: A01"]),
        (
            [f"<table:table-header-rows>{row('2023', '2024')}</table:table-header-rows>", row("12", "8")],
            ["2023: 12 | 2024: 8"],
        ),
        (
            [
                row("region", cell("2022", 'table:number-columns-spanned="2"'), "<table:covered-table-cell/>"),
                row("", "units", "price"),
                row(cell("north", 'table:number-rows-spanned="2"'), "12", "5.5"),
                row("<table:covered-table-cell><text:p>under</text:p></table:covered-table-cell>", "13", "6.5"),
            ],
            [
                "region: north | 2022 units: 12 | 2022 price: 5.5",
                "region: north | 2022 units: 13 | 2022 price: 6.5",
            ],
        ),
        (
            [row("a", "b", "c"), row(cell("5", 'table:number-columns-repeated="3"'))],
            ["a: 5 | b: 5 | c: 5"],
        ),
        ([row("a", "b"), row("5", "6", attributes='table:number-rows-repeated="2"')], ["a: 5 | b: 6"] * 2),
    ],
    ids=["no header named", "header rows", "merged", "repeated cells", "repeated rows"],
)
def test_cells_of_a_text_are_read_with_their_headers(rows: list[str], lines: list[str]) -> None:
    assert lines_of(build(table(*rows))) == lines


# --- objects ----------------------------------------------------------------------------------------------------------

OBJECT = '<draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/>'
EQUATION = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><mrow><mi>x</mi><mo>=</mo><mfrac><mrow><mi>a</mi>'
    "<mo>+</mo><msup><mi>b</mi><mn>2</mn></msup></mrow><msqrt><mn>2</mn></msqrt></mfrac></mrow>"
    '<annotation encoding="StarMath 5.0">x = {a + b^2} over sqrt 2</annotation></semantics></math>'
)


def test_an_equation_is_read_as_it_is_typed_on_a_line() -> None:
    body = paragraph(f"Here {frame(OBJECT)} holds.")
    assert lines_of(build(body, parts={"Object 1/content.xml": EQUATION})) == ["Here x=(a+b^2)/(√(2)) holds."]
    flat = paragraph(f"Here {frame(f'<draw:object>{EQUATION}</draw:object>')} holds.")
    assert lines_of(build_flat(flat)) == ["Here x=(a+b^2)/(√(2)) holds."]


def test_a_fraction_stays_apart_from_the_number_before_it() -> None:
    fraction = '<math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mn>1</mn><mn>2</mn></mfrac></math>'
    body = paragraph(f"2{frame(OBJECT)} cups")
    assert lines_of(build(body, parts={"Object 1/content.xml": fraction})) == ["2 1/2 cups"]


def number(value: str) -> str:
    return cell(value, f'office:value-type="float" office:value="{value}"')


def chart(kind: str, series: str, *rows: str, axis: str = "") -> str:
    """A chart with the title "Fleet", and these rows as its table."""
    plot = f"<chart:plot-area>{axis}{series}</chart:plot-area>"
    title = f"<chart:title>{paragraph('Fleet')}</chart:title>"
    data = table(*rows, name="local-table")
    formats = (
        '<number:percentage-style style:name="N1"><number:number number:decimal-places="1"/><number:text>%'
        '</number:text></number:percentage-style><number:date-style style:name="N2"><number:year/><number:month/>'
        '<number:day/></number:date-style><style:style style:name="ch1" style:family="chart" '
        'style:data-style-name="N1"/><style:style style:name="ch2" style:family="chart" style:data-style-name="N2"/>'
    )
    return content_xml(f'<chart:chart chart:class="chart:{kind}">{title}{plot}{data}</chart:chart>', "chart", formats)


def series_of(column: str, style_name: str = "", domain: str = "") -> str:
    return (
        f'<chart:series chart:style-name="{style_name}" chart:values-cell-range-address="local-table.${column}$2:'
        f'.${column}$3" chart:label-cell-address="local-table.${column}$1">{domain}</chart:series>'
    )


CATEGORIES = (
    '<chart:axis chart:dimension="x" chart:style-name="{}"><chart:categories '
    'table:cell-range-address="local-table.$A$2:.$A$3"/></chart:axis>'
)


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        (
            chart(
                "bar",
                series_of("B") + series_of("C", "ch1"),
                row("", "boats", "share"),
                row("2024", number("5"), number("0.125")),
                row("2025", number("NaN"), number("0.5")),
                axis=CATEGORIES.format("ch2"),
            ),
            ["Fleet", "category: 2024 | boats: 5 | share: 12.5%", "category: 2025 | share: 50.0%"],
        ),
        (
            chart(
                "line",
                series_of("B"),
                row("", "boats"),
                row(number("45000"), number("5")),
                row(number("45001"), number("6")),
                axis=CATEGORIES.format("ch2"),
            ),
            ["Fleet", "category: 2023-03-15 | boats: 5", "category: 2023-03-16 | boats: 6"],
        ),
        (
            chart(
                "scatter",
                series_of("B", domain='<chart:domain table:cell-range-address="local-table.C2:local-table.C3"/>'),
                row("", "boats", ""),
                row("", number("20"), number("1.5")),
                row("", number("35"), number("2.5")),
            ),
            ["Fleet", "series: boats | x: 1.5 | y: 20", "series: boats | x: 2.5 | y: 35"],
        ),
    ],
    ids=["categories and a gap", "days", "points"],
)
def test_a_chart_is_read_as_a_table(written: str, lines: list[str]) -> None:
    content = build(paragraph(frame(OBJECT)), parts={"Object 1/content.xml": written})
    assert (lines_of(content), note_of(content)) == (lines, "")


def test_objects_that_are_not_read_are_counted() -> None:
    empty = chart("bar", series_of("B"))
    body = paragraph("a" + frame(OBJECT) + frame(OBJECT.replace("1", "2")) + frame('<draw:object-ole xlink:href="x"/>'))
    content = build(body + paragraph(frame('<draw:image xlink:href="a.png"/>')), parts={"Object 1/content.xml": empty})
    assert note_of(content) == "charts without saved values are not read: 1; embedded objects are not read: 2"


@pytest.mark.parametrize(
    ("display", "is_read"), [("always", True), ("screen", True), ("printer", False), ("none", False)]
)
def test_shapes_that_no_screen_shows_are_left_out_and_counted(display: str, is_read: bool) -> None:
    shown = f'draw:display="{display}"'
    equation = frame(OBJECT, shown)
    shape = f"<draw:custom-shape {shown}>{paragraph('in a shape')}</draw:custom-shape>"
    group = f"<draw:g {shown}>{box('in a group')}{box('in it too')}</draw:g>"
    body = paragraph(f"text {equation}{box('in a box', shown)}{shape}") + group
    content = build(body, parts={"Object 1/content.xml": EQUATION})
    if is_read:
        lines = ["text x=(a+b^2)/(√(2))", "in a box", "in a shape", "in a group", "in it too"]
        assert (lines_of(content), note_of(content)) == (lines, "")
    else:
        assert (lines_of(content), note_of(content)) == (["text"], "hidden shapes are not read: 4")


# --- sheets -----------------------------------------------------------------------------------------------------------


def data_style(name: str, kind: str, parts: str, attributes: str = "") -> str:
    """A format, and a style of cells with the same name."""
    elements = "".join(f"<number:{part}/>" for part in parts.split())
    return (
        f'<number:{kind}-style style:name="N{name}" {attributes}>{elements}</number:{kind}-style>'
        f'<style:style style:name="{name}" style:family="table-cell" style:data-style-name="N{name}"/>'
    )


def lap_style(name: str, attributes: str = "") -> str:
    """Minutes, and seconds with two decimals."""
    parts = '<number:minutes/><number:seconds number:decimal-places="2"/>'
    return data_style(name, "time", "", attributes).replace("</number", f"{parts}</number", 1)


LAPS = lap_style("lap") + lap_style("long_lap", 'number:truncate-on-overflow="false"')
CELL_STYLES = (
    data_style("day", "date", "day month year")
    + data_style("moment", "date", "day month year hours minutes")
    + data_style("month", "date", "month year")
    + data_style("clock", "time", "hours minutes seconds am-pm")
    + data_style("duration", "time", "hours minutes", 'number:truncate-on-overflow="false"')
    + LAPS
    + style("gone", LINE, "table-cell")
    + '<style:style style:name="unseen" style:family="table"><style:table-properties table:display="false"/>'
    + "</style:style>"
)


def value(kind: str, attribute: str, saved: str, style_name: str = "") -> str:
    named = f' table:style-name="{style_name}"' if style_name else ""
    return f'office:value-type="{kind}" office:{attribute}="{saved}"{named}'


COMMENTED = (
    "<table:table-cell><office:annotation><text:p>comment</text:p></office:annotation><text:p>5</text:p>"
    "</table:table-cell>"
)


def build_sheet(*rows: str) -> bytes:
    return build(table(*rows, name="Own"), "spreadsheet", automatic=CELL_STYLES + AUTOMATIC)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (cell("12.50 €", value("currency", "value", "12.5")), "12.50 €"),
        (cell("(12.50 €)", value("currency", "value", "-12.5")), "-12.50 €"),
        (cell("12", value("float", "value", "-12")), "-12"),
        (cell("-12", value("float", "value", "-12")), "-12"),
        (cell("", value("float", "value", "0.30000000000000004")), "0.3"),
        (cell("5. 3. 23", value("date", "date-value", "2023-03-05", "day")), "2023-03-05"),
        (cell("5. 3.", value("date", "date-value", "2023-03-05T14:30:00", "moment")), "2023-03-05 14:30"),
        (cell("März 23", value("date", "date-value", "2023-03-05", "month")), "March 2023"),
        (cell("x", value("date", "date-value", "2023-03-05")), "2023-03-05"),
        (cell("2 BC", value("date", "date-value", "-0001-03-05", "day")), "2 BC"),
        (cell("2:30 PM", value("time", "time-value", "PT14H30M15S", "clock")), "14:30:15"),
        (cell("30:15", value("time", "time-value", "PT30H15M00S", "duration")), "30:15"),
        (cell("9:58.4", value("time", "time-value", "PT00H09M58.400000000S", "lap")), "09:58.40"),
        (cell("89:58.4", value("time", "time-value", "PT01H29M58.400000000S", "long_lap")), "89:58.40"),
        (cell("9:58.4", value("time", "time-value", "PT9M58.4S")), "00:09:58.4"),
        (cell("26:03:05", value("time", "time-value", "PT26H03M05S")), "26:03:05"),
        (cell("x", value("date", "date-value", "2023-03-05T14:30:15")), "2023-03-05 14:30:15"),
        (cell("VRAI", value("boolean", "boolean-value", "true")), "yes"),
        (cell("#N/A", value("string", "string-value", "")), "#N/A"),
        (cell("5", f'table:formula="of:=A1" {value("float", "value", "5")}'), "5"),
        (cell(f"10{span('6', 'T1')} ships", value("string", "string-value", "x")), "10^6 ships"),
        (cell("99", value("float", "value", "99", "gone")), ""),
        (cell(span("99", "S1"), value("float", "value", "99")), ""),
        (f"<table:table-cell {value('float', 'value', '7')}><text:p/></table:table-cell>", ""),
        ("<table:table-cell><text:p>two</text:p><text:p>lines</text:p></table:table-cell>", "two lines"),
        (COMMENTED, "5"),
    ],
)
def test_a_value_is_read_as_its_sheet_shows_it(written: str, shown: str) -> None:
    content = build_sheet(row("what", "how much", "where"), row("fleet", written, "Ghent"))
    middle = f" | how much: {shown}" if shown else ""
    assert lines_of(content) == [f"what: fleet{middle} | where: Ghent"]


def test_cells_without_a_style_have_that_of_their_row_or_column() -> None:
    moment = cell("x", value("date", "date-value", "2023-03-05T14:30:00"))
    columns = (
        '<table:table-column table:number-columns-repeated="2" table:default-cell-style-name="day"/>'
        '<table:table-column table:default-cell-style-name="moment"/>'
    )
    rows = row("a", "b", "c"), row("x", moment, moment)
    in_month = row("y", moment, moment, attributes='table:default-cell-style-name="month"')
    assert lines_of(build_sheet(columns, *rows, in_month)) == [
        "a: x | b: 2023-03-05 | c: 2023-03-05 14:30",
        "a: y | b: March 2023 | c: March 2023",
    ]


def test_blank_rows_and_columns_cost_nothing_and_part_tables() -> None:
    blank = '<table:table-cell table:number-columns-repeated="16382"/>'
    content = build_sheet(
        row("name", "room", blank),
        row("Ines Falkner", "B14", blank),
        row(blank, attributes='table:number-rows-repeated="1048570"'),
        row("Tomas Reuel", "A01"),
        row(blank, attributes='table:number-rows-repeated="999999999"'),
    )
    assert lines_of(content) == ["name: Ines Falkner | room: B14", "name: Tomas Reuel | room: A01"]
    assert note_of(content) == ""


def test_copies_of_rows_and_cells_are_bounded() -> None:
    many = 'table:number-rows-repeated="1048570"'
    content = build_sheet(row("name", "room"), row("Ines", "B14", attributes=many), row("Tomas", "A01"))
    lines = lines_of(content)
    assert (lines.count("name: Ines | room: B14"), lines[-1]) == (1000, "name: Tomas | room: A01")
    assert note_of(content) == "of equal rows or cells only the first 1,000 are read: Own"


def test_merged_cells_have_their_value_in_each_row() -> None:
    covered = "<table:covered-table-cell><text:p>under</text:p></table:covered-table-cell>"
    content = build_sheet(
        row("floor", "room"), row(cell("first", 'table:number-rows-spanned="2"'), "B1"), row(covered, "B2")
    )
    assert lines_of(content) == ["floor: first | room: B1", "floor: first | room: B2"]


def test_sheets_that_are_hidden_and_formulas_without_a_value_are_told() -> None:
    rows = row("a", "b"), row("1", '<table:table-cell table:formula="of:=1+1"/>')
    other_file = table(row("cached"), name="'file:///home/a.ods'#$Sheet1")
    hidden = table(row("secret"), name="Notes", attributes='table:style-name="unseen"')
    collapsed = table(*rows, row("2", "4", attributes='table:visibility="collapse"'), name="Shown")
    content = build(hidden + other_file + collapsed, "spreadsheet", automatic=CELL_STYLES)
    reply = read_open_document(content)
    assert [page["part"] for page in reply["pages"]] == ["sheet=Shown"]
    assert lines_of(content)[-1] == "a: 2 | b: 4"
    assert reply["note"] == (
        "hidden sheets are not read: Notes; formulas without a saved value: 1; open it in LibreOffice and save it"
    )


def test_the_table_of_a_chart_in_a_flat_file_is_no_sheet() -> None:
    inner = f"<office:document {SPACES}><office:body><office:chart><chart:chart>{table(row('0'))}</chart:chart>"
    chart_shape = f"<draw:object>{inner}</office:chart></office:body></office:document></draw:object>"
    shapes = f"<table:shapes>{frame(chart_shape)}</table:shapes>"
    content = build_flat(table(shapes, row("a", "b"), row("1", "2"), name="Own"), "spreadsheet")
    assert lines_of(content) == ["a: 1 | b: 2"]
    assert note_of(content) == "charts without saved values are not read: 1"


def test_charts_and_boxes_on_a_sheet_are_read_behind_its_cells() -> None:
    fleet = chart("bar", series_of("B"), row("", "boats"), row("2024", number("5")), axis=CATEGORIES.format("ch2"))
    shapes = f"<table:shapes>{box('seen from a kite')}</table:shapes>"
    with_chart = f"<table:table-cell>{paragraph('B14')}{frame(OBJECT)}</table:table-cell>"
    sheet = table(shapes, row("name", "room"), row("Ines", with_chart), name="Own")
    content = build(sheet, "spreadsheet", parts={"Object 1/content.xml": fleet})
    assert lines_of(content) == ["name: Ines | room: B14", "seen from a kite", "Fleet", "category: 2024 | boats: 5"]
    assert note_of(content) == ""


# --- slides -----------------------------------------------------------------------------------------------------------


def page(*shapes: str, style_name: str = "") -> str:
    return f'<draw:page draw:style-name="{style_name}">{"".join(shapes)}</draw:page>'


def test_slides_are_read_from_top_to_bottom_with_title_table_and_notes() -> None:
    in_group = box("in a group", 'svg:x="1cm" svg:y="6cm"')
    page_number = box("4", 'presentation:class="page-number"')
    notes = box("Say hello.", 'presentation:class="notes"')
    slide = page(
        box("below", 'svg:x="1cm" svg:y="90mm"'),
        box("right", 'svg:x="5in" svg:y="1in"'),
        box("left", 'svg:x="1cm" svg:y="1in"'),
        box("turned", 'draw:transform="rotate (0.5) translate (1cm 40mm)"'),
        box("Kite report", 'presentation:class="title" svg:y="8cm"'),
        f"<draw:g>{in_group}</draw:g>",
        frame(table(*(row(*texts) for texts in STAFF)), 'svg:x="1cm" svg:y="7cm"'),
        box("unseen", 'draw:display="none"'),
        box("Click here", 'presentation:class="outline" presentation:placeholder="true"'),
        f"<presentation:notes>{page_number}{notes}</presentation:notes>",
    )
    hidden = (
        '<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties '
        'presentation:visibility="hidden"/></style:style>'
    )
    content = build(page(box("secret"), style_name="dp2") + slide, "presentation", automatic=hidden)
    reply = read_open_document(content)
    assert lines_of(content) == [
        *("Kite report", "left", "right", "turned", "in a group"),
        *("name: Ines Falkner | room: B14", "name: Tomas Reuel | room: A01"),
        *("below", "Say hello."),
    ]
    assert (reply["title"], [page["part"] for page in reply["pages"]]) == ("Kite report", ["slide=2"])
    assert reply["note"] == "hidden slides are not read: 1; hidden shapes are not read: 1"


# --- files ------------------------------------------------------------------------------------------------------------

TEXT = content_xml(paragraph("Read."))
ENCRYPTED = (
    f'<manifest:manifest {SPACES}><manifest:file-entry manifest:full-path="content.xml"><manifest:encryption-data/>'
    "</manifest:file-entry></manifest:manifest>"
)


@pytest.mark.parametrize("media_type", [MEDIA_TYPE, f"{MEDIA_TYPE}-template", "application/zip", ""])
def test_a_template_and_a_file_of_another_media_type_are_read(media_type: str) -> None:
    content = pack({"META-INF/manifest.xml": "", "content.xml": TEXT}, media_type)
    assert find_kind(content, "a.odt") is Kind.OPEN_DOCUMENT
    assert lines_of(content) == ["Read."]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pack({"content.xml": TEXT, "META-INF/manifest.xml": ENCRYPTED}), "it needs a password; save a copy without"),
        (pack({"encrypted-package": "x", "META-INF/manifest.xml": ENCRYPTED}), "it needs a password"),
        (pack({"styles.xml": TEXT}), "a part of it is missing; open it and save it again"),
        (pack({"content.xml": TEXT[:-9]}), "its XML is damaged; open it and save it again"),
        (build("<draw:page/>", "drawing"), "it is no text, sheet or presentation of OpenDocument; save it as PDF"),
        (pack({"content.xml": "<html/>"}), "it is no text, sheet or presentation of OpenDocument"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_remedy(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFileError, match=reason):
        read_open_document_file(content)


def test_a_part_that_is_damaged_costs_only_itself() -> None:
    content = pack({"content.xml": TEXT, "styles.xml": "<not xml", "meta.xml": "<not xml"})
    assert lines_of(content) == ["Read."]
    assert note_of(content) == "left out, damaged: styles, meta; open it and save it again"


def test_entities_are_not_put_in() -> None:
    entity = '<!DOCTYPE x [<!ENTITY secret SYSTEM "/etc/hostname"><!ENTITY word "bomb">]>'
    content = pack({"content.xml": entity + content_xml(paragraph("a&word;b&secret;c"))})
    assert lines_of(content) == ["abc"]


def test_an_answer_names_sheet_or_slide(tmp_path: Path) -> None:
    (tmp_path / "a.ods").write_bytes(build(table(row("alarm code 8642"), name="New York"), "spreadsheet"))
    (tmp_path / "b.odp").write_bytes(build(page(box("The alarm code is 8642.")), "presentation"))
    (tmp_path / "c.fodt").write_bytes(build_flat(paragraph("The alarm code is 8642.")))
    said: list[str] = []
    documents = read_documents(str(tmp_path), ExtractSettings(workers=1), said.append)
    assert [split_address(document.address)[1] for document in documents] == ["sheet New York", "slide 1", ""]
    assert said == []
