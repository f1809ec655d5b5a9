"""Labelled questions with their calls, for tuning the call writer: `python -m training.api_pairs`, and its `label`."""

from training.api_pairs.execution import Bench, bench_of
from training.api_pairs.graph import GRAPH_HELP, QUESTIONS, company_names, graph_files, opened
from training.api_pairs.pairs import REAL, Pair, bank_version, read_pairs, real_pairs

__all__ = [
    "GRAPH_HELP",
    "QUESTIONS",
    "REAL",
    "Bench",
    "Pair",
    "bank_version",
    "bench_of",
    "company_names",
    "graph_files",
    "opened",
    "read_pairs",
    "real_pairs",
]
