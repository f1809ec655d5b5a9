"""Question/call pairs for tuning the writer of calls, and what the calls give for tuning the answerer.

`python -m training.api_pairs` puts together the labelled real questions, the handwritten bank of `agents.kg.writing`,
and sampled ones: `templates/` holds programs with gaps and the wordings in which people ask for them, one TOML file per
domain; `fillers` fills the gaps with what a graph knows; `execution` keeps what the agent's own executor finds.
"""

from training.api_pairs.execution import Bench, bench_of
from training.api_pairs.graph import QUESTIONS, check_whole, graph_files, opened
from training.api_pairs.groups import company_names
from training.api_pairs.labelled import bank_version, real_pairs
from training.api_pairs.pairs import REAL, Pair, read_pairs

__all__ = [
    "QUESTIONS",
    "REAL",
    "Bench",
    "Pair",
    "bank_version",
    "bench_of",
    "check_whole",
    "company_names",
    "graph_files",
    "opened",
    "read_pairs",
    "real_pairs",
]
