#!/usr/bin/env bash
# docx2txt 0.9, docx2python 3.7.1, officeparser 7.8.0: a match won 3-1 is won 31.
#
# Guessed before the run: docx2txt, the smallest, loses hyphens that may not break a line; the other two keep them, tabs
# and breaks, and read only the new place of a text that was moved.
# Seen: Word writes the hyphen of Ctrl+Shift+_ as an element of its own, <w:noBreakHyphen/>. All three drop it: 3-1 is
# 31, 1932-33 would be 193233. officeparser drops tabs too: "East310". docx2python and officeparser write a half of an
# equation as 12, and all three give a text that was moved twice. python-docx keeps the hyphen, and loses equations,
# moved text and what stands in a content control: "length m".
# What it means: scores, seasons and minus signs are numbers of one piece. This project reads Word files with mammoth,
# which keeps the hyphen, and walks what mammoth leaves out.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "python-docx==1.2.0" "docx2txt==0.9" "docx2python==3.7.1"
npm install --silent --no-fund --no-audit --omit=optional --prefix "$folder" "officeparser@7.8.0"
"$folder/venv/bin/python" - "$folder/lines.docx" <<'PYTHON'
import sys

import docx
import docx2txt
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx2python import docx2python

FILE = sys.argv[1]
MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


HALF = f'<m:oMath xmlns:m="{MATH}"><m:f><m:num><m:r><m:t>1</m:t></m:r></m:num>'
HALF += "<m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
MOVED = f'<w:moveFrom w:id="5" w:author="a">{run("once")}</w:moveFrom>'
MOVED += f'<w:moveTo w:id="6" w:author="a">{run("once")}</w:moveTo>'

# The XML of a line -> what python-docx, docx2txt and docx2python read
LINES = {
    run("won 3") + "<w:r><w:noBreakHyphen/></w:r>" + run("1"): ("won 3-1", "won 31", "won 31"),
    run("East") + "<w:r><w:tab/></w:r>" + run("310"): ("East\t310", "East\t310", "East\t310"),
    run("it is ") + HALF: ("it is ", "it is ", "it is <latex>12</latex>"),
    run("said ") + MOVED: ("said ", "said onceonce", "said onceonce"),
    run("length ") + f"<w:sdt><w:sdtContent>{run('310')}</w:sdtContent></w:sdt>" + run(" m"): (
        "length  m",
        "length 310 m",
        "length 310 m",
    ),
}
document = docx.Document()
for line in LINES:
    document.element.body.insert(-1, parse_xml(f"<w:p {nsdecls('w')}>{line}</w:p>"))
document.save(FILE)

by_docx2txt = [line for line in docx2txt.process(FILE).split("\n") if line]
by_docx2python = [line for line in docx2python(FILE).text.split("\n") if line]
by_python_docx = [paragraph.text for paragraph in docx.Document(FILE).paragraphs]
seen = list(zip(by_python_docx, by_docx2txt, by_docx2python, strict=True))
assert seen == list(LINES.values()), seen
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { OfficeParser } from "officeparser";

const read = await OfficeParser.parseOffice(process.argv[2]);
const lines = read.toText().split("\n").filter((line) => line);
assert.deepEqual(lines, ["won 31", "East310", "it is \\frac12", "said onceonce", "length 310 m"]);
console.log("as described: a match won 3-1 is won 31");
JAVASCRIPT
node "$folder/read.mjs" "$folder/lines.docx"
