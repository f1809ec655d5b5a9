#!/usr/bin/env bash
# rank-bm25 0.2.2, BM25Okapi: a word of all passages outweighs one of two in five; among few, passages without it win.
#
# Guessed before the run: the commoner a word, the less it weighs; `epsilon` lifts the weight of a word that most
# passages have a little over zero, so a word of every passage weighs least.
# Seen: among twenty passages a word of one weighs 2.56, of eight 0.39, of ten nothing, and of eleven or of all 0.49:
# the floor is a quarter of the mean weight of all words, wherever that is. Over three short passages the mean itself is
# below zero, and so is the floor: asked for "lima", the passage about Rome comes first, with 0.0, before the two about
# Lima.
# What it means: the five or ten passages of one question are such a small collection, and the word that the question is
# about stands in most of them; ranked by it, the page about something else is read first. BM25Plus of the same package
# has weights that only fall, and none below zero; where this project takes rank-bm25, it takes that one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "rank-bm25==0.2.2" "numpy==2.4.6"
"$folder/venv/bin/python" - <<'PYTHON'
from rank_bm25 import BM25Okapi, BM25Plus

SHARES = [1, 5, 8, 10, 11, 20]


def weights(variant: type[BM25Okapi] | type[BM25Plus]) -> list[float]:
    """The weights of words that stand in so many of twenty passages, each of which has a word of its own too."""
    passages = []
    for number in range(20):
        shared = [f"word of {share}" for share in SHARES if number < share]
        passages.append([*shared, f"word of passage {number}"])
    index = variant(passages)
    return [round(index.idf[f"word of {share}"], 2) for share in SHARES]


assert weights(BM25Okapi) == [2.56, 1.04, 0.39, 0.0, 0.49, 0.49], weights(BM25Okapi)

falling = weights(BM25Plus)
assert falling == sorted(set(falling), reverse=True) and falling[-1] > 0, falling

passages = ["lima is big", "lima is old", "rome is old"]
words = [passage.split() for passage in passages]
scores = BM25Okapi(words).get_scores(["lima"]).tolist()
assert scores[0] == scores[1] < 0 and scores[2] == 0, scores
assert passages[scores.index(max(scores))] == "rome is old"

plus = BM25Plus(words).get_scores(["lima"]).tolist()
assert plus[0] == plus[1] > plus[2], plus

print("as described: words of most passages weigh more than rarer ones, and among three passages less than nothing")
PYTHON
