"""How far verdicts agree with reference verdicts, as text."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import agreement, cohens_kappa


class JudgedPair(NamedTuple):
    """A row's reference verdict and ours; `group` is the label of its slice."""

    reference: str
    verdict: str
    group: str


def agreement_report(pairs: Sequence[JudgedPair]) -> str:
    """Agreement, kappa and what differs, over all pairs and in each group, as text.

    Pairs with an unscored side are left out and counted. If no reference verdict is "missing", the reference only
    distinguishes right and wrong, and "missing" counts as incorrect.
    """
    scored = [pair for pair in pairs if Verdict.UNSCORED not in (pair.reference, pair.verdict)]
    two_classes = all(pair.reference != Verdict.MISSING for pair in scored)
    if two_classes:
        # A reference with two classes cannot say "missing", and would always disagree
        scored = [_without_missing(pair) for pair in scored]

    groups = {"all": scored}
    for pair in sorted(scored, key=lambda pair: pair.group):
        groups.setdefault(f"{pair.group} ", []).append(pair)  # the blank: a group may be called "all"

    width = max(map(len, groups)) + 1
    lines = [f"{'':{width}}{'n':>6}{'agree':>8}{'kappa':>8}   reference->verdict where they differ"]
    for name, group in groups.items():
        lines.append(f"{name:{width}}{_agreement_line(group)}")
    if len(pairs) > len(scored):
        lines.append(f"{len(pairs) - len(scored)} more are unscored and left out")
    if two_classes and scored:
        lines.append("the reference never says missing, so missing counts as incorrect")
    return "\n".join(lines)


def _without_missing(pair: JudgedPair) -> JudgedPair:
    if pair.verdict == Verdict.MISSING:
        return pair._replace(verdict=Verdict.INCORRECT.value)
    return pair


def _agreement_line(pairs: Sequence[JudgedPair]) -> str:
    references = [pair.reference for pair in pairs]
    verdicts = [pair.verdict for pair in pairs]
    share = agreement(references, verdicts)
    kappa = cohens_kappa(references, verdicts)

    changes: Counter[str] = Counter()
    for pair in pairs:
        if pair.reference != pair.verdict:
            changes[f"{pair.reference}->{pair.verdict}"] += 1
    listed = ", ".join(f"{change} {count}" for change, count in sorted(changes.items()))
    return f"{len(pairs):>6}{share:>8.3f}{kappa:>8.3f}   {listed or 'none'}"
