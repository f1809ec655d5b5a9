"""Agreement of two sets of verdicts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from evaluation.judge import Verdict


class JudgedPair(NamedTuple):
    """A row's reference verdict and ours; `group` is the label of its slice."""

    reference: str
    verdict: str
    group: str


def agreement(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of positions with the same verdict; 0 for none."""
    return sum(one == other for one, other in zip(first, second, strict=True)) / max(len(first), 1)


def cohens_kappa(first: Sequence[str], second: Sequence[str]) -> float:
    """Agreement beyond chance (Cohen 1960): 1 is perfect, 0 is chance for judges with the same shares.

    1 if both always give the same single verdict.
    """
    if not first:
        return 0.0
    shares, others = Counter(first), Counter(second)
    chance = sum(shares[verdict] * others[verdict] for verdict in shares) / len(first) ** 2
    return 1.0 if chance == 1 else (agreement(first, second) - chance) / (1 - chance)


def reference_verdict(row: Mapping[str, object], field: str) -> str | None:
    """The verdict in a row of a judged file, or None. True and False mean correct and incorrect.

    Raises:
        ValueError: the field has another value.
    """
    value = row.get(field)
    if value is None:
        return None
    if isinstance(value, bool):
        return (Verdict.CORRECT if value else Verdict.INCORRECT).value
    known = [verdict.value for verdict in Verdict]
    if not isinstance(value, str) or value.strip().lower() not in known:
        raise ValueError(f'field "{field}": expected true, false or one of {", ".join(known)}, found {value!r}')
    return value.strip().lower()


def agreement_report(pairs: Sequence[JudgedPair]) -> str:
    """Agreement, kappa and what differs, over all pairs and in each group, as text.

    Pairs with an unscored side are left out and counted. If no reference verdict is "missing", the reference only
    distinguishes right and wrong, and "missing" counts as incorrect.
    """
    scored = [pair for pair in pairs if Verdict.UNSCORED not in (pair.reference, pair.verdict)]
    two_classes = all(pair.reference != Verdict.MISSING for pair in scored)
    if two_classes:
        wrong = Verdict.INCORRECT.value
        scored = [pair._replace(verdict=wrong) if pair.verdict == Verdict.MISSING else pair for pair in scored]
    groups = {"all": scored}
    for pair in sorted(scored, key=lambda pair: pair.group):
        groups.setdefault(f"{pair.group} ", []).append(pair)
    width = max(map(len, groups)) + 1
    lines = [f"{'':{width}}{'n':>6}{'agree':>8}{'kappa':>8}   reference->verdict where they differ"]
    for name, some in groups.items():
        reference, verdicts = [pair.reference for pair in some], [pair.verdict for pair in some]
        figures = f"{len(some):>6}{agreement(reference, verdicts):>8.3f}{cohens_kappa(reference, verdicts):>8.3f}"
        lines.append(f"{name:{width}}{figures}   {differences(some)}")
    if len(pairs) > len(scored):
        lines.append(f"{len(pairs) - len(scored)} more are unscored and left out")
    if two_classes and scored:
        lines.append("the reference never says missing, so missing counts as incorrect")
    return "\n".join(lines)


def differences(pairs: Iterable[JudgedPair]) -> str:
    """How often each pair of different verdicts occurs."""
    counts = Counter((pair.reference, pair.verdict) for pair in pairs if pair.reference != pair.verdict)
    return ", ".join(f"{first}->{second} {count}" for (first, second), count in sorted(counts.items())) or "none"
