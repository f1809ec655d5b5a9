#!/usr/bin/env bash
# ranx 0.3.21: a retriever that finds one passage votes against it.
#
# Expected, though not written down before the run: min-max gives the only passage of a list, or several with equal
# scores, the full weight of the list, and what a list lacks comes behind what it has.
# Seen: the only passage of a list has 0 after min-max, which is the default, as have all of a list with equal scores:
# what one retriever finds alone and without doubt counts like what it never found. With method="min" the passage that
# both lists have, and one has first, is last. With zmuv (mean 0) a passage below the mean of a list comes behind one
# that the list does not have. norm="max" divides scores below zero, as a cross-encoder gives them, by a billionth: they
# become thousands of millions, and outvote a list of probabilities. With norm="borda" reciprocal ranks follow the order
# of a set: two equal lists are fused to another order, and to a third one in the next run.
# What it means: words of an exact name find one page, vectors find ten; fused this way, the page of the name is not
# first. method="rrf" has none of this, but for norm="borda". This project's index adds scores, and a page that alone
# had the words of a question gained nothing by them before this was found.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "ranx==0.3.21"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from ranx import Run, fuse

Scores = dict[str, float]
DENSE = {"a": 0.9, "b": 0.8, "c": 0.1}
LONE = {"b": 3.0}


def fused(*lists: Scores, norm: str = "min-max", method: str = "sum") -> Scores:
    """The scores of passages for one question."""
    runs = [Run({"question": dict(scores)}) for scores in lists]
    scores = fuse(runs, norm=norm, method=method).to_dict()["question"]
    return {passage: round(score, 3) for passage, score in scores.items()}


def order(scores: Scores) -> str:
    return " ".join(sorted(scores, key=lambda passage: -scores[passage]))


assert fused(DENSE, LONE) == {"a": 1.0, "b": 0.875, "c": 0.0}
assert fused(DENSE, {"b": 3.0, "d": 3.0}) == {"a": 1.0, "b": 0.875, "c": 0.0, "d": 0.0}
assert order(fused(DENSE, LONE, method="rrf")) == "b a c"
assert order(fused(DENSE, LONE, norm="rank")) == "b a c"

least = fused({"a": 0.9, "b": 0.8, "c": 0.7}, LONE, method="min")
assert least == {"a": 1.0, "b": 0.0, "c": 0.0}, least

around_zero = fused({"a": 3.0, "b": 2.0, "c": 1.0}, {"a": 3.0, "b": 2.9, "c": 1.0, "d": 0.9}, norm="zmuv")
assert order(around_zero) == "a b d c", around_zero

logits = fused({"a": -1.0, "b": -2.0}, {"b": 0.9, "a": 0.1}, norm="max")
assert logits == {"a": -1e9 + 0.111, "b": -2e9 + 1}, logits

falling = {passage: float(score) for score, passage in zip(range(8, 0, -1), "abcdefgh", strict=True)}
for norm in ("rank", "borda"):
    seen = order(fused(falling, falling, norm=norm, method="rrf"))
    assert (seen == "a b c d e f g h") == (norm == "rank"), (norm, seen)

print("as described: the only passage of a list counts nothing, and logits outvote probabilities")
PYTHON
