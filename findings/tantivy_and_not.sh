#!/usr/bin/env bash
# tantivy 0.27.0: "bridge AND NOT 1932" finds nothing, "bridge NOT 1932" what it should.
#
# Guessed before the run: NOT behind AND is what it is in Lucene, whose language this is like; signs such as && and !
# are errors, or read as in Lucene.
# Seen: a NOT beside AND or OR becomes a query of its own that only excludes, and such a query finds nothing. So "bridge
# AND NOT 1932" is empty, "NOT 1932 AND bridge" too, and "bridge OR NOT 1932" finds what "bridge" finds. "bridge AND
# -1932" and "bridge NOT 1932" are right. A NOT alone is an error in parse_query, and right in parse_query_lenient.
# "!1932" finds what it should exclude, "&&" is "or". The documentation names AND, OR, + and -, and says that these
# suffice.
# What it means: models write search queries with AND NOT, and an empty list reads as "nothing is known". This project
# searches by words without operators.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "tantivy==0.27.0"
"$folder/venv/bin/python" - <<'PYTHON'
import tantivy

TEXTS = ["bridge 1932", "bridge 1935", "tower 1932", "tower 1950"]
builder = tantivy.SchemaBuilder()
builder.add_text_field("text", stored=True)
index = tantivy.Index(builder.build())
writer = index.writer()
for text in TEXTS:
    writer.add_document(tantivy.Document(text=text))
writer.commit()
index.reload()


def find(query: tantivy.Query) -> list[str]:
    searcher = index.searcher()
    return sorted(searcher.doc(address)["text"][0] for _, address in searcher.search(query, 10).hits)


FOUND = {
    "bridge AND 1932": ["bridge 1932"],
    "bridge NOT 1932": ["bridge 1935"],
    "bridge AND -1932": ["bridge 1935"],
    "+bridge -1932": ["bridge 1935"],
    "bridge AND NOT 1932": [],
    "NOT 1932 AND bridge": [],
    "bridge AND (NOT 1932)": [],
    "bridge OR NOT 1932": ["bridge 1932", "bridge 1935"],
    "!1932": ["bridge 1932", "tower 1932"],
    "tower && 1950": ["tower 1932", "tower 1950"],
}
for text, found in FOUND.items():
    assert find(index.parse_query(text, ["text"])) == found, (text, find(index.parse_query(text, ["text"])))

try:
    index.parse_query("NOT 1932", ["text"])
except ValueError as error:
    assert "Only excluding terms" in str(error), error
else:
    raise AssertionError("NOT alone was read")
lenient, _ = index.parse_query_lenient("NOT 1932", ["text"])
assert find(lenient) == ["bridge 1935", "tower 1950"]

print("as described: AND NOT finds nothing")
PYTHON
