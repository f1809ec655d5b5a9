#!/usr/bin/env bash
# chemparse 0.3.2, periodictable 2.1.0, molmass 2026.1.8: in CuSO4.5H2O there are five and a half oxygens.
#
# Guessed before the run: chemparse reads 4.5 oxygens there, the others five waters; charges are ignored.
# Seen: in the formula of a crystal with five waters, chemparse and periodictable read the point as that of a number:
# O4.5 and one water, a mass of 185.6 for 249.7, and O3.1 in Na2CO3.10H2O. pyvalem 3.0.2 and molmass are right. With
# the raised point of books, chemparse stops there and gives CuSO4; of H₂O it gives H, of 2H2O nothing. The charge of
# [Fe(CN)6]4- is a number of ions to it: 24 carbons. In molmass 2H2O is one molecule of heavy water (20.03), and 3He one
# atom; for periodictable and pyvalem two and three of them. None of it is an error.
# What it means: masses and counts are off by a third, and a formula that was cut short looks like another substance.
# This project leaves formulas as they are written.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "chemparse==0.3.2" "periodictable==2.1.0" "molmass==2026.1.8" "pyvalem==3.0.2" "numpy==2.4.6"
"$folder/venv/bin/python" - <<'PYTHON'
import molmass
import periodictable
from chemparse import parse_formula
from pyvalem.formula import Formula

COUNTED = {
    "CuSO4": {"Cu": 1, "S": 1, "O": 4},
    "CuSO4.5H2O": {"Cu": 1, "S": 1, "O": 5.5, "H": 2},
    "CuSO4·5H2O": {"Cu": 1, "S": 1, "O": 4},
    "Na2CO3.10H2O": {"Na": 2, "C": 1, "O": 4.1, "H": 2},
    "[Fe(CN)6]4-": {"Fe": 4, "C": 24, "N": 24, "-": 1},
    "H₂O": {"H": 1},
    "2H2O": {},
}
for formula, atoms in COUNTED.items():
    assert parse_formula(formula) == atoms, (formula, parse_formula(formula))

# The masses by periodictable, molmass and pyvalem
WEIGHED = {
    "CuSO4.5H2O": (185.6, 249.7, 249.7),
    "Na2CO3.10H2O": (125.6, 286.1, 286.1),
    "2H2O": (36.0, 20.0, 36.0),
    "3He": (12.0, 3.0, 12.0),
}
for formula, masses in WEIGHED.items():
    weighed = (periodictable.formula(formula).mass, molmass.Formula(formula).mass, Formula(formula).rmm)
    assert tuple(round(mass, 1) for mass in weighed) == masses, (formula, weighed)

print("as described: five waters are a fraction, and two waters are heavy water")
PYTHON
