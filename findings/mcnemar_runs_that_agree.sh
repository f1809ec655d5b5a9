#!/usr/bin/env bash
# statsmodels 0.15.0, mlxtend 0.25.0: two systems that never disagree differ with p = 0.
#
# Guessed before the run: McNemar's test of two runs with the same verdicts is 1, or not a number.
# Seen: with exact=False, an approximation for large samples, the p-value of a table without any disagreement is 0.0,
# the surest difference there is, in both packages; without the correction it is NaN, and 1.0 with exact=True. With five
# verdicts lost and five won it is 0.75, with thirty and thirty 0.90, where a difference of nothing has 1: the
# correction is subtracted from zero, and the square makes it positive.
# What it means: a change of a prompt that changes no verdict passes any threshold for a significant improvement. This
# project counts exactly, and gives 1 for no change.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "statsmodels==0.15.0" "mlxtend==0.25.0" "scikit-learn==1.9.1" "scipy==1.17.1" "pandas==3.1.1" "numpy==2.4.6"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math

import numpy as np
from mlxtend.evaluate import mcnemar as by_mlxtend
from statsmodels.stats.contingency_tables import mcnemar


def p_values(lost: int, won: int, *, exact: bool, corrected: bool = True) -> tuple[float, float]:
    """McNemar's p-value of runs with forty equal verdicts, so many lost and so many won, in both packages."""
    table = np.array([[20, lost], [won, 20]])
    p = mcnemar(table, exact=exact, correction=corrected).pvalue
    return float(p), float(by_mlxtend(table, exact=exact, corrected=corrected)[1])


assert p_values(0, 0, exact=False) == (0.0, 0.0)
assert all(math.isnan(p) for p in p_values(0, 0, exact=False, corrected=False))
assert p_values(0, 0, exact=True) == (1.0, 1.0)

for lost, p in {1: 0.48, 5: 0.75, 30: 0.9}.items():
    assert {round(value, 2) for value in p_values(lost, lost, exact=False)} == {p}, lost
    assert p_values(lost, lost, exact=False, corrected=False) == (1.0, 1.0), lost
    assert p_values(lost, lost, exact=True) == (1.0, 1.0), lost

print("as described: two systems that never disagree differ with p = 0")
PYTHON
