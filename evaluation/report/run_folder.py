"""A finished run as its folder holds it, read for the report."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.batches import RowKey
from evaluation.store import RESULTS, SavedRun, StoreError, row_key

_HEADLINE = ("score", "ci", "accuracy", "hallucination", "missing", "n", "unscored")


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """`results` is results.json; `records` are the rows of predictions.jsonl, one per question in the order asked.

    `traces` are of the same attempts and may lack any of them: an agent of somebody else has none, or some of a shape
    of its own, so nothing about their fields may be taken for granted.
    """

    results: Mapping[str, Any]
    records: Sequence[Mapping[str, Any]]
    traces: Mapping[RowKey, Mapping[str, Any]]

    @property
    def signature(self) -> Mapping[str, Any]:
        """What the numbers depend on."""
        signature = self.results.get("signature")
        return signature if isinstance(signature, Mapping) else {}

    @property
    def limit(self) -> float | None:
        """Seconds that the run allowed per question, where its signature tells."""
        try:
            return float(self.signature["seconds_per_query"])
        except (KeyError, TypeError, ValueError):
            return None

    def trace(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """The trace of a question; empty where there is none."""
        return self.traces.get(row_key(record), {})


def read_run(folder: Path) -> FinishedRun:
    """Read the folder. Of questions that were asked again the last attempt counts.

    Raises:
        StoreError: no finished run is there, or a file of it cannot be read.
    """
    saved = SavedRun.read(folder)
    try:
        results = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise StoreError(
            f"{folder}: the run is not finished ({RESULTS} is missing); --resume goes on with it"
        ) from None
    except (OSError, ValueError) as error:
        raise StoreError(f"{folder / RESULTS}: {error}") from None
    if not isinstance(results, dict) or (lacking := [name for name in _HEADLINE if name not in results]):
        lacks = f"it lacks {', '.join(lacking)}" if isinstance(results, dict) else "it is no object"
        raise StoreError(f"{folder / RESULTS}: not the results of a run: {lacks}; --resume writes them anew")
    return FinishedRun(results, list(saved.records.values()), saved.traces)
