#!/usr/bin/env bash
# Resiliparse 2.0.1, main content: a text node that is one character of three UTF-8 bytes vanishes.
#
# Guessed before the run: every text node inside a paragraph is kept, however short it is.
# Seen: "3", an en dash and "1", each in an element of its own, come out as "31". The same happens to a minus sign before
# a number. A single letter (one byte), an accented letter (two bytes) and an emoji (four bytes) stay, and so does an
# en dash beside a letter in one node; a blank beside it does not save it. Without main_content nothing is lost.
# The second guess, that a blank in the node would be enough, was wrong too.
# What it means for readers of web pages: scores, ranges of years and negative numbers change their value without a sign.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "Resiliparse==2.0.1"
"$folder/venv/bin/python" - <<'PYTHON'
from resiliparse.extract.html2text import extract_plain_text

EN_DASH = "\u2013"
MINUS = "\u2212"


def read(sentence: str, main_content: bool = True) -> str:
    page = f"<html><body><main><article><h1>Report</h1><p>{sentence}</p></article></main></body></html>"
    return extract_plain_text(page, main_content=main_content).split("\n")[-1]


score = f"They won <b>3</b><i>{EN_DASH}</i><b>1</b> on Sunday."
assert read(score) == "They won 31 on Sunday.", read(score)
assert read(score, main_content=False) == f"They won 3{EN_DASH}1 on Sunday.", read(score, main_content=False)

frost = f"It was <i>{MINUS}</i>12 degrees."
assert read(frost) == "It was 12 degrees.", read(frost)

for character in ("x", "\u00e9", "\U0001f3c6", EN_DASH + "x"):
    sentence = f"They won 3<i>{character}</i>1 on Sunday."
    assert character in read(sentence), (character, read(sentence))

assert read(f"They won 3<i>{EN_DASH} </i>1 on Sunday.") == "They won 31 on Sunday."

print("as described: one three-byte character in a node of its own is dropped, others stay")
PYTHON
