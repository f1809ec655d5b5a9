"""Labelled questions with their calls, for tuning the call writer: `python -m training.api_pairs`, and its `label`."""

from training.api_pairs.pairs import (
    QUESTIONS,
    Pair,
    add_graph_argument,
    bank_version,
    company_names,
    graph_files,
    opened,
    read_pairs,
    real_pairs,
)
from training.api_pairs.proposals import Bench, bench_of

__all__ = [
    "QUESTIONS",
    "Bench",
    "Pair",
    "add_graph_argument",
    "bank_version",
    "bench_of",
    "company_names",
    "graph_files",
    "opened",
    "read_pairs",
    "real_pairs",
]
