"""How often a preset's call writer writes the labelled calls."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

from crag.benchmarks.common import Row, by_label, table
from crag.evaluation.metrics import wilson_interval
from crag.web.ranking import in_turns

COLUMNS = ("parses", "values", "none", "over-none", "domain", "repaired")

Judged = Mapping[str, bool]
"""The verdict on a question in each column that applies to it."""


def stratified(rows: Sequence[Row], limit: int) -> list[Row]:
    """At most `limit` rows, the domains in turn, in random order within each, the same in every run."""
    chance = random.Random(0)  # noqa: S311 - a sample, not a secret
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["domain"]].append(row)
    for group in groups.values():
        chance.shuffle(group)
    return [row for _, row in in_turns([groups[name][::-1] for name in sorted(groups)])][:limit]


def shares(domains: Sequence[str], judged: Sequence[Judged]) -> str:
    """The share in each column that applies, by domain, with its interval (Wilson 1927) in percent."""

    def cell(some: Sequence[Judged], name: str) -> str:
        right = [verdicts[name] for verdicts in some if name in verdicts]
        if not right:
            return "-"
        low, high = wilson_interval(sum(right), len(right))
        return f"{sum(right) / len(right):.3f} ({100 * low:.0f}-{100 * high:.0f})"

    groups = by_label(list(zip(domains, judged, strict=True)), lambda pair: pair[0])
    rows = [
        [name, len(some), *(cell([own for _, own in some], key) for key in COLUMNS)] for name, some in groups.items()
    ]
    return table(["domain", "n", *COLUMNS], rows)
