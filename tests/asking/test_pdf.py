"""PDFs: what a viewer shows of them is read, as sentences, and nothing else."""

from pathlib import Path

import pytest

from crag.asking.pdf.process import PdfError, read_pdf
from tests.asking.pdf_files import PdfPage, build_pdf, text_at

ENCRYPTED = Path(__file__).parent / "encrypted"
SHOWN = "The ferry sails at nine."
SHOWN_TEXT = text_at(60, 740, SHOWN)


def read(content: bytes) -> list[list[str]]:
    """The paragraphs of each page."""
    return [list(page) for page in read_pdf(content).pages]


@pytest.mark.parametrize("name", ["rc4_128", "aes_128", "aes_256"])
def test_an_encrypted_pdf_without_a_password_is_read_as_in_a_viewer(name: str) -> None:
    content = (ENCRYPTED / f"{name}.pdf").read_bytes()
    assert read(content) == [["The lighthouse was designed by the engineer Mara Quist in 1907."]]


def layered(state: str) -> bytes:
    """A page with a sentence in a layer that is on or off."""
    content = f"{SHOWN_TEXT}/OC /Layer BDC {text_at(60, 600, 'A layer.')} EMC"
    return build_pdf(
        PdfPage(content, resources="/Properties << /Layer 900 0 R >>"),
        catalog=f"/OCProperties << /OCGs [900 0 R] /D << /{state} [900 0 R] /Order [900 0 R] >> >>",
        extra={900: "<< /Type /OCG /Name (Draft) >>"},
    )


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(PdfPage(SHOWN_TEXT + text_at(60, 40, "X"), entries="/CropBox [0 100 612 792]"), id="cropped"),
        pytest.param(SHOWN_TEXT + text_at(60, 600, "X", before="1 1 1 rg"), id="white on white"),
        pytest.param(SHOWN_TEXT + text_at(60, 600, "X", before="3 Tr"), id="render mode 3"),
        pytest.param(SHOWN_TEXT + text_at(60, 600, "X") + "0 g 50 590 99 30 re f", id="under a bar"),
        pytest.param("0.1 g 0 500 612 99 re f " + SHOWN_TEXT + text_at(60, 550, "X", before="0.1 g"), id="on black"),
        pytest.param(SHOWN_TEXT + "q 0 0 10 10 re W n " + text_at(60, 600, "X") + " Q", id="clipped"),
        pytest.param(SHOWN_TEXT + text_at(900, 600, "X"), id="beside the page"),
    ],
)
def test_what_a_viewer_does_not_show_is_not_read(content: PdfPage | str) -> None:
    assert read(build_pdf(content)) == [[SHOWN]]


def test_a_layer_is_read_only_while_it_is_on() -> None:
    assert read(layered("OFF")) == [[SHOWN]]
    assert read(layered("ON")) == [[SHOWN, "A layer."]]


SCAN = "0 g " + " ".join(f"{x} 538 2 9 re f" for x in range(60, 190, 4)) + " "
"""Ink where a sentence stands, as in a picture of it."""


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("0 g 0 500 612 99 re f " + text_at(60, 540, SHOWN, before="1 g"), id="white on black"),
        pytest.param(text_at(60, 540, SHOWN, before="0.85 g"), id="light grey"),
        pytest.param(text_at(60, 540, SHOWN, size=5), id="small"),
        pytest.param(text_at(60, 540, SHOWN, before="1 Tr"), id="outlines"),
        pytest.param(SCAN + text_at(60, 540, SHOWN, before="3 Tr"), id="recognised scan"),
    ],
)
def test_what_a_viewer_shows_is_read(content: str) -> None:
    assert read(build_pdf(content)) == [[SHOWN]]


@pytest.mark.parametrize(
    ("rotate", "matrix"),
    [(0, "1 0 0 1 60 700"), (90, "0 1 -1 0 60 60"), (180, "-1 0 0 -1 500 60"), (270, "0 -1 1 0 60 700"),
     (0, "0 1 -1 0 60 60"), (0, "0 -1 1 0 60 700"), (0, "-1 0 0 -1 500 60")],
)  # fmt: skip
def test_turned_pages_and_turned_text_are_read(rotate: int, matrix: str) -> None:
    text = f"BT /F1 11 Tf {matrix} Tm 14 TL (The tower was drawn by the archi-) Tj T* (tect Mara Quist.) Tj ET"
    content = build_pdf(PdfPage(text, entries=f"/Rotate {rotate}"))
    assert read(content) == [["The tower was drawn by the architect Mara Quist."]]


LEFT = [
    "The ferry was built in 1922 by",
    "three sisters who had sold their",
    "farm and who wanted to see the",
    "other shore.",
]
RIGHT = [
    "Today it carries ninety people",
    "a day. Its bell was cast in the",
    "foundry of Eastport, and Mara",
    "Quist rings it.",
]
COLUMNS = [
    "The ferry was built in 1922 by three sisters who had sold their farm and who wanted to see the other shore.",
    "Today it carries ninety people a day. Its bell was cast in the foundry of Eastport, and Mara Quist rings it.",
]


def side_by_side(*columns: list[str], top: float = 700, width: float = 250) -> str:
    """Rows of columns, written row by row."""
    text = ""
    for row in range(max(map(len, columns))):
        for number, column in enumerate(columns):
            if row < len(column) and column[row]:
                text += text_at(60 + width * number, top - 14 * row, column[row])
    return text


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(text_at(60, 700, *LEFT) + text_at(310, 700, *RIGHT), id="one after the other"),
        pytest.param(side_by_side(LEFT, RIGHT), id="row by row"),
        pytest.param(text_at(60, 700, *LEFT) + text_at(310, 694, *RIGHT), id="lines at other heights"),
        pytest.param(text_at(310, 700, *RIGHT) + text_at(60, 700, *LEFT), id="right column first"),
    ],
)
def test_columns_are_read_one_after_the_other(content: str) -> None:
    heading = "A ferry and its people, told by those who sail on it and by those who wait for it on the shore"
    assert read(build_pdf(text_at(60, 740, heading) + content)) == [[heading, *COLUMNS]]


def test_rows_of_a_table_stay_on_one_line() -> None:
    years, winners, towns = (
        ["Year", "2018", "2019", "2020"],
        ["Winner", "Mara Quist", "", "Olu Ferry"],
        ["Town", "Eastport", "Sandby", "Norwood"],
    )
    table = ["Year | Winner | Town", "2018 | Mara Quist | Eastport", "2019 | | Sandby", "2020 | Olu Ferry | Norwood"]
    by_rows = side_by_side(years, winners, towns, width=120)
    by_columns = "".join(text_at(60 + 120 * n, 700, *column) for n, column in enumerate((years, winners, towns)))
    assert read(build_pdf(by_rows)) == [table]
    assert read(build_pdf(by_columns)) == [table]


def test_a_cell_of_two_lines_stays_in_its_row() -> None:
    rows = text_at(60, 700, "2018") + text_at(160, 700, "A boat with two", "masts") + text_at(300, 700, "Sandby")
    rows += text_at(60, 660, "2019") + text_at(160, 660, "A raft") + text_at(300, 660, "Eastport")
    assert read(build_pdf(rows)) == [["2018 | A boat with two masts | Sandby", "2019 | A raft | Eastport"]]


@pytest.mark.parametrize(
    ("lines", "paragraphs"),
    [
        (["It was planned by the engi-", "neer Mara Quist."], ["It was planned by the engineer Mara Quist."]),
        (["She is the daughter of Ole Lind-", "gren."], ["She is the daughter of Ole Lindgren."]),
        (["It cost 1,-", "250,000 crowns."], ["It cost 1,250,000 crowns."]),
        (["She is a well-", "known painter."], ["She is a well-known painter."]),
        (["A state-of-", "the-art ferry."], ["A state-of-the-art ferry."]),
        (["The Anglo-", "Danish line."], ["The Anglo-Danish line."]),
        (["The years 1914-", "1918 were quiet."], ["The years 1914-1918 were quiet."]),
        (["A prize-", "winning novel."], ["A prize-winning novel."]),
        (["She was twenty-", "five then."], ["She was twenty-five then."]),
        (["Boats with two-", "and three-cornered sails."], ["Boats with two- and three-cornered sails."]),
        (["A sun-blind hangs there. The sun-", "blind is red."], ["A sun-blind hangs there. The sun-blind is red."]),
        (["The prize went to Mara", "Quist in 1988."], ["The prize went to Mara Quist in 1988."]),
        (["Hours of the ferry", "The ferry sails every day of the year, also in winter."],
         ["Hours of the ferry", "The ferry sails every day of the year, also in winter."]),
        (["In the years 1914–", "1918 it lay still."], ["In the years 1914–1918 it lay still."]),
        (["THE FERRY OF ADA STOR-", "BERG"], ["THE FERRY OF ADA STORBERG"]),
        (["Write an e-", "mail to Mara."], ["Write an e-mail to Mara."]),
        (["Born: 12 May 1931", "Died: 3 June 2001"], ["Born: 12 May 1931", "Died: 3 June 2001"]),
        (["The crew:", "- Mara Quist", "- Olu Ferry"], ["The crew:", "- Mara Quist", "- Olu Ferry"]),
        (["1. Untie the boat and wait until", "all are on board.", "2. Ring the bell."],
         ["1. Untie the boat and wait until all are on board.", "2. Ring the bell."]),
    ],
)  # fmt: skip
def test_lines_become_sentences(lines: list[str], paragraphs: list[str]) -> None:
    assert read(build_pdf(text_at(60, 740, *lines))) == [paragraphs]


def test_paragraphs_stay_apart() -> None:
    first = text_at(60, 740, "The ferry was built in 1922 by three sisters who", "had sold their farm.")
    second = text_at(60, 700, "In 1930 it was sold. The new owner painted it red", "and named it Heron.")
    assert read(build_pdf(first + second)) == [
        [
            "The ferry was built in 1922 by three sisters who had sold their farm.",
            "In 1930 it was sold. The new owner painted it red and named it Heron.",
        ]
    ]


def test_a_sentence_goes_on_on_the_next_page() -> None:
    pages = [text_at(60, 60, "The bridge was opened by the mayor"), text_at(60, 740, "Ada Storberg. It rained.")]
    assert read(build_pdf(*pages)) == [["The bridge was opened by the mayor Ada Storberg."], ["It rained."]]


def test_raised_and_lowered_characters() -> None:
    text = (
        "BT /F1 11 Tf 60 700 Td (Sandby has 31,407) Tj /F1 7 Tf 4 Ts (2) Tj 0 Ts /F1 11 Tf ( people, 10) Tj "
        "/F1 7 Tf 4 Ts (5) Tj 0 Ts /F1 11 Tf ( trees, a 4) Tj /F1 7 Tf 4 Ts (th) Tj 0 Ts /F1 11 Tf ( mill and CO) Tj "
        "/F1 7 Tf -2 Ts (2) Tj 0 Ts /F1 11 Tf (.) Tj ET"
    )
    assert read(build_pdf(text)) == [["Sandby has 31,407 2 people, 10^5 trees, a 4th mill and CO2."]]


@pytest.mark.parametrize(("white", "word"), [(-0.5, "Cake"), (0, "Cake"), (1, "Cake"), (4, "Cak e")])
def test_a_word_whose_last_letter_is_placed_by_itself_is_one(white: float, word: str) -> None:
    def row(y: int, last: str) -> str:
        placed = f"(Cak) Tj {28.45 + white} 0 Td ({last}) Tj ET"
        return f"BT /F1 16 Tf 1 0 0 -1 8 {y} Tm {placed} BT /F1 16 Tf 1 0 0 -1 700 {y} Tm (4.20) Tj ET "

    assert read(build_pdf(f"q .75 0 0 -.75 0 792 cm {row(141, 'e')}{row(176, 'e')} Q")) == [[f"{word} | 4.20"] * 2]


def test_ligatures_are_letters() -> None:
    to_unicode = (
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff> endcodespacerange "
        "2 beginbfchar <01> <FB01> <02> <FB03> endbfchar endcmap end end"
    )
    encoding = "/ToUnicode 901 0 R /Encoding << /Differences [1 /fi /fi] >>"
    font = f"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman {encoding} >>"
    page = PdfPage("BT /F2 11 Tf 60 700 Td (The \001rst o\002ce) Tj ET", resources="/Font << /F2 900 0 R >>")
    extra = {900: font, 901: f"<< /Length {len(to_unicode)} >>\nstream\n{to_unicode}\nendstream"}
    assert read(build_pdf(page, extra=extra)) == [["The first office"]]


def test_form_fields_and_annotations_are_read_where_they_stand() -> None:
    field = (
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Mara Quist) /DA (/F1 11 Tf 0 g) /F 4 "
        "/Rect [120 600 300 620] >>"
    )
    content = "BT /F1 11 Tf 2 5 Td (A note by Olu.) Tj ET"
    form = f"<< /Subtype /Form /BBox [0 0 240 20] /Resources << /Font << /F1 3 0 R >> >> /Length {len(content)} >>"
    note = "<< /Type /Annot /Subtype /FreeText /Rect [60 500 300 520] /Contents (x) /AP << /N 902 0 R >> {flags} >>"
    extra = {
        900: field,
        901: note.format(flags=""),
        902: f"{form}\nstream\n{content}\nendstream",
        903: note.format(flags="/F 2").replace("500 300 520", "400 300 420"),  # hidden
    }
    catalog = (
        "/AcroForm << /Fields [900 0 R] /NeedAppearances true /DA (/F1 11 Tf 0 g) /DR << /Font << /F1 3 0 R >> >> >>"
    )
    page = PdfPage(text_at(60, 604, "Captain:"), entries="/Annots [900 0 R 901 0 R 903 0 R]")
    assert read(build_pdf(page, catalog=catalog, extra=extra)) == [["Captain: Mara Quist", "A note by Olu."]]


def test_what_repeats_on_every_page_is_read_once() -> None:
    texts = [
        ["The first page says that the ferry was built by"],
        ["three sisters. The second page has a list.", "It ends here."],
        ["The third page is the last one."],
    ]
    pages = [
        text_at(60, 770, "Ferry News 1922", size=9)
        + text_at(60, 740, *lines)
        + text_at(300, 30, f"Page {number} of 3", size=9)
        for number, lines in enumerate(texts, start=1)
    ]
    assert read(build_pdf(*pages)) == [
        ["Ferry News 1922", "The first page says that the ferry was built by three sisters."],
        ["The second page has a list. It ends here."],
        ["The third page is the last one."],
    ]


def test_lines_that_differ_in_more_than_the_page_number_are_no_running_heads() -> None:
    pages = [
        text_at(60, 740, f"The ferry of {year}", f"{count} people sailed on it.")
        for year, count in ((1922, 40), (1931, 55))
    ]
    assert [len(" ".join(page).split()) for page in read(build_pdf(*pages))] == [9, 9]


def test_headings_in_large_print_that_count_with_the_pages_stay() -> None:
    pages = [
        text_at(60, 740, f"Day {day}", size=18) + text_at(60, 700, f"We sailed to {town}.") + text_at(300, 30, f"{day}")
        for day, town in enumerate(["Moss", "Oslo", "Bergen"], start=1)
    ]
    assert read(build_pdf(*pages)) == [
        ["Day 1", "We sailed to Moss."],
        ["Day 2", "We sailed to Oslo."],
        ["Day 3", "We sailed to Bergen."],
    ]


def test_the_title_is_the_authors() -> None:
    assert read_pdf(build_pdf(SHOWN_TEXT, info="/Title (The Ferry)")).title == "The Ferry"
    assert not read_pdf(build_pdf(SHOWN_TEXT, info="/Title (Microsoft Word - ferry.docx)")).title


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param((ENCRYPTED / "password.pdf").read_bytes(), "it needs a password; save a copy", id="password"),
        pytest.param(b"%PDF-1.4\nnothing", "it is damaged or not a whole PDF; open it", id="damaged"),
        pytest.param(build_pdf("0 g 60 598 300 120 re f"), "no text: its pages are pictures", id="scan"),
    ],
)
def test_a_pdf_that_cannot_be_read_is_told_with_a_remedy(content: bytes, message: str) -> None:
    with pytest.raises(PdfError, match=message):
        read_pdf(content)


def test_a_slow_pdf_is_given_up() -> None:
    with pytest.raises(PdfError, match=r"took more than 0\.01 s; split it"):
        read_pdf(build_pdf(SHOWN_TEXT), seconds=0.01)
