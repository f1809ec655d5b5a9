"""The page of two runs side by side: their metrics, and both traces of each question with another verdict."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crag.evaluation.compare import Comparison
from crag.evaluation.judge import Verdict
from crag.evaluation.report.finished_run import FinishedRun
from crag.evaluation.report.packing import pack_traces
from crag.evaluation.report.page import fill_template, write_page
from crag.evaluation.store import SavedRun

CHANCE = 0.05
"""From this p-value on, a difference is called one that chance may have made."""


def write_comparison(
    comparison: Comparison,
    first: SavedRun,
    second: SavedRun,
    path: Path,
) -> Path:
    """Write the page of two runs side by side; returns its path; raises DatasetError."""
    return write_page(path, lambda: _make_page(comparison, first, second))


def _make_page(comparison: Comparison, first: SavedRun, second: SavedRun) -> str:
    # Metrics over the common questions, not those of results.json.
    metrics_a = asdict(comparison.first)
    metrics_b = asdict(comparison.second)
    run_a = FinishedRun(first, {**metrics_a, "signature": first.run.signature})
    run_b = FinishedRun(second, {**metrics_b, "signature": second.run.signature})

    # Both traces of a flipped question, one after the other: see compare.js.
    records: list[Mapping[str, Any]] = []
    traces: list[Mapping[str, Any]] = []
    became_right = 0
    were_right = 0
    for kind, pairs in comparison.flips.items():
        if kind.second is Verdict.CORRECT:
            became_right += len(pairs)
        if kind.first is Verdict.CORRECT:
            were_right += len(pairs)
        for pair in pairs:
            records += [pair.first, pair.second]
            traces += [run_a.trace(pair.first), run_b.trace(pair.second)]

    return fill_template(
        "compared.html",
        ("compare.js",),
        pack_traces(records, traces),
        {"limits": [run_a.limit, run_b.limit]},
        compared=comparison,
        sides=[("A", run_a), ("B", run_b)],
        became_right=became_right,
        were_right=were_right,
        chance=CHANCE,
    )
