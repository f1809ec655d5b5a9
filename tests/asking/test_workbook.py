"""Tests: a sheet is read to its last value as Excel shows it, whatever form its cells have; damage costs one sheet."""

import io
import re
from datetime import datetime

import openpyxl
import pytest
from openpyxl.styles import Font
from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH
from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS

from crag.asking.kinds import Kind
from crag.asking.office.reading import read_office
from crag.asking.office.workbook import read_workbook
from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text
from tests.asking.package_files import Change, damage, remove, with_parts

SETTINGS = ExtractSettings(labelled_tables=True)
SHARED = "xl/sharedStrings.xml"
DAY, DAYS, STRUCK_OUT = 1, 2, 3
"""Styles of `build_sheet`."""


def build_sheet(rows: str, *, shared: str = "", merged: str = "", first_day: datetime = WINDOWS_EPOCH) -> bytes:
    """A workbook of one sheet with these elements as rows and shared texts."""
    workbook = openpyxl.Workbook()
    workbook.epoch = first_day
    sheet = workbook.worksheets[0]
    sheet["A1"].number_format = "yyyy-mm-dd"
    sheet["A2"].number_format = '[Red]0 "days"'
    sheet["A3"].font = Font(strike=True)

    def write_rows(text: str) -> str:
        areas = "".join(f'<mergeCell ref="{area}"/>' for area in merged.split())
        return re.sub(
            "<sheetData>.*</sheetData>", f"<sheetData>{rows}</sheetData><mergeCells>{areas}</mergeCells>", text
        )

    def add_shared_texts(text: str) -> str:
        return text.replace("</Types>", f'<Override PartName="/{SHARED}" ContentType="{SHARED_STRINGS}"/></Types>')

    changes: dict[str, Change] = {r"xl/worksheets/sheet1\.xml": write_rows}
    added = {}
    if shared:
        changes[r"\[Content_Types\]\.xml"] = add_shared_texts
        added[SHARED] = f'<sst xmlns="{SHEET_MAIN_NS}">{shared}</sst>'
    return with_parts(saved(workbook), changes, added)


def saved(workbook: openpyxl.Workbook) -> bytes:
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def row(number: int, *cells: str) -> str:
    """A row of texts; a cell is its place and its text: ``A1 name``."""
    elements = []
    for cell in cells:
        place, _, text = cell.partition(" ")
        elements.append(f'<c r="{place}" t="str"><v>{text}</v></c>')
    return f'<row r="{number}">{"".join(elements)}</row>'


def read_lines(content: bytes) -> list[str]:
    """The lines of all sheets."""
    pages = read_office(content, Kind.WORKBOOK)["pages"]
    return [line for page in pages for line in page_text(page["html"], SETTINGS).splitlines()]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<t>two_x000D_\nlines</t>", "two lines"),
        ("<t>a_x005F_b, _x005F_x0041_</t>", "a_b, _x0041_"),
        ("<t>_x0041__xD83D__xDE00_</t>", "A😀"),
        ('<r><t>10</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>6</t></r>', "10^6"),
        ('<r><rPr><strike/></rPr><t>old</t></r><r><rPr><strike val="0"/></rPr><t>new</t></r>', "new"),
        ('<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh>', "東京"),
    ],
    ids=["end of line", "underscore", "halves of a character", "superscript", "struck out", "reading aloud"],
)
def test_a_text_is_read_as_excel_shows_it(text: str, shown: str) -> None:
    inline = f'<row><c t="inlineStr"><is>{text}</is></c></row>'
    assert read_lines(build_sheet(inline)) == [shown]
    assert read_lines(build_sheet('<row><c t="s"><v>0</v></c></row>', shared=f"<si>{text}</si>")) == [shown]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ('t="b"><v>1</v>', "yes"),
        ('t="b"><v>0</v>', "no"),
        ('t="e"><v>#N/A</v>', "#N/A"),
        ('t="d"><v>2024-03-05</v>', "2024-03-05"),
        ('t="d"><v>2024-03-05T14:30:00</v>', "2024-03-05T14:30:00"),
        (f's="{DAY}"><v>45000</v>', "2023-03-15"),
        (f's="{DAY}"><v>59</v>', "1900-02-28"),
        (f's="{DAY}"><v>-3</v>', "-3"),
        (f's="{DAYS}"><v>30</v>', "30 days"),
        (f's="{STRUCK_OUT}"><v>30</v>', ""),
        ("><v>about 5</v>", "about 5"),
        ("><v>1E400</v>", "1E400"),
        ('t="str"><f>A2</f><v>a_x000D_b</v>', "a b"),
    ],
)  # fmt: skip
def test_a_value_is_read_as_excel_shows_it(cell: str, shown: str) -> None:
    reading = read_workbook(build_sheet(f"<row><c {cell}</c></row>"))
    assert ["".join(texts) for texts in reading.sheets[0].rows] == ([shown] if shown else [])


def test_days_may_count_from_1904() -> None:
    reading = read_workbook(
        build_sheet(f'<row><c s="{DAY}"><v>0</v></c><c s="{DAY}"><v>45000</v></c></row>', first_day=MAC_EPOCH)
    )
    assert reading.sheets[0].rows == [["1904-01-01", "2027-03-16"]]


@pytest.mark.parametrize(
    "last",
    ['<c r="XFD1048576" s="1"/>', '<c r="XFD1048576" t="s"><v>0</v></c>', '<c r="XFD1048576" t="str"><v>end</v></c>'],
    ids=["format", "empty text", "value"],
)
def test_a_sheet_that_reaches_to_the_last_cell_is_read_at_once(last: str) -> None:
    rows = row(1, "A1 name", "C1 room") + row(2, "A2 Ines", "C2 B14") + f'<row r="1048576">{last}</row>'
    lines = read_lines(build_sheet(rows, shared="<si><t/></si>"))
    assert lines[:1] == ["name: Ines | room: B14"]
    assert lines[1:] in ([], ["end"])


@pytest.mark.parametrize(
    ("merged", "lines"),
    [
        ("A2:A3", ["area: north | town: Bo | staff: 5", "area: north | town: Ry | staff: 6", "town: Uv | staff: 7"]),
        ("A2:B3", ["area: north | staff: 5", "area: north | staff: 6", "town: Uv | staff: 7"]),
        (
            "A2:A1048576",
            [f"area: north | town: {town}" for town in ("Bo | staff: 5", "Ry | staff: 6", "Uv | staff: 7")],
        ),
        ("A9:XFD1048576", ["area: north | town: Bo | staff: 5", "town: Ry | staff: 6", "town: Uv | staff: 7"]),
    ],
)
def test_merged_cells_have_their_value_in_each_row(merged: str, lines: list[str]) -> None:
    rows = row(1, "A1 area", "B1 town", "C1 staff") + row(2, "A2 north", "B2 Bo", "C2 5")
    rows += row(3, "B3 Ry", "C3 6") + row(4, "B4 Uv", "C4 7")
    assert read_lines(build_sheet(rows, merged=merged)) == lines


def test_names_of_columns_in_three_rows() -> None:
    rows = row(1, "A1 area", "B1 2022", "F1 2023") + row(2, "B2 spring", "D2 autumn", "F2 spring")
    rows += row(3, "B3 units", "C3 price", "D3 units", "E3 price", "F3 units")
    rows += row(4, "A4 north", "B4 1", "C4 2", "D4 3", "E4 #N/A", "F4 5")
    rows += row(5, "A5 south", "B5 6", "C5 7", "D5 8", "E5 9", "F5 10")
    names = ["2022 spring units", "2022 spring price", "2022 autumn units", "2022 autumn price", "2023 spring units"]
    values = {"north": ["1", "2", "3", "#N/A", "5"], "south": ["6", "7", "8", "9", "10"]}
    lines = []
    for area, numbers in values.items():
        cells = [f"{name}: {number}" for name, number in zip(names, numbers, strict=True)]
        lines.append(" | ".join([f"area: {area}", *cells]))
    assert read_lines(build_sheet(rows, merged="A1:A3 B1:E1 B2:C2 D2:E2")) == lines


def test_hidden_rows_and_columns_are_read() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    for cells in (["name", "room"], ["Ines", "B14"], ["Rolf", "A01"]):
        sheet.append(cells)
    sheet.row_dimensions[2].hidden = True
    sheet.column_dimensions["B"].hidden = True
    assert read_lines(saved(workbook)) == ["name: Ines | room: B14", "name: Rolf | room: A01"]


@pytest.mark.parametrize(
    ("part", "change", "note"),
    [
        (r"xl/worksheets/sheet1\.xml", damage, "damaged sheets are not read: Boats"),
        (r"xl/worksheets/sheet1\.xml", remove, "damaged sheets are not read: Boats"),
        (
            r"xl/worksheets/sheet1\.xml",
            lambda text: text.replace('r="A1"', 'r="?1"'),
            "damaged sheets are not read: Boats",
        ),
        (r"docProps/core\.xml", damage, ""),
    ],
    ids=["XML", "no sheet", "no place", "properties"],
)
def test_a_damaged_sheet_costs_no_other(part: str, change: Change, note: str) -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0].title = "Boats"
    workbook.worksheets[0]["A1"] = "Marta"
    workbook.create_sheet("Crew")["A1"] = "Ines"
    content = with_parts(saved(workbook), {part: change})
    assert read_lines(content) == (["Ines"] if note else ["Marta", "Ines"])
    assert read_workbook(content).note == note


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<patternFill/>", '<patternFill><fgColor rgb="no colour"/></patternFill>'),
        ("<fill><patternFill/></fill>", "<fill/>"),
        ('name="Normal" ', ""),
    ],
)
def test_a_style_that_excel_forgives_costs_nothing(old: str, new: str) -> None:
    def change(styles: str) -> str:
        assert old in styles
        return styles.replace(old, new)

    sheet = build_sheet(f'<row><c s="{DAY}"><v>45356</v></c><c s="{STRUCK_OUT}"><v>7</v></c></row>')
    assert read_workbook(with_parts(sheet, {r"xl/styles\.xml": change})).sheets[0].rows == [["2024-03-05"]]


def test_a_style_that_is_not_there_is_none() -> None:
    assert read_workbook(build_sheet('<row><c s="99"><v>8642</v></c></row>')).sheets[0].rows == [["8642"]]


DAY_AND_NAME = ["2024-03-05", "Ines"]
LOST_DRAWINGS = "sheet Sheet: its drawings are damaged and not read"


@pytest.mark.parametrize(
    ("part", "change", "lines", "note"),
    [
        (
            r"xl/styles\.xml",
            damage,
            ["45356", "Ines"],
            "the formats are damaged: days and shares are read as plain numbers, struck out text like other text",
        ),
        (
            SHARED.replace(".", r"\."),
            lambda text: text.replace("<t>Ines", "<t Ines"),
            ["2024-03-05"],
            "the texts of cells are damaged; cells whose text is missing: 1; open the file in Excel and save it again",
        ),
        (
            SHARED.replace(".", r"\."),
            lambda text: text.replace("</sst>", "<si"),
            DAY_AND_NAME,
            "the texts of cells are damaged",
        ),
        (
            r"xl/workbook\.xml",
            lambda text: text.replace("<calcPr", "<calcPr calcId='none' iterateCount='many'/><bookViews x='"
                                      "'><workbookView activeTab='none'/></bookViews><definedNames/><calcPr"),
            DAY_AND_NAME,
            "",
        ),
        (r"\[Content_Types\]\.xml", damage, DAY_AND_NAME, ""),
        (r"xl/worksheets/_rels/sheet1\.xml\.rels", damage, DAY_AND_NAME, LOST_DRAWINGS),
        (r"xl/drawings/drawing1\.xml", damage, DAY_AND_NAME, LOST_DRAWINGS),
        (r"xl/drawings/drawing1\.xml", remove, DAY_AND_NAME, LOST_DRAWINGS),
    ],
    ids=[
        "formats", "a text", "behind the texts", "optional settings", "types", "relations of a sheet", "drawing",
        "no drawing",
    ],
)  # fmt: skip
def test_a_damaged_part_costs_only_what_it_tells(part: str, change: Change, lines: list[str], note: str) -> None:
    cells = f'<row><c s="{DAY}"><v>45356</v></c><c t="s"><v>0</v></c></row>'
    sheet = with_drawing(build_sheet(cells, shared="<si><t>Ines</t></si>"))
    content = with_parts(sheet, {part: change})
    assert read_lines(content) == lines
    assert read_workbook(content).note == note


# --- what lies on a sheet ---------------------------------------------------------------------------------------------

DRAWING_SPACES = " ".join(
    f'xmlns:{prefix}="http://schemas.openxmlformats.org/{place}"'
    for prefix, place in {
        "xdr": "drawingml/2006/spreadsheetDrawing",
        "a": "drawingml/2006/main",
        "c": "drawingml/2006/chart",
        "m": "officeDocument/2006/math",
        "mc": "markup-compatibility/2006",
        "r": "officeDocument/2006/relationships",
    }.items()
)
OFFICE_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CHART = (
    f"<c:chartSpace {DRAWING_SPACES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Growth</a:t></a:r></a:p></c:rich>"
    "</c:tx></c:title><c:plotArea><c:bar3DChart><c:ser><c:tx><c:v>boats</c:v></c:tx>"
    '<c:cat><c:strLit><c:pt idx="0"><c:v>Ostholm</c:v></c:pt></c:strLit></c:cat>'
    '<c:val><c:numRef><c:numCache><c:formatCode>0%</c:formatCode><c:pt idx="0"><c:v>0.5</c:v></c:pt></c:numCache>'
    "</c:numRef></c:val></c:ser></c:bar3DChart></c:plotArea></c:chart></c:chartSpace>"
)
CHART_LINES = ["Growth", "category: Ostholm | boats: 50%"]


def relations(**targets: str) -> str:
    """The relations of a part; each name is the kind of one too."""
    entries = [
        f'<Relationship Id="{kind}" Type="{OFFICE_RELATIONS}/{kind}" Target="{target}"/>'
        for kind, target in targets.items()
    ]
    name = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{name}">{"".join(entries)}</Relationships>'


def with_drawing(content: bytes, *anchors: str, folder: str = "worksheets") -> bytes:
    """The workbook with drawings on its first sheet, and a chart that they may name."""
    added = {
        f"xl/{folder}/_rels/sheet1.xml.rels": relations(drawing="../drawings/drawing1.xml"),
        "xl/drawings/drawing1.xml": f"<xdr:wsDr {DRAWING_SPACES}>{''.join(anchors)}</xdr:wsDr>",
        "xl/drawings/_rels/drawing1.xml.rels": relations(chart="/xl/charts/chart7.xml"),
        "xl/charts/chart7.xml": CHART,
    }
    return with_parts(content, {}, added)


def anchor(shape: str, row: int = 0, column: int = 0) -> str:
    place = f"<xdr:from><xdr:col>{column}</xdr:col><xdr:row>{row}</xdr:row></xdr:from>"
    return f"<xdr:twoCellAnchor>{place}{shape}<xdr:clientData/></xdr:twoCellAnchor>"


def box(text: str, attributes: str = "", runs: str = "") -> str:
    properties = f'<xdr:nvSpPr><xdr:cNvPr id="2" name="box" {attributes}/><xdr:cNvSpPr/></xdr:nvSpPr><xdr:spPr/>'
    return f"<xdr:sp>{properties}<xdr:txBody><a:p><a:r><a:t>{text}</a:t></a:r>{runs}</a:p></xdr:txBody></xdr:sp>"


def frame(content: str) -> str:
    return f"<xdr:graphicFrame><a:graphic><a:graphicData>{content}</a:graphicData></a:graphic></xdr:graphicFrame>"


def either(choice: str, fallback: str) -> str:
    """Something, and what older programs show instead."""
    return (
        f"<mc:AlternateContent><mc:Choice>{choice}</mc:Choice><mc:Fallback>{fallback}</mc:Fallback>"
        "</mc:AlternateContent>"
    )


CHART_FRAME = frame('<c:chart r:id="chart"/>')


@pytest.mark.parametrize(
    ("anchors", "lines", "note"),
    [
        ([anchor(CHART_FRAME)], CHART_LINES, ""),
        ([anchor(box("below"), 9), anchor(box("right"), 2, 5), anchor(box("left"), 2)], ["left", "right", "below"], ""),
        ([anchor(f"<xdr:grpSp>{box('one')}{CHART_FRAME}</xdr:grpSp>")], ["one", *CHART_LINES], ""),
        ([either(anchor(CHART_FRAME), anchor(box("not available")))], CHART_LINES, ""),
        ([anchor(box("old", 'hidden="1"'))], [], "hidden shapes are not read: 1"),
        ([anchor(frame("<a:slicer/>"))], [], "embedded objects are not read: 1"),
        ([anchor(box("Einstein", runs="<m:oMath/>"))], ["Einstein"], "equations are not read: 1"),
        (
            [anchor(frame('<c:chart r:id="lost"/>')), anchor(box("one"))],
            ["one"],
            "sheet Sheet: a chart is damaged and not read",
        ),
    ],
    ids=["chart", "boxes in their order", "group", "two forms", "hidden", "object", "equation", "lost chart"],
)
def test_what_lies_on_a_sheet_is_read_behind_its_cells(anchors: list[str], lines: list[str], note: str) -> None:
    content = with_drawing(build_sheet(row(1, "A1 Ines")), *anchors)
    assert read_lines(content) == ["Ines", *lines]
    assert read_workbook(content).note == note


def test_what_lies_on_a_long_sheet_is_a_page_of_its_own() -> None:
    rows = "".join(row(number, f"A{number} lens", f"B{number} L{number}") for number in range(1, 251))
    content = with_drawing(build_sheet(rows), anchor(box("box")))
    pages = read_office(content, Kind.WORKBOOK)["pages"]
    assert [page["part"] for page in pages] == ["sheet=Sheet&row=2-201", "sheet=Sheet&row=202-250", "sheet=Sheet"]
    assert pages[-1]["html"] == "<p>box</p>\n"


def test_a_sheet_may_be_a_chart() -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0]["A1"] = "Ines"
    workbook.create_chartsheet("Growth")
    content = with_drawing(saved(workbook), anchor(CHART_FRAME), folder="chartsheets")
    assert read_lines(content) == ["Ines", *CHART_LINES]
    assert read_workbook(content).note == ""


def test_strict_files_are_read() -> None:
    def make_strict(text: str) -> str:
        family = "(spreadsheetml|officeDocument|drawingml)"
        return re.sub(f"http://schemas.openxmlformats.org/{family}/2006/", r"http://purl.oclc.org/ooxml/\1/", text)

    day = f'<row><c s="{DAY}" t="d"><v>2024-03-05</v></c><c t="s"><v>0</v></c></row>'
    content = with_drawing(build_sheet(day, shared="<si><t>Ines</t></si>"), anchor(CHART_FRAME))
    strict = with_parts(content, {r".*\.(xml|rels)": make_strict})
    assert read_lines(strict) == read_lines(content) == [*DAY_AND_NAME, *CHART_LINES]
