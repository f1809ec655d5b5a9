#!/usr/bin/env bash
# pypdf 7.1.1: a raised digit joins the number before it, so that 10 to the power of 6 is read as 106.
#
# Guessed before the run: a smaller digit moved up by the text rise operator comes after a blank, or with a mark.
# Seen: "10" and a raised, smaller "6" are extracted as "106"; a footnote mark does the same to the figure before it.
# Two numbers that stand a third of an em apart in one array of glyphs are told apart, an eighth of an em is not enough.
# What it means: exponents and footnote marks change numbers in papers and reports by orders of magnitude.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pypdf==7.1.1"
"$folder/venv/bin/python" - <<'PYTHON'
import io

from pypdf import PdfReader, PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject


def read(text_operators: str) -> str:
    """The text of a page that shows the operators' glyphs in Helvetica, 12 points."""
    writer = PdfWriter()
    page = writer.add_blank_page(300, 300)
    font = DictionaryObject({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")})
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    fonts = DictionaryObject({NameObject("/F1"): font})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    stream = StreamObject()
    stream.set_data(f"BT /F1 12 Tf 20 250 Td {text_operators} ET".encode())
    page[NameObject("/Contents")] = writer._add_object(stream)
    file = io.BytesIO()
    writer.write(file)
    file.seek(0)
    return PdfReader(file).pages[0].extract_text()


assert read("(10) Tj /F1 7 Tf 5 Ts (6) Tj") == "106"
assert read("(48,312) Tj /F1 7 Tf 5 Ts (1) Tj") == "48,3121"
assert read("[(10) -300 (20) -120 (30)] TJ") == "10 2030"

print("as described: raised digits are glued to the number before them")
PYTHON
