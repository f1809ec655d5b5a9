"""Superscripts and struck out text in files of Office: 10 to the power of 6 is not 106, 10 changed to 12 not 1012."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pptx
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx.util import Inches

from crag.asking.documents import read_documents
from crag.asking.raised_text import NOT_RAISED, RAISED, to_html
from crag.settings import ExtractSettings
from tests.asking.office_files import build_docx

LINE = "10^6 ships cost 12 euros"
RAISED_6, STRUCK_10 = {"baseline": "30000"}, {"strike": "sngStrike"}
RUNS: Sequence[tuple[str, dict[str, str]]] = (
    ("10", {}),
    ("", {}),
    ("6", RAISED_6),
    (" ships cost ", {}),
    ("10", STRUCK_10),
    ("12 euros", {"baseline": "0", "strike": "noStrike"}),
)


def build_slide() -> bytes:
    """A presentation of one slide with the line in a box and in a cell, and a lowered figure."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    box = slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame
    table = slide.shapes.add_table(2, 2, 0, Inches(2), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(0, 1).text, table.cell(1, 0).text = "what", "how much", "fleet"
    for frame in (box, table.cell(1, 1).text_frame):
        for text, properties in RUNS:
            add_run(frame.paragraphs[0], text, properties)

    formula = box.add_paragraph()
    for text, properties in (("H", {}), ("2", {"baseline": "-25000"}), ("O", {})):
        add_run(formula, text, properties)
    return saved(presentation)


def add_run(paragraph: Any, text: str, properties: dict[str, str]) -> None:
    run = paragraph.add_run()
    run.text = text
    for name, value in properties.items():
        run._r.get_or_add_rPr().set(name, value)


def build_sheet() -> bytes:
    """A workbook with the line in a cell, and a cell that is struck out as a whole."""
    workbook = openpyxl.Workbook()
    sheet = workbook.worksheets[0]
    sheet.append(["what", "how much"])
    raised_6 = TextBlock(InlineFont(vertAlign="superscript"), "6")
    struck_10 = TextBlock(InlineFont(strike=True), "10")
    sheet.append(["fleet", CellRichText("10", raised_6, " ships cost ", struck_10, "12 euros")])
    sheet.append(["crew", "99"])
    sheet["B3"].font = Font(strike=True)
    return saved(workbook)


def saved(file: Any) -> bytes:
    content = io.BytesIO()
    file.save(content)
    return content.getvalue()


def build_word(raised: str, struck: str) -> bytes:
    """A document with the line; a superscript and struck out text have these properties."""
    body = ""
    for text, changes in RUNS:
        properties = ""
        if changes is RAISED_6:
            properties = raised
        elif changes is STRUCK_10:
            properties = struck
        body += f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'
    return build_docx(f"<w:p>{body}</w:p>")


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        ("fleet.pptx", build_slide(), [LINE, "H2O", f"what: fleet | how much: {LINE}"]),
        ("fleet.xlsx", build_sheet(), [f"what: fleet | how much: {LINE}", "crew"]),
        ("fleet.docx", build_word('<w:vertAlign w:val="superscript"/>', "<w:strike/>"), [LINE]),
        ("by_hand.docx", build_word('<w:position w:val="6"/>', "<w:dstrike/>"), [LINE]),
    ],
)
def test_raised_and_struck_out_text(tmp_path: Path, name: str, content: bytes, lines: list[str]) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    said: list[str] = []
    [document] = read_documents(str(path), ExtractSettings(labelled_tables=True), said.append)
    assert document.text.splitlines() == lines


def test_marks_without_partners_go() -> None:
    assert to_html(f"a{NOT_RAISED}b{RAISED}c<") == "abc&lt;"
