"""Our engine beside llama.cpp on the preset's prompts, and our pipeline beside Haystack's on questions with pages.

    make peers
    crag bench peers --dataset FILE [--limit 40] [--out peers.json]

`make peers` compiles llama.cpp for this machine and fetches the weights (docs/results.md#beside-llamacpp-and-haystack).
Both peers read the same model as ours, as Q4_K_M GGUF; ours has int8 weights, so it reads more bytes for each token.

engine     Each prompt that the preset makes of the questions runs on our engine, which writes as it always does, and
           then as the same tokens on llama.cpp, which writes equally many. Both take the likeliest token each time.
pipeline   Each question with its pages goes to the preset without a graph, then to Haystack as its tutorials build it:
           MiniLM finds ten passages of 150 words, and a llama.cpp server answers, in 75 tokens at most. The same judge
           judges both. A gate closes some questions before ours reads, so there is a column of those that it reads.

Each side is a process of its own with equally many threads, and answers a made-up question before its seconds count.
Run it on a quiet machine: what else runs slows both sides, but not alike. The last row of each table divides the peer's
figures by ours: seconds above 1 and tokens a second below 1 are in our favour.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from crag.benchmarks.common import Row, markdown_table
from crag.benchmarks.peers import (
    KINDS,
    PEER_WORKER,
    WARM_UP_ROW,
    EngineFigures,
    PipelineFigures,
    SideProcess,
    ask_questions,
    describe_processor,
    engine_figures,
    open_side,
    pipeline_figures,
    record_prompts,
    run_prompts,
)
from crag.commands.argument_types import whole_number
from crag.commands.command_line import add_preset_arguments, command, parser_of, say
from crag.commands.ending import stopped_in_order
from crag.core.cores import usable_cores
from crag.core.files import DatasetError, UserError, check_target, write_json
from crag.evaluation.datasets import DEFAULT_DATASET, read_rows
from crag.evaluation.judge import RulesJudge, Verdict
from crag.settings import load_settings
from crag.weights.manifest import locate

ENCODER = "all-minilm-l6-v2"
"""The encoder of Haystack's tutorials."""
QUIET_LOAD = 0.5
"""Processes that compute; above it the seconds are not worth much."""


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    options = _parse(arguments)
    if not options.python.is_file():
        raise UserError(f"--python {options.python}: no such file; make peers writes .venv-peers")

    weights = _find_weights(options)
    encoder = locate(ENCODER) if options.only != "engine" else None
    rows = _questions(options.dataset, options.limit)
    if options.out:
        check_target(options.out)
    _limit_cores(options.threads)

    machine = describe_processor()
    if machine["load"] > QUIET_LOAD:
        say(f"warning: this machine is busy (load {machine['load']:.1f}): the seconds of both sides are not worth much")
    report: Row = {"machine": machine, "threads": options.threads, "questions": len(rows), "versions": {}}

    # SIGTERM must end the sides too
    with stopped_in_order():
        if options.only != "pipeline":
            _compare_engines(_Sides(options, weights), rows, report)
            _save(options.out, report)
        if encoder is not None:
            _compare_pipelines(_Sides(options, weights), encoder, rows, report)
            _save(options.out, report)

    print(f"\n{machine['processor']}, {options.threads} threads, load before {machine['load']:.1f}; ", end="")
    print(f"has {', '.join(machine['has']) or 'none'}; lacks {', '.join(machine['lacks']) or 'none'}")
    print(", ".join(f"{name} {version}" for name, version in report["versions"].items()))


def _save(target: Path | None, report: Row) -> None:
    if target:
        write_json(target, report)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag bench peers", __doc__, "Exit code: 0 done; 2 a file, a model or an environment cannot be used."
    )
    parser.add_argument("--dataset", type=Path, default=DEFAULT_DATASET, metavar="FILE", help="questions with pages")
    parser.add_argument(
        "--limit", type=whole_number(1), default=12, metavar="N", help="at most N questions; default: 12"
    )
    parser.add_argument("--only", choices=("engine", "pipeline"), help="one of the two comparisons")
    parser.add_argument(
        "--python",
        type=Path,
        default=Path(".venv-peers/bin/python"),
        metavar="FILE",
        help="Python of the peers' environment, which make peers writes; default: .venv-peers/bin/python",
    )

    parser.add_argument(
        "--gguf",
        type=Path,
        metavar="FILE",
        help="the model for llama.cpp; default: the preset's as the manifest has it",
    )

    parser.add_argument(
        "--threads",
        type=whole_number(1),
        default=usable_cores(),
        metavar="N",
        help="threads and cores of each side; default: all cores",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all figures and texts as JSON")
    add_preset_arguments(parser)

    return parser.parse_args(arguments)


def _find_weights(options: argparse.Namespace) -> Path:
    """The GGUF file. Raises UserError: there is none; WeightsMissingError: it is not fetched."""
    if options.gguf:
        if not options.gguf.is_file():
            raise UserError(f"--gguf {options.gguf}: no such file")
        return Path(options.gguf)
    model = str(getattr(load_settings(options.preset, options.set).language_model, "model", ""))
    return next(locate(f"{model}-gguf").glob("*.gguf"))


def _limit_cores(threads: int) -> None:
    """Keep this process and all that it starts on so many cores. Raises UserError: it may not use so many."""
    allowed = sorted(os.sched_getaffinity(0))
    if threads > len(allowed):
        raise UserError(f"--threads {threads}: this process may use {len(allowed)} cores")
    if threads < len(allowed):
        os.sched_setaffinity(0, allowed[:threads])


def _questions(path: Path, limit: int) -> list[Row]:
    rows = [row for row in read_rows(path) if row.get("search_results")]
    if not rows:
        raise DatasetError(f"{path}: no question has pages")
    return rows[:limit]


class _Sides(NamedTuple):
    """Starts the sides."""

    options: argparse.Namespace
    weights: Path

    def ours(self, name: str, kind: str) -> AbstractContextManager[SideProcess]:
        """A part of `crag.benchmarks.peer_ours`."""
        module = "crag.benchmarks.peer_ours"
        arguments = [sys.executable, "-m", module, kind, self.options.preset, *self.options.set]
        return open_side(name, arguments, self.options.threads)

    def peer(self, name: str, kind: str, *more_arguments: str) -> AbstractContextManager[SideProcess]:
        """A part of `crag.benchmarks.peer_worker`."""
        # Without -P, Python would look for packages among our modules first
        script = [str(self.options.python), "-P", str(PEER_WORKER)]
        threads = self.options.threads
        return open_side(name, [*script, kind, str(self.weights), str(threads), *more_arguments], threads)


# --- the two comparisons ----------------------------------------------------------------------------------------------


def _compare_engines(sides: _Sides, rows: Sequence[Row], report: Row) -> None:
    say("recording the preset's prompts ...")
    with sides.ours("our retrieval", "prompts") as recorder:
        prompts = record_prompts(recorder, rows)
        recorded = recorder.run({"row": WARM_UP_ROW})
        warm_up = [prompt for kind in KINDS for prompt in recorded[kind]]

    say("running them on both engines ...")
    with sides.ours("our engine", "engine") as our_side, sides.peer("llama.cpp", "llama.cpp") as peer_side:
        results = run_prompts(our_side, peer_side, prompts, warm_up)
        figures = {
            "ours": engine_figures(results, "ours", our_side.peak_mib()),
            "llama.cpp": engine_figures(results, "peer", peer_side.peak_mib()),
        }
        report["versions"] |= our_side.versions | peer_side.versions

    report["engine"] = {"figures": _as_fields(figures), "prompts": results}

    counts = ", ".join(f"{len(prompts[kind])} of {kind}" for kind in KINDS)
    header = [f"engine ({counts})", *(f"{kind} s" for kind in KINDS), "prefill tok/s", "decode tok/s", "peak MiB"]
    forms = [*(".2f" for _ in KINDS), ".0f", ".1f", ",.0f"]
    numbers = {name: _numbers_of_engine(figure) for name, figure in figures.items()}
    print(markdown_table(header, _with_quotient(numbers, forms)))


def _as_fields(figures: Mapping[str, EngineFigures] | Mapping[str, PipelineFigures]) -> Row:
    """The figures of each side as JSON."""
    return {name: asdict(figure) for name, figure in figures.items()}


def _numbers_of_engine(figures: EngineFigures) -> list[float]:
    """The figures in the order of the table's columns."""
    return [*(figures.seconds[kind] for kind in KINDS), figures.prefill, figures.decode, figures.peak_mib]


def _compare_pipelines(sides: _Sides, encoder: Path, rows: Sequence[Row], report: Row) -> None:
    say("asking both pipelines ...")
    with sides.ours("our pipeline", "agent") as our_side, sides.peer("Haystack", "haystack", str(encoder)) as peer_side:
        results = ask_questions(our_side, peer_side, rows)
        judge = RulesJudge()
        figures = {
            "ours": pipeline_figures(results, "ours", our_side.peak_mib(), judge),
            "Haystack": pipeline_figures(results, "peer", peer_side.peak_mib(), judge),
        }
        report["versions"] |= our_side.versions | peer_side.versions

    report["pipeline"] = {"figures": _as_fields(figures), "questions": results}

    read = sum(row["was_read"] for row in results)
    header = [f"pipeline ({len(results)} questions)", "s a question", f"s of the {read} read", "peak MiB"]
    verdicts = ["score", "right", "wrong", "silent"]
    numbers = {name: [figure.seconds, figure.seconds_of_read, figure.peak_mib] for name, figure in figures.items()}
    *rows_of_sides, quotient = _with_quotient(numbers, [".2f", ".2f", ",.0f"])

    table: list[list[str]] = []
    for cells, figure in zip(rows_of_sides, figures.values(), strict=True):
        table.append([*cells, *_verdict_cells(figure)])
    # Verdicts have no quotient
    table.append([*quotient, *("" for _ in verdicts)])
    print()
    print(markdown_table([*header, *verdicts], table))


def _verdict_cells(figures: PipelineFigures) -> list[str]:
    counts = [figures.verdicts[verdict] for verdict in (Verdict.CORRECT, Verdict.INCORRECT, Verdict.MISSING)]
    return [f"{figures.score:+.3f}", *map(str, counts)]


def _with_quotient(sides: Mapping[str, Sequence[float]], forms: Sequence[str]) -> list[list[str]]:
    """A row for ours and for the peer, and one of the peer's numbers divided by ours. `forms` format the columns."""
    rows = [[name, *map(format, numbers, forms)] for name, numbers in sides.items()]

    (our_name, our_numbers), (peer_name, peer_numbers) = sides.items()
    quotients: list[str] = []
    for our_number, peer_number in zip(our_numbers, peer_numbers, strict=True):
        quotients.append(f"{peer_number / our_number:.2f}" if our_number else "")
    return [*rows, [f"{peer_name} / {our_name}", *quotients]]
