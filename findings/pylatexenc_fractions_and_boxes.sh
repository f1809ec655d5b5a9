#!/usr/bin/env bash
# pylatexenc 2.11: one and a half is 11/2, \dfrac{1}{2} is 12, and what stands in a box is gone.
#
# Guessed before the run: powers keep their sign (10^6), 1/2 is right, and units of \SI are dropped.
# Seen: the conversion to text sets no brackets: $1\frac{1}{2}$ is 11/2, $\frac{1+x}{2}$ is 1+x/2, $x^{a+b}$ is x^a+b,
# 2^{10}5 is 2^105. \dfrac, \tfrac and \sfrac join both parts: 12; so do \binom, and ranges: \SIrange{5}{10}{km} is
# 510km. 10\textsuperscript{6} is 106, 310\textsuperscript{5} m, with a mark of a note, 3105 m; 12, struck out before
# 10, is 1210; \sqrt[3]{8} is the square root. \mbox{310 m}, \texttt{310} and \verb|310| leave nothing. Sizes become
# words: \parbox{5cm}{310} is 5cm310, \multicolumn{2}{c}{East} 2cEast. What \phantom hides is read. A unit as a command
# (\SI{5}{\km}) is dropped, one as a word kept.
# What it means: abstracts and articles lose or change their numbers and read well; bibtexparser decodes by it. This
# project reads no LaTeX.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pylatexenc==2.11"
"$folder/venv/bin/python" - <<'PYTHON'
from pylatexenc.latex2text import LatexNodes2Text

READ = {
    r"$\frac{1}{2}$": "1/2",
    r"$1\frac{1}{2}$ miles": "11/2 miles",
    r"$\frac{1+x}{2}$": "1+x/2",
    r"$x^{a+b}$": "x^a+b",
    r"$2^{10}5$": "2^105",
    r"$\dfrac{1}{2}$": "12",
    r"$\tfrac{1}{2}$": "12",
    r"\sfrac{1}{2}": "12",
    r"$\binom{5}{2}$": "52",
    r"\SIrange{5}{10}{km}": "510km",
    r"\SI{3.5}{km}": "3.5km",
    r"\SI{3.5}{\km}": "3.5",
    r"$10^{6}$": "10^6",
    r"10\textsuperscript{6}": "106",
    r"310\textsuperscript{5} m": "3105 m",
    r"\sout{12}10": "1210",
    r"$\sqrt[3]{8}$": "√(8)",
    r"It is \mbox{310 m} long": "It is  long",
    r"It is \texttt{310} m long": "It is  m long",
    r"It is \verb|310| m long": "It is  m long",
    r"\fbox{310}": "310",
    r"\parbox{5cm}{310}": "5cm310",
    r"\multicolumn{2}{c}{East}": "2cEast",
    r"\phantom{5}6": "56",
    r"1\,000~km, 5\%": "1 000\N{NO-BREAK SPACE}km, 5%",
}
converter = LatexNodes2Text()
for written, text in READ.items():
    assert converter.latex_to_text(written) == text, (written, converter.latex_to_text(written))

print("as described: one and a half is 11/2, and text in boxes is gone")
PYTHON
