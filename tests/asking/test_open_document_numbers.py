"""The numbers of lists and headings in texts of OpenDocument: those that LibreOffice shows."""

import pytest

from crag.asking.opendocument.reading import read_open_document
from crag.settings import ExtractSettings
from crag.web import page_text
from tests.asking.open_document_files import (
    box,
    build,
    build_flat,
    cell,
    note,
    paragraph,
    row,
    span,
    style,
    table,
)

SETTINGS = ExtractSettings(labelled_tables=True)
LIBRE_OFFICE = 'xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"'


def lines_of(content: bytes) -> list[str]:
    return page_text(read_open_document(content)["pages"][0]["html"], SETTINGS).splitlines()


def list_style(name: str, *levels: str, attributes: str = "") -> str:
    return f'<text:list-style style:name="{name}" {attributes}>{"".join(levels)}</text:list-style>'


def level(place: int, number_format: str = "1", suffix: str = ".", more: str = "", inside: str = "") -> str:
    """A level, from 1; `more`: other attributes."""
    return (
        f'<text:list-level-style-number text:level="{place}" style:num-format="{number_format}" '
        f'style:num-suffix="{suffix}" {more}>{inside}</text:list-level-style-number>'
    )


def bullets(place: int) -> str:
    return f'<text:list-level-style-bullet text:level="{place}" text:bullet-char="•"/>'


def numbered_list(*items: str, style_name: str = "L", more: str = "") -> str:
    named = f'text:style-name="{style_name}"' if style_name else ""
    return f"<text:list {named} {more}>{''.join(items)}</text:list>"


def item(*contents: str, more: str = "") -> str:
    """An item; a content is its text or its element."""
    elements = [text if text.startswith("<") else paragraph(text) for text in contents]
    return f"<text:list-item {more}>{''.join(elements)}</text:list-item>"


def head(text: str) -> str:
    return f"<text:list-header>{paragraph(text)}</text:list-header>"


def inner(*items: str, more: str = "") -> str:
    return numbered_list(*items, style_name="", more=more)


def heading(text: str, place: int = 1, style_name: str = "", more: str = "") -> str:
    named = f'text:style-name="{style_name}"' if style_name else ""
    return f'<text:h text:outline-level="{place}" {named} {more}>{text}</text:h>'


DISPLAY_2 = 'text:display-levels="2"'
L_STYLE = list_style("L", level(1), level(2, more=DISPLAY_2), level(3, "a", ")"))


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        pytest.param(
            numbered_list(
                item("a"),
                item("b", inner(item("ba"), item("bb", inner(item("bba"))))),
                item("c", inner(item("ca"))),
            ),
            ["1. a", "2. b", "2.1. ba", "2.2. bb", "a) bba", "3. c", "3.1. ca"],
            id="levels",
        ),
        pytest.param(
            numbered_list(head("head"), item("a", "more"), head("between"), item("b")),
            ["head", "1. a", "more", "between", "2. b"],
            id="only the first paragraph of an item",
        ),
        pytest.param(
            numbered_list(item(inner(item("aa")), "behind"), item("b")),
            ["1.1. aa", "behind", "2. b"],
            id="a paragraph behind a list of its item",
        ),
        pytest.param(
            numbered_list(item(inner(item("aa"))), item(inner(item("ab"))), item("b")),
            ["1.1. aa", "1.2. ab", "2. b"],
            id="a level left out has begun",
        ),
        pytest.param(
            numbered_list(item("a", inner(item("aa")), "more", inner(item("ab"), item("ac")))),
            ["1. a", "1.1. aa", "more", "1.1. ab", "1.2. ac"],
            id="a second list in an item",
        ),
        pytest.param(
            numbered_list(
                item("a", inner(item("aa")), "more", inner(item("ab", more='text:start-value="4"'), item("ac")))
            ),
            ["1. a", "1.1. aa", "more", "1.4. ab", "1.5. ac"],
            id="a second list with a start of its own",
        ),
        pytest.param(
            numbered_list(
                item("a", inner(item("aa")), "more", inner(item("ab"), more='text:continue-numbering="true"'))
            ),
            ["1. a", "1.1. aa", "more", "1.2. ab"],
            id="a second list in an item that continues the first",
        ),
        pytest.param(
            numbered_list(item("a"), item("b", more='text:start-value="7"'), item("c", inner(item("ca"))))
            + numbered_list(item(inner(item("x", more='text:start-value="0"')))),
            ["1. a", "7. b", "8. c", "8.1. ca", "1.0. x"],
            id="new starts",
        ),
        pytest.param(
            numbered_list(item("a"), item("b", more='text:style-override="Letters"'), item("c")),
            ["1. a", "b) b", "3. c"],
            id="an item of another style",
        ),
        pytest.param(
            numbered_list(item("a", numbered_list(item("aa"), style_name="Letters"))),
            ["1. a", "a) aa"],
            id="an inner list of another style",
        ),
        pytest.param(numbered_list(item("a"), style_name="Bullets"), ["a"], id="bullets"),
        pytest.param(numbered_list(item("a"), style_name="Unknown") + inner(item("b")), ["a", "b"], id="no style"),
        pytest.param(
            inner(item(paragraph("a", "Numbered"), inner(item(paragraph("aa", "Based"))))),
            ["1. a", "1.1. aa"],
            id="the style of the paragraph",
        ),
        pytest.param(paragraph("a", "Numbered"), ["a"], id="such a style counts in lists only"),
        pytest.param(numbered_list(item(heading("a")), item("b")), ["1. a", "2. b"], id="a heading"),
    ],
)
def test_items_have_the_numbers_of_their_list(body: str, lines: list[str]) -> None:
    named = (
        L_STYLE
        + list_style("Letters", level(1, "a", ")"), level(2, "a", ")"))
        + list_style("Bullets", bullets(1))
        + '<style:style style:name="Numbered" style:family="paragraph" style:list-style-name="L"/>'
        + style("Based", "", "paragraph", base="Numbered")
    )
    assert lines_of(build(body, named=named)) == lines
    assert lines_of(build_flat(body, named=named)) == lines


@pytest.mark.parametrize(
    ("second", "style_name", "shown"),
    [
        ("", "L", "1."),
        ('text:continue-numbering="true"', "L", "3."),
        ('text:continue-numbering="true"', "Other", "1)"),
        ('text:continue-list="first"', "L", "3."),
        ('text:continue-list="first"', "Other", "3)"),
        ('text:continue-list="first" text:continue-numbering="false"', "L", "1."),
        ('text:continue-list="nowhere"', "L", "1."),
    ],
)
def test_a_list_may_continue_another(second: str, style_name: str, shown: str) -> None:
    first_list = numbered_list(item("x"), item("x"), more='xml:id="first"')
    second_list = numbered_list(item("x"), style_name=style_name, more=second)
    named = L_STYLE + list_style("Other", level(1, "1", ")"))
    lines = lines_of(build(first_list + paragraph("between") + second_list, named=named))
    assert lines == ["1. x", "2. x", "between", f"{shown} x"]


def test_two_lists_may_have_one_name() -> None:
    lists = [
        numbered_list(item("x"), item("x"), more='xml:id="same"'),
        numbered_list(item("x"), more='xml:id="same"'),
        numbered_list(item("x"), more='text:continue-list="same"'),
    ]
    for content in (build("".join(lists), named=L_STYLE), build_flat("".join(lists), named=L_STYLE)):
        assert lines_of(content) == ["1. x", "2. x", "1. x", "2. x"]


def test_a_list_that_was_continued_is_continued_behind_that() -> None:
    lists = [
        numbered_list(item("x"), more='xml:id="first"'),
        numbered_list(item("x"), more='xml:id="other"'),
        numbered_list(item("x"), more='xml:id="second" text:continue-list="first"'),
        numbered_list(item("x"), more='text:continue-list="first"'),
        numbered_list(item("x"), more='text:continue-list="other"'),
    ]
    assert lines_of(build("".join(lists), named=L_STYLE)) == ["1. x", "1. x", "2. x", "3. x", "2. x"]


NOTHING_BEHIND = (
    '<style:list-level-properties><style:list-level-label-alignment text:label-followed-by="nothing"/>'
    "</style:list-level-properties>"
)


@pytest.mark.parametrize(
    ("levels", "numbers"),
    [
        pytest.param([level(1, "A", ")")], ["A) ", "B) "], id="letters"),
        pytest.param([level(1, "i")], ["i. ", "ii. "], id="Roman numbers"),
        pytest.param([level(1, "a", more='text:start-value="26"')], ["z. ", "aa. "], id="a start"),
        pytest.param([level(1, "a", more='text:start-value="27"')], ["aa. ", "ab. "], id="letters in turn"),
        pytest.param(
            [level(1, "a", more='style:num-letter-sync="true" text:start-value="27"')],
            ["aa. ", "bb. "],
            id="the same letters",
        ),
        pytest.param([level(1, "01, 02, 03, ...")], ["01. ", "02. "], id="digits of one length"),
        pytest.param([level(1, "First", "")], ["First ", "Second "], id="words"),
        pytest.param([level(1, more='style:num-prefix="§ "')], ["§ 1. ", "§ 2. "], id="a prefix"),
        pytest.param([level(1, "", "", 'style:num-prefix="Note:"')], ["Note: ", "Note: "], id="no number"),
        pytest.param([level(1, "")], ["", ""], id="a sign alone"),
        pytest.param([level(1, more='style:num-prefix="\uf0b7"')], ["1. ", "2. "], id="a sign of a font"),
        pytest.param([level(2)], ["1. ", "2. "], id="a level that is not defined"),
        pytest.param(
            [level(1, more=f'{LIBRE_OFFICE} loext:num-list-format="Art. %1%:"')],
            ["Art. 1: ", "Art. 2: "],
            id="the form of LibreOffice",
        ),
        pytest.param([level(1, "1", "", inside=NOTHING_BEHIND)], ["1 ", "2 "], id="numbers stay apart"),
    ],
)
def test_a_number_is_shown_in_its_form(levels: list[str], numbers: list[str]) -> None:
    content = build(numbered_list(item("7 kites"), item("7 kites")), named=list_style("L", *levels))
    assert lines_of(content) == [f"{number}7 kites" for number in numbers]


@pytest.mark.parametrize(
    ("levels", "numbers"),
    [
        pytest.param([level(1, "I"), level(2, more=DISPLAY_2), level(3, more=DISPLAY_2)], ["I.", "I.1.", "1.1."]),
        pytest.param([level(1), level(2, ""), level(3, more='text:display-levels="3"')], ["1.", "", "1.1."]),
        pytest.param(
            [
                level(1, "", ""),
                level(2, more=f'{LIBRE_OFFICE} loext:num-list-format="%1%.%2%"'),
                level(3, more=f'{LIBRE_OFFICE} loext:num-list-format="(%3%/%2%)"'),
            ],
            ["", "1", "(1/1)"],
        ),
        pytest.param([bullets(1), level(2, more=DISPLAY_2), bullets(3)], ["", "1.", ""]),
    ],
    ids=["the last two", "without those that have no number", "the form of LibreOffice", "below a bullet"],
)
def test_a_number_may_show_the_levels_above(levels: list[str], numbers: list[str]) -> None:
    body = numbered_list(item("x", inner(item("x", inner(item("x"))))))
    lines = lines_of(build(body, named=list_style("L", *levels)))
    assert lines == [f"{number} x".strip() for number in numbers]


def test_all_levels_of_a_list_may_count_together() -> None:
    attributes = 'text:consecutive-numbering="true"'
    named = list_style("L", level(1), level(2, "1", ")"), attributes=attributes)
    body = numbered_list(item("x", inner(item("x"), item("x"))), item("x"))
    assert lines_of(build(body, named=named)) == ["1. x", "2) x", "3) x", "4. x"]


# --- headings ---------------------------------------------------------------------------------------------------------

OUTLINE = (
    '<text:outline-style style:name="Outline"><text:outline-level-style text:level="1" style:num-format="1" '
    'style:num-suffix="."/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>'
    "</text:outline-style>"
)


def heading_style(name: str, attributes: str) -> str:
    return f'<style:style style:name="{name}" style:family="paragraph" {attributes}/>'


HEADINGS = (
    OUTLINE
    + L_STYLE
    + heading_style("H1", 'style:default-outline-level="1"')
    + heading_style("Other", 'style:parent-style-name="H1"')
)
AUTOMATIC = (
    heading_style("Moved", 'style:parent-style-name="H1"')
    + heading_style("Plain", 'style:parent-style-name="H1" style:list-style-name=""')
    + style("Hidden", 'text:display="none"', "paragraph")
    + style("Unseen", 'text:display="none"')
    + style("Struck", 'style:text-line-through-style="solid"', "paragraph")
)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (heading("a") + heading("b", 2) + heading("c", 2) + heading("d"), ["1. a", "1.1 b", "1.2 c", "2. d"]),
        (heading("a", 2) + heading("b"), ["1.1 a", "2. b"]),
        (heading("a", 3) + heading("b"), ["a", "2. b"]),
        (heading("a", 2, "Moved") + paragraph("b", "Moved") + paragraph("c", "Other"), ["1.1 a", "2. b", "c"]),
        (heading("a", 1, "Plain") + heading("b"), ["a", "1. b"]),
        (heading("a", more='text:is-list-header="true"') + heading("b"), ["a", "1. b"]),
        (
            heading("a", more='text:restart-numbering="true" text:start-value="9"')
            + heading("b", more='text:start-value="5"')
            + heading("c", more='text:restart-numbering="true"'),
            ["9. a", "10. b", "1. c"],
        ),
        (heading("a") + numbered_list(item(heading("own"))) + heading("b"), ["1. a", "1. own", "2. b"]),
        (
            numbered_list(item(heading("a")), style_name="Outline")
            + numbered_list(item(inner(item(heading("b", 2)))), style_name="Outline"),
            ["1. a", "1.1 b"],
        ),
    ],
    ids=[
        *("levels", "the first level is left out", "a level without number", "paragraphs in a style of headings"),
        *("taken out", "a head", "new starts", "in a list", "in a list of the outline"),
    ],
)
def test_headings_have_the_numbers_of_the_outline(body: str, lines: list[str]) -> None:
    assert lines_of(build(body, automatic=AUTOMATIC, named=HEADINGS)) == lines


def test_the_title_has_the_number_of_its_heading() -> None:
    assert read_open_document(build(heading("Scope"), named=HEADINGS))["title"] == "1. Scope"


def numbered_paragraph(text: str, attributes: str) -> str:
    return f"<text:numbered-paragraph {attributes}>{paragraph(text)}</text:numbered-paragraph>"


def test_a_paragraph_may_be_an_item_by_itself() -> None:
    attributes = [
        'text:list-id="a" text:level="1"',
        'text:list-id="a" text:level="2"',
        'text:list-id="b" text:level="1"',
        'text:list-id="a" text:level="1"',
        'text:list-id="a" text:level="1" text:start-value="7"',
    ]
    body = "".join(numbered_paragraph("x", f'{named} text:style-name="L"') for named in attributes)
    assert lines_of(build(body, named=L_STYLE)) == ["1. x", "1.1. x", "1. x", "2. x", "7. x"]


# --- where numbers stand ----------------------------------------------------------------------------------------------


def test_what_is_hidden_counts_and_shows_no_number() -> None:
    hidden_section = f'<text:section text:display="none">{heading("x")}</text:section>'
    body = numbered_list(
        item("a"),
        item(paragraph("x", "Hidden")),
        item(paragraph(span("x", "Unseen"))),
        item("<text:p><text:hidden-paragraph text:is-hidden='true'/>x</text:p>"),
        item(paragraph("x", "Struck")),
        item("f"),
    )
    content = build(heading("a") + hidden_section + heading("b") + body, automatic=AUTOMATIC, named=HEADINGS)
    assert lines_of(content) == ["1. a", "3. b", "1. a", "6. f"]


def test_what_was_deleted_does_not_count() -> None:
    deleted = numbered_list(item("x"), more='xml:id="a"')
    shown = numbered_list(item("a"), more='text:continue-list="a"')
    region = f"<text:changed-region><text:deletion>{deleted}</text:deletion></text:changed-region>"
    body = f"<text:tracked-changes>{region}</text:tracked-changes>{shown}"
    assert lines_of(build(body, named=L_STYLE)) == ["1. a"]


def test_numbers_of_rows_are_in_their_cells() -> None:
    continued = numbered_list(item(""), more='text:continue-numbering="true"')
    number_cell = f"<table:table-cell>{continued}</table:table-cell>"
    body = table(row("no", "lens"), row(number_cell, cell("L20")), row(number_cell, cell("L30")))
    assert lines_of(build(body, named=L_STYLE)) == ["no: 1. | lens: L20", "no: 2. | lens: L30"]


def test_the_body_boxes_and_notes_count_by_themselves() -> None:
    in_note = note("x").replace(paragraph("x"), paragraph("see") + heading("in the note"))
    in_box = box("x").replace(paragraph("x"), heading("in the box"))
    body = heading("a") + paragraph(f"text{in_note}{in_box}") + heading("b")
    assert lines_of(build(body, named=HEADINGS)) == [
        *("1. a", "text [1]", "1. in the box", "2. b", "[1] see", "1. in the note"),
    ]


def test_a_number_raises_no_text() -> None:
    raised = style("T1", 'style:text-position="super 58%"')
    content = build(numbered_list(item(paragraph(span("2024", "T1")))), automatic=raised, named=L_STYLE)
    assert lines_of(content) == ["1. 2024"]


# --- slides -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contents", "lines"),
    [
        pytest.param(
            [numbered_list(item("a"), item("b", inner(item("ba"), item("bb"))), item("c", inner(item("ca"))))],
            ["1. a", "2. b", "1. ba", "2. bb", "3. c", "1. ca"],
            id="levels, without those above",
        ),
        pytest.param(
            [numbered_list(item("a"), head("head"), item("b", "more")), paragraph("text"), numbered_list(item("c"))],
            ["1. a", "head", "2. b", "more", "text", "3. c"],
            id="over other text",
        ),
        pytest.param(
            [numbered_list(item("a")), numbered_list(item("b"), style_name="Bullets"), numbered_list(item("c"))],
            ["1. a", "b", "1. c"],
            id="again behind a bullet",
        ),
        pytest.param(
            [numbered_list(item("a")), numbered_list(item("b"), style_name="Other"), numbered_list(item("c"))],
            ["1. a", "Step 1) b", "1. c"],
            id="again behind other numbers",
        ),
        pytest.param(
            [numbered_list(item("a"), item("b", more='text:start-value="7"'), item(""), item("d"))],
            ["1. a", "7. b", "8.", "9. d"],
            id="a new start",
        ),
    ],
)
def test_paragraphs_of_slides_have_the_numbers_of_their_box(contents: list[str], lines: list[str]) -> None:
    boxes = box("x").replace(paragraph("x"), "".join(contents))
    second = box("x").replace(paragraph("x"), numbered_list(item("x"), more='text:continue-numbering="true"'))
    styles = [
        L_STYLE,
        list_style("Bullets", bullets(1)),
        list_style("Other", level(1, "1", ")", 'style:num-prefix="Step "')),
    ]
    content = build(f"<draw:page>{boxes}{second}</draw:page>", "presentation", automatic="".join(styles))
    assert lines_of(content) == [*lines, "1. x"]
