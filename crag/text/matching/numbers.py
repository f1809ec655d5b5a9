"""The words and letters of magnitudes. `crag.evaluation.judge.reading` reads whole quantities."""

MAGNITUDES = {
    "hundred": 1e2,
    "thousand": 1e3, "k": 1e3,
    "million": 1e6, "mn": 1e6, "mln": 1e6, "m": 1e6, "mm": 1e6,
    "billion": 1e9, "bn": 1e9, "bln": 1e9, "b": 1e9,
    "trillion": 1e12, "tn": 1e12, "t": 1e12,
}  # fmt: skip
