"""Make question/call pairs: python -m training.api_pairs --count 1500 --seed 0 --out pairs.jsonl.

A line of the file: query, query_time, domain, calls (the canonical lines, or ["None"]), groups (entities of the
question, for `training.folds`), source, facts (for the answering model), direct_answer (by rules from the values),
answer and alt_ans (gold, real questions only), values (executed).

`python -m training.api_pairs label` makes the labelled questions that --questions reads: see its --help.

pairs/run_card.json records how pairs.jsonl was made: data with sha256, settings, rows by domain and source, seconds.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from agents.common.console import end_with
from agents.kg.trainable import Domain
from training.api_pairs.execution import bench_of
from training.api_pairs.graph import QUESTIONS, graph_files, opened
from training.api_pairs.groups import company_names
from training.api_pairs.label import main as label
from training.api_pairs.labelled import bank_pairs, bank_version, real_pairs
from training.api_pairs.pairs import SOURCES, Pair, read_pairs
from training.api_pairs.sampling import Sampler
from training.api_pairs.templates import FOLDER as TEMPLATES
from training.command import CommandError, add_split_argument, check_data_file, count_table, exit_code, parser_of
from training.run_card import card_folder, file_hash, run_card, write_card


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file. Exit code: 0 complete, 1 an input is missing or wrong."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["label"]:
        return label(given[1:])
    parser = parser_of("training.api_pairs", __doc__)
    parser.add_argument(
        "--graph", type=Path, action="append", default=[], metavar="DIR",
        help="folder of graph tables to sample from; can be repeated; default: the packed graph of "
        "../shared/data/kg, if present, and the project's own",
    )  # fmt: skip
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="labelled real questions (%(default)s)")
    add_split_argument(parser)
    parser.add_argument("--limit", type=int, metavar="N", help="use at most N real questions")
    parser.add_argument("--count", type=int, default=1500, help="questions to sample (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--no-real", action="store_true", help="omit the real questions")
    parser.add_argument(
        "--house-style", action="store_true",
        help="rewrite the real questions' calls in the style of the examples if the values stay the same",
    )  # fmt: skip
    parser.add_argument("--resume", action="store_true", help="continue an unfinished file")
    options = parser.parse_args(given)
    if options.count < 0 or (options.limit or 0) < 0:
        parser.error("--count and --limit must not be negative")
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    folder = card_folder(options.out)
    if options.out.exists() and not options.resume:
        raise CommandError(f"{options.out} exists already: pass --resume to continue it, or remove it")
    data = graph_files(options.graph) | {f"templates {path.name}": path for path in sorted(TEMPLATES.glob("*.toml"))}
    if not options.no_real:
        check_data_file(options.questions, "--questions names the file, --no-real omits the real questions")
        data = {"questions": options.questions, **data}
    pairs = _made(options)
    kept = _kept(options.out, pairs) if options.resume else 0
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("a", encoding="utf-8") as lines:
        for pair in pairs[kept:]:
            lines.write(json.dumps(pair.to_row(), ensure_ascii=False) + "\n")
    counts = Counter((pair.domain.value, pair.source) for pair in pairs)
    domains = {domain.value: {source: counts[domain.value, source] for source in SOURCES} for domain in Domain}
    metrics = {"rows": len(pairs), "domains": domains, "sha256": file_hash(options.out), "kept_on_resume": kept}
    metrics |= options.split.to_card()
    chosen = {name: getattr(options, name) for name in ("count", "limit", "seed", "no_real", "house_style")}
    chosen["bank"] = bank_version()
    card = write_card(folder, run_card(data, chosen, time.monotonic() - started, metrics))
    print(count_table(_with_sums(domains)))
    options.split.report()
    print(f"wrote {options.out} and {card} in {time.monotonic() - started:.0f} s")
    return 0


def _made(options: argparse.Namespace) -> list[Pair]:
    """All pairs of the run without duplicates: real, then handwritten, then sampled."""
    with opened(options.graph) as graphs, bench_of(graphs) as bench:
        names = company_names(graphs)
        found = []
        if not options.no_real:
            found = real_pairs(
                options.questions, bench, names, rewritten=options.house_style, split=options.split, limit=options.limit
            )
        found += bank_pairs(bench, len(graphs), options.seed, names)
        found = list({pair.key: pair for pair in reversed(found)}.values())[::-1]
        sampler = Sampler(graphs, bench, options.seed, taken=(pair.key for pair in found))
        return found + sampler.sample(options.count)


def _kept(path: Path, pairs: Sequence[Pair]) -> int:
    """Number of rows that an unfinished run has written; removes a truncated last line from the file."""
    if not path.exists():
        return 0
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    path.write_bytes(whole)
    done = read_pairs(path) if whole else []
    expected = [(pair.key, pair.calls, pair.groups) for pair in pairs[: len(done)]]
    if [(pair.key, pair.calls, pair.groups) for pair in done] != expected:
        raise CommandError(
            f"{path} holds rows of another run (other seed, count, style or data?): pass another --out, or remove it"
        )
    return len(done)


def _with_sums(domains: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    totals = {source: sum(counts[source] for counts in domains.values()) for source in SOURCES}
    return {name: counts | {"all": sum(counts.values())} for name, counts in (domains | {"all": totals}).items()}


if __name__ == "__main__":
    end_with(main)
