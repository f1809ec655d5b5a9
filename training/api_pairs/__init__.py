"""Question/call pairs for tuning the call writer, and the calls' results for tuning the answerer.

`python -m training.api_pairs` combines the labelled real questions, the handwritten bank of `agents.kg.writing`, and
sampled questions. `templates/` holds programs with gaps and their wordings, one TOML file per domain; `fillers` fills
the gaps from a graph; `execution` keeps pairs whose calls find something.
"""

from training.api_pairs.execution import Bench, Executed, bench_of
from training.api_pairs.graph import QUESTIONS, check_whole, graph_files, opened
from training.api_pairs.groups import company_names
from training.api_pairs.labelled import bank_pairs, bank_version, real_pairs
from training.api_pairs.pairs import REAL, Pair, read_pairs
from training.api_pairs.sampling import Sampler

__all__ = [
    "QUESTIONS",
    "REAL",
    "Bench",
    "Executed",
    "Pair",
    "Sampler",
    "bank_pairs",
    "bank_version",
    "bench_of",
    "check_whole",
    "company_names",
    "graph_files",
    "opened",
    "read_pairs",
    "real_pairs",
]
