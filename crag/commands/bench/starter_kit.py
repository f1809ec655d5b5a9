"""Run the 2024 starter kit's baselines and a preset with the same model over the same questions, and show all in one
table.

    crag bench starter-kit [--preset endpoint] [--dataset FILE] [--limit 60] [--mock-kg]

vanilla asks the model alone, rag shows it 4,000 characters of sentences from the pages, rag-kg (with a graph) also
facts of the graph, preset is the preset itself. The model is that of the preset: with endpoint your own server
(CRAG_LLM_URL). Each is a run in DIR/NAME, for crag compare and crag report; --resume continues where it was stopped.
The other options are those of crag evaluate, without --agent.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from crag.benchmarks.common import markdown_table
from crag.commands.command_line import command, say
from crag.commands.ending import EXIT_UNUSABLE
from crag.commands.evaluate import default_folder
from crag.commands.evaluate import main as evaluate
from crag.commands.evaluate_options import parse_options
from crag.core.files import UserError
from crag.evaluation.metrics import FEWEST
from crag.evaluation.report.finished_run import FinishedRun, read_finished_run
from crag.evaluation.retrieval_quality import IN_CONTEXT
from crag.evaluation.store import RESULTS
from crag.evaluation.worker import DEFAULT_AGENT
from crag.settings import graph_address

PROGRAM = "crag bench starter-kit"
MODULE = "crag.benchmarks.starter_kit"
AGENTS = {"vanilla": f"{MODULE}:Vanilla", "rag": f"{MODULE}:Rag", "rag-kg": f"{MODULE}:StarterKit", "preset": None}
"""The systems in the order in which they run; None: the agent of the preset."""
NEEDS_GRAPH = "rag-kg"
HEADER = ("system", "questions", "right", "wrong", "silent", "score [95 % interval]", "s/question", "answer in context")


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Evaluate each system and print the table. The exit code is the highest of the runs."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = parse_options(words, PROGRAM, __doc__, _add_systems)
    if options.agent != DEFAULT_AGENT:
        raise UserError("--agent cannot be chosen here: the agents are the baselines and the preset")

    usual_folder = default_folder(options)
    folder = options.output or usual_folder.with_name(f"{usual_folder.name}-starter-kit")
    shared = _shared_options(words)
    codes: list[int] = []
    for name in _chosen(options):
        say(f"\n=== {name} ===")
        agent = AGENTS[name]
        run_options = [*shared, "--output", str(folder / name)]
        if agent is not None:
            run_options += ["--agent", agent]
        codes.append(evaluate(run_options))
        # Not started, interrupted, or ended early: the next would fare no better
        if codes[-1] == EXIT_UNUSABLE or not (folder / name / RESULTS).is_file():
            break

    # Also those of an earlier command with --only
    finished = [name for name in AGENTS if (folder / name / RESULTS).is_file()]
    rows = [_table_row(name, read_finished_run(folder / name)) for name in finished]
    if rows:
        print(f"\n{markdown_table(HEADER, rows)}")
    return max(codes)


def _add_systems(parser: argparse.ArgumentParser) -> None:
    parser.add_argument_group("systems").add_argument(
        "--only",
        metavar="NAME",
        choices=tuple(AGENTS),
        action="append",
        help=f"run only this one of {', '.join(AGENTS)}; can be repeated (default: all; {NEEDS_GRAPH} with a graph)",
    )


def _chosen(options: argparse.Namespace) -> list[str]:
    has_graph = options.mock_kg is not None or bool(graph_address(options.kg_url))
    names = [name for name in AGENTS if name in (options.only or AGENTS)]
    if has_graph:
        return names
    if options.only and NEEDS_GRAPH in options.only:
        raise UserError(f"{NEEDS_GRAPH} needs a graph: --mock-kg, or --kg-url URL")
    return [name for name in names if name != NEEDS_GRAPH]


def _shared_options(arguments: Sequence[str]) -> list[str]:
    """What every run gets: the arguments without those of this command."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--only", action="append")
    parser.add_argument("--output", type=Path)
    _, rest = parser.parse_known_args(arguments)
    return rest


def _table_row(name: str, run: FinishedRun) -> list[str]:
    results = run.results
    verdicts = run.verdicts
    score = f"{results['score']:+.3f}" if results["n"] else "-"
    if results["n"] >= FEWEST:
        low, high = results["ci"]
        score = f"{score} [{low:+.3f}, {high:+.3f}]"
    share_found = (results.get("retrieval") or {}).get(IN_CONTEXT)
    return [
        name,
        str(len(run.records)),
        str(verdicts["correct"]),
        str(verdicts["incorrect"]),
        str(verdicts["missing"]),
        score,
        f"{results['seconds']['per_question']:.2f}",
        "-" if share_found is None else f"{share_found:.3f}",
    ]
