#!/usr/bin/env bash
# Resiliparse 2.0.1, main content: the words of <time> and of elements marked as author or date leave the sentence.
#
# Guessed before the run: a line of author and date at the head of an article goes, words inside a sentence stay.
# Seen: "The bridge opened on <time>3 May 2019</time> and was designed by <span itemprop="author">Vera Holt</span>."
# becomes "The bridge opened on and was designed by ." The same words in a plain <span> stay.
# What it means: questions of when and by whom lose their answer exactly on pages that mark it up with care.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "Resiliparse==2.0.1"
"$folder/venv/bin/python" - <<'PYTHON'
from resiliparse.extract.html2text import extract_plain_text


def read(date: str, designer: str) -> str:
    sentence = f"The bridge opened on {date} and was designed by {designer}."
    page = f"<html><body><main><article><h1>Bridge</h1><p>{sentence}</p></article></main></body></html>"
    return extract_plain_text(page, main_content=True).split("\n")[-1]


marked = read("<time>3 May 2019</time>", '<span itemprop="author">Vera Holt</span>')
assert marked == "The bridge opened on and was designed by .", marked

plain = read("<span>3 May 2019</span>", "<span>Vera Holt</span>")
assert plain == "The bridge opened on 3 May 2019 and was designed by Vera Holt.", plain

print("as described: marked dates and authors are cut out of the sentence")
PYTHON
