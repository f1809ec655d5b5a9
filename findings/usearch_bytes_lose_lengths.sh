#!/usr/bin/env bash
# usearch 2.26.6: in an index of bytes all vectors have the same length, whatever the metric says.
#
# Guessed before the run: with dtype="i8" vectors of any length keep their order by cos, and for l2sq the values are
# scaled together.
# Seen: each vector is scaled to length one before it becomes bytes, with every metric. (3, 4) and (30, 40) are at
# distance zero by l2sq, and are read back as (0.6, 0.8); by ip a vector five times as long scores the same. Of the ten
# nearest of a thousand vectors whose lengths vary, l2sq finds one; when no type is named, all ten. Distances are those
# of the bytes, 19,000 or so, whether the data are multiplied by a hundred or not. For the metric cos, which asks for no
# lengths, i8 does as it should.
# What it means: who saves memory with i8 gets another metric, and no word of it. Maximum inner product, where the
# length of a vector stands for how well known an entity is, ranks by direction alone. This project's index multiplies
# floats of two bytes by numpy.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "usearch==2.26.6" "numpy==2.4.6"
"$folder/venv/bin/python" - <<'PYTHON'
import numpy
from usearch.index import Index


def build(vectors: numpy.ndarray, metric: str, kind: str | None) -> Index:
    """An index that looks at every vector."""
    wide = {"connectivity": 32, "expansion_add": 400, "expansion_search": 2000}
    index = Index(ndim=vectors.shape[1], metric=metric, dtype=kind, **wide)
    index.add(numpy.arange(len(vectors)), vectors)
    return index


def search(vectors: numpy.ndarray, metric: str, kind: str | None, asked: numpy.ndarray, count: int) -> dict[int, float]:
    found = build(vectors, metric, kind).search(asked, count)
    return dict(zip(found.keys.tolist(), found.distances.tolist(), strict=True))


short, long = numpy.float32([3, 4]), numpy.float32([30, 40])
pair = numpy.stack([short, long])
assert search(pair, "l2sq", "f32", short, 2) == {0: 0.0, 1: 2025.0}
assert search(pair, "l2sq", "i8", short, 2) == {0: 0.0, 1: 0.0}
assert numpy.allclose(build(pair, "l2sq", "i8").get(1, "f32"), [0.6, 0.8], atol=0.01)

by_floats = search(pair, "ip", "f32", numpy.float32([1, 0]), 2)
by_bytes = search(pair, "ip", "i8", numpy.float32([1, 0]), 2)
assert by_floats == {1: -29.0, 0: -2.0} and by_bytes[0] == by_bytes[1], (by_floats, by_bytes)

random = numpy.random.default_rng(0)
lengths = numpy.exp(random.normal(size=(1000, 1)))
vectors = (random.normal(size=(1000, 64)) * lengths).astype(numpy.float32)
asked = random.normal(size=64).astype(numpy.float32)
nearest = set(numpy.argsort(((vectors - asked) ** 2).sum(axis=1))[:10].tolist())
cosines = (vectors @ asked) / numpy.linalg.norm(vectors, axis=1)
most_alike = set(numpy.argsort(-cosines)[:10].tolist())
for scale in numpy.float32([0.01, 1, 100]):
    data, question = vectors * scale, asked * scale
    for metric, kind, wanted, count in [
        ("l2sq", None, nearest, 10),
        ("l2sq", "i8", nearest, 1),
        ("cos", "i8", most_alike, 10),
    ]:
        found = search(data, metric, kind, question, 10)
        assert len(wanted & found.keys()) == count, (scale, metric, kind, found)
        if metric == "l2sq" and kind == "i8":
            assert round(min(found.values()), -3) == 19_000, found

print("as described: in bytes (3, 4) and (30, 40) are the same vector, whatever the metric")
PYTHON
