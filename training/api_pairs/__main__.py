"""Make question/call pairs: python -m training.api_pairs --count 1500 --seed 0 --out pairs.jsonl.

A line of the file: query, query_time, domain, calls (the canonical lines, or ["None"]), groups (what the question is
about, for `training.folds`), source, facts (what the agent would show its answering model), direct_answer (what rules
make of the values), answer and alt_ans (gold, of real questions only), values (executed).
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tqdm import tqdm

from agents.datasets import DatasetError
from agents.kg.trainable import Domain
from agents.llm import EngineUnavailableError, load_language_model
from agents.settings import SettingsError, load_settings
from mock_api import GraphError
from models.manifest import UnknownModelError, WeightsMissingError
from training.api_pairs.execution import bench_of
from training.api_pairs.given import bank_pairs, real_pairs
from training.api_pairs.graph import SHARED, GraphFolderError, opened
from training.api_pairs.groups import company_names
from training.api_pairs.pairs import SOURCES, Pair, normalised, read_pairs
from training.api_pairs.rephrase import rephrased
from training.api_pairs.sampling import NothingSampledError, Sampler
from training.api_pairs.shape_files import ShapeError

QUESTIONS = SHARED / "kg_questions_split0.jsonl"
_FAULTS = (DatasetError, GraphError, GraphFolderError, NothingSampledError, ShapeError, SettingsError, OSError)
_MODEL_FAULTS = (EngineUnavailableError, UnknownModelError, WeightsMissingError)


class OtherRunError(RuntimeError):
    """The file to go on with holds rows of another run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; the exit code is 0 when it is whole, 1 when something it needs is missing or wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m training.api_pairs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--graph", type=Path, action="append", default=[], metavar="DIR",
        help="folder of graph tables to sample from, several times for several; default: the packed graph of "
        "../shared/data/kg, where it is, and the one that ships with the project",
    )  # fmt: skip
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="labelled real questions (%(default)s)")
    parser.add_argument("--count", type=int, default=1500, help="questions to sample (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--no-real", action="store_true", help="leave the real questions out")
    parser.add_argument(
        "--house-style", action="store_true",
        help="write the real questions' calls as the examples do, where that gives the same values",
    )  # fmt: skip
    parser.add_argument("--rephrase", metavar="PRESET", help="let this preset's model reword sampled questions")
    parser.add_argument("--resume", action="store_true", help="keep the rows of an unfinished file and add the others")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    options = parser.parse_args(arguments)
    if options.count < 0:
        parser.error("--count must not be negative")
    try:
        return _run(options)
    except (*_FAULTS, *_MODEL_FAULTS, OtherRunError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 1


def _run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    if options.out.exists() and not options.resume:
        raise OtherRunError(f"{options.out} is there already: give --resume to go on with it, or remove it")
    pairs = _made(options)
    done = _kept(options.out, pairs) if options.resume else []
    finished = {pair.key for pair in done}
    missing = [pair for pair in pairs if pair.key not in finished]
    _append(options.out, tqdm(_worded(missing, options), total=len(missing), disable=options.quiet, unit="pair"))
    print(_table(read_pairs(options.out) if pairs else []))
    print(f"wrote {options.out} in {time.monotonic() - started:.0f} s")
    return 0


def _made(options: argparse.Namespace) -> list[Pair]:
    """All pairs of the run in the first wording, no question twice: real before handwritten before sampled ones."""
    with opened(options.graph) as graphs, bench_of(graphs) as bench:
        names = company_names(graphs)
        given = [] if options.no_real else real_pairs(options.questions, bench, names, rewritten=options.house_style)
        given += bank_pairs(bench, len(graphs), options.seed, names)
        given = list({pair.key: pair for pair in reversed(given)}.values())[::-1]
        sampler = Sampler(graphs, bench, options.seed, taken=(pair.key for pair in given))
        return given + sampler.sample(options.count)


def _kept(path: Path, pairs: Sequence[Pair]) -> list[Pair]:
    """The rows that an unfinished run has written; a last line that was cut off is dropped from the file."""
    if not path.exists():
        return []
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        path.write_bytes(whole)
    done = read_pairs(path) if whole else []
    expected = {pair.key: (pair.calls, pair.groups) for pair in pairs}
    strange = [pair for pair in done if expected.get(pair.key) != (pair.calls, pair.groups)]
    if strange:
        raise OtherRunError(
            f"{path} holds {len(strange)} rows that this run does not make (other seed, count, style or data?): "
            "give another --out, or remove it"
        )
    return done


def _worded(pairs: Sequence[Pair], options: argparse.Namespace) -> Iterator[Pair]:
    """The pairs, sampled ones in the language model's words where that is wanted and comes out well."""
    if not options.rephrase:
        yield from pairs
        return
    yield from (pair for pair in pairs if pair.source in {"real", "bank"})
    sampled = [pair for pair in pairs if pair.source not in {"real", "bank"}]
    model = load_language_model(load_settings(options.rephrase).language_model)
    try:
        model.warm_up()
        taken = {pair.key for pair in pairs}
        for first, pair in zip(sampled, rephrased(sampled, model), strict=True):
            new = normalised(pair.query)
            yield first if pair is not first and new in taken else pair
            taken.add(new)
    finally:
        model.close()


def _append(path: Path, pairs: Iterable[Pair]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as lines:
        for pair in pairs:
            lines.write(json.dumps(pair.to_row(), ensure_ascii=False) + "\n")
            lines.flush()


def _table(pairs: Sequence[Pair]) -> str:
    counts = Counter((pair.domain, pair.source) for pair in pairs)
    lines = [f"{'domain':10}" + "".join(f"{source:>11}" for source in SOURCES) + f"{'all':>11}"]
    for domain in Domain:
        row = [counts[domain, source] for source in SOURCES]
        lines.append(f"{domain:10}" + "".join(f"{number:>11,}" for number in (*row, sum(row))))
    totals = [sum(counts[domain, source] for domain in Domain) for source in SOURCES]
    lines.append(f"{'all':10}" + "".join(f"{number:>11,}" for number in (*totals, len(pairs))))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
