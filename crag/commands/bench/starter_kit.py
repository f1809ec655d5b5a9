"""Run the 2024 starter kit's baselines with a preset's model over a question file; the options are those of `evaluate`.

crag bench starter-kit --output KIT [--preset cpu] [--dataset FILE] [--mock-kg]
crag compare KIT RUN
"""

from collections.abc import Sequence

from crag.commands.evaluate import main as evaluate

PROGRAM = "crag bench starter-kit"
AGENT = "crag.benchmarks.starter_kit:StarterKit"


def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate the baseline. Exit codes are those of `crag evaluate`."""
    # Among the words too: they are recorded as the command of the run
    return evaluate(["--agent", AGENT, *(arguments or ())], PROGRAM, __doc__, AGENT)
