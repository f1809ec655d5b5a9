"""Make the verifier's claims: python -m training.verifier --out claims.jsonl.

A line of the file: query (the claim: question, answer and evidence), supported (yes or no), kind, group. Then:
python -m training.router --config verifier --data claims.jsonl
"""

import argparse
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from agents.console import end_with
from agents.files import write_rows
from evaluation.datasets import read_records
from training.api_pairs import Sampler, bank_pairs, bench_of, company_names, graph_files, opened
from training.command import exit_code, parser_of
from training.examples import row_of
from training.run_card import card_folder, file_hash, run_card, write_card
from training.verifier.claims import Claim
from training.verifier.graph_claims import graph_claims
from training.verifier.reading_claims import READING, ReadingRow, is_held_out, reading_claims


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file. Exit code: 0 complete, 1 an input is missing or wrong."""
    parser = parser_of("training.verifier", __doc__)
    parser.add_argument("--count", type=int, default=2000, help="graph questions to sample (%(default)s)")
    parser.add_argument("--reading", type=Path, default=READING, help="folder of reading sets (%(default)s)")
    parser.add_argument("--per-set", type=int, default=1000, help="rows of each reading set (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    files = sorted(options.reading.glob("*.jsonl*"))
    claims = list(_graph_claims(options.count, options.seed))
    for path in files:
        rows = [row for record in read_records(path) if not is_held_out((row := row_of(record, ReadingRow)).title)]
        claims += reading_claims(_drawn(rows, options.per_set, options.seed), options.seed)
    write_rows(options.out, (claim.to_row() for claim in claims))
    counts = Counter(claim.kind for claim in claims)
    data = graph_files([]) | {path.name: path for path in files}
    settings = {"count": options.count, "per_set": options.per_set, "seed": options.seed}
    metrics = {"rows": len(claims), "kinds": dict(counts), "sha256": file_hash(options.out)}
    write_card(card_folder(options.out), run_card(data, settings, time.monotonic() - started, metrics))
    for kind, count in sorted(counts.items()):
        print(f"{kind:24}{count:>8}")
    print(f"wrote {len(claims)} claims to {options.out} in {time.monotonic() - started:.0f} s")
    return 0


def _graph_claims(count: int, seed: int) -> Iterator[Claim]:
    """Of the handwritten examples and sampled questions; no real question, so real ones can measure."""
    with opened([]) as graphs, bench_of(graphs) as bench:
        bank = bank_pairs(bench, len(graphs), seed, company_names(graphs))
        sampled = Sampler(graphs, bench, seed, taken=[pair.key for pair in bank]).sample(count)
        yield from graph_claims([*bank, *sampled], bench, len(graphs), seed)


def _drawn(rows: list[ReadingRow], count: int, seed: int) -> list[ReadingRow]:
    """At most so many rows, so that no set dominates."""
    return random.Random(seed).sample(rows, min(count, len(rows)))  # noqa: S311 - reproducible chance


if __name__ == "__main__":
    end_with(main)
