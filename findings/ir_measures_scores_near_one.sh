#!/usr/bin/env bash
# ir_measures 0.4.3 (pytrec_eval-terrier 0.5.11): scores beyond seven digits are ties; RR and RR@10 break ties each in
# its own way.
#
# Guessed before the first run: scores are compared as they are given, 1.0 before 0.99999999. Guessed before the second:
# RR and RR@10 agree on ties.
# Seen: pytrec_eval keeps scores as 32-bit floats. 1.0 and 0.99999999 are a tie, so are 16777217 and 16777216, and the
# passage whose name is later in the alphabet goes first: renaming two passages moves RR from 0.5 to 1. RR@10 comes from
# another evaluator (MS MARCO's), which compares the scores in full and leaves ties as they come. One table then says
# that the answer is second (RR 0.5, P@1 0) and first (RR@10 1) in a list of two.
# What it means: a cross-encoder is this sure of many passages at once: logits of 19 and 20 differ by less than 1e-8 as
# probabilities. Comparing rankers by such tables compares the names of passages. Ranks or logits as scores mend it.
# This project measures retrieval by the order of the passages, not by scores.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "ir-measures==0.4.3" "pytrec-eval-terrier==0.5.11" "numpy==2.4.6"
"$folder/venv/bin/python" - <<'PYTHON'
import math

import ir_measures
from ir_measures import RR, P, nDCG


def measure(right: str, wrong: str, scores: tuple[float, float]) -> tuple[float, float, float]:
    """RR, RR@10 and P@1 of two passages, of which the one named `right` has the higher or the same score."""
    judged = {"q": {right: 1, wrong: 0}}
    ranked = {"q": dict(zip((right, wrong), scores, strict=True))}
    measured = ir_measures.calc_aggregate([RR, RR @ 10, P @ 1, nDCG @ 10], judged, ranked)
    return measured[RR], measured[RR @ 10], measured[P @ 1]


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


for scores in [(1.0, 0.99999999), (16777217, 16777216), (sigmoid(20), sigmoid(19))]:
    assert scores[0] > scores[1]
    assert measure("a", "z", scores) == (0.5, 1.0, 0.0), scores
    assert measure("z", "a", scores) == (1.0, 1.0, 1.0), scores

for scores in [(20, 19), (0.9999999, 0.9999997)]:
    assert measure("a", "z", scores) == (1.0, 1.0, 1.0), scores

# A tie: one evaluator goes by the name and the other by something else
assert measure("a", "z", (0.5, 0.5)) == (0.5, 1.0, 0.0)
assert measure("z", "a", (0.5, 0.5)) == (1.0, 0.5, 1.0)

print("as described: scores beyond seven digits are ties, and RR and RR@10 of one list contradict each other")
PYTHON
