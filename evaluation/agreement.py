"""How far two sets of verdicts agree."""

from collections import Counter
from collections.abc import Sequence


def agreement(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of places with the same verdict; 0 for none."""
    return sum(one == other for one, other in zip(first, second, strict=True)) / max(len(first), 1)


def cohens_kappa(first: Sequence[str], second: Sequence[str]) -> float:
    """Agreement beyond chance (Cohen 1960): 1 is perfect, 0 is what two judges reach who only know the shares.

    1 where both give the same single verdict throughout.
    """
    n = len(first)
    if not n:
        return 0.0
    shares, others = Counter(first), Counter(second)
    chance = sum(shares[verdict] * others[verdict] for verdict in shares) / n**2
    return 1.0 if chance == 1 else (agreement(first, second) - chance) / (1 - chance)
