"""What is read of e-mails and of pages that were saved as one file."""

from email.message import EmailMessage
from pathlib import Path

import pytest

from crag.asking.documents import read_documents
from crag.asking.mail import read_mail
from crag.asking.parts import split_address
from crag.settings import ExtractSettings

FORMULA = "10<sup>6</sup> ships cost <s>10</s>12 euros"
SAVED_PAGE = b"""From: <Saved by a browser>
Subject: House rules
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="b"

--b
Content-Type: text/html
Content-Transfer-Encoding: quoted-printable

<!doctype html><html><head><meta charset=3D"utf-8"></head><body><p>The code of the caf=C3=A9 is 86=
42.</p></body></html>
--b
Content-Type: image/png
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--b--
"""


def build_mail() -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Ines Falkner <ines@example.org>"
    mail["Date"] = "Tue, 05 Mar 2024 10:00:00 +0100"
    mail["Subject"] = "Prüfung der Boote"
    return mail


HEAD = [
    "From: Ines Falkner <ines@example.org>",
    "Date: Tue, 05 Mar 2024 10:00:00 +0100",
    "Subject: Prüfung der Boote",
]


def read(path: Path, content: bytes) -> tuple[str, list[str], list[str]]:
    """The title and the lines of the only page, and what is told about it."""
    path.write_bytes(content)
    said: list[str] = []
    [document] = read_documents(str(path), ExtractSettings(), said.append)
    return document.title, document.text.splitlines(), said


@pytest.mark.parametrize("name", ["mail.eml", "mail"])
@pytest.mark.parametrize("encoding", ["base64", "quoted-printable"])
def test_a_mail_is_read_below_its_head(tmp_path: Path, name: str, encoding: str) -> None:
    mail = build_mail()
    mail.set_content("The code is 8642 für alle.", charset="iso-8859-1", cte=encoding)
    assert read(tmp_path / name, mail.as_bytes()) == (
        "Prüfung der Boote", [*HEAD, "The code is 8642 für alle."], [],
    )  # fmt: skip


def test_of_two_forms_that_in_html_is_read_and_files_are_named(tmp_path: Path) -> None:
    mail = build_mail()
    mail.set_content("10 6 ships cost 10 12 euros")
    mail.add_alternative(f"<html><body><p>{FORMULA}</p></body></html>", subtype="html")
    mail.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="plan.pdf")
    mail.add_attachment("The code is 1111.", filename="old.txt")
    _, lines, said = read(tmp_path / "mail.eml", mail.as_bytes())
    assert lines == [*HEAD, "10^6 ships cost 12 euros"]
    assert said == [f"{tmp_path / 'mail.eml'}: attachments are not read: plan.pdf, old.txt"]


def test_a_saved_page_is_read_without_a_head(tmp_path: Path) -> None:
    assert read(tmp_path / "rules.mht", SAVED_PAGE) == ("House rules", ["The code of the café is 8642."], [])
    assert read(tmp_path / "rules", SAVED_PAGE[:-40])[1] == ["The code of the café is 8642."]


@pytest.mark.parametrize("head", ["Content-Location: cid:css-1@mhtml.blink", "Content-ID: <css-1@mhtml.blink>"])
def test_a_saved_page_is_read_with_its_style_sheets(tmp_path: Path, head: str) -> None:
    """Chrome saves what a page has in `<style>` as parts of the file."""
    link = b'<link rel=3D"stylesheet" type=3D"text/css" href=3D"cid:css-1@mhtml.blink" />'
    page = SAVED_PAGE.replace(b"</head>", link + b"</head>").replace(b"86=\n42", b"10<b>6</b><i>7</i>")
    sheet = (
        b"Content-Type: text/css\n" + head.encode() + b"\n\nb { vertical-align: super } i { display: none }\n\n--b\n"
    )
    page = page.replace(b"Content-Type: image/png", sheet + b"Content-Type: image/png")
    assert read(tmp_path / "rules.mht", page)[1:] == (["The code of the café is 10^6."], [])


def test_fields_that_are_not_valid_cost_nothing() -> None:
    head = b"From: a@b\nTo: =?utf-\xff?q?Mia?=\nSubject: =?none?q?Code?= \xff\nContent-Type: text/plain; charset=none\n"
    content = head + b"\nThe code is 8642."
    mail = read_mail(content)
    assert mail.html.endswith("<p>The code is 8642.</p>\n")
    assert mail.title.startswith("=?none?q?Code?=")


def lines_of(tmp_path: Path, content: bytes) -> list[str]:
    return read(tmp_path / "mail.eml", content)[1]


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1"])
def test_a_head_that_is_not_encoded_keeps_its_accents(tmp_path: Path, encoding: str) -> None:
    content = "From: Jörg Müller <j@example.org>\nSubject: Grüße aus Köln\n\nThe code is 8642.".encode(encoding)
    title, lines, _ = read(tmp_path / "mail.eml", content)
    assert title == "Grüße aus Köln"
    assert lines == ["From: Jörg Müller <j@example.org>", "Subject: Grüße aus Köln", "The code is 8642."]


@pytest.mark.parametrize("head", ["From: Bob Smith\n", "From: /O=ACME/CN=JDOE\n", ""])
def test_an_author_without_address_hides_nothing(tmp_path: Path, head: str) -> None:
    content = f"{head}To: Ann\nSubject: Code\n\nIt is 8642.".encode()
    assert lines_of(tmp_path, content) == [*head.splitlines(), "To: Ann", "Subject: Code", "It is 8642."]


@pytest.mark.parametrize(
    "markup", ["<html><head><title>x</title></head><body></body></html>", '<p>&nbsp;<img src="cid:1" alt="logo"></p>']
)
def test_a_form_in_html_without_words_hides_no_text(tmp_path: Path, markup: str) -> None:
    mail = build_mail()
    mail.set_content("The code is 8642.")
    mail.add_alternative(markup, subtype="html")
    assert lines_of(tmp_path, mail.as_bytes()) == [*HEAD, "The code is 8642."]


def test_a_forwarded_mail_keeps_its_own_head(tmp_path: Path) -> None:
    inner = build_mail()
    inner.set_content("The code is 8642.")
    outer = EmailMessage()
    outer["From"] = "Bo <bo@example.org>"
    outer.set_content("See below.")
    outer.add_attachment(inner, disposition="inline")
    assert lines_of(tmp_path, outer.as_bytes()) == [
        "From: Bo <bo@example.org>",
        "See below.",
        *HEAD,
        "The code is 8642.",
    ]


REPORT = b"""From: server@example.org
Content-Type: multipart/report; boundary="b"

--b
Content-Type: text/plain

It was not delivered.
--b
Content-Type: message/delivery-status

Reporting-MTA: dns; example.org

Final-Recipient: rfc822; ann@example.org
--b--
"""


@pytest.mark.parametrize(
    ("content", "last_lines"),
    [
        (
            REPORT,
            ["It was not delivered.", "Reporting-MTA: dns; example.org", "Final-Recipient: rfc822; ann@example.org"],
        ),
        (REPORT.replace(b'; boundary="b"', b""), ["Final-Recipient: rfc822; ann@example.org", "--b--"]),
        ("From: a@b\nContent-Type: text/plain; charset=us-ascii\n\nFrühstück € 5".encode(), ["Frühstück € 5"]),
        ("\ufeff\n\nFrom: a@b\nContent-Type: text/html\n\n<p>8642</p>".encode(), ["From: a@b", "8642"]),
        (b"From: a@b\nContent-Type: text/calendar\n\nSUMMARY:Regatta", ["SUMMARY:Regatta"]),
        (
            b"From: a@b\nContent-Type: text/calendar\n\nBEGIN:VCALENDAR\nDTSTART:20240504\nSUMMARY:Regatta of\n  Oslo",
            ["start: 2024-05-04", "event: Regatta of Oslo"],
        ),
    ],
)
def test_no_text_of_a_mail_is_lost(tmp_path: Path, content: bytes, last_lines: list[str]) -> None:
    assert lines_of(tmp_path, content)[-len(last_lines) :] == last_lines


def test_a_part_without_name_is_named_by_its_kind(tmp_path: Path) -> None:
    content = REPORT.replace(b"message/delivery-status", b"application/octet-stream")
    _, lines, said = read(tmp_path / "mail.eml", content)
    assert lines == ["From: server@example.org", "It was not delivered."]
    assert said == [f"{tmp_path / 'mail.eml'}: attachments are not read: application/octet-stream"]


@pytest.mark.parametrize(
    ("parameters", "text", "lines"),
    [
        (
            "",
            "The ship left \nearly. \n> Did it \n> leave?\nYes.\n",
            ["The ship left early.", "> Did it leave?", "Yes."],
        ),
        ("", " From here it is late.\n-- \nBo\n", ["From here it is late.", "--", "Bo"]),
        ("; delsp=yes", "The har \nbour is old.\n", ["The harbour is old."]),
    ],
    ids=["lines go on", "stuffed, and a signature", "the blank is lost"],
)
def test_lines_that_flow_are_joined(tmp_path: Path, parameters: str, text: str, lines: list[str]) -> None:
    content = f"From: a@b\nContent-Type: text/plain; format=flowed{parameters}\n\n{text}".encode()
    assert lines_of(tmp_path, content) == ["From: a@b", *lines]


MAILBOX = """From bo@example.org Thu May  4 10:00:00 2023
From: Bo <bo@example.org>
Subject: One
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

The Stra=C3=9Fe is 5 m wide.

From ida@example.org Fri May  5 10:00:00 2023
From: Ida <ida@example.org>

The code is 8642.
>From then on it holds.
From here it is new.
"""


def test_a_mailbox_has_a_page_for_each_message(tmp_path: Path) -> None:
    path = tmp_path / "letters.mbox"
    path.write_text(MAILBOX)
    first, second = read_documents(str(path), ExtractSettings(), print)
    assert first.text.splitlines() == ["From: Bo <bo@example.org>", "Subject: One", "The Straße is 5 m wide."]
    assert second.text.splitlines()[1:] == ["The code is 8642.", "From then on it holds.", "From here it is new."]
    assert split_address(second.address) == (str(path), "message 2")
