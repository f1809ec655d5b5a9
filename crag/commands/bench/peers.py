"""Our engine beside llama.cpp on the preset's prompts, and our pipeline beside Haystack's on questions with pages.

    make peers; crag models fetch qwen2.5-coder-1.5b-instruct-gguf
    crag bench peers [--dataset FILE] [--limit 12] [--out peers.json]

Both peers read the same model as Q4_K_M GGUF. llama.cpp is compiled on this machine when its package is installed. All
sides run in turns, each in a process of its own, greedily, with equal numbers of tokens. Haystack's pipeline is that
of its tutorials: MiniLM finds ten passages of 150 words, and a llama.cpp server answers. Run it on a quiet machine:
what else runs slows both sides, but not alike.

The last row of each table is how many times as much the peer needs.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from crag.benchmarks.common import Row, markdown_table
from crag.benchmarks.peers import (
    KINDS,
    PEER_WORKER,
    EngineFigures,
    PipelineFigures,
    ask_questions,
    describe_machine,
    engine_figures,
    pipeline_figures,
    record_prompts,
    run_prompts,
    worker,
)
from crag.commands.command_line import add_preset_arguments, command, parser_of, say, whole
from crag.core.files import UserError, write_json
from crag.evaluation.datasets import DEFAULT_DATASET, DatasetError, read_rows
from crag.evaluation.judge import RulesJudge, Verdict
from crag.settings import load_settings
from crag.weights.manifest import locate

ENCODER = "all-minilm-l6-v2"
"""The encoder of Haystack's tutorials."""


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """The command. Exit code: 0 done, 2 a file, model or environment cannot be used."""
    options = _parse(arguments)
    if not options.python.is_file():
        raise UserError(f"--python {options.python}: no such file; make peers writes .venv-peers")

    model = load_settings(options.preset, options.set).language_model
    weights = options.gguf or _find_weights(str(getattr(model, "model", "")))
    rows = _questions(options.dataset, options.limit)
    report: Row = {"machine": describe_machine(), "questions": len(rows), "versions": {}}

    if options.only != "pipeline":
        _compare_engines(options, weights, rows, report)
    if options.only != "engine":
        _compare_pipelines(options, weights, rows, report)

    machine = report["machine"]
    print(f"\n{machine['processor']}, {options.threads} threads; has {', '.join(machine['has']) or 'none'}; ", end="")
    print(f"lacks {', '.join(machine['lacks']) or 'none'}")
    print(", ".join(f"{name} {version}" for name, version in report["versions"].items()))
    if options.out:
        write_json(options.out, report)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag bench peers", __doc__)
    parser.add_argument("--dataset", type=Path, default=DEFAULT_DATASET, metavar="FILE", help="questions with pages")
    parser.add_argument("--limit", type=whole(1), default=12, help="at most N questions; default: 12")
    parser.add_argument("--only", choices=("engine", "pipeline"), help="one of the two comparisons")
    parser.add_argument(
        "--python",
        type=Path,
        default=Path(".venv-peers/bin/python"),
        metavar="FILE",
        help="Python of the peers' environment, see requirements/peers.txt; default: .venv-peers/bin/python",
    )
    parser.add_argument(
        "--gguf", type=Path, metavar="FILE", help="the model for llama.cpp; default: that of the manifest"
    )
    parser.add_argument(
        "--threads", type=whole(1), default=os.cpu_count() or 1, help="of the peers; default: all cores"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write all figures and texts as JSON")
    add_preset_arguments(parser)
    return parser.parse_args(arguments)


def _find_weights(model: str) -> Path:
    """The GGUF file of a model in the manifest. Raises WeightsMissingError: it is not fetched."""
    folder = locate(f"{model}-gguf")
    return next(folder.glob("*.gguf"))


def _questions(path: Path, limit: int) -> list[Row]:
    rows = [row for row in read_rows(path) if row.get("search_results")]
    if not rows:
        raise DatasetError(f"{path}: no question has pages")
    return rows[:limit]


def _ours(kind: str, options: argparse.Namespace) -> list[str]:
    return [sys.executable, "-m", "crag.benchmarks.peer_ours", kind, options.preset, *options.set]


def _peer(kind: str, options: argparse.Namespace, weights: Path, *more: str) -> list[str]:
    # Without -P, Python would look for packages among our modules first
    return [str(options.python), "-P", str(PEER_WORKER), kind, str(weights), str(options.threads), *more]


# --- the two comparisons ----------------------------------------------------------------------------------------------


def _compare_engines(options: argparse.Namespace, weights: Path, rows: Sequence[Row], report: Row) -> None:
    say("recording the preset's prompts ...")
    with worker("our retrieval", _ours("prompts", options)) as recorder:
        prompts = record_prompts(recorder, rows)

    say("running them on both engines ...")
    with (
        worker("our engine", _ours("engine", options)) as ours,
        worker("llama.cpp", _peer("llama.cpp", options, weights)) as peer,
    ):
        results = run_prompts(ours, peer, prompts)
        figures = {
            "ours": engine_figures(results, "ours", ours.peak_mib()),
            "llama.cpp": engine_figures(results, "peer", peer.peak_mib()),
        }
        report["versions"] |= ours.versions | peer.versions

    report["engine"] = {"figures": {name: asdict(side) for name, side in figures.items()}, "prompts": results}
    counts = ", ".join(f"{len(prompts[kind])} of {kind}" for kind in KINDS)
    header = [f"engine ({counts})", *(f"{kind} s" for kind in KINDS), "prefill tok/s", "decode tok/s", "peak MiB"]
    print(markdown_table(header, _with_ratio({name: _engine_cells(side) for name, side in figures.items()})))


def _engine_cells(figures: EngineFigures) -> list[float]:
    return [*(figures.seconds[kind] for kind in KINDS), figures.prefill, figures.decode, figures.peak_mib]


def _compare_pipelines(options: argparse.Namespace, weights: Path, rows: Sequence[Row], report: Row) -> None:
    say("asking both pipelines ...")
    encoder = str(locate(ENCODER))
    with (
        worker("our pipeline", _ours("agent", options)) as ours,
        worker("Haystack", _peer("haystack", options, weights, encoder)) as peer,
    ):
        results = ask_questions(ours, peer, rows)
        judge = RulesJudge()
        figures = {
            "ours": pipeline_figures(results, "ours", ours.peak_mib(), judge),
            "Haystack": pipeline_figures(results, "peer", peer.peak_mib(), judge),
        }
        report["versions"] |= ours.versions | peer.versions

    report["pipeline"] = {"figures": {name: asdict(side) for name, side in figures.items()}, "questions": results}
    read = sum(row["was_read"] for row in results)
    header = [f"pipeline ({len(results)} questions)", "s a question", f"s of the {read} read", "peak MiB"]
    verdicts = ["score", "right", "wrong", "silent"]
    *sides, ratio = _with_ratio({name: _pipeline_cells(side) for name, side in figures.items()})
    table = [[*cells, *_verdict_cells(side)] for cells, side in zip(sides, figures.values(), strict=True)]
    table.append([*ratio, *("" for _ in verdicts)])
    print()
    print(markdown_table([*header, *verdicts], table))


def _pipeline_cells(figures: PipelineFigures) -> list[float]:
    return [figures.seconds, figures.seconds_of_read, figures.peak_mib]


def _verdict_cells(figures: PipelineFigures) -> list[object]:
    counts = [figures.verdicts[verdict] for verdict in (Verdict.CORRECT, Verdict.INCORRECT, Verdict.MISSING)]
    return [figures.score, *counts]


def _with_ratio(sides: dict[str, list[float]]) -> list[list[object]]:
    """A row for each of two sides, and the second's figures divided by the first's."""
    ours, peer = sides.values()
    ratios = [f"{theirs / own:.2f}" if own else "" for own, theirs in zip(ours, peer, strict=True)]
    return [*([name, *cells] for name, cells in sides.items()), ["ratio", *ratios]]
