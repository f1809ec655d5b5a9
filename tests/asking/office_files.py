"""Small documents of Office for tests: a DOCX written part by part, others by the libraries that read them."""

import io
import re
import zipfile
from collections.abc import Sequence
from datetime import date

import openpyxl
import pptx
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

STAFF = (("name", "room", "extension"), ("Ines Falkner", "B14", "2207"), ("Tomas Reuel", "A01", "2290"))

_WORD_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MATH_NAMESPACE = "http://schemas.openxmlformats.org/officeDocument/2006/math"
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def build_docx(body: str, name: str = "document") -> bytes:
    """A DOCX with this body: elements of WordprocessingML; `name`: of its main part."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("[Content_Types].xml", _TYPES.replace("document.xml", f"{name}.xml"))
        archive.writestr("_rels/.rels", _RELATIONS.replace("document.xml", f"{name}.xml"))
        document = (
            f'<w:document xmlns:w="{_WORD_NAMESPACE}" xmlns:m="{_MATH_NAMESPACE}"><w:body>{body}</w:body></w:document>'
        )
        archive.writestr(f"word/{name}.xml", document)
    return file.getvalue()


def word_paragraph(text: str, style: str = "") -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def word_table(rows: Sequence[Sequence[str]]) -> str:
    """A table; nothing says which row is its header, as in most documents."""
    lines = []
    for row in rows:
        cells = "".join(f"<w:tc>{word_paragraph(cell)}</w:tc>" for cell in row)
        lines.append(f"<w:tr>{cells}</w:tr>")
    return f"<w:tbl>{''.join(lines)}</w:tbl>"


def build_xlsx() -> bytes:
    """A workbook with a title above a table, dates, shares and prices, a merged cell, and a hidden sheet."""
    workbook = openpyxl.Workbook()
    staff = workbook.active
    assert staff is not None
    staff.title = "Staff 2026"
    staff.append(["People at Brackwater Optics"])
    staff.append([])
    staff.append(["name", "started", "share", "fee", "floor"])
    staff.append(["Ines Falkner", date(2011, 5, 2), 0.125, 145, "first"])
    staff.append(["Tomas Reuel", date(2019, 9, 16), 0.5, 0.1 + 0.2, None])
    staff.merge_cells("E4:E5")
    staff["C4"].number_format = "0.0%"
    staff["C5"].number_format = "0%"
    staff["D4"].number_format = '0.00 "EUR"'
    workbook.create_sheet("Notes").sheet_state = "hidden"
    return _saved(workbook)


def build_xlsx_of_cell(cell: str, calculate_first: str) -> bytes:
    """A workbook with this element as its only cell; `calculate_first`: "1" asks Excel to calculate at once."""
    workbook = openpyxl.Workbook()
    assert workbook.active is not None
    workbook.active["A1"] = 1
    whole = io.BytesIO(_saved(workbook))

    file = io.BytesIO()
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(file, "w") as changed:
        for name in archive.namelist():
            text = archive.read(name).decode()
            text = re.sub(r"<c r=.*</c>", lambda _: cell, text)
            changed.writestr(name, text.replace('fullCalcOnLoad="1"', f'fullCalcOnLoad="{calculate_first}"'))
    return file.getvalue()


def build_long_xlsx(rows: int) -> bytes:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = "Lenses"
    sheet.append(["lens", "maker"])
    for number in range(rows):
        sheet.append([f"L{number}", f"maker {number}"])
    return _saved(workbook)


def build_pptx() -> bytes:
    """A slide with a list, one with a table, a chart and notes, and a hidden one."""
    presentation = pptx.Presentation()
    rules = presentation.slides.add_slide(presentation.slide_layouts[1])
    rules.shapes.title.text = "Travel rules"
    rules.placeholders[1].text = "A hotel may cost 145 euros a night.\nTrips abroad are approved by Marit Solheim."

    staff = presentation.slides.add_slide(presentation.slide_layouts[5])
    staff.shapes.title.text = "Staff"
    place = (Inches(1), Inches(2), Inches(8), Inches(2))
    table = staff.shapes.add_table(len(STAFF), len(STAFF[0]), *place).table
    for row_number, row in enumerate(STAFF):
        for column, cell in enumerate(row):
            table.cell(row_number, column).text = cell
    data = CategoryChartData()
    data.categories = ["2024", "2025"]
    data.add_series("lenses sold", (310, 425.5))
    staff.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(5), Inches(6), Inches(2), data)
    staff.notes_slide.notes_text_frame.text = "The clerk leaves in May."

    hidden = presentation.slides.add_slide(presentation.slide_layouts[5])
    hidden.shapes.title.text = "Draft"
    hidden.element.set("show", "0")
    return _saved(presentation)


def word_cell(text: str, properties: str = "") -> str:
    """A cell of a table with properties such as ``<w:gridSpan w:val="2"/>``."""
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{word_paragraph(text)}</w:tc>"


def build_pptx_of_charts() -> bytes:
    """Slides with a chart each: large numbers with a gap, days, two levels of categories, points."""
    presentation = pptx.Presentation()
    place = (Inches(1), Inches(2), Inches(6), Inches(2))

    members = CategoryChartData(number_format="#,##0")
    members.categories = ["2021", "2022"]
    members.add_series("members", (1234567, None))
    members.add_series("share", (0.125, 0.5), number_format="0%")
    days = CategoryChartData()
    days.categories = [date(2023, 1, 31), date(2023, 2, 28)]
    days.add_series("rain", (12, 30.25))
    towns = CategoryChartData()
    north = towns.add_category("north")
    north.add_sub_category("Ostholm")
    north.add_sub_category("Mühlau")
    towns.add_series("staff", (120, 80))
    points = XyChartData()
    model = points.add_series("model A")
    model.add_data_point(1.5, 20)
    model.add_data_point(2.5, 35)

    for kind, data in (
        (XL_CHART_TYPE.LINE, members),
        (XL_CHART_TYPE.LINE, days),
        (XL_CHART_TYPE.COLUMN_CLUSTERED, towns),
        (XL_CHART_TYPE.XY_SCATTER, points),
    ):
        slide = presentation.slides.add_slide(presentation.slide_layouts[6])
        slide.shapes.add_chart(kind, *place, data)
    return _saved(presentation)


def _saved(document: openpyxl.Workbook | pptx.presentation.Presentation) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()
