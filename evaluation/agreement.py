"""Agreement of two sets of verdicts."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from evaluation.judge import Verdict


class VerdictPair(NamedTuple):
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
    n = len(first)
    if not n:
        return 0.0
    shares, others = Counter(first), Counter(second)
    chance = sum(shares[verdict] * others[verdict] for verdict in shares) / n**2
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


def report(pairs: Sequence[VerdictPair]) -> str:
    """Agreement, kappa and confusion over all pairs and in each group, as text.

    Pairs with an unscored side are left out and counted. If no reference verdict is "missing", the reference only
    distinguishes right and wrong, and "missing" counts as incorrect.
    """
    unscored = Verdict.UNSCORED.value
    scored = [pair for pair in pairs if unscored not in (pair.reference, pair.verdict)]
    two_classes = all(pair.reference != Verdict.MISSING.value for pair in scored)
    if two_classes:
        missing, wrong = Verdict.MISSING.value, Verdict.INCORRECT.value
        scored = [pair._replace(verdict=wrong if pair.verdict == missing else pair.verdict) for pair in scored]
    groups = sorted({pair.group for pair in scored})
    width = max(len(group) for group in ["all", *groups]) + 2
    lines = [f"{'':{width}}{'n':>6}{'agree':>8}{'kappa':>8}   reference->verdict where they differ"]
    lines.append(_line("all", scored, width))
    lines += [_line(group, [pair for pair in scored if pair.group == group], width) for group in groups]
    if len(pairs) > len(scored):
        lines.append(f"{len(pairs) - len(scored)} more are unscored and left out")
    if two_classes and scored:
        lines.append("the reference never says missing, so missing counts as incorrect")
    return "\n".join([*lines, "", *_confusion_table(scored)])


def _line(name: str, pairs: Sequence[VerdictPair], width: int) -> str:
    reference, verdicts = [pair.reference for pair in pairs], [pair.verdict for pair in pairs]
    figures = f"{len(pairs):>6}{agreement(reference, verdicts):>8.3f}{cohens_kappa(reference, verdicts):>8.3f}"
    return f"{name:{width}}{figures}   {differences(pairs)}"


def differences(pairs: Iterable[VerdictPair]) -> str:
    """How often each pair of different verdicts occurs."""
    counts = Counter((pair.reference, pair.verdict) for pair in pairs if pair.reference != pair.verdict)
    return ", ".join(f"{first}->{second} {count}" for (first, second), count in sorted(counts.items())) or "none"


def _confusion_table(pairs: Sequence[VerdictPair]) -> list[str]:
    """One line per reference verdict, one column per verdict of ours."""
    counts = Counter((pair.reference, pair.verdict) for pair in pairs)
    names = [verdict.value for verdict in Verdict if any(verdict.value in key for key in counts)]
    return [
        f"{'reference':<14}" + "".join(f"{name:>11}" for name in names),
        *(f"{row:<14}" + "".join(f"{counts[row, name]:>11}" for name in names) for row in names),
    ]
