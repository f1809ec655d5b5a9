#!/usr/bin/env bash
# odfpy 1.4.1: a footnote or a box in a text (ODT) joins the words beside it, and its paragraphs come once more as ones of
# the text; the paragraphs that a tracked change deleted come first of all.
#
# Guessed before the run: styles are not looked at, so raised, hidden and struck out text comes as any other; a footnote
# comes behind the mark in its paragraph, with a blank; deleted text, which stands in a part of its own at the beginning
# of the body (text:tracked-changes), is no part of the text.
# Seen: the styles as guessed. `getElementsByType(P)`, which the documentation uses to go through a text, gives what was
# deleted as paragraphs, before the first that is shown. A footnote and a box are glued to the words beside them, and each
# of their paragraphs comes once more as one of its own. A break of the line is a line end.
# What it means: who reads "not" in a contract cannot tell that it was deleted, and "48,312" with a footnote is 48,3121.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "odfpy==1.4.1"
"$folder/venv/bin/python" - <<'PYTHON'
import io
import zipfile

from odf import teletype
from odf.opendocument import load
from odf.text import P

OASIS = "urn:oasis:names:tc:opendocument:xmlns"
NAMES = " ".join(
    f'xmlns:{prefix}="{OASIS}:{name}:1.0"'
    for prefix, name in {"office": "office", "text": "text", "style": "style", "draw": "drawing"}.items()
)
MANIFEST = f"""<manifest:manifest xmlns:manifest="{OASIS}:manifest:1.0">
<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>
<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>"""
STYLES = "".join(
    f'<style:style style:name="{name}" style:family="text"><style:text-properties {look}/></style:style>'
    for name, look in {
        "raised": 'style:text-position="super 58%"',
        "struck": 'style:text-line-through-style="solid"',
        "hidden": 'text:display="none"',
    }.items()
)


def read(body: str) -> list[str]:
    """The paragraphs of a text with this body."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        content = f"<office:automatic-styles>{STYLES}</office:automatic-styles>"
        content += f"<office:body><office:text>{body}</office:text></office:body>"
        archive.writestr("content.xml", f"<office:document-content {NAMES}>{content}</office:document-content>")
    file.seek(0)
    return [teletype.extractText(paragraph) for paragraph in load(file).getElementsByType(P)]


def span(style: str, text: str) -> str:
    return f'<text:span text:style-name="{style}">{text}</text:span>'


assert read(f"<text:p>10{span('raised', '6')} ships</text:p>") == ["106 ships"]
assert read(f"<text:p>costs {span('struck', '10')}12</text:p>") == ["costs 1012"]
assert read(f"<text:p>open {span('hidden', 'not ')}on Sunday</text:p>") == ["open not on Sunday"]

deleted = "<text:changed-region><text:deletion><text:p>not</text:p></text:deletion></text:changed-region>"
body = f"<text:tracked-changes>{deleted}</text:tracked-changes><text:p>open <text:change/>on Sunday</text:p>"
assert read(body) == ["not", "open on Sunday"]

note = "<text:note-citation>1</text:note-citation><text:note-body><text:p>By sea.</text:p></text:note-body>"
assert read(f"<text:p>48,312<text:note>{note}</text:note> tons</text:p>") == ["48,3121By sea. tons", "By sea."]
box = "<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame>"
assert read(f"<text:p>before{box}after</text:p>") == ["beforeboxafter", "box"]
assert read("<text:p>line<text:line-break/>break</text:p>") == ["line\nbreak"]

print("as described: deleted text comes first, and notes, boxes and replaced figures join the words beside them")
PYTHON
