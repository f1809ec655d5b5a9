"""RTF as a word processor shows it."""

from pathlib import Path

import pytest

from crag.asking.documents import read_documents
from crag.asking.rich_text import read_rich_text
from crag.settings import ExtractSettings

HEAD = r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Times;}}"

# As Word writes a table: the row's definition stands before its cells and again behind them.
TABLE = HEAD + (
    r"The staff:\par\trowd\trgaph108\cellx3000\cellx6000\pard\plain \intbl {Name\cell Room\cell}\pard \intbl "
    r"{\trowd\cellx3000\row}\pard\plain \intbl {Ines Falkner\cell B14\par near the lift\cell}\pard \intbl {\trowd\row}"
    r"\pard 12 people.\par}"
)


def lines_of(tmp_path: Path, markup: str) -> list[str]:
    """The lines of a document's text, as they are searched and read."""
    path = tmp_path / "notes.rtf"
    path.write_text(markup, encoding="ascii")
    said: list[str] = []
    [document] = read_documents(str(path), ExtractSettings(labelled_tables=True), said.append)
    assert not said
    return document.text.splitlines()


@pytest.mark.parametrize(
    ("markup", "line"),
    [
        (r"The {\b alarm} code is 8642.", "The alarm code is 8642."),
        (r"It is f\'fcr us, 5 \u8364?, \u-10179?\u-8704?", "It is für us, 5 €, 😀"),
        (r"10{\super 6} ships", "10^6 ships"),
        (r"10\super 6\nosupersub  ships", "10^6 ships"),
        (r"48,312{\super 1} people", "48,312 [1] people"),
        (r"it costs {\deleted 10}{\revised 12} euros", "it costs 12 euros"),
        (r"open {\v not }on Sunday, \v no\'e9\v0 always", "open on Sunday, always"),
        (r'See {\field{\*\fldinst{HYPERLINK "http://x.org/a"}}{\fldrslt{\ul the list}}}.', "See the list."),
        (r"0{\*\shppict{\pict\pngblip 89504e47}}1", "01"),
        (r"\uc \u8364?5", "€5"),
        (r"10{\super 6}{\*\bkmkstart a} ships{\*\bkmkend a}", "10^6 ships"),
        (r"{\stylesheet{\*\cs17 \super reference;}}10{\super 6}", "10^6"),
        (r"10{\super 1}{\super\b 2}", "10^12"),
        (r"open {\v no\{t\} }now{\deleted{\footnote gone}}", "open now"),
    ],
)
def test_text_is_what_a_word_processor_shows(tmp_path: Path, markup: str, line: str) -> None:
    assert lines_of(tmp_path, HEAD + markup + r"\par}") == [line]


def test_a_table_has_its_header(tmp_path: Path) -> None:
    assert lines_of(tmp_path, TABLE) == ["The staff:", "Name: Ines Falkner | Room: B14 near the lift", "12 people."]


def test_rows_of_a_program_that_does_not_say_where_tables_are(tmp_path: Path) -> None:
    rows = r"Staff\par\trowd\cellx1\cellx2 name\cell fee\cell\row\trowd Ines\cell 4200\cell\row\trowd Rolf\cell 99\row}"
    assert lines_of(tmp_path, HEAD + rows) == ["Staff", "name: Ines | fee: 4200", "name: Rolf | fee: 99"]


def test_a_blank_line_parts_tables_and_a_blank_cell_is_one(tmp_path: Path) -> None:
    def row(*cells: str) -> str:
        return r"\trowd\pard\intbl " + "".join(rf"{cell}\cell " for cell in cells) + r"\row\pard "

    tables = (
        row("name", "fee", "room")
        + row("Ines", "", "B14")
        + row("", "7", "A1")
        + r"\par "
        + row("town", "rain")
        + row("Ostholm", "12")
    )
    assert lines_of(tmp_path, HEAD + tables + "}") == [
        "name: Ines | room: B14",
        "fee: 7 | room: A1",
        "town: Ostholm | rain: 12",
    ]


def test_notes_and_boxes_stand_at_the_end(tmp_path: Path) -> None:
    markup = (
        r"A claim.{\super\chftn}{\footnote\pard\plain{\super\chftn} Its source.} "
        r"{\shp{\*\shpinst{\shptxt In a box.\par}}}More.\par Last.\par}"
    )
    assert lines_of(tmp_path, HEAD + markup) == ["A claim. More.", "Last.", "Its source.", "In a box."]


def test_the_title_is_that_of_the_author(tmp_path: Path) -> None:
    assert read_rich_text(HEAD + r"{\info{\title H\'e4user}{\author Ines}}text\par}").title == "Häuser"


@pytest.mark.parametrize("markup", [r"{\b half of {\footnote it", "half of it}}} {", r"half of it\cell\row}"])
def test_a_damaged_file_gives_what_it_has(markup: str) -> None:
    assert "half of" in read_rich_text(HEAD + markup).html
