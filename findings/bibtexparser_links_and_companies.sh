#!/usr/bin/env bash
# bibtexparser 2.1.0, rispy 0.10.0, @citation-js/plugin-bibtex 0.8.2: links end at a % or a ;, 44 BC is the year 0.
#
# Guessed before the run: rispy is right; bibtexparser keeps braces; "and others" is a person named others.
# Seen: when bibtexparser decodes LaTeX, a % in a link begins a comment: http://a.org/x_y%20z is http://a.org/x_y. Text
# in \mbox and \texttt is gone. The company {Barnes and Noble} is two authors after decoding, one before it; values that
# are joined by # stay as they are written ('j # " 5"'); "others" is a person in it and in citation-js. rispy, of the
# format RIS, cuts a link at a semicolon into two; of two lines with a summary, a number or a year it keeps the first.
# citation-js gives 44 BC, written as the standard wants it, date = {-0044}, as the year 0, and the nineties (199X) as
# 1990; the same year in RIS is -44. A title with one $ is an error there, and \frac{1}{2} is \frac12.
# What it means: links of references lead elsewhere, and authors and years are not those of the book. This project reads
# no bibliographies.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "bibtexparser==2.1.0" "rispy==0.10.0" "pylatexenc==2.11"
npm install --silent --no-fund --no-audit --prefix "$folder" \
    "@citation-js/core@0.8.2" "@citation-js/plugin-bibtex@0.8.2" "@citation-js/plugin-ris@0.8.2"
"$folder/venv/bin/python" - <<'PYTHON'
import bibtexparser
import rispy
from bibtexparser.middlewares import LatexDecodingMiddleware, SeparateCoAuthors


def read(fields: str, *steps: object) -> dict[str, object]:
    """The fields of one entry of BibTeX, after those steps."""
    journal = '@string{j = "Journal"}'
    (entry,) = bibtexparser.parse_string(f"{journal}\n@misc{{a, {fields}}}", append_middleware=steps).entries
    return {field.key: field.value for field in entry.fields}


decode, separate = LatexDecodingMiddleware(), SeparateCoAuthors()
link = "url = {http://a.org/x_y%20z}"
assert read(link) == {"url": "http://a.org/x_y%20z"}
assert read(link, decode) == {"url": "http://a.org/x_y"}
assert read(r"title = {It is \mbox{310 m} long}", decode) == {"title": "It is  long"}
assert read("journal = j") == {"journal": "Journal"}
assert read('journal = j # " 5"') == {"journal": 'j # " 5"'}

company = "author = {{Barnes and Noble} and others}"
assert read(company, separate, decode) == {"author": ["{Barnes and Noble}", "others"]}, read(company, separate, decode)
assert read(company, decode, separate) == {"author": ["Barnes", "Noble", "others"]}

lines = ["UR  - http://a.org/?a=1;b=2", "AB  - one", "AB  - two", "SN  - 1", "SN  - 2", "N1  - one", "N1  - two"]
(reference,) = rispy.loads("\n".join(["TY  - JOUR", *lines, "ER  - ", ""]))
assert reference.pop("type_of_reference") == "JOUR"
assert reference == {"urls": ["http://a.org/?a=1", "b=2"], "abstract": "one", "issn": "1", "notes": ["one", "two"]}
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { Cite } from "@citation-js/core";
import "@citation-js/plugin-bibtex";
import "@citation-js/plugin-ris";

const read = (text) => new Cite(text).data[0];
const year = (text) => read(text).issued["date-parts"];
assert.deepEqual(year("@book{a, date = {0079}}"), [[79]]);
assert.deepEqual(year("@book{a, date = {-0044}}"), [[0]]);
assert.deepEqual(year("@book{a, date = {-0044-03-15}}"), [[0]]);
assert.deepEqual(year("@book{a, date = {199X}}"), [[1990]]);
assert.deepEqual(year("TY  - BOOK\nTI  - A\nPY  - -0044\nER  - \n"), [[-44]]);
assert.deepEqual(read("@book{a, author = {A B and others}}").author.at(-1), { family: "others" });
assert.equal(read("@book{a, url = {http://a.org/x_y%20z}}").URL, "http://a.org/x_y%20z");
assert.equal(read("@book{a, title = {$\\frac{1}{2}$ a mile}}").title, "\\frac12 a mile");
assert.throws(() => read("@book{a, title = {It cost $5}}"), /expected "text"/);
console.log("as described: a link ends at its first %, and 44 BC is the year 0");
JAVASCRIPT
node "$folder/read.mjs"
