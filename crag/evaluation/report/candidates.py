"""Candidates in a trace, which another agent may leave in any form."""

import math
from collections.abc import Mapping
from typing import Any


def likeliest_candidate(trace: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The candidate with the highest P(correct), or None if no candidate has one."""
    entries = trace.get("candidates")
    if not isinstance(entries, list):
        return None

    estimated = [entry for entry in entries if isinstance(entry, Mapping) and is_number(entry.get("probability"))]
    return max(estimated, key=lambda entry: float(entry["probability"]), default=None)


def is_number(value: object) -> bool:
    """Whether the value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)
