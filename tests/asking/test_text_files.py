"""Files that are text: large ones are read within limits, and read alike."""

import json
import tracemalloc

import pytest

from crag.asking import markdown_tables, reading_process, text_files
from crag.asking.kinds import Kind, find_kind
from crag.asking.markdown import convert_markdown
from crag.asking.structured import Json
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
    (Kind.XML, b"<staff><person><name>Ines</name></person></staff>"),
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


GRID = """+------+-------+
| name | place |
+======+=======+
| Ida  | in    |
| Lund | Oslo  |
+------+-------+
| Ole  | a|b   |
+------+-------+
After"""


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
        (GRID, ["name: Ida Lund | place: in Oslo", "name: Ole | place: a|b", "After"]),
        ("+---+---+\n| a | b |\n+---+---+\n| both  |\n+-------+", [
            "+---+---+ | a | b | +---+---+ | both | +-------+",
        ]),
        ("+-----+---+\n| Ida | 5 |\n+-----+---+\n| Ole | 6 |\n+-----+---+\n", ["Ida | 5", "Ole | 6"]),
        (
            "It sold 5,000[1] boats.[2](b.html)[3](c.html) Vitamin B[12](d.html)\n\n[1]: a.html",
            ["It sold 5,000 [1] boats. [2] [3] Vitamin B12"],
        ),
    ],
    ids=["links of notes", "a link to a note", "in a table", "boxes", "formulas", "a year at the beginning",
         "a grid", "a grid with merged cells", "a grid without a head", "numbers of sources"],
)  # fmt: skip
def test_markdown_of_other_programs(text: str, lines: list[str]) -> None:
    assert lines_of(text, Kind.MARKDOWN) == lines


TABLE = "| name | fee |\n|---|--:|\n| Ida\\|Ole | ~~5~~ 6[^1] |\n| [Mia] | 10<sup>6</sup> |\n| Bo |\n| Jo | 4 | 5 |\n"
TABLE_LINES = ["name: Ida|Ole | fee: 6", "name: Mia | fee: 10^6", "Bo", "name: Jo | fee: 4"]


@pytest.mark.parametrize("rows_at_once", [2, 3, 4, 1000])
@pytest.mark.parametrize("end", ["\nAfter", "> After", "- After"])
def test_a_table_of_markdown_is_the_same_however_many_rows_are_read_at_once(
    rows_at_once: int, end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(markdown_tables, "ROWS_AT_ONCE", rows_at_once)
    text = f"{TABLE}{end}\n\n[^1]: Since May.\n\n[Mia]: mia.html\n"
    assert lines_of(text, Kind.MARKDOWN) == [*TABLE_LINES, "After", "1. Since May."]


def test_a_long_table_of_markdown_takes_little_memory() -> None:
    rows = "".join(f"| {number} | B{number} |\n" for number in range(5_000))
    tracemalloc.start()
    converted = convert_markdown(f"| number | room |\n|---|---|\n{rows}")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert converted.html.count("<tr>") == 5_001
    assert most < 60 * len(rows)


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


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            '[{"name": "Ida", "jobs": [{"job": "cook", "year": 1990}, {"job": "mate", "year": 1995}]}, {"name": "Bo"}]',
            ["name: Ida | jobs: job: cook, year: 1990; job: mate, year: 1995", "Bo"],
        ),
        ('[{"name": "Ida", "of": "born in 1931"}, {"name": "Ole", "of": "5"}, {"name": "Bo", "of": "a cook"}]', [
            "name: Ida | of: born in 1931", "name: Ole | of: 5", "name: Bo | of: a cook",
        ]),
        ('{"name": "Ida", "moves": [[1, 2], [3]]}', ["name: Ida", "moves: 1, 2", "moves: 3"]),
        ('[{"name": "Ida", "moves": [[1, 2], [3]]}, {"name": "Ole", "moves": [7, 8]}]', [
            "name: Ida | moves: 1, 2; 3", "name: Ole | moves: 7, 8",
        ]),
        ('[["name", "age"], ["Ida", 41], ["Ole", 39]]', ["name: Ida | age: 41", "name: Ole | age: 39"]),
        ('{"place": "Oslo", "columns": ["name", "age"], "index": [0, 1], "data": [["Ida", 41], ["Ole", 39]]}', [
            "place: Oslo", "index: 0, 1", "data", "name: Ida | age: 41", "name: Ole | age: 39",
        ]),
        ('{"name": {"0": "Ida", "1": "Ole"}, "age": {"0": 41, "1": 39}}', [
            "name: Ida | age: 41", "name: Ole | age: 39",
        ]),
        ('{"crew": {"name": ["Ida", "Ole"], "age": [41, 39.5]}}', [
            "crew", "name: Ida | age: 41", "name: Ole | age: 39.5",
        ]),
        ('{"towns": ["Oslo", "Bergen"], "boats": ["Vidar", "Marta"]}', ["towns: Oslo, Bergen", "boats: Vidar, Marta"]),
        ('[["A sentence that is long enough to stand alone.", "b"], {"name": "Ida"}]', [
            "A sentence that is long enough to stand alone., b", "name: Ida",
        ]),
    ],
    ids=["objects in an object", "mixed values", "lists in a list", "lists in a column", "lists as rows",
         "names apart", "pandas", "columns", "lists of texts", "a list of both"],
)  # fmt: skip
def test_no_value_of_json_is_lost_and_tables_of_any_form_are_tables(text: str, lines: list[str]) -> None:
    assert lines_of(text, Kind.JSON) == lines


ARTICLE = (
    '{"title": {"rendered": "Rope"}, "content": {"rendered": "<p>Not <del>9</del> 11 &euro;.</p>'
    '<table><tr><th>Item<th>Price<tr><td>Rope<td>5</table>"}}'
)


@pytest.mark.parametrize(
    ("text", "kind", "lines"),
    [
        (
            ARTICLE,
            Kind.JSON,
            ["title, rendered: Rope", "content, rendered: Not 11 €.", "content, rendered: Item: Rope | Price: 5"],
        ),
        ('[{"name": "Ida", "of": "A <b>cook</b>.<br>Born 1931."}, {"name": "a < b", "of": "<x>"}]', Kind.JSON, [
            "name: Ida | of: A cook. Born 1931.", "name: a < b | of: <x>",
        ]),
        ("<a><name>Moe</name><of><![CDATA[Height <b>5</b> m]]></of></a>", Kind.XML, ["name: Moe", "of: Height 5 m"]),
        ('{"old": "<p style=display:none>Hidden</p>", "new": "Seen", "code": "<div>x</div>"}', Kind.JSON, [
            "new: Seen", "code: <div>x</div>",
        ]),
    ],
    ids=["the text of an article", "in a table", "in XML", "what hides itself only"],
)  # fmt: skip
def test_values_that_are_markup_are_read_as_a_reader_sees_them(text: str, kind: Kind, lines: list[str]) -> None:
    assert lines_of(text, kind) == lines


def test_a_notebook_is_read_as_it_is_shown() -> None:
    frame = "<style>td {color: red}</style><table><tr><th><th>fee<tr><th>Ida<td>5<tr><th>Ole<td>6</table>"
    picture = {"image/png": "iVBORw0KGgo=", "text/plain": ["<Figure>"]}
    outputs: list[dict[str, Json]] = [
        {"output_type": "stream", "text": ["8642\n"]},
        {"output_type": "execute_result", "data": {"text/html": [frame], "text/plain": ["Ida 5"]}},
        {"output_type": "display_data", "data": picture},
        {"output_type": "error", "evalue": "not shown"},
    ]
    cells: list[dict[str, Json]] = [
        {"cell_type": "markdown", "source": ["# Of *boats*\n", "\n", "They are ~~9~~ 10."]},
        {"cell_type": "code", "source": "a = 5\nb < a", "outputs": outputs},
    ]
    content = json.dumps({"cells": cells, "nbformat": 4})
    assert find_kind(content.encode(), "boats.ipynb") is Kind.JSON
    assert read_text_file(content.encode(), TextFile(Kind.JSON))["title"] == "Of boats"
    assert lines_of(content, Kind.JSON) == [
        "Of boats", "They are 10.", "a = 5", "b < a", "8642", "Ida | fee: 5", "Ole | fee: 6", "<Figure>",
    ]  # fmt: skip


def test_json_of_lines_with_a_fault_is_told() -> None:
    reply = read_text_file(b'{"name": "Ida"}\n{"name": \n', TextFile(Kind.JSON))
    assert reply["note"].startswith("read as plain text: it is not JSON:")


RSS = """<?xml version="1.0"?><rss xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
<title>Harbour &amp; mill</title><link>http://a.b</link>
<description>Of boats</description><item><title>Caf&eacute; opens</title><link>http://a.b/1</link><guid>17</guid>
<pubDate>Tue, 05 Mar 2024 10:00:00 GMT</pubDate><dc:creator>Ida Lund</dc:creator><description>{}</description></item>
</channel></rss>"""
RSS_LINES = ["Of boats", "Café opens", "Tue, 05 Mar 2024 10:00:00 GMT", "Ida Lund", "It has 10^6 wheels."]
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Harbour &amp; mill</title><entry>
<title type="html">Boats &amp;amp; ropes</title>
<author><name>Ida Lund</name><email>i@a.b</email></author><updated>2024-03-05T10:00:00Z</updated>{}</entry>
</feed>"""
ATOM_LINES = ["Boats & ropes", "2024-03-05T10:00:00Z", "Ida Lund", "It has 12 wheels."]


@pytest.mark.parametrize(
    ("feed", "lines"),
    [
        (RSS.format("<![CDATA[<p>It has 10<sup>6</sup> wheels.</p>]]>"), RSS_LINES),
        (RSS.format("&lt;p&gt;It has 10&lt;sup&gt;6&lt;/sup&gt; wheels."), RSS_LINES),
        (RSS.format("It has 10^6 wheels.").replace("</channel></rss>", ""), RSS_LINES),
        (ATOM.format("<content type='html'>&lt;p&gt;It has &lt;s&gt;9&lt;/s&gt; 12 wheels.</content>"), ATOM_LINES),
        (
            ATOM.format(
                "<summary>Wheels</summary><content type='xhtml'><div xmlns='http://www.w3.org/1999/xhtml'>"
                "<p>It has <b>12</b> wheels.</p></div></content>"
            ),
            ATOM_LINES,
        ),
        (
            ATOM.format("<content type='text'>3 &lt;n and n> 2</content>").replace(
                '<title type="html">Boats &amp;amp; ropes',
                '<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">10<sup>6</sup> boats</div>',
            ),
            ["10^6 boats", "2024-03-05T10:00:00Z", "Ida Lund", "3 <n and n> 2"],
        ),
    ],
    ids=["in CDATA", "escaped", "not whole", "Atom", "Atom with elements", "Atom with plain text"],
)
def test_entries_of_a_feed_are_read_with_day_and_author(feed: str, lines: list[str]) -> None:
    assert find_kind(feed.encode(), "feed") is Kind.XML
    reply = read_text_file(feed.encode(), TextFile(Kind.XML))
    assert reply["title"] == "Harbour & mill"
    assert lines_of(feed, Kind.XML) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            """<staff xmlns="s"><person id="1"><name>Ines</name><room>B14</room></person>
            <person id="2"><name>Rolf</name><room/></person></staff>""",
            ["person", "id: 1 | name: Ines | room: B14", "id: 2 | name: Rolf"],
        ),
        (
            '<town><name>Oslo</name><size unit="km2">454</size><mayor>Ida</mayor><mayor>Ole</mayor></town>',
            ["name: Oslo", "size: 454 (unit: km2)", "mayor: Ida, Ole"],
        ),
        (
            """<article><front><title>On boats</title></front><!-- old --><body><sec><title>Size</title>
            <p>It weighs 10<sup>6</sup> kg, <i>not</i> more.</p><p>It is red.</p></sec></body></article>""",
            ["On boats", "Size", "It weighs 10^6 kg, not more.", "It is red."],
        ),
        ('<html xmlns="http://www.w3.org/1999/xhtml"><body><p>Kites<br/>Boats</p></body></html>', ["Kites", "Boats"]),
        ("<staff><person>Ines</staff>", ["<staff><person>Ines</staff>"]),
    ],
    ids=["rows", "a thing", "a document", "a page", "damaged"],
)
def test_xml_is_read_as_data_or_a_document(text: str, lines: list[str]) -> None:
    assert lines_of(text, Kind.XML) == lines


@pytest.mark.parametrize("suffix", [".log", ".txt"])
def test_codes_of_a_terminal_are_no_text(suffix: str) -> None:
    text = "\x1b[1;31mERROR\x1b[0m disk 4 is full, see \x1b]8;;http://a.b\x07the list\x1b]8;;\x07"
    assert lines_of(text, Kind.PLAIN_TEXT, suffix) == ["ERROR disk 4 is full, see the list"]


CALENDAR = """BEGIN:VCALENDAR\r
VERSION:2.0\r
BEGIN:VTIMEZONE\r
TZID:Europe/Oslo\r
BEGIN:STANDARD\r
DTSTART:19701025T030000\r
END:STANDARD\r
END:VTIMEZONE\r
BEGIN:VEVENT\r
UID:17@example.org\r
DTSTART;TZID=Europe/Oslo:20240504T090000\r
DTEND:20240504T160000Z\r
SUMMARY:Regatta of the har\r
 bour club\\, first day\r
DESCRIPTION:Bring:\\nropes\\; hooks\r
X-NUMBER:7\r
RRULE:FREQ=YEARLY\r
BEGIN:VALARM\r
TRIGGER:-PT15M\r
DESCRIPTION:Reminder\r
END:VALARM\r
LOCATION:Pier 4\r
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
CARD_OF_A_PHONE = """BEGIN:VCARD
VERSION:2.1
FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg M=
=C3=BCller
PHOTO;ENCODING=BASE64;JPEG:/9j/4AAQ
TEL:2207
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
            "repeats: FREQ=YEARLY",
            "location: Pier 4",
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
        (CARD_OF_A_PHONE, ["name: Jörg Müller", "phone: 2207"]),
    ],
    ids=["a calendar", "a calendar of days", "a card", "a card of a phone"],
)  # fmt: skip
def test_calendars_and_cards_are_lines_for_people(text: str, lines: list[str]) -> None:
    assert lines_of(text, Kind.MARKUP_OR_TEXT, ".ics") == lines


SRT = """1
00:00:01,000 --> 00:00:04,000
{\\an8}The mill has
<i>12</i> wheels.

2
00:00:05,000 --> 00:00:07,000
- Since when?
- Since

3
00:00:07,000 --> 00:00:09,000
1961.
"""
SRT_WITH_GAPS = """1
00:00:01,5 --> 00:00:04,25
The mill has

12 wheels.
2
00:00:05,0 --> 00:00:06,0
7 > 6, 3 <n and n> 2.
"""
VTT = """WEBVTT - Of mills

NOTE not read

intro
00:01.000 --> 00:04.000 align:start
<v Ida Lund>The mill has 12 wheels &amp; a

00:04.000 --> 00:05.000 align:start
<v Ida Lund>The mill has 12 wheels &amp; a
<00:04.500><c>boat.</c>
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (SRT, ["The mill has 12 wheels.", "- Since when?", "- Since 1961."]),
        (VTT, ["Ida Lund: The mill has 12 wheels & a boat."]),
        (SRT_WITH_GAPS, ["The mill has 12 wheels.", "7 > 6, 3 <n and n> 2."]),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nA <ruby>mill<rt>mylla</rt></ruby>.\n\nNOTE no\n", ["A mill."]),
    ],
    ids=["srt", "vtt", "srt with an empty line and signs", "vtt with a reading"],
)
def test_subtitles_are_read_as_sentences(text: str, lines: list[str]) -> None:
    assert lines_of(text, Kind.MARKUP_OR_TEXT, ".srt") == lines


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
