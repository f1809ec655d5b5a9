"""Show where the time of a preset goes: seconds per question and stage, in a run of local_evaluation.py.

    python -m benchmarks.profile [--preset P] [--set KEY=VALUE] [--limit N] [--output DIR]
    python -m benchmarks.profile --run DIR

Without `--run` it first answers the shipped sample with the shipped graph. `report.html` of the run shows the same.
"""

from pathlib import Path

from agents.common.console import end_with
from benchmarks.common import add_preset_arguments, evaluate_preset, exit_code, table
from evaluation.cli import DEFAULT_DATASET
from evaluation.report.measured import read_run, stage_seconds
from training.command import parser_of


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = parser_of("benchmarks.profile", __doc__)
    add_preset_arguments(parser)
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    parser.add_argument(
        "--output", type=Path, default=Path("results/profile"), metavar="DIR", help="default: %(default)s"
    )
    parser.add_argument("--run", type=Path, metavar="DIR", help="folder of a finished run")
    options = parser.parse_args(arguments)

    def work() -> int:
        if options.run is None:
            more = (options.preset, Path(DEFAULT_DATASET), options.output, options.set, options.limit, "--mock-kg")
            if failed := evaluate_preset(*more):
                return failed
        show(options.run or options.output)
        return 0

    return exit_code(work)


def show(folder: Path) -> None:
    """Print the table of a finished run, and its start-up, first answer and memory."""
    run = read_run(folder)
    stages = stage_seconds(run)
    whole = stages[-1].mean
    rows = [[one.stage.replace("_", " "), one.mean, f"{100 * one.mean / whole:.0f} %", one.p95] for one in stages]
    print(table(["stage", "seconds per question", "share", "95th percentile of batches"], rows))
    seconds = run.results["seconds"]
    print(
        f"start-up {seconds['startup']:.1f} s, first answer after {seconds['first_answer']:.1f} s, "
        f"peak memory {run.results['peak_memory_mb']:.0f} MiB"
    )


if __name__ == "__main__":
    end_with(main)
