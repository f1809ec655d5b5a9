#!/usr/bin/env bash
# striprtf 0.0.35: text that a tracked change deleted, and text that its author hid, is extracted like any other.
#
# Guessed before the run: a superscript loses its height and hidden text is kept, but groups of deleted text are dropped
# like those of comments.
# Seen: where 10 was changed to 12, "1012" is extracted; hidden text is kept too; a raised 6 behind 10 gives "106". A
# character beyond U+FFFF comes as its two halves, which cannot be encoded as UTF-8. The text of a text box is dropped
# where a comment is dropped as well.
# What it means: the old and the new figure of a revised contract or report become one number that never stood there.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "striprtf==0.0.35"
"$folder/venv/bin/python" - <<'PYTHON'
from striprtf.striprtf import rtf_to_text


def read(body: str) -> str:
    """The text of a document with this body."""
    return rtf_to_text(r"{\rtf1\ansi\ansicpg1252 " + body + "}")


assert read(r"costs {\deleted 10}{\revised 12} euros") == "costs 1012 euros"
assert read(r"open {\v not }on Sunday") == "open not on Sunday"
assert read(r"10{\super 6} ships") == "106 ships"
assert read(r"\u-10179?\u-8704?") == "\ud83d\ude00"
assert read(r"before {\shp{\*\shpinst{\shptxt box}}}after") == "before after"
assert read(r"before {\*\annotation comment}after") == "before after"

print("as described: deleted and hidden text is extracted, and the deleted figure joins the new one")
PYTHON
