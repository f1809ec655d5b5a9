"""Make question/call pairs: python -m training.api_pairs --count 1500 --seed 0 --out pairs.jsonl.

A line of the file: query, query_time, domain, calls (the canonical lines, or ["None"]), groups (what the question is
about, for `training.folds`), source, facts (what the agent would show its answering model), direct_answer (what rules
make of the values), answer and alt_ans (gold, of real questions only), values (executed).

`python -m training.api_pairs label` makes the labelled questions that --questions reads: see its --help.

pairs/run_card.json says what pairs.jsonl was made from: data with sha256, settings, rows by domain and source, seconds.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agents.kg.trainable import Domain
from agents.llm import EngineUnavailableError, load_language_model
from agents.settings import Settings, SettingsError, load_settings
from evaluation.datasets import DatasetError
from evaluation.signature import settings_hash
from mock_api import GraphError
from models.manifest import UnknownModelError, WeightsMissingError
from training.api_pairs.execution import bench_of
from training.api_pairs.given import bank_pairs, bank_version, real_pairs
from training.api_pairs.graph import SHARED, GraphFolderError, graph_files, opened
from training.api_pairs.groups import company_names
from training.api_pairs.label.__main__ import main as label
from training.api_pairs.pairs import SOURCES, Pair, normalised, read_pairs
from training.api_pairs.rephrase import rephrased
from training.api_pairs.sampling import NothingSampledError, Sampler
from training.api_pairs.shape_files import ShapeError
from training.api_pairs.wording import FOLDER as SHAPES
from training.data_files import check_data_file
from training.run_card import card_folder, file_hash, run_card, write_card
from training.splits import add_split_argument

QUESTIONS = SHARED / "kg_questions_split0.jsonl"
_FAULTS = (DatasetError, GraphError, GraphFolderError, NothingSampledError, ShapeError, SettingsError, OSError)
_MODEL_FAULTS = (EngineUnavailableError, UnknownModelError, WeightsMissingError)


class OtherRunError(RuntimeError):
    """The file to go on with holds rows of another run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file; the exit code is 0 when it is whole, 1 when something it needs is missing or wrong."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["label"]:
        return label(given[1:])
    parser = argparse.ArgumentParser(
        prog="python -m training.api_pairs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--graph", type=Path, action="append", default=[], metavar="DIR",
        help="folder of graph tables to sample from, several times for several; default: the packed graph of "
        "../shared/data/kg, where it is, and the one that ships with the project",
    )  # fmt: skip
    parser.add_argument("--questions", type=Path, default=QUESTIONS, help="labelled real questions (%(default)s)")
    add_split_argument(parser)
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many real questions")
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
    options = parser.parse_args(given)
    if options.count < 0 or (options.limit or 0) < 0:
        parser.error("--count and --limit must not be negative")
    try:
        return _run(options)
    except (*_FAULTS, *_MODEL_FAULTS, OtherRunError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 1


def _run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    folder = card_folder(options.out)
    if options.out.exists() and not options.resume:
        raise OtherRunError(f"{options.out} is there already: give --resume to go on with it, or remove it")
    if not options.no_real:
        check_data_file(options.questions, "--questions names the file, --no-real leaves the real questions out")
    preset = _rewording_preset(options.rephrase)
    pairs = _made(options)
    done = _kept(options.out, pairs) if options.resume else []
    finished = {pair.key for pair in done}
    missing = [pair for pair in pairs if pair.key not in finished]
    _append(options.out, tqdm(_worded(missing, preset), total=len(missing), disable=options.quiet, unit="pair"))
    written = read_pairs(options.out) if pairs else []
    metrics = _metrics(options.out, written) | {"kept_on_resume": len(done)} | options.split.to_card()
    card = write_card(folder, run_card(_data(options), _chosen(options, preset), time.monotonic() - started, metrics))
    print(_table(written))
    options.split.report()
    print(f"wrote {options.out} and {card} in {time.monotonic() - started:.0f} s")
    return 0


def _data(options: argparse.Namespace) -> dict[str, Path]:
    """All files that the rows depend on, besides the bank."""
    files = graph_files(options.graph)
    files |= {f"shapes {path.name}": path for path in sorted(SHAPES.glob("*.toml"))}
    return files if options.no_real else {"questions": options.questions, **files}


def _rewording_preset(name: str | None) -> Settings | None:
    """The preset whose model rewords, the model's weights being there; None: nothing is reworded."""
    if name is None:
        return None
    preset = load_settings(name)
    load_language_model(preset.language_model).check_weights()
    return preset


def _chosen(options: argparse.Namespace, preset: Settings | None) -> dict[str, Any]:
    """The settings of the run card."""
    return {
        **{name: getattr(options, name) for name in ("count", "limit", "seed", "no_real", "house_style")},
        "rephrase": f"{preset.name}@{settings_hash(preset)}" if preset else None,
        "bank": bank_version(),
    }


def _metrics(path: Path, pairs: Sequence[Pair]) -> dict[str, Any]:
    """How many rows of each domain and source the file holds, and its hash."""
    counts = Counter((pair.domain, pair.source) for pair in pairs)
    domains = {domain.value: {source: counts[domain, source] for source in SOURCES} for domain in Domain}
    return {"rows": len(pairs), "domains": domains, "sha256": file_hash(path)}


def _made(options: argparse.Namespace) -> list[Pair]:
    """All pairs of the run in the first wording, no question twice: real before handwritten before sampled ones."""
    with opened(options.graph) as graphs, bench_of(graphs) as bench:
        names = company_names(graphs)
        given = (
            []
            if options.no_real
            else real_pairs(
                options.questions, bench, names, rewritten=options.house_style, split=options.split, limit=options.limit
            )
        )
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


def _worded(pairs: Sequence[Pair], preset: Settings | None) -> Iterator[Pair]:
    """The pairs, sampled ones in the language model's words where that is wanted and comes out well."""
    if preset is None:
        yield from pairs
        return
    yield from (pair for pair in pairs if pair.source in {"real", "bank"})
    sampled = [pair for pair in pairs if pair.source not in {"real", "bank"}]
    model = load_language_model(preset.language_model)
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
