#!/usr/bin/env bash
# mammoth 1.13.0: the words of a simple field, of an equation and of text with a direction of its own are dropped; the
# sentence around them stays.
#
# Guessed before the run: of a field the instruction is dropped and the result kept, in both forms in which Word writes
# fields; an equation loses its form and keeps its signs; nothing is reported; a break of the page parts two words.
# Seen: of a field that is written at length (w:fldChar) the result is kept, of the same field in its short form
# (w:fldSimple) nothing is; nothing is left of an equation (m:oMath), nor of words in w:bdo. Each of the three gives one
# message, "An unrecognised element was ignored". A break of the page glues the words beside it, without a message; a
# break of the line is <br />.
# What it means: "The budget is 120 euros" becomes "The budget is  euros" for who reads the HTML and not the messages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "mammoth==1.13.0"
"$folder/venv/bin/python" - <<'PYTHON'
import io
import zipfile

import mammoth

OFFICE = "http://schemas.openxmlformats.org"
NAMES = (
    f'xmlns:w="{OFFICE}/wordprocessingml/2006/main" xmlns:m="{OFFICE}/officeDocument/2006/math"'
)


def read(paragraph: str) -> tuple[str, int]:
    """The HTML of a document with this paragraph, and the number of messages."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(
            "word/document.xml",
            f"<w:document {NAMES}><w:body><w:p>{paragraph}</w:p></w:body></w:document>",
        )
    result = mammoth.convert_to_html(packed)
    return result.value, len(result.messages)


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def mark(kind: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'


at_length = mark("begin") + "<w:r><w:instrText>DOCPROPERTY Budget</w:instrText></w:r>" + mark("separate")
at_length += run("120") + mark("end")
assert read(run("budget is ") + at_length + run(" euros")) == ("<p>budget is 120 euros</p>", 0)

in_short = f'<w:fldSimple w:instr="DOCPROPERTY Budget">{run("120")}</w:fldSimple>'
equation = "<m:oMath><m:r><m:t>120</m:t></m:r></m:oMath>"
with_direction = f'<w:bdo w:val="ltr">{run("120")}</w:bdo>'
for dropped in (in_short, equation, with_direction):
    assert read(run("budget is ") + dropped + run(" euros")) == ("<p>budget is  euros</p>", 1)

page_break = '<w:r><w:br w:type="page"/></w:r>'
assert read(run("ships") + page_break + run("boats")) == ("<p>shipsboats</p>", 0)
assert read(run("ships") + "<w:r><w:br/></w:r>" + run("boats")) == ("<p>ships<br />boats</p>", 0)

print("as described: the field in short form, the equation and the words with a direction are dropped")
PYTHON
