"""Tests: a slide is read as its viewer sees it, whatever its shapes are made of; damage costs the part that has it."""

import re
from datetime import date

import pytest
from pptx.chart.data import BubbleChartData, CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE

from crag.asking.kinds import Kind
from crag.asking.office.reading import read_office
from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text
from tests.asking.package_files import Change, damage, remove, with_parts
from tests.asking.slide_files import (
    CHART_PART,
    EQUATION,
    HIDDEN,
    PART,
    alternatives,
    box,
    build_chart,
    build_slide,
    frame,
    group,
    paragraph,
    run,
    table,
)

SETTINGS = ExtractSettings(labelled_tables=True)
NOT_TO_BE_READ = "shown by older programs"


def read(content: bytes) -> tuple[list[str], str]:
    """The lines of all slides, and what is not read."""
    reply = read_office(content, Kind.SLIDES)
    lines = [line for page in reply["pages"] for line in page_text(page["html"], SETTINGS).splitlines()]
    return lines, reply["note"]


@pytest.mark.parametrize(
    ("shape", "lines"),
    [
        (box("Ines", number=2), ["Ines"]),
        (group(group(box("Ines")), box("Rolf", top=1)), ["Ines", "Rolf"]),
        (alternatives(box("Ines"), box(NOT_TO_BE_READ)), ["Ines"]),
        (alternatives("", box("Ines")), ["Ines"]),
        (alternatives("<p:contentPart/>", box("Ines")), ["Ines"]),
        (group(alternatives(alternatives(box("Ines"), ""), "")), ["Ines"]),
        (alternatives(table(["name", "age"], ["Ines", "50"]), box(NOT_TO_BE_READ)), ["name: Ines | age: 50"]),
        ("<p:contentPart/>", []),
        (box(runs=run("two") + "<a:br/>" + run("lines") + "<a:fld><a:t>, 5 May</a:t></a:fld>"), ["two lines, 5 May"]),
        (box(runs=run("a_x000B_b 10") + run("6", 'baseline="30%"')), ["a b 10^6"]),
        (
            table(["area", "town", "staff"], ['rowSpan="2"|north', "Bo", "5"], ['vMerge="1"|', "Ry", "6"]),
            ["area: north | town: Bo | staff: 5", "area: north | town: Ry | staff: 6"],
        ),
        (
            table(
                ["area", "town", "staff"],
                ['rowSpan="2" gridSpan="2"|north', 'rowSpan="2" hMerge="1"|', "5"],
                ['gridSpan="2" vMerge="1"|', 'hMerge="1" vMerge="1"|', "6"],
            ),
            ["area: north | staff: 5", "area: north | staff: 6"],
        ),
    ],
    ids=[
        "number of the title", "groups", "two forms", "old form only", "new form without text", "forms in a form",
        "table in a form", "ink", "break and field", "control character and exponent", "merged rows",
        "merged rows and columns",
    ],
)  # fmt: skip
def test_what_a_shape_shows(shape: str, lines: list[str]) -> None:
    assert read(build_slide(shape)) == (["Report", *lines], "")


def item(text: str, kind: str, level: int = 0, start: str = "") -> str:
    """A paragraph with a number of this kind; without a kind, one without a number."""
    bullet = f'<a:buAutoNum type="{kind}" {start}/>' if kind else "<a:buNone/>"
    return f'<a:p><a:pPr lvl="{level}">{bullet}</a:pPr>{run(text)}</a:p>'


def text_box(*paragraphs: str, styles: str = "") -> str:
    body = f"<a:lstStyle>{styles}</a:lstStyle>{''.join(paragraphs)}</p:txBody>"
    return re.sub("<a:p>.*</p:txBody>", lambda _: body, box("x"))


PERIOD, LETTER = "arabicPeriod", "alphaLcParenR"


@pytest.mark.parametrize(
    ("paragraphs", "lines"),
    [
        ([item("x", PERIOD), item("y", LETTER, 1), item("y", LETTER, 1), item("x", PERIOD), item("y", LETTER, 1)],
         ["1. x", "a) y", "b) y", "2. x", "a) y"]),
        ([item("x", PERIOD), item("y", ""), item("x", PERIOD)], ["1. x", "y", "1. x"]),
        ([item("x", PERIOD), item("y", "", 1), item(" ", PERIOD), item("x", PERIOD)], ["1. x", "y", "2. x"]),
        ([item("x", PERIOD), item("x", LETTER), item("x", PERIOD, 0, 'startAt="4"')], ["1. x", "a) x", "4. x"]),
        ([item("x", "romanUcParenBoth"), item("x", "circleNumDbPlain"), item("x", "arabicPlain")],
         ["(I) x", "1. x", "1 x"]),
    ],
    ids=["levels", "text between", "text below, blank", "other kinds", "forms"],
)  # fmt: skip
def test_paragraphs_have_the_numbers_of_their_list(paragraphs: list[str], lines: list[str]) -> None:
    assert read(build_slide(text_box(*paragraphs))) == (["Report", *lines], "")


def test_the_levels_of_a_box_may_be_numbered() -> None:
    styles = '<a:lvl1pPr><a:buAutoNum type="arabicPeriod"/></a:lvl1pPr>'
    paragraphs = [f"<a:p>{run('x')}</a:p>", item("y", "")]
    assert read(build_slide(text_box(*paragraphs, styles=styles))) == (["Report", "1. x", "y"], "")


@pytest.mark.parametrize(
    ("shape", "lines", "note"),
    [
        (box("Ines", attributes=HIDDEN), [], "hidden shapes are not read: 1"),
        (group(box("Ines"), attributes=HIDDEN), [], "hidden shapes are not read: 1"),
        (alternatives(box(runs=run("Einstein") + EQUATION), box(" ")), ["Einstein"], "equations are not read: 1"),
        (alternatives(box(runs=EQUATION), box(" ")), [], "equations are not read: 1"),
        (frame("<p:oleObj/>"), [], "embedded objects are not read: 1"),
    ],
    ids=["hidden", "hidden group", "beside an equation", "equation", "object"],
)
def test_what_is_not_read_of_a_slide_is_told(shape: str, lines: list[str], note: str) -> None:
    assert read(build_slide(shape)) == (["Report", *lines], note)


def test_the_texts_of_a_diagram_stand_in_their_order() -> None:
    def point(name: str, text: str, kind: str = "node") -> str:
        return f'<dgm:pt modelId="{name}" type="{kind}"><dgm:t><a:bodyPr/>{paragraph(text)}</dgm:t></dgm:pt>'

    def connection(source: str, target: str, order: int) -> str:
        return f'<dgm:cxn srcId="{source}" destId="{target}" srcOrd="{order}"/>'

    points = point("1", "", "doc") + point("2", "Rolf, cook") + point("3", "Ines, boss") + point("4", "Mia, mate")
    connections = connection("1", "3", 0) + connection("1", "2", 1) + connection("3", "4", 0) + connection("4", "3", 0)
    model = f"<dgm:dataModel><dgm:ptLst>{points}</dgm:ptLst><dgm:cxnLst>{connections}</dgm:cxnLst></dgm:dataModel>"
    diagram = frame(f'<dgm:relIds r:dm="{PART}"/>')
    assert read(build_slide(diagram, part=model)) == (["Report", "Ines, boss", "Mia, mate", "Rolf, cook"], "")


def test_a_chart_of_the_newer_kinds_is_a_table() -> None:
    waterfall = """
    <cx:chartSpace><cx:chartData><cx:data id="0">
        <cx:strDim type="cat"><cx:lvl><cx:pt idx="0">start</cx:pt><cx:pt idx="1">rent</cx:pt></cx:lvl></cx:strDim>
        <cx:numDim type="val"><cx:lvl formatCode="#,##0"><cx:pt idx="0">5000</cx:pt><cx:pt idx="1">-900</cx:pt></cx:lvl>
        </cx:numDim></cx:data></cx:chartData>
    <cx:chart><cx:title><cx:tx><cx:txData><cx:v>Cash</cx:v></cx:txData></cx:tx></cx:title><cx:plotArea>
        <cx:plotAreaRegion><cx:series><cx:tx><cx:txData><cx:v>euros</cx:v></cx:txData></cx:tx><cx:dataId val="0"/>
        </cx:series></cx:plotAreaRegion></cx:plotArea></cx:chart></cx:chartSpace>"""
    chart = alternatives(frame(f'<cx:chart r:id="{PART}"/>'), box("This chart needs a newer program."))
    lines, note = read(build_slide(chart, part=waterfall.strip()))
    assert lines == ["Report", "Cash", "category: start | euros: 5,000", "category: rent | euros: -900"]
    assert note == ""


def sales() -> CategoryChartData:
    data = CategoryChartData()
    data.categories = ["2024", "2025"]
    data.add_series("boats", (5, 7))
    data.add_series("ropes", (1, 2))
    return data


SALES = ["category: 2024 | boats: 5 | ropes: 1", "category: 2025 | boats: 7 | ropes: 2"]


@pytest.mark.parametrize(
    "element",
    ["barChart", "bar3DChart", "line3DChart", "area3DChart", "pie3DChart", "ofPieChart", "stockChart", "surfaceChart",
     "surface3DChart", "radarChart", "chartOfTomorrow"],
)  # fmt: skip
def test_a_chart_of_any_kind_is_a_table_of_its_values(element: str) -> None:
    content = build_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, sales(), ("barChart", element))
    assert read(content) == (SALES, "")


def saved_texts(*texts: str) -> str:
    """Texts as a chart saves them."""
    points = "".join(f'<c:pt idx="{index}"><c:v>{text}</c:v></c:pt>' for index, text in enumerate(texts))
    return f"<c:strRef><c:f>A1</c:f><c:strCache>{points}</c:strCache></c:strRef>"


def saved_numbers(number_format: str, *numbers: str) -> str:
    points = "".join(f'<c:pt idx="{index}"><c:v>{number}</c:v></c:pt>' for index, number in enumerate(numbers))
    cache = f"<c:formatCode>{number_format}</c:formatCode>{points}"
    return f"<c:numRef><c:f>A1</c:f><c:numCache>{cache}</c:numCache></c:numRef>"


CATEGORIES = "(?<=<c:cat>).*?(?=</c:cat>)"


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (("<c:cat>.*?</c:cat>", ""), ["category: 1 | boats: 5 | ropes: 1", "category: 2 | boats: 7 | ropes: 2"]),
        (
            (CATEGORIES, saved_texts("a_x000D_b", "c")),
            ["category: a b | boats: 5 | ropes: 1", "category: c | boats: 7 | ropes: 2"],
        ),
        (
            (CATEGORIES, saved_numbers("#,##0;[Red]-#,##0", "30", "60")),
            ["category: 30 | boats: 5 | ropes: 1", "category: 60 | boats: 7 | ropes: 2"],
        ),
        (
            (CATEGORIES, saved_numbers('0 "days"', "30", "60")),
            ["category: 30 days | boats: 5 | ropes: 1", "category: 60 days | boats: 7 | ropes: 2"],
        ),
        (
            (CATEGORIES, saved_numbers("[Blue]mmm yyyy", "45000", "45031")),
            ["category: March 2023 | boats: 5 | ropes: 1", "category: April 2023 | boats: 7 | ropes: 2"],
        ),
        (
            ("<c:v>7</c:v>", "<c:v>#N/A</c:v>"),
            ["category: 2024 | boats: 5 | ropes: 1", "category: 2025 | ropes: 2"],
        ),
        (
            ("<c:tx>.*?</c:tx>", ""),
            ["category: 2024 | series 1: 5 | series 2: 1", "category: 2025 | series 1: 7 | series 2: 2"],
        ),
        (
            ("(?=<c:autoTitleDeleted)", f"<c:title><c:tx>{saved_texts('Sales in', 'euros')}</c:tx></c:title>"),
            ["Sales in euros", *SALES],
        ),
        (
            ("(?<=<c:valAx>)", f"<c:title><c:tx><c:rich><a:bodyPr/>{paragraph('thousands')}</c:rich></c:tx></c:title>"),
            ["thousands", *SALES],
        ),
    ],
    ids=["no categories", "escape", "colour in a format", "words in a format", "months", "error", "no names",
         "linked title", "axis"],
)  # fmt: skip
def test_what_a_chart_shows(edit: tuple[str, str], lines: list[str]) -> None:
    assert read(build_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, sales(), edit)) == (lines, "")


def test_days_count_from_the_first_day_of_the_chart() -> None:
    data = CategoryChartData()
    data.categories = [date(2023, 1, 31)]
    data.add_series("rain", (12,))
    macintosh = ('<c:date1904 val="0"/>', '<c:date1904 val="1"/>')
    assert read(build_chart(XL_CHART_TYPE.LINE, data))[0] == ["category: 2023-01-31 | rain: 12"]
    assert read(build_chart(XL_CHART_TYPE.LINE, data, macintosh))[0] == ["category: 2027-02-01 | rain: 12"]


def test_a_level_of_categories_goes_on_until_the_next_begins() -> None:
    data = CategoryChartData()
    for year, quarters in (("2024", ("Q3", "Q4")), ("2025", ("Q1",))):
        category = data.add_category(year)
        for quarter in quarters:
            category.add_sub_category(quarter)
    data.add_series("boats", (5, 7, None))
    assert read(build_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, data))[0] == [
        "category: 2024 Q3 | boats: 5",
        "category: 2024 Q4 | boats: 7",
        "2025 Q1",
    ]


def test_bars_and_lines_of_a_chart_are_tables() -> None:
    line = (
        f"<c:lineChart><c:ser><c:idx val='2'/><c:tx>{saved_texts('growth')}</c:tx><c:cat>{saved_texts('2024', '2025')}"
        f"</c:cat><c:val>{saved_numbers('0%', '0.1', '0.4')}</c:val></c:ser></c:lineChart>"
    )
    content = build_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, sales(), ("(?<=</c:barChart>)", line))
    assert read(content)[0] == [*SALES, "category: 2024 | growth: 10%", "category: 2025 | growth: 40%"]


def test_series_of_other_categories_are_a_table_of_their_own() -> None:
    def change(text: str) -> str:
        first, second = text.rsplit("<c:cat>", 1)
        return f"{first}<c:cat>{saved_texts('Bo', 'Ry')}{second[second.index('</c:cat>') :]}"

    content = with_parts(build_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, sales()), {CHART_PART: change})
    assert read(content)[0] == [
        "category: 2024 | boats: 5",
        "category: 2025 | boats: 7",
        "category: Bo | ropes: 1",
        "category: Ry | ropes: 2",
    ]


def points(data: XyChartData | BubbleChartData) -> XyChartData | BubbleChartData:
    series = data.add_series("trip")
    for point in ((1.5, 20, 3), (2.5, 35, 4)):
        series.add_data_point(*point[: 3 if isinstance(data, BubbleChartData) else 2])
    return data


@pytest.mark.parametrize(
    ("kind", "data", "edit", "lines"),
    [
        (
            XL_CHART_TYPE.XY_SCATTER,
            points(XyChartData()),
            ("(?<=<c:xVal>).*?(?=</c:xVal>)", saved_texts("Bo", "Ry")),
            ["series: trip | x: Bo | y: 20", "series: trip | x: Ry | y: 35"],
        ),
        (
            XL_CHART_TYPE.XY_SCATTER,
            points(XyChartData()),
            ("<c:v>1.5</c:v>", ""),
            ["series: trip | y: 20", "series: trip | x: 2.5 | y: 35"],
        ),
        (
            XL_CHART_TYPE.BUBBLE,
            points(BubbleChartData()),
            ("bubbleChart", "bubble3DChart"),
            ["series: trip | x: 1.5 | y: 20 | size: 3", "series: trip | x: 2.5 | y: 35 | size: 4"],
        ),
    ],
    ids=["words", "gap", "sizes"],
)
def test_what_a_chart_of_points_shows(
    kind: XL_CHART_TYPE, data: XyChartData, edit: tuple[str, str], lines: list[str]
) -> None:
    assert read(build_chart(kind, data, edit)) == (lines, "")


def forget_values(text: str) -> str:
    return text.replace("c:pt", "c:point")


NOTES = r"ppt/notesSlides/notesSlide1\.xml"
LAYOUT = r"ppt/slideLayouts/slideLayout\d+\.xml"
SLIDE = r"ppt/slides/slide1\.xml"


@pytest.mark.parametrize(
    ("part", "change", "lines", "note"),
    [
        (CHART_PART, damage, ["Report", "Ines"], "slide 1: a chart is damaged and not read"),
        (CHART_PART, remove, ["Report", "Ines"], "slide 1: a chart is damaged and not read"),
        (CHART_PART, forget_values, ["Report", "Ines"], "slide 1: a chart has no saved values"),
        (NOTES, damage, ["Report", *SALES], "slide 1: the notes are damaged and not read"),
        (LAYOUT, damage, ["Report", *SALES, "Ines"], ""),
        (r"docProps/core\.xml", damage, ["Report", *SALES, "Ines"], ""),
        (SLIDE, damage, [], "slide 1 is damaged and not read"),
        (SLIDE, remove, [], "slide 1 is damaged and not read"),
    ],
    ids=["chart", "no chart", "chart without values", "notes", "layout", "properties", "slide", "no slide"],
)  # fmt: skip
def test_a_damaged_part_costs_no_other(part: str, change: Change, lines: list[str], note: str) -> None:
    content = build_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, sales(), title="Report", notes="Ines")
    assert read(with_parts(content, {part: change})) == (lines, note)


SLIDE_RELATIONS = r"ppt/slides/_rels/slide1\.xml\.rels"
TYPES = r"\[Content_Types\]\.xml"
LOST_RELATIONS = "slide 1: relations are damaged, notes may be left out"
LOST_CHART = "slide 1: a chart is damaged and not read"


def without(pattern: str) -> Change:
    """Leaves out what fits a pattern, which is there."""

    def change(text: str) -> str:
        changed = re.sub(pattern, "", text)
        assert changed != text
        return changed

    return change


@pytest.mark.parametrize(
    ("part", "change", "lines", "note"),
    [
        (SLIDE_RELATIONS, without(r' Target="[^"]*notes[^"]*"'), ["Report", *SALES], LOST_RELATIONS),
        (SLIDE_RELATIONS, without(r'(?<= )Id="\w+"(?=[^>]*notesSlide)'), ["Report", *SALES], LOST_RELATIONS),
        (SLIDE_RELATIONS, without(r' Type="[^"]*notesSlide"'), ["Report", *SALES], LOST_RELATIONS),
        (SLIDE_RELATIONS, without(r' Type="[^"]*slideLayout"'), ["Report", *SALES, "Ines"], LOST_RELATIONS),
        (SLIDE_RELATIONS, damage, ["Report"], f"{LOST_CHART}; {LOST_RELATIONS}"),
        (SLIDE_RELATIONS, lambda _: "<relations/>", ["Report"], f"{LOST_CHART}; {LOST_RELATIONS}"),
        (NOTES, remove, ["Report", *SALES], LOST_RELATIONS),
        (r"_rels/\.rels", without(r' Type="[^"]*core-properties"'), ["Report", *SALES, "Ines"], ""),
        (TYPES, without(r'<Default Extension="xlsx"[^>]*>'), ["Report", *SALES, "Ines"], ""),
        (TYPES, without(r'(?<=notesSlide1.xml") ContentType="[^"]*"'), ["Report", *SALES],
         "slide 1: the notes are damaged and not read"),
        (TYPES, without(r'(?<=slide1.xml") ContentType="[^"]*"'), [], "slide 1 is damaged and not read"),
    ],
    ids=[
        "no target", "no name", "no kind", "layout of no kind", "relations", "relations of another kind", "no notes",
        "properties of no kind", "workbook of no type", "notes of no type", "slide of no type",
    ],
)  # fmt: skip
def test_a_damaged_relation_costs_only_what_it_leads_to(part: str, change: Change, lines: list[str], note: str) -> None:
    content = build_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, sales(), title="Report", notes="Ines")
    assert read(with_parts(content, {part: change})) == (lines, note)


def test_strict_files_are_read() -> None:
    def make_strict(text: str) -> str:
        family = "(presentationml|officeDocument|drawingml)"
        return re.sub(f"http://schemas.openxmlformats.org/{family}/2006/", r"http://purl.oclc.org/ooxml/\1/", text)

    content = build_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, sales(), title="Report", notes="Ines")
    strict = with_parts(content, {r".*\.(xml|rels)": make_strict})
    assert read(strict) == (["Report", *SALES, "Ines"], "")


def test_a_placeholder_without_properties_costs_nothing() -> None:
    def forget_properties(slide: str) -> str:
        return re.sub(r"<p:spPr\b[^>]*/>|<p:spPr>.*?</p:spPr>", "", slide, count=1)

    content = with_parts(build_slide(box("Ines")), {SLIDE: forget_properties})
    assert read(content) == (["Report", "Ines"], "")


def test_a_damaged_diagram_is_told() -> None:
    diagram = frame('<dgm:relIds r:dm="nowhere"/>')
    assert read(build_slide(diagram)) == (["Report"], "slide 1: a diagram is damaged and not read")


def test_the_title_is_one_that_is_shown() -> None:
    content = build_slide()

    def hide(text: str) -> str:
        return text.replace("<p:cNvPr", "<p:cNvPr hidden='1'")

    assert read_office(content, Kind.SLIDES)["title"] == "Report"
    assert read_office(with_parts(content, {SLIDE: hide}), Kind.SLIDES)["title"] == ""
