"""A DOCX as HTML, by mammoth: headings, lists, tables, notes; without deleted text and comments."""

import io
import re
import zipfile
import zlib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.markdown import without_links, without_tags
from crag.asking.marked_tables import mark_table_heads
from crag.asking.office.package_parts import Package
from crag.asking.office.package_xml import find_core_title, with_usual_names
from crag.asking.office.word_lists import WordLists
from crag.asking.office.word_markup import simplify_part
from crag.asking.office.word_objects import WordObjects
from crag.asking.office.word_styles import WORD, WordStyles

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_PART = re.compile(r"(?:word|docProps)/(?P<kind>document|footnotes|endnotes|styles|numbering|core)\d{0,3}\.xml")
"""What is read of the archive: pictures, comments and what programs keep for themselves need not even be whole."""
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, SyntaxError)
"""What a part raises that cannot be unpacked or is no XML; lxml's own error is a `SyntaxError`."""

_MISUNDERSTANDINGS = (AttributeError, LookupError, TypeError, ValueError)
"""What mammoth raises where a list or a style refers to nothing, or has no name."""
_NOT_UNDERSTOOD = ((), ("numbering",), ("styles",))
"""The parts to do without, one try after the other; the last is to do without both."""

_STYLES = """
p[style-name='Title'] => h1:fresh
p[style-name='Subtitle'] => h2:fresh
"""
_BACK_TO_TEXT = re.compile(r' ?<a href="#(?:foot|end)note-ref-[^"<>]{0,40}">↑</a>')
_LIST_WITHOUT_NUMBERS = '<ol style="list-style: none">'
_BOX = re.compile(r"<input (?P<ticked>checked=)?[^<>]{0,60}>")

_Parts = dict[str, "Element"]
"""The root of a part by its kind, such as ``footnotes``."""


class WordText(NamedTuple):
    """The title of a document ("" if it has none), its HTML, and a note on what is not read."""

    title: str
    html: str
    note: str


def read_word(content: bytes) -> WordText:
    """The text of a document. A part that is damaged is left out, unless it is the main one, whose error is raised."""
    parts, damaged, main_name = _read_parts(content)
    objects = WordObjects(Package(content).part(main_name))
    unread = _simplify(parts, objects)
    markup, not_understood = _to_html(parts)

    notes = [f"{kind} are not read: {count}" for kind, count in unread.items()]
    notes += dict.fromkeys(objects.faults)
    if "styles" in damaged:
        notes.append("headings may lack their numbers, and text that a style hides or strikes out is read")
    damaged += not_understood
    if damaged:
        notes.append(f"left out, damaged: {', '.join(damaged)}; open it and save it again")
    title = _find_title(parts, markup)
    return WordText(title, objects.put_back(mark_table_heads(markup)), "; ".join(notes))


def _read_parts(content: bytes) -> tuple[_Parts, list[str], str]:
    """The parts that are read, the kinds of those that are damaged, and the name of the main one."""
    from lxml import etree

    parts: _Parts = {}
    damaged = []
    main_name = ""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            match = _PART.fullmatch(name)
            if match is None:
                continue
            kind = match["kind"]
            try:
                part = with_usual_names(archive.read(name))
                if kind == "document" and not main_name:
                    main_name = name
                parts.setdefault(kind, etree.fromstring(part, parser))
            except _DAMAGES:
                if kind == "document":
                    raise
                damaged.append(kind)
    return parts, damaged, main_name


def _simplify(parts: _Parts, objects: WordObjects) -> Counter[str]:
    """Change the parts into what mammoth reads, and count what is not read by kind."""
    styles = WordStyles(parts.get("styles"))
    lists = WordLists(parts.get("numbering"), styles)
    unread: Counter[str] = Counter()
    for kind in ("document", "footnotes", "endnotes"):
        if kind in parts:
            unread.update(simplify_part(parts[kind], styles, lists, objects if kind == "document" else None))
    lost_notes = sum(_drop_lost_notes(parts, kind) for kind in ("footnote", "endnote"))
    if lost_notes:
        unread["lost notes"] = lost_notes
    return unread


def _drop_lost_notes(parts: _Parts, kind: str) -> int:
    """Drop notes without a number, and what refers to a note that is not there: mammoth fails for both.

    Returns the count of those that are not there.
    """
    lost_notes = 0
    notes_part = parts.get(f"{kind}s")
    note_ids = set()
    for note in notes_part.findall(f"{WORD}{kind}") if notes_part is not None else ():
        note_ids.add(note.get(f"{WORD}id"))
        if note.get(f"{WORD}id") is None:
            note.tag = f"{WORD}noNote"

    for reference in list(parts["document"].iter(f"{WORD}{kind}Reference")):
        parent = reference.getparent()
        if parent is not None and (reference.get(f"{WORD}id") or "") not in note_ids:
            parent.remove(reference)
            lost_notes += 1
    return lost_notes


def _to_html(parts: _Parts) -> tuple[str, list[str]]:
    """The HTML that mammoth makes of the parts, and the parts that it does not understand, as few as may be."""
    for left_out in _NOT_UNDERSTOOD:
        others = {kind: root for kind, root in parts.items() if kind not in left_out}
        try:
            return _convert(others), sorted(left_out)
        except _MISUNDERSTANDINGS:
            continue
    both = {"numbering", "styles"}
    return _convert({kind: root for kind, root in parts.items() if kind not in both}), sorted(parts.keys() & both)


def _convert(parts: _Parts) -> str:
    """The HTML of the parts, without pictures, links and ways back from the notes; numbers are in the text."""
    import mammoth
    from lxml import etree

    prepared = io.BytesIO()
    with zipfile.ZipFile(prepared, "w") as archive:
        for kind, root in parts.items():
            # mammoth looks for the parts under these names if the package does not say where they are.
            archive.writestr(f"word/{kind}.xml", etree.tostring(root))

    markup: str = mammoth.convert_to_html(prepared, style_map=_STYLES).value
    markup = markup.replace("<ol>", _LIST_WITHOUT_NUMBERS)
    markup = _BOX.sub(lambda box: "☒" if box["ticked"] else "☐", markup)
    return without_links(_BACK_TO_TEXT.sub("", markup))


def _find_title(parts: _Parts, markup: str) -> str:
    """The title among the properties (ECMA-376, part 2, 11), else the first heading."""
    properties = parts.get("core")
    title = find_core_title(properties) if properties is not None else ""
    if title:
        return title
    _, opening, rest = markup.partition("<h1>")
    return without_tags(rest.partition("</h1>")[0]) if opening else ""
