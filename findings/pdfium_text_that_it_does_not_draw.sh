#!/usr/bin/env bash
# pypdfium2 5.15.2: pdfium extracts text that it does not draw.
#
# Guessed before the run: as one library draws and extracts, a layer that is switched off is left out of both.
# Seen: the text of a switched-off layer and text in render mode 3 (neither filled nor stroked) are extracted like any
# other, while the picture of the page has no ink where they stand.
# What it means: an instruction or an old draft that no reader of the file ever sees reaches a language model. The
# picture of the page is the way to tell.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pypdfium2==5.15.2" "numpy==2.2.6"
"$folder/venv/bin/python" - <<'PYTHON'
import pypdfium2


def build_pdf(content: str, catalog: str = "", resources: str = "") -> bytes:
    """A page of 300 by 300 points that shows the content with Helvetica; object 6 is a layer."""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 5 0 R"
        f" /Resources << /Font << /F1 4 0 R >> {resources} >> >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Type /OCG /Name (Draft) >>",
    ]
    file = b"%PDF-1.7\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(file))
        file += f"{number} 0 obj\n{body}\nendobj\n".encode()

    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    trailer = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(file)}\n%%EOF"
    return file + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()


visible = "BT /F1 12 Tf 20 250 Td (seen) Tj ET"
layer = "/OC /Layer BDC BT /F1 12 Tf 20 200 Td (draft) Tj ET EMC"
unpainted = "BT /F1 12 Tf 3 Tr 20 150 Td (unpainted) Tj ET"
file = build_pdf(
    f"{visible} {layer} {unpainted}",
    catalog="/OCProperties << /OCGs [6 0 R] /D << /OFF [6 0 R] >> >>",
    resources="/Properties << /Layer 6 0 R >>",
)
page = pypdfium2.PdfDocument(file)[0]
assert page.get_textpage().get_text_range().split() == ["seen", "draft", "unpainted"]

picture = page.render(scale=1).to_numpy()
dark_pixels = [int((picture[top : top + 25] < 128).sum()) for top in (35, 85, 135)]
assert dark_pixels[0] > 0
assert dark_pixels[1:] == [0, 0]

print("as described: three words are extracted, one is drawn")
PYTHON
