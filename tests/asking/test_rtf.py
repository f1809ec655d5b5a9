"""RTF as a word processor shows it."""

from pathlib import Path

import pytest

from crag.asking.documents import read_documents
from crag.asking.rtf.reading import read_rich_text
from crag.settings import ExtractSettings

HEAD = r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Times;}}"

# As Word writes a table: the row's definition stands before its cells and again behind them.
TABLE = HEAD + (
    r"The staff:\par\trowd\trgaph108\cellx3000\cellx6000\pard\plain \intbl {Name\cell Room\cell}\pard \intbl "
    r"{\trowd\cellx3000\row}\pard\plain \intbl {Ines Falkner\cell B14\par near the lift\cell}\pard \intbl {\trowd\row}"
    r"\pard 12 people.\par}"
)


def lines_of(tmp_path: Path, markup: str | bytes) -> list[str]:
    """The lines of a document's text, as they are searched and read."""
    path = tmp_path / "notes.rtf"
    path.write_bytes(markup if isinstance(markup, bytes) else markup.encode("ascii"))
    said: list[str] = []
    [document] = read_documents(str(path), ExtractSettings(labelled_tables=True), said.append)
    assert not said
    return document.text.splitlines()


def html_of(markup: str) -> str:
    return read_rich_text(markup.encode("ascii")).html


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
        # Switches of their own.
        (r"{\strike\striked0 ten}12, {\striked1 a}b, {\deleted\strike0 c}d", "12, b, d"),
        (r"10{\super\up0 6}, 10{\up6 2}\up6 1\up0  ships", "10^6, 10^21 ships"),
        (r"10\super\v\strike gone\plain 6 ships", "106 ships"),
        # Text that moved is read where it went.
        (r"Now. {\mvf The plan. }Then. {\mvt The plan.}", "Now. Then. The plan."),
        # The mark of a paragraph that was deleted joins two.
        (r"costs {\deleted\par}12 {\v secret\par }euros", "costs 12 euros"),
        # What a field shows, and what it is told.
        (
            r"{\field{\*\fldinst DATE {\field{\*\fldinst x}{\fldrslt y}}}{\fldrslt 5 March}} is a day",
            "5 March is a day",
        ),
        (r'x {\field{\*\fldinst SYMBOL 163 \\f "Symbol"}{\fldrslt\f3}} 5', "x ≤ 5"),
        (r"sales: {\object{\*\objdata 0105}{\result 4200 units}}", "sales: 4200 units"),
        # Numbers and signs of lists.
        (r"{\pntext\f0 1.\tab}{\*\pn\pnlvlbody{\pntxta.}}First", "1. First"),
        (r"{\listtext\u-3913\'b7\tab}First", "First"),
        (r"{\listtext\pard\f2 o\tab}First", "First"),
        (r"{\listtext\pard Article 4\tab}First", "Article 4 First"),
        (r"{\listtext a)\tab}{\b First}", "a) First"),
        (r"{\v{\listtext 1.\tab}x\par}{\listtext 1.\tab}First", "1. First"),
        # A character that only stands for the one before it, and none that does.
        (r"{\uc2\u26085\'93\'fa{\uc1\u228 ?b}\u228 ??}{\uc0\u228 b}", "日äbääb"),
        (r"\u8220\ldblquote no\u8221\b0  x", "“no” x"),
        (r"\u1114112? \u-70000? \u? x", "� � x"),
        # Line breaks of the file are no text.
        ("It\r\n is\\b \r\nhe\nre", "It ishere"),
    ],
)
def test_text_is_what_a_word_processor_shows(tmp_path: Path, markup: str, line: str) -> None:
    assert lines_of(tmp_path, HEAD + markup + r"\par}") == [line]


@pytest.mark.parametrize("word", [r"\par", r"\line", r"\lbr3", r"\page", r"\column", r"\sect", "\\\n", "\\\r\n"])
def test_a_break_parts_lines(word: str) -> None:
    assert html_of(HEAD + rf"one{word} two\par}}") == "<p>one</p>\n<p>two</p>"


@pytest.mark.parametrize("word", [r"\tab", r"\softline", r"\softpage", r"\emspace", r"\~"])
def test_a_blank_parts_words(word: str) -> None:
    assert html_of(HEAD + rf"one{word} two\par}}").split() == ["<p>one", "two</p>"]


@pytest.mark.parametrize(
    "group",
    [
        b"{\\pict\\wmetafile8\\bin8 \0{}\\\xff\\{\0}",
        rb"{\*\shppict{\pict{\*\picprop{\sp{\sn shapeType}{\sv 75}}}\pngblip 89504e47}}\binfsxn4 ",
        rb"\bin3 }}{",
        rb"{\header Head{\footnote note}{\shp{\*\shpinst{\shptxt box}}}\par}{\footerf\pard\intbl Logo\cell\pard\par}",
        rb"{\*\annotation Comment{\super 2}\par}{\xe{\v word}}{\*\unknown text}",
        rb"{\info{\author Ines}{\*\company Firm}}{\*\pn{\pntxta .}}{\v{\shp{\*\shpinst{\shptxt Hidden.}}}}",
    ],
)
def test_what_is_no_text_costs_none(tmp_path: Path, group: bytes) -> None:
    assert lines_of(tmp_path, HEAD.encode() + b"The code " + group + rb"is 8642.\par}") == ["The code is 8642."]


CYRILLIC = r"\'cf\'f0\'e8"


@pytest.mark.parametrize(
    ("header", "text", "line"),
    [
        (r"\ansi\ansicpg1251{\fonttbl{\f0 Arial;}}", CYRILLIC, "При"),
        (r"\ansi\ansicpg1251{\fonttbl{\f0\fcharset1 Arial;}}\f0", CYRILLIC, "При"),
        (r"\ansi\ansicpg1251{\fonttbl{\f0\fcharset2 Arial;}}\f0", CYRILLIC, "При"),
        (r"\ansi\ansicpg1251{\fonttbl{\f0\fcharset99 Arial;}}\f0", CYRILLIC, "При"),
        (r"\ansi{\fonttbl{\f0 Arial;}{\f1\fcharset204 Arial;}}\f0", r"Gr\'fcn\f1 \'cf", "GrünП"),
        (
            r"\ansi\deff1{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}",
            rf"{{\f0 \'fc}}\f0\plain {CYRILLIC}",
            "üПри",
        ),
        (r"\ansi\deff0{\fonttbl{\f0\fcharset204 Arial;}}\f0", rf"\'cf\par{CYRILLIC}", "П</p>\n<p>При"),
        (r"\ansi{\fonttbl{\f0\fcharset0\cpg1251 Arial;}}\f0", CYRILLIC, "При"),
        (r"\ansi\ansicpg0", r"Gr\'fcn", "Grün"),
        (r"\ansi\ansicpg99999", r"Gr\'fcn", "Grün"),
        (r"\ansi\ansicpg65001", r"Gr\'c3\'bcn", "Grün"),
        (r"\mac", r"Caf\'8e", "Café"),
        (r"\mac\ansicpg10000{\fonttbl\f0\fswiss Helvetica;}\f0", r"Caf\'8e", "Café"),
        (r"\mac\ansicpg1252", r"Caf\'e9", "Café"),
        (r"\pc", r"Gr\'81n", "Grün"),
        (r"\pca", r"Gr\'81n", "Grün"),
        # The Mac's character sets.
        (r"\ansi{\fonttbl\f0\fcharset77 Helvetica;}\f0", r"Caf\'8e", "Café"),
        (r"\ansi{\fonttbl\f0\fcharset78 Osaka;}\f0", r"\'93\'fa", "日"),
        (r"\ansi{\fonttbl\f0\fcharset79 AppleGothic;}\f0", r"\'c0\'cf", "일"),
        (r"\ansi{\fonttbl\f0\fcharset80 Hei;}\f0", r"\'c4\'e3", "你"),
        (r"\ansi{\fonttbl\f0\fcharset81 Apple LiGothic;}\f0", r"\'a4\'e9", "日"),
        (r"\ansi{\fonttbl\f0\fcharset85 Times Greek;}\f0", r"\'e1\'e2", "αβ"),
        (r"\ansi{\fonttbl\f0\fcharset88 Times CE;}\f0", r"\'fc\'97d\'90", "Łódź"),
        (r"\ansi{\fonttbl\f0\fcharset89 Times CY;}\f0", r"\'8f\'f0\'e8", "При"),
        # Characters of two bytes: in letters, in two tokens, over two lines and groups of the file.
        (r"\ansi\ansicpg932", r"\'83e\'83X\'83g \'96\{\'83\\", "テスト 本ソ"),
        (r"\ansi\ansicpg936", "\\'c4\r\n\\'e3{\\b\\'ba\\'c3} \\'c4{}\\'e3", "你好 你"),
        # Fonts of symbols.
        (r"\ansi{\fonttbl{\f3\fcharset2 Symbol;}}", r"x {\f3\'a3} 5, {\f3 \u-3933\'a3}, {\f3 m}m", "x ≤ 5, ≤, μm"),
        (r"\ansi{\fonttbl{\f3\fcharset2 Wingdings;}}", r"{\listtext\f3\'a7\tab}First", "First"),
    ],
)
def test_code_pages(header: str, text: str, line: str) -> None:
    assert html_of(r"{\rtf1" + header + " " + text + r"\par}") == f"<p>{line}</p>"


@pytest.mark.parametrize(
    ("code_page", "encoding", "text"),
    [
        ("1251", "cp1251", "Привет"),
        ("1252", "utf-8", "Grün"),
        ("932", "cp932", "マップ。ｱ"),  # the second byte of the first letter is a brace
        ("1252", "utf-8-sig", "Grün"),
        ("1252", "utf-16", "Grün"),
    ],
)
def test_bytes_that_are_not_escaped(tmp_path: Path, code_page: str, encoding: str, text: str) -> None:
    markup = rf"{{\rtf1\ansi\ansicpg{code_page} {text}\par}}"
    assert lines_of(tmp_path, markup.encode(encoding)) == [text]


def test_blank_lines_before_the_first_brace(tmp_path: Path) -> None:
    assert lines_of(tmp_path, "\r\n\n " + HEAD + r"The code is 8642.\par}") == ["The code is 8642."]


def test_a_table_has_its_header(tmp_path: Path) -> None:
    assert lines_of(tmp_path, TABLE) == ["The staff:", "Name: Ines Falkner | Room: B14 near the lift", "12 people."]


def test_rows_of_a_program_that_does_not_say_where_tables_are(tmp_path: Path) -> None:
    rows = r"Staff\par\trowd\cellx1\cellx2 name\cell fee\cell\row\trowd Ines\cell 4200\cell\row\trowd Rolf\cell 99\row}"
    assert lines_of(tmp_path, HEAD + rows) == ["Staff", "name: Ines | fee: 4200", "name: Rolf | fee: 99"]


def test_rows_of_a_program_that_defines_them(tmp_path: Path) -> None:
    rows = (
        r"Staff\par\trowd\cellx1\cellx2 name\cell fee\cell\row\trowd Ines\par Falkner\cell 4200\cell\row"
        r"\pard\page\trowd\intbl Rolf\cell 99\cell\row After\par it\par}"
    )
    assert lines_of(tmp_path, HEAD + rows) == [
        "Staff",
        "name: Ines Falkner | fee: 4200",
        "name: Rolf | fee: 99",
        "After",
        "it",
    ]


def test_a_table_in_a_cell_of_textedit(tmp_path: Path) -> None:
    def nested_row(*cells: str) -> str:
        return (
            r"\itap2\trowd\cellx1\cellx2 "
            + "".join(rf"\pard\intbl\itap2 {cell}\nestcell " for cell in cells)
            + r"\nestrow "
        )

    table = (
        "\\itap1\\trowd\\cellx1\\cellx2 \\pard\\intbl\\itap1 Of the town:\\\n"
        + nested_row("name", "fee")
        + nested_row("Ines", "42")
        + r"\pard\intbl\itap1\cell \pard\intbl\itap1 B14\cell \row \pard End.}"
    )
    lines = ["Of the town:", "name: Ines | fee: 42", "B14", "End."]
    assert lines_of(tmp_path, r"{\rtf1\ansi\cocoartf2709" + table) == lines
    assert "Of the town:<table>" in html_of(r"{\rtf1\ansi\cocoartf2709" + table)


def test_a_table_in_a_cell(tmp_path: Path) -> None:
    def nested_row(*cells: str) -> str:
        ends = "".join(rf"{cell}\nestcell " for cell in cells)
        properties = r"{\*\nesttableprops\trowd\cellx1000\cellx2000\nestrow}{\nonesttables\par}"
        return rf"\pard\intbl\itap2{{{ends}}}{properties}"

    table = (
        r"\trowd\cellx3000\cellx6000\pard\intbl Team\cell Staff\cell\row\pard\intbl Red\cell Of the town:\par "
        + nested_row("name", "fee")
        + nested_row("Ines", "42")
        + nested_row("Rolf", "99")
        + r"\pard\intbl\cell\row\pard End.\par}"
    )
    assert lines_of(tmp_path, HEAD + table) == [
        "Team",
        "Staff",
        "Red",
        "Of the town:",
        "name: Ines | fee: 42",
        "name: Rolf | fee: 99",
        "End.",
    ]


def test_ends_of_cells_outside_of_tables_part_words(tmp_path: Path) -> None:
    assert lines_of(tmp_path, HEAD + r"one\cell two\par three\par}") == ["one", "two", "three"]


def build_row(definition: str, *cells: str) -> str:
    return r"\trowd" + definition + r"\pard\intbl " + "".join(rf"{cell}\cell " for cell in cells) + r"\row"


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        (  # One wide cell, as Word writes it; edges differ by a hair.
            [
                build_row(r"\cellx1000\cellx3000\cellx4000", "Place", "Boats", "Note"),
                build_row(r"\cellx1000\cellx2000\cellx2990\cellx4010", "North", "5", "7", "fine"),
            ],
            ["Place: North | Boats: 5 | Boats: 7 | Note: fine"],
        ),
        (
            [
                build_row(r"\cellx1000\cellx2000\cellx3000", "Day", "Morning", "Evening"),
                build_row(r"\cellx2000\cellx3000", "All week", "gym"),
            ],
            ["Day: All week | Morning: All week | Evening: gym"],
        ),
        (  # The cells that it covers are there, marked and blank.
            [
                build_row(r"\cellx1000\clmgf\cellx2000\clmrg\cellx3000", "Place", "Boats", ""),
                build_row(r"\clvmgf\cellx1000\cellx2000\cellx3000", "North", "5", "7"),
                build_row(r"\clvmrg\cellx1000\cellx2000\cellx3000", "", "8", "9"),
            ],
            ["Place: North | Boats: 5 | Boats: 7", "Place: North | Boats: 8 | Boats: 9"],
        ),
        (  # A definition that does not fit its row is none.
            [
                build_row(r"\cellx1000", "Place", "Boats"),
                build_row(r"\cellx3000\cellx2000", "North", "5"),
            ],
            ["Place: North | Boats: 5"],
        ),
    ],
    ids=["wide name", "wide cell", "marked", "does not fit"],
)
def test_merged_cells_have_their_value_below_each_name(tmp_path: Path, rows: list[str], lines: list[str]) -> None:
    assert lines_of(tmp_path, HEAD + "".join(rows) + r"\pard}") == lines


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
        r"{\shp{\*\shpinst{\shptxt In a box.\par}}{\shprslt{\*\do{\dptxbx{\dptxbxtext In a box.}}}}}More.\par Last."
        r"{\*\do\dobxpage{\dptxbx{\dptxbxtext\pard Drawn.\par}}}\par}"
    )
    assert lines_of(tmp_path, HEAD + markup) == ["A claim. More.", "Last.", "Its source.", "In a box.", "Drawn."]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        (r"{\title H\'e4user}{\author Ines}", "Häuser"),
        (r"{\title {\f0 Annual} Plan \{A\}}", "Annual Plan {A}"),
        ("{\\title Annual\r\n Plan}", "Annual Plan"),
        (r"{\uc2{\title \u26085\'93\'fa\u26412\'96\'7b}}", "日本"),
        (r"{\upr{\title \'3f\'3f}{\*\ud\uc0{\title {\uc1\u1055 ?\u1083 ?}}}}", "Пл"),
    ],
)
def test_the_title_is_that_of_the_author(title: str, text: str) -> None:
    page = read_rich_text((HEAD + rf"{{\info{title}}}text\par}}").encode())
    assert (page.title, page.html) == (text, "<p>text</p>")


@pytest.mark.parametrize(
    ("markup", "note"),
    [
        (r"{\b half of {\footnote it", "cut off"),
        (r"half of it {\pict\pngblip 8950", "cut off"),
        (r"half of it {\pict\bin99999999999999999999 x}", "cut off"),
        (r"half of it \'", "cut off"),
        ("half of it \\", "cut off"),
        ("half of it}}} {more", "behind the brace"),
        (r"half of it\cell\row}", ""),
        (r"half of it\u99999999999999999999\fs99999999999999999999}", ""),
        ("{" * 20_000 + "half of it" + "}" * 20_001, ""),
        (r"\pard\intbl\itap999999999 half of it\nestcell\nestrow}", ""),
    ],
)
def test_a_damaged_file_gives_what_it_has(markup: str, note: str) -> None:
    page = read_rich_text((HEAD + markup).encode())
    assert "half of" in page.html
    assert note in page.note
    assert bool(note) == bool(page.note)


@pytest.mark.parametrize(
    ("markup", "note"),
    [
        (r"if {\mmath{\*\moMathPara{\*\moMath{\mr a}}}} holds", "equations are not read: 1"),
        (r"if {\field{\*\fldinst EQ \\f(1,2)}{\fldrslt}} holds", "equations are not read: 1"),
        (r"{\f1\'fc\'fc} done", "signs of fonts of pictures are not read: 2"),
    ],
)
def test_what_is_left_out_is_told(markup: str, note: str) -> None:
    head = r"{\rtf1\ansi{\fonttbl{\f1\fcharset2 Wingdings;}}"
    assert read_rich_text((head + markup + "}").encode()).note == note
