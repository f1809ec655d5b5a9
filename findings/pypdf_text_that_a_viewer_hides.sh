#!/usr/bin/env bash
# pypdf 7.1.1: extract_text returns words outside the crop box and in a layer that is switched off.
#
# Guessed before the run: text outside the crop box is left out (a viewer never paints it), a hidden layer may come through.
# Seen: both come through, as ordinary lines beside the visible ones, and nothing in the result tells them apart.
# What it means: a price of an earlier draft that no reader of the document sees can be quoted as evidence.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pypdf==7.1.1"
"$folder/venv/bin/python" - <<'PYTHON'
import io

from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DictionaryObject, NameObject, RectangleObject, StreamObject, TextStringObject

VISIBLE = "BT /F1 12 Tf 20 250 Td (Price 40) Tj ET "


def new_page(content: str):
    """A writer and its one page with the font F1 and the content stream."""
    writer = PdfWriter()
    page = writer.add_blank_page(300, 300)
    font = DictionaryObject()
    font.update({NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1")})
    font[NameObject("/BaseFont")] = NameObject("/Helvetica")
    fonts = DictionaryObject({NameObject("/F1"): font})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    stream = StreamObject()
    stream.set_data(content.encode())
    page[NameObject("/Contents")] = writer._add_object(stream)
    return writer, page


def read(writer: PdfWriter) -> str:
    file = io.BytesIO()
    writer.write(file)
    file.seek(0)
    return PdfReader(file).pages[0].extract_text()


writer, page = new_page(VISIBLE + "BT /F1 12 Tf 20 20 Td (Price 35) Tj ET")
page.cropbox = RectangleObject((0, 100, 300, 300))
assert read(writer).split("\n") == ["Price 40", "Price 35"], read(writer)

writer, page = new_page(VISIBLE + "/OC /Draft BDC BT /F1 12 Tf 20 200 Td (Price 35) Tj ET EMC")
group = {NameObject("/Type"): NameObject("/OCG"), NameObject("/Name"): TextStringObject("Draft")}
layer = writer._add_object(DictionaryObject(group))
page["/Resources"][NameObject("/Properties")] = DictionaryObject({NameObject("/Draft"): layer})
start = DictionaryObject({NameObject("/OFF"): ArrayObject([layer])})
layers = {NameObject("/OCGs"): ArrayObject([layer]), NameObject("/D"): start}
writer._root_object[NameObject("/OCProperties")] = DictionaryObject(layers)
assert read(writer).split("\n") == ["Price 40", "Price 35"], read(writer)

print("as described: cropped and switched-off text is returned like any other")
PYTHON
