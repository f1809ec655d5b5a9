"""The numbers of lists and headings in Word documents: those that Word shows."""

import pytest

from crag.asking.office.word import read_word
from crag.text.list_counts import show_count
from tests.asking.word_files import SPACES, build, cell, lines_of, paragraph, row, run, table


def level(place: int, text: str, number_format: str = "decimal", more: str = "") -> str:
    """A level of a definition; `more`: other elements of it."""
    return (
        f'<w:lvl w:ilvl="{place}"><w:start w:val="1"/><w:numFmt w:val="{number_format}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def definition(number: int, *levels: str, link: str = "") -> str:
    return f'<w:abstractNum w:abstractNumId="{number}">{link}{"".join(levels)}</w:abstractNum>'


def word_list(number: int, definition_number: int, overrides: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{definition_number}"/>{overrides}</w:num>'


def override(place: int, content: str) -> str:
    return f'<w:lvlOverride w:ilvl="{place}">{content}</w:lvlOverride>'


def in_list(number: int | str, place: int | str = 0) -> str:
    return f'<w:numPr><w:ilvl w:val="{place}"/><w:numId w:val="{number}"/></w:numPr>'


def item(text: str, place: int = 0, number: int = 1) -> str:
    return paragraph(run(text), properties=in_list(number, place))


def items(*places: int) -> str:
    """A paragraph for each level: its text is a letter, so that numbers and letters stay apart."""
    return "".join(item("x", place) for place in places)


def read_numbered(body: str, *numbering: str, styles: str = "", **parts: str) -> list[str]:
    numbering_part = f"<w:numbering {SPACES}>{''.join(numbering)}</w:numbering>"
    styles_part = f"<w:styles {SPACES}>{styles}</w:styles>"
    return lines_of(build(body, numbering=numbering_part, styles=styles_part, **parts))


@pytest.mark.parametrize(
    ("count", "number_format", "shown"),
    [
        (3, "decimal", "3"),
        (3, "decimalZero", "03"),
        (28, "lowerLetter", "bb"),
        (26, "upperLetter", "Z"),
        (49, "lowerRoman", "xlix"),
        (1994, "upperRoman", "MCMXCIV"),
        (0, "upperRoman", "0"),
        (2, "ordinal", "2nd"),
        (12, "ordinal", "12th"),
        (21, "cardinalText", "Twenty-one"),
        (20, "ordinalText", "Twentieth"),
        (100, "ordinalText", "100"),
        (7, "001, 002, 003, ...", "007"),
        (7, "chineseCounting", "7"),
    ],
)
def test_a_count_is_shown_in_its_format(count: int, number_format: str, shown: str) -> None:
    assert show_count(count, number_format) == shown


OUTLINE = definition(0, level(0, "%1."), level(1, "%1.%2"), level(2, "(%3)", "lowerLetter"))
NEVER = '<w:lvlRestart w:val="0"/>'
AFTER_FIRST = '<w:lvlRestart w:val="1"/>'
CUSTOM = (
    '<w:lvl w:ilvl="0"><w:start w:val="8"/><mc:AlternateContent><mc:Choice Requires="w14">'
    '<w:numFmt w:val="custom" w:format="001, 002, 003, ..."/></mc:Choice><mc:Fallback><w:numFmt w:val="decimal"/>'
    '</mc:Fallback></mc:AlternateContent><w:lvlText w:val="R%1"/></w:lvl>'
)


@pytest.mark.parametrize(
    ("levels", "places", "numbers"),
    [
        pytest.param(OUTLINE, (0, 0, 1, 1, 0, 1), ["1.", "2.", "2.1", "2.2", "3.", "3.1"], id="a level begins again"),
        pytest.param(OUTLINE, (0, 2, 2, 1, 2), ["1.", "(a)", "(b)", "1.2", "(a)"], id="a level left out has begun"),
        pytest.param(OUTLINE, (1, 1, 0), ["1.1", "1.2", "2."], id="the first level is left out"),
        pytest.param(
            definition(0, level(0, "%1."), level(1, "%2)", "lowerLetter", NEVER)),
            (0, 1, 0, 1),
            ["1.", "a)", "2.", "b)"],
            id="a level never begins again",
        ),
        pytest.param(
            definition(0, level(0, "%1."), level(1, "%1.%2"), level(2, "%3)", "decimal", AFTER_FIRST)),
            (0, 1, 2, 1, 2, 0, 2),
            ["1.", "1.1", "1)", "1.2", "2)", "2.", "1)"],
            id="a level begins again after the first level only",
        ),
        pytest.param(
            definition(
                0, level(0, "Article %1", "upperRoman"), level(1, "%1.%2"), level(2, "%1.%2", more="<w:isLgl/>")
            ),
            (0, 1, 2),
            ["Article I", "I.1", "1.1"],
            id="all numbers as digits",
        ),
        pytest.param(definition(0, level(0, "•", "bullet"), level(1, "%2.")), (0, 1), ["", "1."], id="signs"),
        pytest.param(definition(0, level(0, "Note:%1", "none")), (0, 0), ["Note:", "Note:"], id="no number"),
        pytest.param(definition(0, level(0, "")), (0,), [""], id="no text"),
        pytest.param(definition(0, level(0, "%1.", more="<w:rPr><w:vanish/></w:rPr>")), (0,), [""], id="hidden"),
        pytest.param(definition(0, CUSTOM), (0, 0), ["R008", "R009"], id="a custom format"),
        pytest.param(definition(0, level(0, "%1.")), (5,), [""], id="a level that is not defined"),
    ],
)
def test_paragraphs_have_the_numbers_of_their_list(levels: str, places: tuple[int, ...], numbers: list[str]) -> None:
    lines = read_numbered(items(*places), levels, word_list(1, 0))
    assert lines == [f"{number} x".strip() for number in numbers]


def test_nothing_may_stand_between_the_number_and_the_text() -> None:
    numbering = definition(0, level(0, "§%1:", more='<w:suff w:val="nothing"/>'))
    assert read_numbered(item("x"), numbering, word_list(1, 0)) == ["§1:x"]


@pytest.mark.parametrize(
    ("overrides", "numbers"),
    [
        pytest.param("", ["1.", "2.", "3.", "4."], id="lists of one definition count together"),
        pytest.param(override(0, '<w:startOverride w:val="5"/>'), ["1.", "5.", "6.", "7."], id="a new start"),
        pytest.param(override(0, level(0, "%1)", "upperLetter")), ["1.", "B)", "3.", "D)"], id="another form"),
    ],
)
def test_a_list_may_go_on_or_begin_again(overrides: str, numbers: list[str]) -> None:
    body = item("x") + paragraph(run("between")) + item("x", number=2) + item("x") + item("x", number=2)
    lines = read_numbered(body, definition(0, level(0, "%1.")), word_list(1, 0), word_list(2, 0, overrides))
    assert [line.removesuffix(" x") for line in lines if line != "between"] == numbers


def numbered_style(name: str, list_properties: str = "", base: str = "", kind: str = "paragraph") -> str:
    style_name = f'<w:name w:val="{name.replace("Heading", "heading ")}"/>'
    based_on = f'<w:basedOn w:val="{base}"/>' if base else ""
    properties = f"<w:pPr><w:numPr>{list_properties}</w:numPr></w:pPr>" if list_properties else ""
    return f'<w:style w:type="{kind}" w:styleId="{name}">{style_name}{based_on}{properties}</w:style>'


FIRST_LIST = '<w:numId w:val="1"/>'
HEADINGS = (
    numbered_style("Heading1", FIRST_LIST)
    + numbered_style("Heading2", FIRST_LIST)
    + numbered_style("Clause", "", "Heading2")
    + numbered_style("Plain", '<w:numId w:val="0"/>', "Heading2")
)


def in_style(name: str, text: str, more: str = "") -> str:
    return paragraph(run(text), properties=f'<w:pStyle w:val="{name}"/>{more}')


def test_headings_are_numbered_by_their_styles() -> None:
    levels = [
        level(place, text, more=f'<w:pStyle w:val="Heading{place + 1}"/>')
        for place, text in enumerate(("Article %1", "%1.%2"))
    ]
    body = (
        in_style("Heading1", "Scope")
        + in_style("Heading2", "Terms")
        + in_style("Clause", "Fees")
        + in_style("Plain", "Annex")
        + in_style("Heading1", "Draft", '<w:numPr><w:numId w:val="0"/></w:numPr>')
        + in_style("Heading1", "Payment")
    )
    assert read_numbered(body, definition(0, *levels), word_list(1, 0), styles=HEADINGS) == [
        "Article 1 Scope", "1.1 Terms", "1.2 Fees", "Annex", "Draft", "Article 2 Payment",
    ]  # fmt: skip


def test_a_definition_may_be_that_of_a_style() -> None:
    numbering = (
        definition(0, link='<w:numStyleLink w:val="Rules"/>'),
        definition(1, level(0, "%1)"), link='<w:styleLink w:val="Rules"/>'),
        word_list(1, 0),
        word_list(2, 1),
        definition(3, link='<w:numStyleLink w:val="Loop"/>'),
        word_list(3, 3),
    )
    styles = numbered_style("Rules", '<w:numId w:val="2"/>', kind="numbering") + numbered_style(
        "Loop", '<w:numId w:val="3"/>', kind="numbering"
    )
    body = item("x") + item("x", number=2) + item("x", number=3)
    assert read_numbered(body, *numbering, styles=styles) == ["1) x", "2) x", "x"]


def test_what_is_not_shown_is_not_counted() -> None:
    hidden = f"{in_list(1)}<w:rPr><w:vanish/></w:rPr>"
    deleted = f"{in_list(1)}<w:rPr><w:del/></w:rPr>"
    struck = f"{in_list(1)}<w:rPr><w:strike/></w:rPr>"
    body = (
        paragraph(run("x", "<w:vanish/>"), properties=hidden)
        + paragraph(f"<w:del>{run('x')}</w:del>", properties=deleted)
        + item("first")
        + paragraph(run("x", "<w:strike/>"), properties=struck)
        + item("third")
    )
    assert read_numbered(body, definition(0, level(0, "%1.")), word_list(1, 0)) == ["1. first", "3. third"]


def test_numbers_of_rows_are_in_their_cells() -> None:
    number_cell = f"<w:tc>{paragraph(properties=in_list(1))}</w:tc>"
    body = table(row("no", "lens"), row(number_cell, cell("L20")), row(number_cell, cell("L30")))
    lines = read_numbered(body, definition(0, level(0, "%1.")), word_list(1, 0))
    assert lines == ["no: 1. | lens: L20", "no: 2. | lens: L30"]


def test_lists_of_notes_are_counted_by_themselves() -> None:
    footnotes = f'<w:footnotes {SPACES}><w:footnote w:id="2">{item("in the note")}</w:footnote></w:footnotes>'
    body = item("first") + paragraph(run("text"), '<w:r><w:footnoteReference w:id="2"/></w:r>')
    lines = read_numbered(body, definition(0, level(0, "%1.")), word_list(1, 0), footnotes=footnotes)
    assert lines == ["1. first", "text [1]", "1. in the note"]


def test_a_number_raises_no_text() -> None:
    raised = run("2024", '<w:vertAlign w:val="superscript"/>')
    body = paragraph(raised, properties=in_list(1))
    assert read_numbered(body, definition(0, level(0, "%1.")), word_list(1, 0)) == ["1. 2024"]


def test_the_title_has_the_number_of_its_heading() -> None:
    numbering = f"<w:numbering {SPACES}>{definition(0, level(0, 'Part %1'))}{word_list(1, 0)}</w:numbering>"
    content = build(
        in_style("Heading1", "Scope"), numbering=numbering, styles=f"<w:styles {SPACES}>{HEADINGS}</w:styles>"
    )
    assert read_word(content).title == "Part 1 Scope"
