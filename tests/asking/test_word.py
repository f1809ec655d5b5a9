"""What is read of Word documents: what a reader sees, with its words and numbers apart, whatever makes it look so."""

import io
import zipfile
from pathlib import Path

import pytest

from crag.asking.office.word import read_word
from tests.asking.word_files import SPACES, build, cell, lines_of, paragraph, row, run, style, table

# --- how text looks ---------------------------------------------------------------------------------------------------

OFF = {name: f'<w:{name} w:val="0"/>' for name in ("strike", "vanish")}
STYLES = (
    '<w:style w:type="paragraph" w:styleId="Plain" w:default="1"/>'
    + style("character", "Power", '<w:vertAlign w:val="superscript"/>')
    + style("character", "Power2", "", "Power")
    + style("character", "Lifted", '<w:position w:val="8"/>')
    + style("character", "Secret", "<w:vanish/>")
    + style("character", "Open", OFF["vanish"], "Secret")
    + style("character", "Gone", "<w:strike/>")
    + style("character", "Gone2", "<w:dstrike/>")
    + style("paragraph", "Old", "<w:strike/>")
    + style("paragraph", "Draft", "<w:vanish/>")
    + style("character", "Loop", "", "Loop2")
    + style("character", "Loop2", "", "Loop")
)


def named(name: str) -> str:
    return f'<w:rStyle w:val="{name}"/>'


def in_style(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        (paragraph(run("10"), run("6", named("Power")), run(" ships")), ["10^6 ships"]),
        (paragraph(run("10"), run("6", named("Power2")), run(" ships")), ["10^6 ships"]),
        (paragraph(run("10"), run("6", named("Lifted")), run(" ships")), ["10^6 ships"]),
        (paragraph(run("10"), run("6", named("Power") + '<w:vertAlign w:val="baseline"/>')), ["106"]),
        (paragraph(run("5,300"), run(".25", '<w:position w:val="2"/>')), ["5,300.25"]),
        (paragraph(run("10"), run("6", '<w:position w:val="3pt"/>')), ["10^6"]),
        (paragraph(run("H"), run("2", '<w:position w:val="6"/><w:vertAlign w:val="subscript"/>'), run("O")), ["H2O"]),
        (paragraph(run("2024", '<w:position w:val="6"/>')), ["2024"]),
        (paragraph(run("code "), run("8642 ", named("Secret")), run("is new")), ["code is new"]),
        (paragraph(run("code "), run("8642", named("Open"))), ["code 8642"]),
        (paragraph(run("code "), run("8642", named("Secret") + OFF["vanish"])), ["code 8642"]),
        (paragraph(run("costs "), run("10", named("Gone")), run("9", named("Gone2")), run("12")), ["costs 12"]),
        (paragraph(run("costs 10 "), run("12", OFF["strike"]), properties=in_style("Old")), ["12"]),
        (paragraph(run("costs 10 "), run("12", named("Gone")), properties=in_style("Old")), ["12"]),
        (paragraph(run("all of it"), properties=in_style("Draft")) + paragraph(run("shown")), ["shown"]),
        (paragraph(run("a", named("Loop")), run("b", named("None"))), ["ab"]),
    ],
)
def test_styles_raise_hide_and_strike_out(written: str, lines: list[str]) -> None:
    assert lines_of(build(written, styles=f"<w:styles {SPACES}>{STYLES}</w:styles>")) == lines


def test_what_the_defaults_hide_is_shown_where_a_run_says_so() -> None:
    defaults = "<w:docDefaults><w:rPrDefault><w:rPr><w:vanish/></w:rPr></w:rPrDefault></w:docDefaults>"
    body = paragraph(run("draft "), run("code 8642", OFF["vanish"]))
    assert lines_of(build(body, styles=f"<w:styles {SPACES}>{defaults}</w:styles>")) == ["code 8642"]


# --- words ------------------------------------------------------------------------------------------------------------

FIELD = "<w:r><w:fldChar w:fldCharType='{}'/></w:r>"
BEGIN, RESULT, END = (FIELD.format(place) for place in ("begin", "separate", "end"))


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        *[
            (paragraph(f"<w:r><w:t>one</w:t>{sign}<w:t>two</w:t></w:r>"), lines)
            for sign, lines in [
                ("<w:cr/>", ["one", "two"]),
                ('<w:br w:type="page"/>', ["one", "two"]),
                ('<w:br w:type="column"/>', ["one", "two"]),
                ("<w:ptab/>", ["one two"]),
                ("<w:noBreakHyphen/>", ["one‑two"]),
                ("<w:softHyphen/>", ["onetwo"]),
                ('<w:sym w:font="Arial" w:char="00D7"/>', ["one×two"]),
                ('<w:sym w:font="Symbol" w:char="F0B0"/>', ["one°two"]),
                ('<w:sym w:font="House Icons" w:char="F0B0"/>', ["one two"]),
                ("<w:sym/>", ["one two"]),
            ]
        ],
        *[
            (paragraph(run("one "), f"<w:{name}>{run('two')}</w:{name}>"), ["one two"])
            for name in ("bdo", "dir", "smartTag", "customXml", "fldSimple", "hyperlink", "ins", "moveTo")
        ],
        (paragraph(f'<w:hyperlink r:id="none" xmlns:r="r">{run("a link")}</w:hyperlink>'), ["a link"]),
        (paragraph(run("one "), f"<w:sdt><w:sdtContent>{run('two')}</w:sdtContent></w:sdt>"), ["one two"]),
        (paragraph(BEGIN, run("IF "), BEGIN, run("x"), RESULT, run("2"), END, RESULT, run("two"), END), ["two"]),
        (paragraph(BEGIN, run("never closed")), ["never closed"]),
        (paragraph(run("a "), f"<w:moveFrom>{run('b')}</w:moveFrom>", run("c")), ["a c"]),
        (
            paragraph(run("First "), properties="<w:rPr><w:del/></w:rPr>")
            + paragraph(f"<w:del>{run('gone')}</w:del>", properties="<w:rPr><w:del/></w:rPr>")
            + paragraph(run("second.")),
            ["First second."],
        ),
        (
            paragraph(run("First "), properties="<w:rPr><w:moveFrom/></w:rPr>")
            + "<w:moveFromRangeEnd/>"
            + paragraph(run("second.")),
            ["First second."],
        ),
        (paragraph(run("last"), properties="<w:rPr><w:del/></w:rPr>"), ["last"]),
        # signs in a font of signs
        (paragraph(run("5 "), run("\uf0b1a", "<w:rFonts w:ascii='Symbol'/>"), run("m")), ["5 ±αm"]),
        # a large initial
        (
            paragraph(run("T"), properties="<w:framePr w:dropCap='drop'/>") + paragraph(run("he boat is red.")),
            ["The boat is red."],
        ),
    ],
)
def test_words_are_all_read_and_stay_apart(written: str, lines: list[str]) -> None:
    assert lines_of(build(written)) == lines


def test_a_box_tells_whether_it_is_ticked() -> None:
    ticked = '<w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData></w:fldChar>'
    field = f"<w:r>{ticked}</w:r><w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r>{END}"
    control = (
        f"<w:sdt><w:sdtPr><w14:checkbox xmlns:w14='w14'/></w:sdtPr><w:sdtContent>{run('☐')}</w:sdtContent></w:sdt>"
    )
    assert lines_of(build(paragraph(field, run(" yes ")) + paragraph(control, run(" no")))) == ["☒ yes", "☐ no"]


# --- boxes ------------------------------------------------------------------------------------------------------------


def text_box(*content: str, shape: str = "shape") -> str:
    """A box for older programs."""
    body = "".join(content)
    return f"<w:pict><v:{shape}><v:textbox><w:txbxContent>{body}</w:txbxContent></v:textbox></v:{shape}></w:pict>"


def drawing(*content: str) -> str:
    """A box of today."""
    return f"<w:drawing><a:wsp><a:txbx><w:txbxContent>{''.join(content)}</w:txbxContent></a:txbx></a:wsp></w:drawing>"


def either(choice: str, fallback: str = "") -> str:
    return f"<mc:AlternateContent><mc:Choice>{choice}</mc:Choice>{fallback}</mc:AlternateContent>"


SEEN, INNER = paragraph(run("code 8642")), paragraph(run("inner"))


@pytest.mark.parametrize(
    ("box", "lines"),
    [
        *[(text_box(SEEN, shape=shape), ["code 8642"]) for shape in ("shape", "oval", "rect", "roundrect", "line")],
        (f"<w:pict><v:group><v:group>{text_box(SEEN)}</v:group></v:group></w:pict>", ["code 8642"]),
        (drawing(SEEN), ["code 8642"]),
        (either(drawing(SEEN)), ["code 8642"]),
        (either(drawing(SEEN), "<mc:Fallback/>"), ["code 8642"]),
        (either(drawing(SEEN), "<mc:Fallback><w:pict/></mc:Fallback>"), ["code 8642"]),
        (either(drawing(SEEN), f"<mc:Fallback>{text_box(SEEN, shape='oval')}</mc:Fallback>"), ["code 8642"]),
        (either("<w:drawing/>", f"<mc:Fallback>{text_box(SEEN)}</mc:Fallback>"), ["code 8642"]),
        (either("<w:t>code 8642</w:t>"), ["code 8642"]),
        (
            either(
                drawing(SEEN, paragraph(either(drawing(INNER), f"<mc:Fallback>{text_box(INNER)}</mc:Fallback>"))),
                f"<mc:Fallback>{text_box(SEEN, paragraph(text_box(INNER)))}</mc:Fallback>",
            ),
            ["code 8642", "inner"],
        ),
    ],
)
def test_boxes_are_read_once_whatever_their_shape(box: str, lines: list[str]) -> None:
    assert lines_of(build(paragraph(f"<w:r>{box}</w:r>"))) == lines


# --- tables -----------------------------------------------------------------------------------------------------------

HEAD, INES, ROLF = row("Name", "Room", "Fee"), row("Ines", "B14", "5"), row("Rolf", "B15", "6")
READ = ["Name: Ines | Room: B14 | Fee: 5", "Name: Rolf | Room: B15 | Fee: 6"]
BEGINS, GOES_ON = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
WIDE = '<w:gridSpan w:val="2"/>'


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        (table(HEAD, row("Mia", "B1", "9", properties="<w:hidden/>"), INES, ROLF), READ),
        (table(HEAD, row("Mia", "B1", "9", properties="<w:del/>"), INES, ROLF), READ),
        (table(HEAD, INES, row("Rolf", "B15", "6", properties="<w:ins/>")), READ),
        (table(HEAD, row("Ines", cell("B1", "<w:cellDel/>"), "B14", "5"), ROLF), READ),
        (table(HEAD, INES, row("Rolf", "B15", "6", properties='<w:tblHeader w:val="0"/>')), READ),
        (table(row("Name", "Room", "Fee", properties="<w:tblHeader/>"), INES, ROLF), READ),
        (table(HEAD, '<w:bookmarkStart w:name="x"/>', INES, ROLF), READ),
        (
            table(row(f"<w:tc>{paragraph(run('Left'))}{table(HEAD, INES, ROLF)}</w:tc>", "Right")),
            ["Left", *READ, "Right"],
        ),
        (
            table(HEAD, row(cell("Ines", BEGINS), "B14", "5"), row(cell("", GOES_ON), "B15", "6")),
            [READ[0], "Name: Ines | Room: B15 | Fee: 6"],
        ),
        (
            table(
                HEAD,
                row(cell("Ines", BEGINS), "B14", "5", properties="<w:del/>"),
                row(cell("Rolf", GOES_ON), "B15", "6"),
            ),
            READ[1:],
        ),
        (table(HEAD, INES, row("B15", "6", properties='<w:gridBefore w:val="1"/>')), [READ[0], "Room: B15 | Fee: 6"]),
        (
            table(
                row("town", cell("2022", '<w:hMerge w:val="restart"/>'), cell("", "<w:hMerge/>")),
                row("", "units", "price"),
                row("Oslo", "5", "6"),
            ),
            ["town: Oslo | 2022 units: 5 | 2022 price: 6"],
        ),
        (
            table(row("town", cell("2022", WIDE)), row("", "units", "price"), row("Oslo", "5", "6")),
            ["town: Oslo | 2022 units: 5 | 2022 price: 6"],
        ),
        (table(HEAD, row("Ines", cell("B14", '<w:gridSpan w:val="x"/>'), "5"), ROLF), READ),
    ],
)
def test_tables_are_read_as_they_are_shown(written: str, lines: list[str]) -> None:
    assert lines_of(build(written)) == lines


# --- equations --------------------------------------------------------------------------------------------------------


def math(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def form(name: str, **arguments: str) -> str:
    parts = "".join(f"<m:{part}>{content}</m:{part}>" for part, content in arguments.items())
    return f"<m:{name}>{parts}</m:{name}>"


@pytest.mark.parametrize(
    ("equation", "text"),
    [
        (form("f", num=math("1"), den=math("2")), "1/2"),
        (math("2") + form("f", num=math("1"), den=math("2")) + math("x"), "2 1/2 x"),
        (form("f", num=math("a+b"), den=math("2.5")), "(a+b)/2.5"),
        (form("f", fPr='<m:type m:val="noBar"/>', num=math("n"), den=math("k")), "binom(n, k)"),
        (form("sSup", e=math("x"), sup=math("2")) + math("+1"), "x^2+1"),
        (form("sSup", e=form("d", e=math("a+b")), sup=math("n-1")), "(a+b)^(n-1)"),
        (form("sSub", e=math("10"), sub=math("2")), "10_2"),
        (form("sSubSup", e=math("x"), sub=math("1"), sup=math("2")), "x_1^2"),
        (form("rad", e=math("16")), "√(16)"),
        (form("rad", deg=math("3"), e=math("8")), "8^(1/3)"),
        (form("nary", naryPr='<m:chr m:val="∑"/>', sub=math("i=1"), sup=math("9"), e=math("2i")), "∑_(i=1)^9 2i"),
        (form("func", fName=math("sin"), e=math("2")), "sin(2)"),
        (form("func", fName=form("limLow", e=math("lim"), lim=math("x→0")), e=math("x")), "lim_(x→0)(x)"),
        (form("m", mr="<m:e>{}</m:e><m:e>{}</m:e>".format(math("1"), math("2"))), "[1, 2]"),
        (form("acc", e=math("x")), "x"),
        (f"<w:del>{math('9')}</w:del>{math('8')}", "8"),
        (f"<m:r><w:rPr><w:vanish/></w:rPr><m:t>9</m:t></m:r>{math('8')}", "8"),
        ("<m:r><m:t>x=1</m:t><w:br/><m:t>y=2</m:t></m:r>", "x=1 y=2"),
    ],
)
def test_equations_are_read_as_typed_on_a_line(equation: str, text: str) -> None:
    body = paragraph(run("so "), f"<m:oMath>{equation}</m:oMath>", run(" holds"))
    assert lines_of(build(body)) == [f"so {text} holds"]
    assert lines_of(build(paragraph(f"<m:oMathPara><m:oMath>{equation}</m:oMath></m:oMathPara>"))) == [text]


def test_a_fraction_stays_apart_from_the_number_before_it() -> None:
    fraction = f"<m:oMath>{form('f', num=math('1'), den=math('2'))}</m:oMath>"
    assert lines_of(build(paragraph(run("2"), fraction, run(" cups")))) == ["2 1/2 cups"]


def test_a_fraction_of_a_field_is_read() -> None:
    field = f"{BEGIN}<w:r><w:instrText>EQ \\f(1</w:instrText><w:instrText>,b+2)</w:instrText></w:r>{END}"
    other = f"{BEGIN}<w:r><w:instrText>EQ \\r(3,8)</w:instrText></w:r>{END}"
    assert lines_of(build(paragraph(run("2"), field, run(" cups"), other))) == ["2 1/(b+2) cups"]


def test_equations_on_lines_of_their_own_stay_apart() -> None:
    equations = "".join(f"<m:oMath>{math(text)}</m:oMath>" for text in ("x=1", "y=2"))
    body = paragraph(run("where"), f"<m:oMathPara>{equations}</m:oMathPara>", run("holds"))
    assert lines_of(build(body)) == ["where", "x=1", "y=2", "holds"]


# --- parts ------------------------------------------------------------------------------------------------------------

NOTE = f'<w:footnote w:id="2">{paragraph(run("Changed in May."))}</w:footnote>'


def reference(note_id: str) -> str:
    """As Word writes it: raised by itself."""
    raised = '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr>'
    return f'<w:r>{raised}<w:footnoteReference w:id="{note_id}"/></w:r>'


def test_notes_are_read_and_lost_ones_cost_nothing() -> None:
    notes = f"<w:footnotes {SPACES}>{NOTE}<w:footnote/></w:footnotes>"
    body = paragraph(run("code 8642"), reference("2"), run("is"), reference("9"), run(" new"))
    assert lines_of(build(body, footnotes=notes)) == ["code 8642 [1] is new", "Changed in May."]


def test_a_damaged_part_costs_only_itself() -> None:
    content = build(
        paragraph(run("code 8642"), reference("2"), '<w:r><w:commentReference w:id="1"/></w:r>'),
        footnotes="<w:footnotes>",
        styles=b"\xff",
        comments="<w:comments>",
    )
    assert lines_of(content) == ["code 8642"]
    assert read_word(content).note == (
        "lost notes are not read: 1; "
        "headings may lack their numbers, and text that a style hides or strikes out is read; "
        "left out, damaged: footnotes, styles; open it and save it again"
    )


def test_lists_that_refer_to_nothing_cost_only_their_form() -> None:
    body = paragraph(run("code 8642"), properties='<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>')
    content = build(body, numbering=f'<w:numbering {SPACES}><w:num w:numId="1"/></w:numbering>')
    assert lines_of(content) == ["code 8642"]
    assert read_word(content).note == "left out, damaged: numbering; open it and save it again"


@pytest.mark.parametrize(
    ("numbering", "styles", "left_out"),
    [
        ("<w:num w:numId='1'/>", "", "numbering"),
        ("", "<w:style w:styleId='A'/>", "styles"),
        ("<w:num w:numId='1'/>", "<w:style w:styleId='A'/>", "numbering, styles"),
    ],
)
def test_a_part_that_is_not_understood_costs_no_other(numbering: str, styles: str, left_out: str) -> None:
    content = build(
        paragraph(run("code 8642")),
        numbering=f"<w:numbering {SPACES}>{numbering}</w:numbering>",
        styles=f"<w:styles {SPACES}>{styles}</w:styles>",
    )
    assert lines_of(content) == ["code 8642"]
    assert read_word(content).note == f"left out, damaged: {left_out}; open it and save it again"


def test_comments_without_a_number_cost_nothing() -> None:
    assert lines_of(build(paragraph(run("code 8642"), "<w:r><w:commentReference/></w:r>"))) == ["code 8642"]


def test_what_is_not_read_is_counted() -> None:
    objects = '<o:OLEObject ProgID="Equation.3"/><o:OLEObject ProgID="Excel.Sheet.12"/>'
    chart = either("<w:drawing><c:chart/></w:drawing>", f"<mc:Fallback>{text_box(INNER)}</mc:Fallback>")
    content = build(paragraph(f"<w:r><w:object>{objects}</w:object>{chart}</w:r>") + "<w:altChunk/>")
    assert read_word(content).note == (
        "equations of Office before 2007 are not read: 1; embedded files are not read: 2; "
        "a chart is damaged and not read"
    )


RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
CHART = f"""<c:chartSpace {SPACES}><c:chart>
<c:title><c:tx><c:rich><a:p><a:r><a:t>Boats sold</a:t></a:r></a:p></c:rich></c:tx></c:title>
<c:plotArea><c:barChart><c:ser>
<c:tx><c:strRef><c:strCache><c:pt idx="0"><c:v>boats</c:v></c:pt></c:strCache></c:strRef></c:tx>
<c:cat><c:strRef><c:strCache><c:pt idx="0"><c:v>2024</c:v></c:pt></c:strCache></c:strRef></c:cat>
<c:val><c:numRef><c:numCache><c:pt idx="0"><c:v>425</c:v></c:pt></c:numCache></c:numRef></c:val>
</c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"""
DIAGRAM_SPACE = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
DIAGRAM = f"""<d:dataModel xmlns:d="{DIAGRAM_SPACE}" {SPACES}><d:ptLst>
<d:pt modelId="1"><d:t><a:p><a:r><a:t>Build</a:t></a:r></a:p></d:t></d:pt>
</d:ptLst></d:dataModel>"""


def build_with_objects(body: str, **targets: str) -> bytes:
    """A document with parts by the name of the relation to them: ``chart_xml`` is the part ``word/chart.xml``."""
    relations = "".join(
        f'<Relationship Id="{name}" Type="{RELATION}/x" Target="{name.replace("_", ".")}"/>' for name in targets
    )
    file = io.BytesIO(build(body))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(
            "word/_rels/document.xml.rels", f'<Relationships xmlns="{RELATIONS}">{relations}</Relationships>'
        )
        for name, part in targets.items():
            archive.writestr(f"word/{name.replace('_', '.')}", part)
    return file.getvalue()


def test_charts_and_diagrams_are_read_behind_their_paragraph() -> None:
    chart = f'<w:r><w:drawing><c:chart xmlns:r="{RELATION}" r:id="chart_xml"/></w:drawing></w:r>'
    diagram = (
        f'<w:r><w:drawing><d:relIds xmlns:d="{DIAGRAM_SPACE}" xmlns:r="{RELATION}" r:dm="plan_xml"/></w:drawing></w:r>'
    )
    body = paragraph(run("See:"), chart, diagram) + paragraph(run("Last."))
    content = build_with_objects(body, chart_xml=CHART, plan_xml=DIAGRAM)
    assert lines_of(content) == ["See:", "Boats sold", "category: 2024 | boats: 425", "Build", "Last."]
    assert read_word(content).note == ""


SAVED_PAGE = """MIME-Version: 1.0
Content-Type: multipart/related; boundary="b"

--b
Content-Type: text/html; charset="utf-8"
Content-Transfer-Encoding: quoted-printable

<html><head><title>Rent</title></head><body><p>It is =E2=82=AC145.</p></body></html>
--b--
"""


@pytest.mark.parametrize(
    "file",
    [
        "<html><head><title>Rent</title></head><body><p>It is <b>€145</b>.</p></body></html>",
        "It is €145.",
        SAVED_PAGE,
        r"{\rtf1 It is \'80145.}",
    ],
    ids=["HTML", "text", "a saved page", "RTF"],
)
def test_a_file_that_is_a_part_of_the_text_is_read(file: str) -> None:
    body = paragraph(run("First.")) + f'<w:altChunk xmlns:r="{RELATION}" r:id="rent_htm"/>' + paragraph(run("Last."))
    content = build_with_objects(body, rent_htm=file)
    assert lines_of(content) == ["First.", "It is €145.", "Last."]
    assert read_word(content).note == ""


def test_strict_files_are_read(tmp_path: Path) -> None:
    content = build(
        paragraph(run("shown "), run("hidden", "<w:vanish/>"), f"<w:fldSimple>{run('5 May')}</w:fldSimple>")
    )
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(file, "w") as strict:
        part = archive.read("word/document.xml").decode()
        name = "http://purl.oclc.org/ooxml/wordprocessingml/main"
        strict.writestr(
            "word/document.xml", part.replace("http://schemas.openxmlformats.org/wordprocessingml/2006/main", name)
        )
    assert lines_of(file.getvalue()) == ["shown 5 May"]


def test_the_first_heading_is_the_title_of_a_document_without_one() -> None:
    heading = paragraph(
        run("10"), run("6", '<w:vertAlign w:val="superscript"/>'), "<w:r><w:br/></w:r>", run("old", "<w:strike/>"),
        run("ships"), properties=in_style("Heading1"),
    )  # fmt: skip
    document = read_word(build(heading, styles=f"<w:styles {SPACES}>{style('paragraph', 'Heading1', '')}</w:styles>"))
    assert document.title == "10^6 ships"
