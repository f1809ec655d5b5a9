"""A toy task: the verb of a question tells its domain and, with it, its dynamism."""

import json
import random
from pathlib import Path
from typing import Any

from crag.training.router.settings import EncoderTraining, NgramTraining, RouterTraining

TASK = {"scored": ("sports", "static"), "sang": ("music", "slow-changing"), "directed": ("movie", "real-time")}


def toy_rows(count: int = 90, seed: int = 0) -> list[dict[str, Any]]:
    """Questions of random words, one of which decides."""
    chance = random.Random(seed)
    rows = []
    for number in range(count):
        verb = list(TASK)[number % len(TASK)]
        words = chance.choices(["who", "the", "of", "which", "a", "last", "first", "goal", "song", "film"], k=4)
        words.insert(chance.randrange(5), verb)
        domain, dynamism = TASK[verb]
        row = {"interaction_id": f"q{number}", "query": " ".join(words), "split": 0}
        rows.append(row | {"domain": domain, "static_or_dynamic": dynamism})
    return rows


def write_toy(path: Path, count: int = 90, seed: int = 0) -> Path:
    path.write_text("\n".join(map(json.dumps, toy_rows(count, seed))), encoding="utf-8")
    return path


def toy_settings(
    *, folds: int = 2, tuning: str = "lora", ngrams: bool = True, epochs: int = 6, pooling: str = "mean"
) -> RouterTraining:
    """Settings under which the tiny BERT learns the task within seconds; tuning ``none``: n-grams alone."""
    encoder = None
    if tuning != "none":
        rates = {"learning_rate": 1e-2 if tuning == "lora" else 3e-3, "head_learning_rate": 3e-2}
        sizes = {"rank": 8, "epochs": epochs, "batch_size": 8}
        kind = {"base": "all-minilm-l6-v2", "tuning": tuning, "pooling": pooling}
        encoder = EncoderTraining.model_validate(kind | sizes | rates)

    return RouterTraining(
        description="toy",
        trained_on="toy",
        licence="none",
        fields=("domain", "static_or_dynamic"),
        folds=folds,
        encoder=encoder,
        ngrams=NgramTraining(buckets=256) if ngrams else None,
    )
