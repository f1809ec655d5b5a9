#!/usr/bin/env bash
# Resiliparse 2.0.1, main content: a short bulleted list near the body is dropped, the same list with numbers stays.
#
# Guessed before the run: both kinds of list are content, or both are taken for menus.
# Seen: "The medals were:" is followed by nothing when the list is a <ul> directly under the body; as an <ol> all items
# stay. Four levels of <div> around the <ul> bring its items back. No option of extract_plain_text keeps them otherwise.
# What it means: members, winners and works, the commonest answers on plain pages, are missing from what is searched.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "Resiliparse==2.0.1"
"$folder/venv/bin/python" - <<'PYTHON'
from resiliparse.extract.html2text import extract_plain_text


def read(tag: str, levels: int) -> str:
    items = f"<{tag}><li>Gold: Vera Holt</li><li>Silver: Ines Park</li></{tag}>"
    article = f"<h1>Regatta</h1><p>The medals were:</p>{items}<p>The next one is in June.</p>"
    return extract_plain_text(
        f"<html><body>{'<div>' * levels}{article}{'</div>' * levels}</body></html>", main_content=True
    )


assert "June" in read("ul", 0) and "Vera" not in read("ul", 0), read("ul", 0)
assert "Vera" in read("ol", 0) and "Ines" in read("ol", 0), read("ol", 0)
assert "Vera" in read("ul", 4), read("ul", 4)

print("as described: <ul> under the body is dropped, <ol> stays, <ul> four levels down stays")
PYTHON
