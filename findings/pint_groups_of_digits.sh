#!/usr/bin/env bash
# Pint 0.25.3: a blank between groups of digits multiplies them, so "10 000 m" is 0 m; a decimal comma vanishes.
#
# Guessed before the first run: "48 312 km" is 48,312 km or an error, "3,1 km" is an error. Guessed before the second,
# which was to look at more numbers: "10 000 m" is 0 m, and "48 012 km" is 48 * 12 km.
# Seen: "48 312 km" is 48 * 312 = 14,976 km, with a plain blank, one that does not break, or a narrow one, as the SI
# brochure groups digits. "10 000 m" is 0 m, and "48 012 km" is 0 km too, for a zero at the front of a group is a number
# of its own. A comma is left out, so "3,1 km" is 31 km and "1,5 kg" is 15 kg. "2 1/2 inch" is 1 inch, and "2½ inch" is
# 2 inch. "12 m 5 s" is 60 m*s. No error, no warning.
# What it means: who reads the lengths and weights of web pages with it, to compare an answer with a reference, compares
# numbers that nobody wrote. Pages in French, Swedish or Polish group most long numbers with a blank.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "Pint==0.25.3"
"$folder/venv/bin/python" - <<'PYTHON'
from pint import UnitRegistry

units = UnitRegistry()

NO_BREAK = "\u00a0"
NARROW = "\u202f"
SEEN = {
    "48312 km": (48312, "kilometer"),
    "48,312 km": (48312, "kilometer"),
    "48 312 km": (14976, "kilometer"),
    f"48{NO_BREAK}312 km": (14976, "kilometer"),
    f"48{NARROW}312 km": (14976, "kilometer"),
    "1 234 567 km": (132678, "kilometer"),
    "10 000 m": (0, "meter"),
    "48 012 km": (0, "kilometer"),
    "3,1 km": (31, "kilometer"),
    "1,5 kg": (15, "kilogram"),
    "2 1/2 inch": (1, "inch"),
    "2½ inch": (2, "inch"),
    "12 m 5 s": (60, "meter * second"),
}
for text, (number, unit) in SEEN.items():
    quantity = units.Quantity(text)
    assert (quantity.magnitude, str(quantity.units)) == (number, unit), (text, quantity)

print("as described: groups of digits are multiplied, 10 000 m is 0 m, and a decimal comma vanishes")
PYTHON
