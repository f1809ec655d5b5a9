"""What is read of documents of each kind, and how what cannot be read is told."""

import errno
import json
import os
import socket
import zipfile
from pathlib import Path

import pytest

from crag.asking.documents import Document, read_documents
from crag.asking.front_matter import split_front_matter
from crag.asking.kinds import Kind, find_kind
from crag.asking.office.process import read_office_file
from crag.asking.parts import split_address
from crag.asking.reading_process import UnreadableFileError
from crag.asking.wrapped_lines import join_wrapped_lines
from crag.settings import ExtractSettings
from tests.asking.office_files import (
    STAFF,
    build_docx,
    build_long_xlsx,
    build_pptx,
    build_pptx_of_charts,
    build_xlsx,
    word_paragraph,
    word_table,
)
from tests.asking.pdf_files import build_pdf, text_at

LABELLED = ["name: Ines Falkner | room: B14 | extension: 2207", "name: Tomas Reuel | room: A01 | extension: 2290"]
SETTINGS = ExtractSettings(labelled_tables=True, workers=1)

MARKDOWN = """---
title: "House rules"
tags: [office]
---
# Rules *for all*

The **alarm code** is `8642`.[^1] See the [plan](plan.md).
A line
that goes on.

| name | room | extension |
|------|------|-----------|
| Ines Falkner | B14 | 2207 |
| Tomas Reuel | A01 | 2290 |

- first ~~old~~ item

[^1]: Changed in May.
"""


def separated(by: str) -> str:
    return "".join(by.join(row) + "\n" for row in STAFF)


def as_objects() -> list[dict[str, str]]:
    return [dict(zip(STAFF[0], row, strict=True)) for row in STAFF[1:]]


def read(path: Path, content: bytes | str) -> tuple[list[Document], list[str]]:
    """The documents of a file with this content, and what is told about it, without its path."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    said: list[str] = []
    documents = read_documents(str(path), SETTINGS, said.append)
    return documents, [line.replace(str(path), path.name) for line in said]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("staff.csv", separated(",")),
        ("semicolons.csv", "sep=;\r\n" + separated(";")),
        ("title.csv", "Staff of the house,,\n\n" + separated(",")),
        ("staff.tsv", separated("\t")),
        ("staff.json", json.dumps(as_objects())),
        ("staff.jsonl", "\n".join(map(json.dumps, as_objects()))),
        ("staff.docx", build_docx(word_table(STAFF))),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 20 else "",
)
def test_a_row_is_read_with_its_header(tmp_path: Path, name: str, content: bytes | str) -> None:
    [document], said = read(tmp_path / name, content)
    assert document.text.splitlines()[-2:] == LABELLED
    assert said == []


def test_numbers_keep_their_form_in_a_table(tmp_path: Path) -> None:
    [document], _ = read(tmp_path / "prices.csv", 'lens;price;code\n"Velora; blue";2,50;0042\nAmber;1.250,00;0900\n')
    assert document.text.splitlines() == [
        "lens: Velora; blue | price: 2,50 | code: 0042",
        "lens: Amber | price: 1.250,00 | code: 0900",
    ]


def test_a_table_without_a_header_gets_none(tmp_path: Path) -> None:
    [document], _ = read(tmp_path / "rooms.csv", "Ines,14\nTomas,1\n")
    assert document.text.splitlines() == ["Ines | 14", "Tomas | 1"]


def test_a_long_table_is_read_in_parts_that_an_address_names(tmp_path: Path) -> None:
    lines = "".join(f"L{number},maker {number}\n" for number in range(450))
    documents, _ = read(tmp_path / "lenses.csv", "lens,maker\n" + lines)
    parts = [split_address(document.address)[1] for document in documents]
    assert parts == ["rows 2-201", "rows 202-401", "rows 402-451"]
    assert documents[2].text.splitlines()[-1] == "lens: L449 | maker: maker 449"
    sheets, _ = read(tmp_path / "lenses.xlsx", build_long_xlsx(250))
    assert split_address(sheets[1].address) == (str(tmp_path / "lenses.xlsx"), "sheet Lenses, rows 202-251")


def test_markdown_is_read_without_its_marks(tmp_path: Path) -> None:
    [document], _ = read(tmp_path / "rules.md", MARKDOWN)
    assert document.title == "House rules"
    assert document.text.splitlines() == [
        "tags: office",
        "Rules for all",
        "The alarm code is 8642. See the plan. A line that goes on.",
        *LABELLED,
        "first item",
        "1. Changed in May.",
    ]
    [untitled], _ = read(tmp_path / "other.md", MARKDOWN.partition("---\n#")[2].join(["#", ""]))
    assert untitled.title == "Rules for all"
    [of_windows], _ = read(tmp_path / "windows.md", MARKDOWN.replace("\n", "\r\n"))
    assert (of_windows.title, of_windows.text) == (document.title, document.text)


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        (
            "---\nauthor: 'Mia Lund'\ndate: 2024-03-05\ntags: [boats, 'red ropes']\n---\nOn ropes",
            {"author": "Mia Lund", "date": "2024-03-05", "tags": "boats, red ropes"},
            "On ropes",
        ),
        ("---\ntitle: >\n  On\n  ropes\nby:\n- Mia\n- Ole\n---\n", {"title": "On ropes", "by": "Mia, Ole"}, ""),
        ('+++\ntitle = "Ropes"\n# made by hand\nweight = 3\n+++\nText', {"title": "Ropes", "weight": "3"}, "Text"),
        ("---\nThe first rope.\n\n---\nThe second.", {}, "---\nThe first rope.\n\n---\nThe second."),
    ],
    ids=["YAML", "lists and folded text", "TOML", "lines between texts"],
)
def test_fields_before_a_markdown_text_are_read(text: str, fields: dict[str, str], body: str) -> None:
    assert split_front_matter(text) == (fields, body)


def test_a_word_document_is_read_with_its_title(tmp_path: Path) -> None:
    body = word_paragraph("House rules", "Heading1") + word_paragraph("The alarm code is 8642.") + word_table(STAFF)
    [document], _ = read(tmp_path / "a7.docx", build_docx(body))
    assert document.text.splitlines() == ["House rules", "The alarm code is 8642.", *LABELLED]


COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def test_a_word_document_is_read_as_word_shows_it(tmp_path: Path) -> None:
    run = "<w:r>{}<w:t>{}</w:t></w:r>"
    hidden = run.format("<w:rPr><w:vanish/></w:rPr>", "draft")
    shown = run.format('<w:rPr><w:vanish w:val="0"/></w:rPr>', "Valid from ")
    field = f'<w:fldSimple w:instr="DATE">{run.format("", "5 March 2024")}</w:fldSimple>'
    base = f"<w:rubyBase>{run.format('', ' for all')}</w:rubyBase>"
    ruby = f"<w:r><w:ruby><w:rt>{run.format('', 'over')}</w:rt>{base}</w:ruby></w:r>"
    box = f"<w:drawing><w:txbxContent>{word_paragraph('The code is 8642.')}</w:txbxContent></w:drawing>"
    choice = f"<mc:Choice>{box}</mc:Choice>"
    drawing = f'<w:r><mc:AlternateContent xmlns:mc="{COMPATIBILITY}">{choice}</mc:AlternateContent></w:r>'
    equation = f"<m:oMath><m:r>{run.format('', 'x')}</m:r></m:oMath>"

    body = f"<w:p>{hidden}{shown}{field}{ruby}{drawing}</w:p><w:p>{equation}</w:p>"
    [document], said = read(tmp_path / "rules.docx", build_docx(body, "document2"))
    assert document.text.splitlines() == ["Valid from 5 March 2024 for all", "The code is 8642.", "x"]
    assert said == []


def test_a_sheet_is_read_as_excel_shows_it(tmp_path: Path) -> None:
    [document], said = read(tmp_path / "staff.xlsx", build_xlsx())
    assert split_address(document.address) == (str(tmp_path / "staff.xlsx"), "sheet Staff 2026")
    assert document.text.splitlines() == [
        "People at Brackwater Optics",
        "name: Ines Falkner | started: 2011-05-02 | share: 12.5% | fee: 145.00 EUR | floor: first",
        "name: Tomas Reuel | started: 2019-09-16 | share: 50% | fee: 0.3 | floor: first",
    ]
    assert said == ["staff.xlsx: hidden sheets are not read: Notes"]


def test_slides_are_read_with_tables_charts_and_notes(tmp_path: Path) -> None:
    (first, second), said = read(tmp_path / "rules.pptx", build_pptx())
    assert (first.title, split_address(second.address)[1]) == ("Travel rules", "slide 2")
    assert first.text.splitlines()[1] == "A hotel may cost 145 euros a night."
    assert second.text.splitlines() == [
        "Staff",
        *LABELLED,
        "category: 2024 | lenses sold: 310",
        "category: 2025 | lenses sold: 425.5",
        "The clerk leaves in May.",
    ]
    assert said == ["rules.pptx: hidden slides are not read: 3"]


def test_charts_are_tables_of_their_values(tmp_path: Path) -> None:
    charts, _ = read(tmp_path / "charts.pptx", build_pptx_of_charts())
    assert [chart.text.splitlines() for chart in charts] == [
        ["category: 2021 | members: 1,234,567 | share: 13%", "category: 2022 | share: 50%"],
        ["category: 2023-01-31 | rain: 12", "category: 2023-02-28 | rain: 30.25"],
        ["category: north Ostholm | staff: 120", "category: north Mühlau | staff: 80"],
        ["series: model A | x: 1.5 | y: 20", "series: model A | x: 2.5 | y: 35"],
    ]


def test_other_json_is_lines(tmp_path: Path) -> None:
    value = {"office": {"opening_hours": "9 to 17", "closed": ["Saturday", "Sunday"]}, "staff": as_objects()}
    [document], _ = read(tmp_path / "office.json", json.dumps(value))
    hours, closed, _, *rows = document.text.splitlines()
    assert (hours, closed) == ("office, opening hours: 9 to 17", "office, closed: Saturday, Sunday")
    assert rows == LABELLED
    [people], said = read(
        tmp_path / "people.jsonl", '{"name": "Ines", "fee": 4200.50}\n{"name": "Rolf", "fee": 1e-7}\n{"n'
    )
    assert people.text.splitlines() == ["name: Ines | fee: 4200.50", "name: Rolf | fee: 1e-7"]
    assert said[0].startswith("people.jsonl: left out, no JSON: line 3: ")
    [broken], said = read(tmp_path / "broken.json", '{"code": 8642,')
    assert "8642" in broken.text
    assert said[0].startswith("broken.json: read as plain text: it is not JSON")


def test_the_largest_print_of_a_pdf_is_its_title(tmp_path: Path) -> None:
    page = text_at(72, 720, "House rules", "for all", size=20, leading=24) + text_at(72, 640, "The code is 8642.")
    [document], _ = read(tmp_path / "scan0007.pdf", build_pdf(page))
    assert document.title == "House rules for all"
    [plain], _ = read(tmp_path / "scan0008.pdf", build_pdf(text_at(72, 640, "The code is 8642.", "It changes.")))
    assert plain.title == "scan0008"


WRAPPED = """The first ship left the new harbour of Brackwater early in
May 1921 with grain for the mills of the north. It was led by
Tomas Reuel, who had
never sailed before."""
DIVIDED = """The first ship left the old harbour of Brackwater in the spring of 1921, to the bene-
fit of all mills of the north. It was led by Tomas Reuel, who was a well-
known painter of ships, and who had never sailed before in all his life."""
LOG = """2026-03-01 10:00:01 INFO lens grinder started in room B14 by Ines
2026-03-01 10:00:02 INFO lens grinder stopped in room B14 by Ines
2026-03-01 10:00:03 INFO lens grinder started in room B15 by Ines"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        pytest.param(WRAPPED, [WRAPPED.replace("\n", " ").replace("had never", "had\nnever")], id="prose"),
        pytest.param(
            DIVIDED,
            [DIVIDED.replace("bene-\n", "bene").replace("well-\n", "well-")],
            id="divided words",
        ),
        pytest.param(LOG, LOG.splitlines(), id="log"),
        pytest.param("Ines Falkner\nroom B14\nphone 2207", ["Ines Falkner", "room B14", "phone 2207"], id="address"),
    ],
)
def test_wrapped_lines_of_plain_text_are_joined(text: str, lines: list[str]) -> None:
    assert join_wrapped_lines(text) == "\n".join(lines).split("\n")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.txt", b"", "it is empty"),
        ("a.html", b"<html></html>", "there is no text in it"),
        ("a.csv", b"\n\n", "there is no text in it"),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it is a picture; recognise its text first"),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "it needs a password"),
        (
            "a.doc",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99),
            "it has the format of Office before 2007",
        ),
        (
            "a.msg",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "__substg1.0_".encode("utf-16-le"),
            "it is a message of Outlook; save it as HTML or text",
        ),
        (
            "a.xml",
            b'<?xml version="1.0"?><?mso-application progid="Word.Document"?><w:wordDocument/>',
            "it is a document of Office as XML; save it as DOCX",
        ),
        ("b.docx", b"PK\x03\x04" + bytes(99), "it is damaged or not whole"),
        ("a.bin", bytes(range(256)), "neither HTML nor plain text nor PDF"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_reason(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    documents, said = read(tmp_path / name, content)
    assert documents == []
    assert len(said) == 1
    assert said[0].startswith(f"skipped: {name}: {reason}")


@pytest.mark.parametrize(
    ("member", "content", "reason"),
    [
        ("Index/Document.iwa", "", "a file of Apple's iWork; export it"),
        ("a.txt", "", "an archive; unpack it"),
    ],
)
def test_archives_tell_what_they_are(tmp_path: Path, member: str, content: str, reason: str) -> None:
    with zipfile.ZipFile(tmp_path / "a", "w") as archive:
        archive.writestr(member, content)
    with pytest.raises(ValueError, match=reason):
        find_kind((tmp_path / "a").read_bytes(), "a")


def test_an_archive_that_is_too_large_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", bytes(501_000_000))
    with pytest.raises(ValueError, match="unpacks to more than 500 MB"):
        find_kind((tmp_path / "bomb.docx").read_bytes(), "bomb.docx")


def test_a_damaged_document_and_a_missing_library_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreadableFileError, match="its XML is damaged; open it and save it again"):
        read_office_file(build_docx("<w:p>"), Kind.WORD)
    (tmp_path / "mammoth.py").write_text("raise ModuleNotFoundError(\"No module named 'mammoth'\")")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(UnreadableFileError, match="DOCX needs mammoth: pip install mammoth"):
        read_office_file(build_docx(word_paragraph("a")), Kind.WORD)


def test_all_that_is_left_out_of_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("The alarm code is 8642.")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("secret")
    (tmp_path / "~$rules.docx").write_text("owner")
    (tmp_path / "gone.txt").symlink_to("nowhere.txt")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    said: list[str] = []
    documents = read_documents(str(tmp_path), SETTINGS, said.append)
    assert [document.text for document in documents] == ["The alarm code is 8642."]
    assert sorted(line.removeprefix("skipped: ").replace(f"{tmp_path}/", "") for line in said) == [
        "gone.txt: a link to nowhere.txt, which is not there",
        "hidden, name them with --pages to read them: .git",
        "loop: a link to a folder; name it with --pages to read it",
        "pipe: not a regular file",
        "~$rules.docx: not a document: Office makes it while it has one open",
    ]


def test_an_address_without_a_server_says_in_words_why_it_is_skipped() -> None:
    notes: list[str] = []
    with socket.socket() as bound:  # nobody listens
        bound.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{bound.getsockname()[1]}/page.html"
        assert read_documents(address, SETTINGS, notes.append) == []
    assert notes == [f"skipped: {address}: {os.strerror(errno.ECONNREFUSED)}"]
