"""What is wrong with a row of a finished run, told once, so that its readers may rely on what they read."""

from collections.abc import Mapping
from typing import Any

from evaluation.batches import SLICE_FIELDS
from evaluation.judge import Verdict

_PLACE: Mapping[str, type] = {"interaction_id": str, "occurrence": int, "batch": int, "attempt": int}
_VERDICTS = tuple(verdict.value for verdict in Verdict)
_REQUIRED: Mapping[str, tuple[type, ...]] = {
    "query": (str,),
    "prediction": (str,),
    "seconds": (int, float),
    "batch_seconds": (int, float),
    "timed_out": (bool,),
    "error": (str, type(None)),
}
_OPTIONAL: Mapping[str, tuple[type, ...]] = {
    "reason": (str, type(None)),
    "alt_ans": (list,),
    "gates": (list,),
    "split": (int, type(None)),
    **{name: (str, type(None)) for name in SLICE_FIELDS},
}
"""Absent from rows of older versions, or of questions without that label."""


def fault_of_place(row: Mapping[str, Any]) -> str | None:
    """What is wrong with the fields that say of which question and attempt the row is; None where nothing is."""
    for name, kind in _PLACE.items():
        if not isinstance(row.get(name), kind):
            what = "text" if kind is str else "a whole number"
            return f'field "{name}": {what} is expected, found {row.get(name)!r}'
    return None


def fault_of_prediction(row: Mapping[str, Any]) -> str | None:
    """What is wrong with a row of predictions.jsonl; None where nothing is."""
    if fault := fault_of_place(row):
        return fault
    if row.get("verdict") not in _VERDICTS:
        return f'field "verdict": one of {", ".join(_VERDICTS)} is expected, found {row.get("verdict")!r}'
    for name, kinds in {**_REQUIRED, **_OPTIONAL}.items():
        if name not in row and name in _REQUIRED:
            return f'field "{name}" is missing'
        if name in row and not isinstance(row[name], kinds):
            return f'field "{name}": of another type than expected, found {row[name]!r}'
    if not all(_is_firing(entry) for entry in row.get("gates", ())):
        return f'field "gates": a list of gates with their names and verdicts is expected, found {row["gates"]!r}'
    return None


def _is_firing(entry: object) -> bool:
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("name"), str)
        and entry.get("withheld_verdict", "") in (None, *_VERDICTS)
    )
