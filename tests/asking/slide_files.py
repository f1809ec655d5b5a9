"""Small presentations for tests: python-pptx makes them, then parts of their XML are changed."""

import io
import re
from collections.abc import Sequence

import pptx
from lxml import etree
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Inches

from tests.asking.package_files import with_parts

PART = "rId2"
CHART_PART = r"ppt/charts/chart\d+\.xml"

_NAMESPACES = " ".join(
    f'xmlns:{prefix}="http://schemas.{place}"'
    for prefix, place in {
        "a": "openxmlformats.org/drawingml/2006/main",
        "a14": "microsoft.com/office/drawing/2010/main",
        "c": "openxmlformats.org/drawingml/2006/chart",
        "cx": "microsoft.com/office/drawing/2014/chartex",
        "dgm": "openxmlformats.org/drawingml/2006/diagram",
        "m": "openxmlformats.org/officeDocument/2006/math",
        "mc": "openxmlformats.org/markup-compatibility/2006",
        "p": "openxmlformats.org/presentationml/2006/main",
        "r": "openxmlformats.org/officeDocument/2006/relationships",
    }.items()
)
EQUATION = "<a14:m><m:oMath><m:r><m:t>E=mc</m:t></m:r></m:oMath></a14:m>"


def build_slide(*shapes: str, part: str = "", notes: str = "") -> bytes:
    """A presentation of one slide with the title "Report", these shapes, and a part with the relation `PART`."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Report"
    for shape in shapes:
        slide.shapes._spTree.append(to_element(shape))
    if part:
        content = etree.tostring(to_element(part))
        target = Part(PackURI("/ppt/extra/part.xml"), "application/xml", slide.part.package, content)
        assert slide.part.relate_to(target, "http://example.org/part") == PART
    if notes:
        slide.notes_slide.notes_text_frame.text = notes
    return saved(presentation)


def build_chart(
    kind: XL_CHART_TYPE,
    data: CategoryChartData | XyChartData,
    *edits: tuple[str, str],
    title: str = "",
    notes: str = "",
) -> bytes:
    """A presentation of one slide with a chart, in whose XML each pattern is replaced wherever it is."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5 if title else 6])
    if title:
        slide.shapes.title.text = title
    if notes:
        slide.notes_slide.notes_text_frame.text = notes
    slide.shapes.add_chart(kind, 0, Inches(2), Inches(5), Inches(3), data)

    def change(text: str) -> str:
        for pattern, replacement in edits:
            pieces = re.split(pattern, text, flags=re.DOTALL)
            assert len(pieces) > 1, pattern
            text = replacement.join(pieces)
        return text

    return with_parts(saved(presentation), {CHART_PART: change})


HIDDEN = 'hidden="1"'


def box(text: str = "", *, number: int = 50, attributes: str = "", top: int = 3_000_000, runs: str = "") -> str:
    """A text box; `runs`: its runs, instead of a text."""
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="box" {attributes}/><p:cNvSpPr/><p:nvPr/>'
        f'</p:nvSpPr><p:spPr><a:xfrm><a:off x="0" y="{top}"/><a:ext cx="9" cy="9"/></a:xfrm></p:spPr>'
        f"<p:txBody><a:bodyPr/>{paragraph(text, runs)}</p:txBody></p:sp>"
    )


def paragraph(text: str = "", runs: str = "") -> str:
    return f"<a:p>{runs or run(text)}</a:p>"


def run(text: str, attributes: str = "") -> str:
    return f"<a:r><a:rPr {attributes}/><a:t>{text}</a:t></a:r>"


def group(*shapes: str, attributes: str = "") -> str:
    return (
        f'<p:grpSp><p:nvGrpSpPr><p:cNvPr id="60" name="group" {attributes}/><p:cNvGrpSpPr/><p:nvPr/>'
        f"</p:nvGrpSpPr><p:grpSpPr/>{''.join(shapes)}</p:grpSp>"
    )


def alternatives(choice: str, fallback: str) -> str:
    """Something, and what older programs show instead."""
    return (
        f'<mc:AlternateContent><mc:Choice Requires="a14">{choice}</mc:Choice>'
        f"<mc:Fallback>{fallback}</mc:Fallback></mc:AlternateContent>"
    )


def frame(content: str, kind: str = "") -> str:
    """A frame with a table, or a reference to the part of a chart or a diagram."""
    return (
        '<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="70" name="frame"/><p:cNvGraphicFramePr/><p:nvPr/>'
        '</p:nvGraphicFramePr><p:xfrm><a:off x="0" y="4000000"/><a:ext cx="9" cy="9"/></p:xfrm>'
        f'<a:graphic><a:graphicData uri="{kind}">{content}</a:graphicData></a:graphic></p:graphicFrame>'
    )


def table(*rows: Sequence[str]) -> str:
    """A table; a cell may begin with its attributes: ``rowSpan="2"|North``."""
    lines = []
    for row in rows:
        cells = []
        for cell in row:
            attributes, _, text = cell.rpartition("|")
            cells.append(f"<a:tc {attributes}><a:txBody><a:bodyPr/>{paragraph(text)}</a:txBody></a:tc>")
        lines.append(f'<a:tr h="1">{"".join(cells)}</a:tr>')
    return frame(f"<a:tbl><a:tblGrid/>{''.join(lines)}</a:tbl>")


def to_element(markup: str) -> etree._Element:
    """The first element of some markup, with the prefixes of Office."""
    root = pptx.oxml.parse_xml(f"<root {_NAMESPACES}>{markup}</root>")
    return root[0]


def saved(presentation: pptx.presentation.Presentation) -> bytes:
    file = io.BytesIO()
    presentation.save(file)
    return file.getvalue()
