"""Candidates in a trace, which another agent may leave in any form."""

import math
from collections.abc import Mapping
from typing import Any


def likeliest_candidate(trace: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The candidate with the highest P(correct), or None if no candidate has one."""
    entries = trace.get("candidates")
    if not isinstance(entries, list):
        return None

    likeliest: Mapping[str, Any] | None = None
    for entry in entries:
        if not isinstance(entry, Mapping) or not is_number(entry.get("probability")):
            continue
        # Of equals the first, as the agent ranks its candidates.
        if likeliest is None or entry["probability"] > likeliest["probability"]:
            likeliest = entry
    return likeliest


def is_number(value: object) -> bool:
    """Whether the value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value)
