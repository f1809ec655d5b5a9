"""Files that are text: large ones are read within limits, and read alike."""

import json

import pytest

from crag.asking import reading_process, text_files
from crag.asking.kinds import Kind
from crag.asking.text_files import TextFile, read_text_file
from crag.settings import ExtractSettings
from crag.web import page_text

FILES = [
    (Kind.RICH_TEXT, rb"{\rtf1 {\info{\title Kites}}10{\super 6} kites {\field{\*\fldinst EQ }}\par}"),
    (Kind.MAIL, b"Subject: Kites\nMIME-Version: 1.0\n\nThe kites are red.\n"),
    (Kind.MARKDOWN, b"# Kites\n\nOur **red** kite.\n"),
    (Kind.TABLE, b"name,room\nInes,B14\n"),
    (Kind.JSON, b'[{"name": "Ines", "room": "B14"}]'),
    (Kind.JSON_LINES, b'{"name": "Ines", "room": "B14"}\nnone\n'),
]


@pytest.mark.parametrize(("kind", "content"), FILES)
def test_a_large_file_is_read_like_a_small_one(kind: Kind, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = read_text_file(content, TextFile(kind))
    monkeypatch.setattr(text_files, "LARGEST_AT_ONCE", 0)
    assert at_once["pages"]
    assert read_text_file(content, TextFile(kind)) == at_once


def test_a_large_file_that_is_no_text_is_told_like_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "LARGEST_AT_ONCE", 0)
    with pytest.raises(ValueError, match=r"^neither HTML nor plain text"):
        read_text_file(b"\0\0program", TextFile(Kind.MARKDOWN))


@pytest.mark.parametrize("kind", [kind for kind, _ in FILES])
def test_a_file_that_takes_too_long_is_told(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_process, "SECONDS", 0.001)
    with pytest.raises(ValueError, match=r"^it took more than 0\.001 s; split it$"):
        read_text_file(b"a" * (text_files.LARGEST_AT_ONCE + 1), TextFile(kind))


def test_objects_without_a_common_name_are_no_table() -> None:
    objects = [{f"name {number}": number, "of": {"room": "B14"}} for number in range(1000)]
    [page] = read_text_file(json.dumps(objects).encode(), TextFile(Kind.JSON))["pages"]
    assert page["html"].startswith("<p>name 0: 0; of, room: B14</p>\n<p>name 1: 1; of, room: B14</p>\n")


def test_markdown_may_have_no_text() -> None:
    assert read_text_file(b"[kites]: kites.html\n", TextFile(Kind.MARKDOWN))["pages"][0]["html"] == ""


def lines_of(content: str | bytes, kind: Kind, suffix: str = "") -> list[str]:
    content = content.encode() if isinstance(content, str) else content
    pages = read_text_file(content, TextFile(kind, suffix))["pages"]
    return "\n".join(page_text(page["html"], ExtractSettings(labelled_tables=True)) for page in pages).splitlines()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "Met [[Ida Lund|Ida]] and [[Ole]] on ![[map.png]] [[Boats#Red]], not `a[[i]]`, [[1]] or [[one](a.md)]",
            ["Met Ida and Ole on Boats#Red, not a[[i]], [[1]] or [one]"],
        ),
        ("[[Ida]](#note-1)", ["[Ida]"]),
        ("| name |\n|--|\n| [[Ida Lund\\|Ida]] |\n| Ole |", ["name", "Ida", "Ole"]),
        ("> [!NOTE]\n> The code is 8642.\n\n> [!tip]- Of knots\n> Two turns.", [
            "Note", "The code is 8642.", "Of knots", "Two turns.",
        ]),
        ("So $2*3*4$ is 24; *about* $5 or $6 in $HOME/a:$PATH", ["So $2*3*4$ is 24; about $5 or $6 in $HOME/a:$PATH"]),
        ("1986. A great year.", ["1986. A great year."]),
    ],
    ids=["links of notes", "a link to a note", "in a table", "boxes", "formulas", "a year at the beginning"],
)  # fmt: skip
def test_markdown_of_other_programs(text: str, lines: list[str]) -> None:
    assert lines_of(text, Kind.MARKDOWN) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('[{"name": "Ida", "score": NaN}, {"name": "Ole", "score": -Infinity}]', [
            "name: Ida | score: NaN", "name: Ole | score: -Infinity",
        ]),
        ('{"name": "Ida", "age": 41}\n{"name": "Ole", "age": 39}', ["name: Ida | age: 41", "name: Ole | age: 39"]),
        ('{"phone": "2207", "name": "Ida", "phone": "2290"}', ["phone: 2207, 2290", "name: Ida"]),
    ],
    ids=["no numbers", "an object on each line", "a name twice"],
)  # fmt: skip
def test_json_that_the_standard_does_not_have(text: str, lines: list[str]) -> None:
    assert lines_of(text, Kind.JSON) == lines


def test_json_of_lines_with_a_fault_is_told() -> None:
    reply = read_text_file(b'{"name": "Ida"}\n{"name": \n', TextFile(Kind.JSON))
    assert reply["note"].startswith("read as plain text: it is not JSON:")


@pytest.mark.parametrize("suffix", [".log", ".txt"])
def test_codes_of_a_terminal_are_no_text(suffix: str) -> None:
    text = "\x1b[1;31mERROR\x1b[0m disk 4 is full, see \x1b]8;;http://a.b\x07the list\x1b]8;;\x07"
    assert lines_of(text, Kind.PLAIN_TEXT, suffix) == ["ERROR disk 4 is full, see the list"]


CALENDAR = """BEGIN:VCALENDAR\r
VERSION:2.0\r
BEGIN:VEVENT\r
UID:17@example.org\r
DTSTART;TZID=Europe/Oslo:20240504T090000\r
DTEND:20240504T160000Z\r
SUMMARY:Regatta of the har\r
 bour club\\, first day\r
DESCRIPTION:Bring:\\nropes\\; hooks\r
X-NUMBER:7\r
END:VEVENT\r
END:VCALENDAR\r
"""
CALENDAR_OF_DAYS = """BEGIN:VCALENDAR
BEGIN:VTIMEZONE
TZID:Oslo
BEGIN:STANDARD
DTSTART:16011028T030000
TZOFFSETTO:+0100
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
DTSTART;VALUE=DATE:20240504
DTEND;VALUE=DATE:20240507
SUMMARY;ALTREP="http://example.org/regatta":Regatta: \u2028finals
RDATE;VALUE=DATE:20240601,20240608
BEGIN:VALARM
TRIGGER:-PT15M
END:VALARM
END:VEVENT
BEGIN:VEVENT
RECURRENCE-ID:20240601
DTSTART;VALUE=DATE:20240602
DTEND;VALUE=DATE:20240602
STATUS:CANCELLED
END:VEVENT
END:VCALENDAR
"""
CARD = """BEGIN:VCARD
VERSION:3.0
FN:Ida Lund
item1.TEL;TYPE=WORK:+47 2207
ADR:;;Pier 4;Oslo;;0150;Norway
BDAY:19690501
END:VCARD
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (CALENDAR, [
            "start: 2024-05-04 09:00",
            "end: 2024-05-04 16:00 UTC",
            "event: Regatta of the harbour club, first day",
            "description: Bring: ropes; hooks",
        ]),
        (CALENDAR_OF_DAYS, [
            "start: 2024-05-04",
            "end: 2024-05-06",  # it is written as the day after the last (RFC 5545, 3.6.1)
            "event: Regatta: finals",
            "also on: 2024-06-01, 2024-06-08",
            "instead of: 2024-06-01",
            "start: 2024-06-02",
            "end: 2024-06-02",
            "status: CANCELLED",
        ]),
        (CARD, ["name: Ida Lund", "phone: +47 2207", "address: Pier 4 Oslo 0150 Norway", "born: 1969-05-01"]),
    ],
    ids=["a calendar", "a calendar of days", "a card"],
)  # fmt: skip
def test_calendars_and_cards_are_lines_for_people(text: str, lines: list[str]) -> None:
    assert lines_of(text, Kind.MARKUP_OR_TEXT, ".ics") == lines


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Is 3 < 5?</title>", "Is 3 < 5?"),
        ("<!-- <title>Old</title> --><title class=x>New &amp;\n bright</title>", "New & bright"),
        ("</head><body><svg><title>Logo</title></svg>", ""),
    ],
)
def test_the_title_of_a_page_is_that_of_its_head(head: str, title: str) -> None:
    page = f"<!doctype html><html><head>{head}</head><body><p>Kites</p></body></html>"
    assert read_text_file(page.encode(), TextFile(Kind.MARKUP_OR_TEXT))["title"] == title
