#!/usr/bin/env bash
# xlsx2csv 0.8.6, pylightxl 1.61, exceljs 4.4.0: a number whose format has a word in it is a date, or lost.
#
# Guessed before the first run: words in quotes do not make a date of a number, in any reader.
# Seen: xlsx2csv takes d, m and h in the words of a format for days, months and hours, and leaves the rest of the format
# in the place of the number: 5.5 as 0.0 "million" is the text 0.0 "01illion", as #,##0 "USD" it is #,##0 "us04", as
# 0 "m" it is 0 "01". The number is gone. It drops the sign of a percentage if the format has a decimal (5.500), not if
# it has none (550%), and the days of a duration: 132 hours are 12:00. pylightxl makes 1900/01/04 of 0 "yr" and of a
# yellow number, and noon of 0 "goals". exceljs makes a date of letters behind a backslash: 0\ \k\m. openpyxl 3.1.5 and
# python-calamine 0.9.1 read all of these as 5.5.
# What it means: sheets of statistics carry their units in formats, and a conversion to CSV before indexing loses just
# those columns; some look like dates. This project reads formats itself, and gives "5.5 million".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "xlsx2csv==0.8.6" "pylightxl==1.61" "openpyxl==3.1.5" "python-calamine==0.9.1"
npm install --silent --no-fund --no-audit --prefix "$folder" "exceljs@4.4.0"
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import exceljs from "exceljs";

const workbook = new exceljs.Workbook();
await workbook.xlsx.readFile("numbers.xlsx");
console.log(JSON.stringify(workbook.worksheets[0].getColumn(1).values.slice(1)));
JAVASCRIPT
"$folder/venv/bin/python" - "$folder" <<'PYTHON'
import csv
import json
import subprocess
import sys
from datetime import timedelta

import openpyxl
import pylightxl
import python_calamine

# The format of 5.5 -> what xlsx2csv, pylightxl and exceljs read; None: 5.5
DAY = "1900-01-04T12:00:00.000Z"
READ = {
    '0.0\\ "million"': ('0.0 "01illion"', None, None),
    '#,##0 "USD"': ('#,##0 "us04"', None, None),
    '0 "m"': ('0 "01"', None, None),
    '0 "days"': ('0 "04ays"', "1900/01/04 12:00:00", None),
    '0 "yr"': ('0 "yr"', "1900/01/04", None),
    '0"th"': ('0"t12"', "12:00:00", None),
    '0 "goals"': ('0 "goals"', "12:00:00", None),
    "[Yellow]0": (None, "1900/01/04", None),
    "0\\ \\k\\m": ("0 k01", None, DAY),
    "0\\ \\d": ("0 04", "1900/01/04", DAY),
    '0 "kg"': (None, None, None),
    "0.0%": ("5.500", None, None),
    "0%": ("550%", None, None),
}
DURATION = "[h]:mm:ss"

folder = sys.argv[1]
file = f"{folder}/numbers.xlsx"
workbook = openpyxl.Workbook()
for row, number_format in enumerate([*READ, DURATION], start=1):
    cell = workbook.active.cell(row, 1, 5.5)
    cell.number_format = number_format
workbook.save(file)

printed = subprocess.run([f"{folder}/venv/bin/xlsx2csv", file], capture_output=True, text=True, check=True).stdout
by_xlsx2csv = [row[0] for row in csv.reader(printed.splitlines())]
by_pylightxl = [row[0] for row in pylightxl.readxl(file).ws("Sheet").rows]
told = subprocess.run(["node", "read.mjs"], cwd=folder, capture_output=True, text=True, check=True).stdout
by_exceljs = json.loads(told)

columns = zip(READ.items(), by_xlsx2csv, by_pylightxl, by_exceljs, strict=False)
for (number_format, expected), *seen in columns:
    right = ["5.5", 5.5, 5.5]
    wanted = [plain if other is None else other for plain, other in zip(right, expected, strict=True)]
    assert seen == wanted, (number_format, seen)
assert by_xlsx2csv[-1] == "12:00", by_xlsx2csv[-1]

days = timedelta(days=5, hours=12)
sheet = python_calamine.CalamineWorkbook.from_path(file).get_sheet_by_index(0)
assert [row[0] for row in sheet.to_python()] == [*[5.5] * len(READ), days]
assert [row[0] for row in openpyxl.load_workbook(file).active.values] == [*[5.5] * len(READ), days]

print('as described: 5.5 million is the text 0.0 "01illion" in xlsx2csv, and 5.5 years are a day of 1900 in pylightxl')
PYTHON
