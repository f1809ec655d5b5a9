"""What is read of e-books: the text as a browser shows it, each section under its name, and what is left out."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from crag.asking.documents import read_documents
from crag.asking.epub.process import read_e_book
from crag.asking.epub.reading import read_book
from crag.asking.kinds import Kind, find_kind
from crag.asking.parts import split_address
from crag.asking.reading_process import UnreadableFileError
from crag.settings import ExtractSettings
from crag.web import page_text

SETTINGS = ExtractSettings(labelled_tables=True)
XHTML = "application/xhtml+xml"
CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
    'full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
SPACES = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'


def xhtml(body: str, head: str = "") -> str:
    return f'<?xml version="1.0" encoding="utf-8"?><html {SPACES}><head>{head}</head><body>{body}</body></html>'


def opf(items: Mapping[str, str], spine: str, guide: str = "") -> str:
    """A package with the title "The kite book"; an item is its path and what else it says of itself."""
    manifest = "".join(f'<item id="i{n}" href="{path}" {more}/>' for n, (path, more) in enumerate(items.items()))
    title = '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The kite book</dc:title></metadata>'
    return (
        f'<package xmlns="http://www.idpf.org/2007/opf">{title}<manifest>{manifest}</manifest>'
        f"<spine>{spine}</spine><guide>{guide}</guide></package>"
    )


def refer(number: int, more: str = "") -> str:
    return f'<itemref idref="i{number}" {more}/>'


def of_type(media_type: str, more: str = "") -> str:
    return f'media-type="{media_type}" {more}'


def pack(parts: Mapping[str, str], media_type: str = "application/epub+zip") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", media_type)
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def build(pages: Mapping[str, str], *, package: str = "", others: Mapping[str, str] | None = None) -> bytes:
    """A book of these pages, by their names; a text that is no page gets what makes it one."""
    spine = "".join(refer(number) for number in range(len(pages)))
    files = {f"OEBPS/{name}": page if page.startswith("<?xml") else xhtml(page) for name, page in pages.items()}
    package = package or opf(dict.fromkeys(pages, of_type(XHTML)), spine)
    return pack({"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": package, **files, **(others or {})})


def lines_of(content: bytes) -> list[str]:
    pages = read_book(content)["pages"]
    return [line for page in pages for line in page_text(page["html"], SETTINGS).splitlines()]


def parts_of(content: bytes) -> list[str]:
    return [split_address(f"a.epub#{page['part']}")[1] for page in read_book(content)["pages"]]


# --- pages ------------------------------------------------------------------------------------------------------------

MATH = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><msqrt><mi>x</mi></msqrt><mo>=</mo><msup><mi>y</mi><mn>2</mn>'
    "</msup></math>"
)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("<p>10<sup>6</sup> ships cost <s>10</s> 12&nbsp;euros.</p>", ["10^6 ships cost 12 euros."]),
        ('<p>10<span class="top">6</span> ships</p>', ["10^6 ships"]),
        ('<p class="gone">secret</p><p>shown</p>', ["shown"]),
        ('<p>48,312<a href="notes.xhtml#n1" epub:type="noteref">1</a> ships</p>', ["48,312 [1] ships"]),
        ('<p>the <span epub:type="pagebreak">12</span>harbour</p>', ["the harbour"]),
        ('<p>Another note. <a href="#r">↩\ufe0e</a></p>', ["Another note."]),
        ('<aside epub:type="footnote"><p>A note.<a role="doc-backlink" href="#r">↩</a></p></aside>', ["A note."]),
        ("<p>Text.</p><footer><p>Notes of the author.</p></footer>", ["Text.", "Notes of the author."]),
        ('<ul class="nav"><li><a href="a">One</a></li><li><a href="b">Two</a></li></ul>', ["One", "Two"]),
        (f"<p>So {MATH}.</p>", ["So √(x)=y^2."]),
        (
            "<table><tr><td>name</td><td>room</td></tr><tr><td>Ines</td><td>B14</td></tr></table>",
            ["name: Ines | room: B14"],
        ),
    ],
)
def test_a_page_is_read_as_a_browser_shows_it(body: str, lines: list[str]) -> None:
    sheet = (
        "@import 'x.css'; p, span.top { font-size: 1em } .top{font-size:.7em;vertical-align:super} .gone{display:none}"
    )
    page = xhtml(body, '<title/><link rel="stylesheet" href="../css/book%20one.css"/>')
    assert lines_of(build({"text/a.xhtml": page}, others={"OEBPS/css/book one.css": sheet})) == lines


def test_spans_of_cells_that_are_no_numbers_are_read_as_browsers_do() -> None:
    head = '<tr><td rowspan="-1">name</td><td colspan="x">room</td></tr>'
    rows = '<tr><td>Ines</td><td rowspan="999999999">B14</td></tr><tr><td>Tomas</td></tr>'
    assert lines_of(build({"a.xhtml": f"<table>{head}{rows}</table>"}))[-1] == "name: Tomas | room: B14"


def test_a_page_that_is_not_well_formed_is_read_as_html() -> None:
    page = (
        f'<?xml version="1.0"?><html {SPACES}><head><title/></head><body><p>one<p>two &eacute;<br>three</body></html>'
    )
    assert lines_of(build({"a.xhtml": page})) == ["one", "two é", "three"]


def test_a_name_may_differ_in_capitals() -> None:
    package = opf({"Text/One.xhtml": of_type(XHTML)}, refer(0))
    assert lines_of(build({"text/one.xhtml": "<p>red</p>"}, package=package)) == ["red"]


# --- the order and the names of sections ------------------------------------------------------------------------------

NAV = (
    '<nav epub:type="page-list"><a href="a.xhtml">12</a></nav><nav epub:type="toc"><h1>Contents</h1><ol>'
    '<li><a href="b.xhtml#top">The <b>harbour</b></a></li><li><a href="b.xhtml#end">Its end</a></li></ol></nav>'
)
NCX = (
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Part One</text></navLabel>'
    '<content src="text/a.xhtml"/><navPoint><navLabel><text>The harbour</text></navLabel>'
    '<content src="text/b%20c.xhtml#x"/></navPoint></navPoint></navMap></ncx>'
)


def test_sections_are_named_by_the_contents_or_a_heading_or_their_number() -> None:
    items = {
        "nav.xhtml": of_type(XHTML, 'properties="nav"'),
        "cover.xhtml": of_type(XHTML),
        "answers.xhtml": of_type(XHTML),
        "b.xhtml": of_type(XHTML),
        "c.xhtml": of_type(XHTML),
        "d.xhtml": of_type(XHTML),
    }
    spine = "".join([refer(1), refer(0), refer(2, 'linear="no"'), *map(refer, (3, 4, 5))])
    pages = {
        "nav.xhtml": NAV,
        "cover.xhtml": '<img src="cover.png" alt="A kite"/>',
        "answers.xhtml": "<h1>Answers</h1><p>4. Yes.</p>",
        "b.xhtml": "<h1>Chapter 1</h1><p>The first ship left in May.</p>",
        "c.xhtml": "<p>It goes on.</p>",
        "d.xhtml": "<h2>The harbour</h2><p>Again.</p>",
    }
    content = build(pages, package=opf(items, spine))
    assert parts_of(content) == ["section The harbour", "section 5", "section The harbour (2)", "section Answers"]
    assert (read_book(content)["title"], read_book(content)["note"]) == ("The kite book", "")


def test_the_contents_of_older_books_name_sections_too() -> None:
    items = {
        "toc.ncx": of_type("application/x-dtbncx+xml"),
        "text/a.xhtml": of_type(XHTML),
        "text/b%20c.xhtml": of_type(XHTML),
        "text/toc.html": of_type(XHTML),
    }
    pages = {
        "toc.ncx": f'<?xml version="1.0"?>{NCX}',
        "text/a.xhtml": "<p>One.</p>",
        "text/b c.xhtml": "<p>Two.</p>",
        "text/toc.html": "<p>Part One, The harbour</p>",
    }
    guide = '<reference type="toc" href="text/toc.html"/>'
    content = build(pages, package=opf(items, "".join(map(refer, (3, 1, 2))), guide))
    assert parts_of(content) == ["section Part One", "section The harbour"]
    assert lines_of(content) == ["One.", "Two."]


def test_long_names_of_any_script_are_cut_and_can_be_named() -> None:
    content = build({"a.xhtml": f"<h1>{'北' * 100}</h1><p>Text.</p>"})
    assert parts_of(content) == [f"section {'北' * 60}…"]


# --- what is left out -------------------------------------------------------------------------------------------------


def test_what_is_missing_or_no_text_costs_itself() -> None:
    items = {
        "a.xhtml": of_type(XHTML),
        "gone.xhtml": of_type(XHTML),
        "map.svg": of_type("image/svg+xml"),
        "plan.svg": of_type("image/svg+xml", 'fallback="i4"'),
        "plan.xhtml": of_type(XHTML),
    }
    pages = {"a.xhtml": "<p>One.</p>", "plan.xhtml": "<p>The plan in words.</p>"}
    content = build(pages, package=opf(items, "".join(map(refer, range(4)))))
    assert lines_of(content) == ["One.", "The plan in words."]
    assert read_book(content)["note"] == (
        "sections that are no text are not read: 1; left out, missing or damaged: OEBPS/gone.xhtml; "
        "fetch the book again"
    )


def encryption(algorithm: str, path: str) -> str:
    return (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
        'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
        f'<enc:EncryptionMethod Algorithm="{algorithm}"/><enc:CipherData><enc:CipherReference URI="{path}"/>'
        "</enc:CipherData></enc:EncryptedData></encryption>"
    )


AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
OF_FONTS = "http://www.idpf.org/2008/embedding"
PAGES = {"a.xhtml": "<p>One.</p>"}


@pytest.mark.parametrize(("algorithm", "path"), [(OF_FONTS, "OEBPS/a.otf"), (AES, "OEBPS/film.mp4")])
def test_a_book_whose_text_is_not_encrypted_is_read(algorithm: str, path: str) -> None:
    assert lines_of(build(PAGES, others={"META-INF/encryption.xml": encryption(algorithm, path)})) == ["One."]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (build(PAGES, others={"META-INF/encryption.xml": encryption(AES, "OEBPS/a.xhtml")}), "its text is encrypted"),
        (pack({"META-INF/container.xml": CONTAINER}), "a part of it is missing"),
        (build(PAGES, package="<package"), "its XML is damaged"),
    ],
)
def test_a_book_that_cannot_be_read_is_told_with_its_reason(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableFileError, match=reason):
        read_e_book(content)


def test_a_container_that_is_damaged_costs_nothing() -> None:
    others = {"META-INF/container.xml": "<not xml", "META-INF/encryption.xml": "<not xml"}
    package = opf({"a.xhtml": of_type(XHTML)}, refer(0))
    assert lines_of(pack({"book.opf": package, "a.xhtml": xhtml("<p>One.</p>"), **others})) == ["One."]


@pytest.mark.parametrize("media_type", ["application/epub+zip\n", "application/zip"])
def test_a_book_is_known_by_its_media_type_or_its_container(media_type: str) -> None:
    assert find_kind(pack({"META-INF/container.xml": CONTAINER}, media_type), "a") is Kind.E_BOOK


def test_an_answer_names_the_section(tmp_path: Path) -> None:
    (tmp_path / "kites.epub").write_bytes(build({"a.xhtml": "<h1>House rules</h1><p>The alarm code is 8642.</p>"}))
    said: list[str] = []
    [document] = read_documents(str(tmp_path / "kites.epub"), ExtractSettings(workers=1), said.append)
    assert (document.title, split_address(document.address)[1]) == ("The kite book", "section House rules")
    assert document.text.splitlines() == ["House rules", "The alarm code is 8642."]
    assert said == []
