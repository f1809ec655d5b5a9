#!/usr/bin/env bash
# html2text 2025.4.15, markdownify 1.2.3, html-to-markdown 3.21.2, inscriptis 2.7.6, turndown 7.2.5, node-html-markdown
# 2.0.0: a countdown is turned over, and those who share a second place are second and third.
#
# Guessed before the run: `start` and `reversed` of a numbered list are kept by most, `start` alone by turndown; about
# places that are shared nothing was guessed.
# Seen: `<ol reversed>`, which a browser numbers 3, 2, 1, is 1, 2, 3 in all six, so that the last of a countdown comes
# first. With `start="10"` four of them count from 10 up to 11. Places as `value` gives them, 1, 2, 2, 4, are 1, 2, 3, 4
# in all but inscriptis, which drops `start` and counts from 1, as node-html-markdown does. All six make 106 of
# 10<sup>6</sup>. What was deleted is struck through in four; inscriptis and turndown join it to what stands in its
# place, and 10 changed to 12 is 1012.
# What it means: "which film is number one of the list" is answered with the last of the list, from a page that says so
# in plain HTML; Markdown cannot hold a falling list, so the numbers have to become words. These six stand before most
# language models that read pages; this project numbers the items itself, as a browser does.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "html2text==2025.4.15" "markdownify==1.2.3" "html-to-markdown==3.21.2" "inscriptis==2.7.6"
npm install --silent --no-fund --no-audit --prefix "$folder" "turndown@7.2.5" "node-html-markdown@2.0.0"
cat >"$folder/convert.mjs" <<'JAVASCRIPT'
import { readFileSync } from "node:fs";
import { NodeHtmlMarkdown } from "node-html-markdown";
import TurndownService from "turndown";

const pages = JSON.parse(readFileSync(0, "utf8"));
const turndown = new TurndownService();
console.log(JSON.stringify(pages.map((page) => [turndown.turndown(page), NodeHtmlMarkdown.translate(page)])));
JAVASCRIPT
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import json
import re
import subprocess
import sys

import html2text
import html_to_markdown
import inscriptis
import markdownify

PYTHONS = {
    "html2text": html2text.html2text,
    "markdownify": markdownify.markdownify,
    "html-to-markdown": lambda page: html_to_markdown.convert(page).content,
    "inscriptis": inscriptis.get_text,
}
TWO, THREE = "<li>Ann</li><li>Bob</li>", "<li>Ann</li><li>Bob</li><li>Eve</li>"
SHARED = '<li value="1">Ann</li><li value="2">Bob</li><li value="2">Eve</li><li value="4">Joe</li>'

# A list, what a browser shows before its items, what most converters write, and the converters that write otherwise
LISTS = [
    (f"<ol reversed>{THREE}</ol>", "3 2 1", "1 2 3", {}),
    (f'<ol reversed start="10">{TWO}</ol>', "10 9", "10 11", {"inscriptis": "1 2", "node-html-markdown": "1 2"}),
    (f"<ol>{SHARED}</ol>", "1 2 2 4", "1 2 3 4", {"inscriptis": "1 2 2 4"}),
    (f'<ol start="5">{TWO}</ol>', "5 6", "5 6", {"inscriptis": "1 2", "node-html-markdown": "1 2"}),
]
POWER, CHANGED = "<p>10<sup>6</sup> stars</p>", "<p>He scored <del>10</del><ins>12</ins> goals</p>"


def convert(pages: list[str]) -> dict[str, list[str]]:
    """What each converter writes of the pages."""
    written = {name: [convert_page(page) for page in pages] for name, convert_page in PYTHONS.items()}
    command = ["node", "convert.mjs"]
    done = subprocess.run(
        command, cwd=sys.argv[1], input=json.dumps(pages), capture_output=True, text=True, check=True
    )
    by_turndown, by_node = zip(*json.loads(done.stdout), strict=True)
    return {**written, "turndown": list(by_turndown), "node-html-markdown": list(by_node)}


for name, pages in convert([page for page, *_ in LISTS]).items():
    for (page, _, usual, others), text in zip(LISTS, pages, strict=True):
        numbers = " ".join(re.findall(r"\d+(?=\.)", text))
        assert numbers == others.get(name, usual), (name, page, text)

for name, (power, changed) in convert([POWER, CHANGED]).items():
    assert power.strip() == "106 stars", (name, power)
    joined = "1012" in changed
    assert joined == (name in {"inscriptis", "turndown"}), (name, changed)

print("as described: a countdown is turned over, and a shared second place is not shared")
PYTHON
