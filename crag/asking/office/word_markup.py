"""A part of a DOCX in the form that mammoth 1.13.0 reads, without what is not shown.

mammoth knows no styles but their names, drops elements that it does not know together with their words, glues words at
breaks of a page, reads of two forms of a drawing the one for older programs, and keeps hidden text.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.office.equations import MATH, equation_text
from crag.asking.office.word_lists import WordLists
from crag.asking.office.word_numbers import write_numbers
from crag.asking.office.word_objects import WordObjects
from crag.asking.office.word_styles import VALUE, WORD, WordStyles
from crag.asking.office.word_tables import simplify_tables
from crag.text.formulas import in_brackets

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_NEW_CHART = "{http://schemas.microsoft.com/office/drawing/2014/chartex}chart"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_OBJECT = "{urn:schemas-microsoft-com:office:office}OLEObject"

_BOX = f"{WORD}txbxContent"
_DRAWINGS = (f"{WORD}drawing", f"{WORD}pict", f"{WORD}object")
_CONTENT = (f"{WORD}t", f"{WORD}sym", _BOX, f"{MATH}t", _CHART, _NEW_CHART, _DIAGRAM)
"""What makes one of the forms of a drawing or a text worth reading."""
_RUNS = (f"{WORD}r", f"{MATH}r")
_IN_LINE = (f"{WORD}t", f"{WORD}sym", f"{WORD}tab", f"{WORD}ptab", f"{WORD}br", f"{WORD}cr", f"{WORD}noBreakHyphen")

_WRAPPERS = [
    *("bdo", "dir", "fldSimple", "hyperlink", "ruby", "rubyBase"),
    *("customXml", "ins", "moveTo", "sdt", "sdtContent", "smartTag"),
]
"""Elements of which only what is in them matters. mammoth looks for the address of a link, which may be missing."""
_UNREAD = [
    *("customXmlPr", "rt", "sdtEndPr", "sdtPr", "smartTagPr", "softHyphen"),
    *("bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd", "commentReference"),
    *("permStart", "permEnd", "proofErr"),
    *("moveFromRangeStart", "moveFromRangeEnd", "moveToRangeStart", "moveToRangeEnd"),
]
"""`rt` is the reading above a word. Places stand between rows and paragraphs that are to be merged."""
_FRACTION_OF_FIELD = re.compile(r"EQ\s{1,9}\\f\s?\(([^,;()\\]{1,40})[,;]([^,;()\\]{1,40})\)", re.IGNORECASE)
_NOTE_REFERENCES = (f"{WORD}footnoteReference", f"{WORD}endnoteReference")
_SYMBOL_FONTS = frozenset({"Symbol", "Webdings", "Wingdings", "Wingdings 2", "Wingdings 3"})
"""mammoth knows their characters."""
_CODE = re.compile(r"[0-9A-Fa-f]{1,5}")
_PRIVATE = range(0xE000, 0xF900)
_FONT_CODES = 0xF000
_DROP_CAPS = frozenset({"drop", "margin"})


class _Marks(NamedTuple):
    """How a run differs from others."""

    is_struck: bool = False
    height: str = "baseline"


def simplify_part(
    root: "Element", styles: WordStyles, lists: WordLists, objects: WordObjects | None = None
) -> dict[str, int]:
    """Change a part of a document, and count what is not read in it by kind. `objects`: a reader of those in it."""
    from lxml import etree

    etree.strip_elements(root, *(WORD + name for name in _UNREAD), with_tail=False)
    etree.strip_tags(root, *(WORD + name for name in _WRAPPERS))
    simplify_tables(root)
    _join_initials(root)
    _drop_deleted_text(root)
    _choose_alternatives(root)
    _show_fractions_of_fields(root)
    _drop_field_instructions(root)
    if objects is not None:
        objects.mark(root)
    unread = _count_unread(root)

    _read_symbol_fonts(root)
    _apply_looks(root, styles)
    write_numbers(root, lists, styles)
    _show_boxes(root)
    _show_equations(root)
    _simplify_characters(root)
    return {kind: count for kind, count in unread.items() if count}


def _count_unread(root: "Element") -> dict[str, int]:
    programs = [embedded.get("ProgID", "") for embedded in root.iter(_OBJECT)]
    equations = sum(program.startswith("Equation") for program in programs)
    return {
        "charts": len(list(root.iter(_CHART, _NEW_CHART))),
        "diagrams": len(list(root.iter(_DIAGRAM))),
        "equations of Office before 2007": equations,
        "embedded files": len(programs) - equations + len(list(root.iter(f"{WORD}altChunk", f"{WORD}subDoc"))),
    }


def _drop_deleted_text(root: "Element") -> None:
    """Drop what was deleted or moved away; a paragraph whose end was deleted is joined with the next."""
    from lxml import etree

    for paragraph in reversed(list(root.iter(f"{WORD}p"))):
        marks = paragraph.find(f"{WORD}pPr/{WORD}rPr")
        is_joined = marks is not None and (
            marks.find(f"{WORD}del") is not None or marks.find(f"{WORD}moveFrom") is not None
        )
        following = paragraph.getnext()
        if is_joined and following is not None and following.tag == f"{WORD}p":
            _join_paragraphs(paragraph, following)
    etree.strip_elements(root, f"{WORD}del", f"{WORD}moveFrom", with_tail=False)


def _join_paragraphs(paragraph: "Element", following: "Element") -> None:
    """Move all but the properties of a paragraph to the beginning of the next."""
    properties = following.find(f"{WORD}pPr")
    place = 0 if properties is None else 1
    for child in reversed(paragraph):
        if child.tag != f"{WORD}pPr":
            following.insert(place, child)
    _remove(paragraph)


def _join_initials(root: "Element") -> None:
    """Join a large initial, which is a paragraph in a frame, with the paragraph that it begins."""
    for frame in list(root.iter(f"{WORD}framePr")):
        paragraph = next(frame.iterancestors(f"{WORD}p"), None)
        following = paragraph.getnext() if paragraph is not None else None
        is_initial = frame.get(f"{WORD}dropCap") in _DROP_CAPS
        if is_initial and paragraph is not None and following is not None and following.tag == f"{WORD}p":
            _join_paragraphs(paragraph, following)


def _choose_alternatives(root: "Element") -> None:
    """Keep the first form with content where a document offers several for programs of different age."""
    from lxml import etree

    for alternatives in reversed(list(root.iter(f"{_ALTERNATIVES}AlternateContent"))):
        with_content = (form for form in alternatives if next(form.iter(*_CONTENT), None) is not None)
        chosen = next(with_content, None)
        for form in list(alternatives):
            if form is not chosen:
                alternatives.remove(form)
    forms = [_ALTERNATIVES + name for name in ("AlternateContent", "Choice", "Fallback")]
    etree.strip_tags(root, *forms)


def _show_fractions_of_fields(root: "Element") -> None:
    r"""Write the fractions of fields such as ``EQ \f(1,2)``, which Word draws and keeps no text of."""
    from lxml import etree

    fields: list[tuple[Element, list[str]]] = []  # of each open field its beginning and instruction
    for piece in list(root.iter(f"{WORD}fldChar", f"{WORD}instrText")):
        place = piece.get(f"{WORD}fldCharType")
        if place == "begin":
            fields.append((piece, []))
        elif place is None and fields:
            fields[-1][1].append(piece.text or "")
        elif place == "end" and fields:
            beginning, instruction = fields.pop()
            fraction = _FRACTION_OF_FIELD.fullmatch("".join(instruction).strip())
            run, first_run = piece.getparent(), beginning.getparent()
            if fraction and run is not None and first_run is not None:
                upper, lower = (in_brackets(part.strip()) for part in fraction.groups())
                etree.SubElement(run, f"{WORD}t").text = " " * _follows_digit(first_run) + f"{upper}/{lower}"


def _drop_field_instructions(root: "Element") -> None:
    """Drop what stands between the beginning of a field and its result; a field without an end has no instruction."""
    instructions: list[list[Element] | None] = []  # of the open fields; None in the result of one
    dropped: list[Element] = []
    for piece in root.iter(f"{WORD}fldChar", *_IN_LINE):
        mark = piece.get(f"{WORD}fldCharType") if piece.tag == f"{WORD}fldChar" else ""
        if mark == "begin":
            instructions.append([])
        elif mark == "separate" and instructions:
            dropped += instructions[-1] or ()
            instructions[-1] = None
        elif mark == "end" and instructions:
            dropped += instructions.pop() or ()
        elif not mark:
            for instruction in instructions:
                if instruction is not None:
                    instruction.append(piece)

    for piece in dropped:
        _remove(piece)


def _apply_looks(root: "Element", styles: WordStyles) -> None:
    """Drop hidden runs, and give the others the marks of their styles as their own.

    Text is raised beside other text: where all of a paragraph is, nothing is.
    """
    looks = {run: styles.look_of(run) for run in root.iter(*_RUNS)}
    paragraphs = {run: next(run.iterancestors(f"{WORD}p"), None) for run in looks}
    with_line = set()
    """The paragraphs that have text on the line."""
    for run, look in looks.items():
        is_on_line = look.height == "baseline" and not look.is_hidden
        if is_on_line and any(text.text and text.text.strip() for text in run.iterchildren(f"{WORD}t")):
            with_line.add(paragraphs[run])

    marks_of: dict[Element, _Marks] = {}
    for run, look in looks.items():
        if look.is_hidden or (look.is_struck and run.tag == f"{MATH}r"):
            _remove(run)
        elif run.tag == f"{WORD}r":
            # mammoth raises the mark of a note itself.
            is_note_mark = next(run.iter(*_NOTE_REFERENCES), None) is not None
            is_raised = paragraphs[run] in with_line and not is_note_mark
            marks = _Marks(look.is_struck, look.height if is_raised else "baseline")
            previous = run.getprevious()
            if previous is not None and marks_of.get(previous) == marks:
                previous.extend(run.iterchildren())  # each run costs mammoth time
                _remove(run)
            else:
                marks_of[run] = marks

    for run, marks in marks_of.items():
        _mark_run(run, marks)


def _mark_run(run: "Element", marks: _Marks) -> None:
    """Replace the properties of a run by those with which it is shown."""
    for properties in run.findall(f"{WORD}rPr"):
        run.remove(properties)
    if marks == _Marks():
        return
    properties = run.makeelement(f"{WORD}rPr")
    run.insert(0, properties)
    if marks.is_struck:
        properties.append(run.makeelement(f"{WORD}strike"))
    if marks.height != "baseline":
        properties.append(run.makeelement(f"{WORD}vertAlign", {VALUE: marks.height}))


def _show_boxes(root: "Element") -> None:
    """Replace drawings, whatever their shape, by the boxes of text in them. The innermost come first."""
    for drawing in reversed(list(root.iter(*_DRAWINGS))):
        boxes = list(_find_boxes(drawing))
        drawing.clear(keep_tail=True)
        drawing.tag = f"{WORD}pict"
        drawing.extend(boxes)


def _find_boxes(element: "Element") -> "Iterator[Element]":
    """The boxes in an element that are in no other box of it."""
    for child in element:
        if child.tag == _BOX:
            yield child
        else:
            yield from _find_boxes(child)


def _show_equations(root: "Element") -> None:
    """Make text of equations; those in a paragraph of their own kind stand on lines of their own."""
    from lxml import etree

    for equation in list(root.iter(f"{MATH}oMath")):
        parent = equation.getparent()
        has_line = parent is not None and parent.tag == f"{MATH}oMathPara"
        text = equation_text(equation)
        if text[:1].isdigit() and _follows_digit(equation):
            text = f" {text}"
        equation.clear(keep_tail=True)
        equation.tag = f"{WORD}r"
        for tag in ("br", "t", "br") if has_line else ("t",):
            etree.SubElement(equation, WORD + tag).text = text if tag == "t" else None
    etree.strip_tags(root, f"{MATH}oMathPara")


def _follows_digit(equation: "Element") -> bool:
    """Whether a number stands directly before an equation, or a field with one: it is 2 1/2, not 21/2."""
    before = equation.getprevious()
    return before is not None and "".join(before.itertext())[-1:].isdigit()


def _simplify_characters(root: "Element") -> None:
    """Make breaks and tabs of any kind plain ones, and text of characters by number."""
    for sign in list(root.iter(f"{WORD}cr", f"{WORD}br", f"{WORD}ptab", f"{WORD}sym")):
        if sign.tag == f"{WORD}sym":
            _simplify_symbol(sign)
            continue
        sign.tag = f"{WORD}tab" if sign.tag == f"{WORD}ptab" else f"{WORD}br"
        sign.attrib.clear()


def _read_symbol_fonts(root: "Element") -> None:
    """Write the signs that a run shows in a font such as Symbol, where ``a`` looks like an alpha."""
    from mammoth.docx.dingbats import dingbats

    for fonts in root.iter(f"{WORD}rFonts"):
        font = fonts.get(f"{WORD}ascii") or fonts.get(f"{WORD}hAnsi")
        run = next(fonts.iterancestors(f"{WORD}r"), None) if font in _SYMBOL_FONTS else None
        if run is None:
            continue
        for text in run.iterchildren(f"{WORD}t"):
            signs = []
            for character in text.text or "":
                # Word keeps them at F020 to F0FF.
                code = ord(character) - _FONT_CODES if ord(character) in _PRIVATE else ord(character)
                signs.append(chr(dingbats.get((font, code), ord(character))))
            text.text = "".join(signs)


def _simplify_symbol(sign: "Element") -> None:
    """Make text of a character in a font of letters; mammoth reads those of fonts of symbols."""
    code = sign.get(f"{WORD}char", "")
    is_code = _CODE.fullmatch(code) is not None
    if is_code and sign.get(f"{WORD}font") in _SYMBOL_FONTS:
        return
    # What no font shows stands between words all the same.
    number = int(code, 16) if is_code else ord(" ")
    sign.attrib.clear()
    sign.tag = f"{WORD}t"
    sign.text = " " if number in _PRIVATE or not chr(number).isprintable() else chr(number)


def _remove(element: "Element") -> None:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
