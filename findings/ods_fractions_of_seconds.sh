#!/usr/bin/env bash
# odfdo 3.27.3, pyexcel-ods3 0.6.1, python-calamine 0.9.1: lap times and durations of an ODS file.
#
# Guessed before the first run: a comment joins the value of its cell, and durations are read rightly.
# Seen: comments stay out of the value in all three. A time of 9 minutes and 58.4 seconds, which LibreOffice saves as
# PT00H09M58.400000000S, is 675,925 days and some hours for odfdo: it takes away the point, so that PT00H09M58.4S is
# 18:44, and a hundred metres in 9.58 seconds are 15:58. pyexcel-ods3 reads no value in such a cell, nor of PT9M58S,
# which is as valid, nor of minus five minutes. calamine gives the saved text for 26 hours and for PT9M58S, and a time
# of the day for others of the same column.
# What it means: results in sport are durations with fractions. A table of laps loses the values that are exact, or it
# has a plausible 15:58. This project's own reader took the fraction away before this was found, and gives it now.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "odfdo==3.27.3" "pyexcel-ods3==0.6.1" "python-calamine==0.9.1"
"$folder/venv/bin/python" - <<'PYTHON'
import io
import zipfile
from datetime import time, timedelta

import odfdo
import pyexcel_ods3
import python_calamine

TYPE = "application/vnd.oasis.opendocument.spreadsheet"
NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text", "manifest")
)
ENTRY = "manifest:file-entry manifest:full-path"
MANIFEST = (
    f'<manifest:manifest {NAMES} manifest:version="1.2"><{ENTRY}="/" manifest:media-type="{TYPE}"/>'
    f'<{ENTRY}="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
)


def build_file(*cells: str) -> io.BytesIO:
    """A sheet of one row."""
    row = f"<table:table-row>{''.join(cells)}</table:table-row>"
    table = f'<table:table table:name="laps">{row}</table:table>'
    body = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as package:
        package.writestr("mimetype", TYPE)
        content = f'<office:document-content {NAMES} office:version="1.2">{body}</office:document-content>'
        package.writestr("content.xml", content)
        package.writestr("META-INF/manifest.xml", MANIFEST)
    return io.BytesIO(file.getvalue())


def cell(duration: str) -> str:
    value = f'office:value-type="time" office:time-value="{duration}"'
    return f"<table:table-cell {value}><text:p>shown</text:p></table:table-cell>"


def read(*cells: str) -> tuple[list, list, list]:
    """The row as odfdo, pyexcel-ods3 and calamine read it."""
    document = odfdo.Document(build_file(*cells))
    sheet = python_calamine.CalamineWorkbook.from_filelike(build_file(*cells)).get_sheet_by_index(0)
    return (
        document.body.get_table(0).get_values()[0],
        pyexcel_ods3.get_data(build_file(*cells))["laps"][0],
        sheet.to_python()[0],
    )


LONG = timedelta(hours=26, minutes=3, seconds=5)
LAP, SPRINT = time(0, 9, 58, 400000), time(0, 0, 9, 580000)
SEEN = {
    "PT00H09M58.400000000S": (timedelta(days=675925, seconds=80540), None, LAP),
    "PT00H09M58.4S": (timedelta(minutes=18, seconds=44), None, LAP),
    "PT00H00M09.58S": (timedelta(minutes=15, seconds=58), None, SPRINT),
    "PT9M58S": (timedelta(minutes=9, seconds=58), None, "PT9M58S"),
    "-PT00H05M00S": (-timedelta(minutes=5), None, "-PT00H05M00S"),
    "PT00H09M58S": (timedelta(minutes=9, seconds=58), time(0, 9, 58), time(0, 9, 58)),
    "PT26H03M05S": (LONG, LONG, "PT26H03M05S"),
}
for duration, (by_odfdo, by_pyexcel, by_calamine) in SEEN.items():
    seen = read(cell(duration), cell("PT00H10M00S"))
    assert seen[0] == [by_odfdo, timedelta(minutes=10)], (duration, seen[0])
    assert seen[1] == [by_pyexcel, time(0, 10)], (duration, seen[1])
    assert seen[2] == [by_calamine, time(0, 10)], (duration, seen[2])

comment = "<office:annotation><text:p>was 300</text:p></office:annotation>"
seen = read(f'<table:table-cell office:value-type="string">{comment}<text:p>310</text:p></table:table-cell>')
assert seen == (["310"], ["310"], ["310"]), seen

print("as described: 9:58.4 is 675,925 days in odfdo and no value in pyexcel-ods3")
PYTHON
