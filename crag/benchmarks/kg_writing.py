"""How often a preset's call writer writes the labelled calls."""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import itemgetter
from pathlib import Path

from crag.benchmarks.common import Row, group_by_label, markdown_table
from crag.benchmarks.kg_execution import read_label
from crag.evaluation.datasets import read_records
from crag.evaluation.metrics import wilson_interval
from crag.training.api_pairs.pairs import pair_of
from crag.web.ranking import round_robin

COLUMNS = ("parses", "values", "none", "over-none", "domain", "repaired")

Judged = Mapping[str, bool]
"""The verdict on a question in each column that applies to it."""


def questions_with_calls(path: Path) -> list[Row]:
    """Questions and their calls: rows of `kg_execution.labelled_questions`, and rows without `kg_values`.

    Those need only query, domain and calls, as rows to tune on do (`crag.training.api_pairs`): what their calls return
    are the right values. Raises DatasetError: a row cannot be read or lacks a field.
    """
    rows: list[Row] = []
    for record in read_records(path):
        if "kg_values" in record.data:
            label = read_label(record)
            if label["verified"]:
                rows.append(label)
            continue

        pair = pair_of(record)
        answerable = bool(pair.program.statements)
        rows.append(pair.model_dump(mode="json") | {"answerable": answerable})
    return rows


def stratified(rows: Sequence[Row], limit: int) -> list[Row]:
    """At most `limit` rows, the domains in turn, in random order within each, the same in every run."""
    chance = random.Random(0)  # noqa: S311 - a sample, not a secret
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["domain"]].append(row)

    # Shuffled in the order of the file, with one generator: the same in every run
    for group in groups.values():
        chance.shuffle(group)

    in_order = [groups[name][::-1] for name in sorted(groups)]
    return [row for _, row in round_robin(in_order)][:limit]


def shares(domains: Sequence[str], judged: Sequence[Judged]) -> str:
    """The share in each column that applies, by domain, with its interval (Wilson 1927) in percent."""
    rows: list[list[object]] = []
    questions = list(zip(domains, judged, strict=True))
    for name, pairs in group_by_label(questions, itemgetter(0)).items():
        verdicts = [judged_question for _, judged_question in pairs]
        cells = [_share(verdicts, column) for column in COLUMNS]
        rows.append([name, len(pairs), *cells])
    return markdown_table(["domain", "n", *COLUMNS], rows)


def _share(judged: Sequence[Judged], column: str) -> str:
    """``0.750 (60-86)``; a dash if the column applies to no question."""
    verdicts = [verdict[column] for verdict in judged if column in verdict]
    if not verdicts:
        return "-"
    count = sum(verdicts)
    low, high = wilson_interval(count, len(verdicts))
    return f"{count / len(verdicts):.3f} ({100 * low:.0f}-{100 * high:.0f})"
