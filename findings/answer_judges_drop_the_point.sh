#!/usr/bin/env bash
# dspy 3.4.1, autoevals 0.4.1: 3.1 is the exact answer to a question whose answer is 31, and 1999 is nearly 2003.
#
# Guessed before the run: for the exact match of dspy 3.1 is not 31. About autoevals nothing was guessed.
# Seen: dspy deletes punctuation before it compares, as the script of SQuAD did, for texts: 3.1 and 31, -5 and 5, $1.5
# and $15, 9:58 and 958, 10-12 and 1012, C++ and C are exact matches, with an F1 of one. Vitamin A is Vitamin, The The
# is an empty answer. Of characters beyond ASCII it deletes none, so that 3–1 with a dash is not 31, and −5 with the
# sign for minus not 5. 5.0 is not 5. JSONDiff of autoevals gives the year 1999 for 2003 0.999, and the right year as a
# text 0.667; NumericDiff gives 90 for 100 0.947, and 0.01 for 0, which is as near as can be, nothing.
# What it means: a model that loses points, signs and colons has no lower score, and a wrong year beats a right one in
# quotation marks. This project's judge compares numbers as numbers, and asks for the same year; it took vitamin C for
# vitamin A before this was found, and does not now.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "dspy==3.4.1" "autoevals==0.4.1"
# Prices of models come from the package, not from the net
DSPY_CACHEDIR="$folder/cache" LITELLM_LOCAL_MODEL_COST_MAP=True "$folder/venv/bin/python" - <<'PYTHON'
from autoevals.json import JSONDiff
from autoevals.number import NumericDiff
from dspy.evaluate.metrics import EM, F1

SAME = [
    ("3.1", "31"),
    ("-5", "5"),
    ("$1.5", "$15"),
    ("9:58", "958"),
    ("10-12", "1012"),
    ("C++", "C"),
    ("Vitamin A", "Vitamin"),
]
DIFFERENT = [("3–1", "31"), ("−5", "5"), ("5.0", "5"), ("3", "4")]
for answer, right in SAME:
    assert EM(answer, [right]) and F1(answer, [right]) == 1, (answer, right)
for answer, right in DIFFERENT:
    assert not EM(answer, [right]) and F1(answer, [right]) == 0, (answer, right)
assert EM("The The", [""])


def compare_values(answer: object, right: object) -> float:
    return round(JSONDiff().eval({"year": answer}, {"year": right}).score, 3)


assert compare_values(1999, 2003) == 0.999
assert compare_values("2003", 2003) == 0.667
assert compare_values(2003, 2003) == 1

numbers = [(90, 100), (0.01, 0), (5, -5), (0, 0)]
assert [round(NumericDiff().eval(*pair).score, 3) for pair in numbers] == [0.947, 0, 0, 1]

print("as described: 3.1 is 31, and 1999 is nearly 2003")
PYTHON
