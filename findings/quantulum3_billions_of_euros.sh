#!/usr/bin/env bash
# quantulum3 0.10.0: five billion euros are five euro barn newtons, and half a mile is 0.5 per mile.
#
# Guessed before the run: feet with inches are one length, and ranges are right. A comma before decimals was left open.
# Seen: €5bn is 5 of the unit "euro barn newton", without any sign of doubt; £300k and $1.5 million are right. "half a
# mile" is 0.5 per mile, "minus 5 degrees" 5 degrees, "1,5 km" a bare 1 and 5 km, 0,5 l nothing and 5 litres, 10^6 the
# numbers 10 and 6. 5 ft 11 in is two lengths, 5'11" is 5 "unk to the 11". 20 C is a charge, and "5m viewers" watch over
# five metres. A range "5-10 km" is 7.5 km with an uncertainty of 2.5, so that its ends have to be computed again. 2½
# miles, 1/3 cup, 1 000 000 km and 1,234,567.8 kg are right.
# What it means: each result has a unit and a surface, and reads as if it had been understood; a judge that compares
# quantities says that €5bn and 5 billion euros differ. This project's judge reads quantities by its own tables.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "quantulum3==0.10.0"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from quantulum3 import parser

READ = {
    "€5bn": [(5, "euro barn newton")],
    "£300k": [(300_000, "pound sterling")],
    "$1.5 million": [(1_500_000, "dollar")],
    "half a mile": [(0.5, "per mile")],
    "two and a half miles": [(2.5, "mile")],
    "minus 5 degrees": [(5, "degree angle")],
    "-5 °C": [(-5, "degree Celsius")],
    "1,5 km": [(1, "dimensionless"), (5, "kilometre")],
    "0,5 l": [(0, "dimensionless"), (5, "litre")],
    "10^6 stars": [(10, "dimensionless"), (6, "dimensionless")],
    "5 ft 11 in": [(5, "foot"), (11, "inch")],
    "5'11\"": [(5, "unk to the 11")],
    "20 C": [(20, "coulomb")],
    "5m viewers": [(5, "metre")],
    "5-10 km": [(7.5, "kilometre")],
    "2½ miles": [(2.5, "mile")],
    "1 000 000 km": [(1_000_000, "kilometre")],
    "1,234,567.8 kg": [(1_234_567.8, "kilogram")],
}
for text, quantities in READ.items():
    seen = [(quantity.value, quantity.unit.name) for quantity in parser.parse(text)]
    assert seen == quantities, (text, seen)

print("as described: five billion euros are five euro barn newtons")
PYTHON
