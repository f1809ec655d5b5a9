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


def test_sheets_of_charts_are_told() -> None:
    workbook = openpyxl.Workbook()
    workbook.worksheets[0]["A1"] = "Ines"
    workbook.create_chartsheet("Growth")
    assert read_lines(saved(workbook)) == ["Ines"]
    assert read_workbook(saved(workbook)).note == "chart sheets are not read: Growth"
