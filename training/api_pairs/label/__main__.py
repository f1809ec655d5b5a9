"""Calls for questions with right answers: python -m training.api_pairs label --questions FILE --out calls.jsonl.

FILE is a question file of CRAG (JSON lines, bz2, archives, cut or whole): `query`, `query_time`, `domain`, `answer`.
A model proposes calls with the preset's prompt, they are executed against a graph, and kept where the values give the
right answer under the judge. The file that is written is what --questions of training.api_pairs and training.adapters
reads. calls/attempts.jsonl has what became of every question, calls/run_card.json the counts.

    python -m training.api_pairs label --questions FILE --graph DIR --preset cpu --out calls.jsonl
    python -m training.api_pairs label ... --url http://gpu:8000/v1 --model MODEL --attempts 4
    python -m training.api_pairs label ... --preset db3_task23 --set tuned=false

One attempt is what db3 describes (section 3.2), and the default; --attempts asks again at --temperature for what was
not kept.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agents.encoders import load_dense_encoder
from agents.files import FolderInUseError, json_line, lock_folder, write_rows
from agents.kg.trainable import CallWriter
from agents.llm import EngineUnavailableError, LanguageModelDiedError, load_language_model
from agents.settings import (
    KgWriterSettings,
    LanguageModelSettings,
    OpenAIEngine,
    Settings,
    SettingsError,
    load_settings,
)
from evaluation.datasets import DatasetError, Split, read_rows
from evaluation.judge import Judge, JudgeUnavailableError, add_judge_arguments, judge_from
from evaluation.signature import settings_hash
from mock_api import GraphError
from models.manifest import UnknownModelError, WeightsMissingError
from training.api_pairs.execution import Bench, bench_at, bench_of
from training.api_pairs.graph import GraphFolderError, check_whole, graph_files, opened
from training.api_pairs.label.attempts import (
    GraphDownError,
    Labeller,
    Labelling,
    SampledModel,
    can_be_labelled,
    kept_row,
)
from training.data_files import check_data_file
from training.run_card import card_folder, file_hash, run_card, write_card
from training.splits import add_split_argument

JOURNAL = "attempts.jsonl"
OUTCOMES = ("kept", "other answer", "not found", "no reply", "none", "unreadable", "failed")
_EXECUTED = ("kept", "other answer")
_PARSED = (*_EXECUTED, "not found", "no reply", "none")
_FAULTS = (
    DatasetError, EngineUnavailableError, FolderInUseError, GraphError, GraphFolderError, JudgeUnavailableError,
    SettingsError, UnknownModelError, WeightsMissingError,
)  # fmt: skip


class LabelRunError(RuntimeError):
    """The run cannot go on as it was asked for; the message says what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Label. Exit code: 0 all questions were worked on, 1 some could not be, or something is missing or wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.attempts > 1 and options.temperature <= 0:
        parser.error("--attempts above 1 needs a --temperature above 0: a greedy model says the same again")
    if bool(options.url) != bool(options.model):
        parser.error("--url and --model go together: an endpoint and its model's name")
    if options.graph and options.kg_url:
        parser.error("give either --graph or --kg-url")
    try:
        return _label(options)
    except (LanguageModelDiedError, GraphDownError) as error:
        print(f"error: {error}; what was done is kept: --resume goes on", file=sys.stderr)
    except (*_FAULTS, LabelRunError) as error:
        print(f"error: {error}", file=sys.stderr)
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
    except KeyboardInterrupt:
        print("stopped; --resume goes on", file=sys.stderr)
        return 130
    return 1


def _label(options: argparse.Namespace) -> int:
    started = time.monotonic()
    folder = card_folder(options.out)
    journal = folder / JOURNAL
    if not options.resume and (options.out.exists() or journal.exists()):
        there = options.out if options.out.exists() else journal
        raise LabelRunError(f"{there} is there already: give --resume to go on with it, or remove it")
    check_data_file(options.questions, "--questions names the file")
    for graph in options.graph:
        check_whole(graph)  # told before anything long
    settings, writer_settings, engine = _settings(options)
    judge = judge_from(options)
    rows, left_out = _questions(options)
    identity = _identity(options, settings, engine, judge)
    with lock_folder(folder), ExitStack() as stack:
        done = _done(journal, identity)
        model = load_language_model(engine)
        stack.callback(model.close)
        sampled = SampledModel(model, 0.0)
        sampled.check_weights()
        dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
        if dense is not None:
            dense.check_weights()
        writer = CallWriter(writer_settings, sampled, dense)
        bench = stack.enter_context(_bench(options))
        labeller = Labeller(writer, sampled, bench, judge, options.attempts, options.temperature)
        missing = [row for row in rows if _key(row) not in done]
        if missing:
            writer.warm_up()
        for labelling in _labelled(labeller, missing, len(rows), settings.batch_size, quiet=options.quiet):
            entry = _entry(labelling)
            done[entry["key"]] = entry
            if not labelling.is_failed:
                _append(journal, entry)
        entries = [done[_key(row)] for row in rows]
        write_rows(options.out, (entry["kept"] for entry in entries if entry["kept"]))
    figures = _figures(entries, left_out) | {"sha256": file_hash(options.out)}
    data = {"questions": options.questions} | ({} if options.kg_url else graph_files(options.graph))
    card = write_card(folder, run_card(data, identity, time.monotonic() - started, figures))
    print(_table(figures))
    print(f"wrote {options.out} ({figures['domains']['all']['questions kept']} questions) and {card}")
    failed = sum(1 for entry in entries if entry["failed"])
    if failed:
        print(f"error: the engine gave nothing for {failed} questions: --resume asks again", file=sys.stderr)
    return 1 if failed else 0


def _labelled(
    labeller: Labeller, rows: Sequence[dict[str, Any]], total: int, size: int, *, quiet: bool
) -> Iterator[Labelling]:
    with tqdm(total=total, initial=total - len(rows), unit="question", disable=quiet or None) as bar:
        kept = 0
        for start in range(0, len(rows), size):
            for labelling in labeller.label(rows[start : start + size]):
                kept += labelling.kept is not None
                yield labelling
                bar.update()
            bar.set_postfix(kept=kept)


def _settings(options: argparse.Namespace) -> tuple[Settings, KgWriterSettings, LanguageModelSettings]:
    """The preset, its writer, and the engine with the writer's adapter alone."""
    settings = load_settings(options.preset, options.set)
    graph = settings.knowledge_graph
    if graph is None:
        raise SettingsError(f"the preset {settings.name} asks no graph: give --preset cpu, or another with calls")
    if options.url:
        engine: LanguageModelSettings = OpenAIEngine(
            engine="openai", model=options.model, base_url=options.url, base_url_variable=""
        )
        return settings, graph.writer.model_copy(update={"adapter": None}), engine
    used = {name: path for name, path in settings.language_model.adapters.items() if name == graph.writer.adapter}
    return settings, graph.writer, settings.language_model.model_copy(update={"adapters": used})


def _questions(options: argparse.Namespace) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The questions that values of a graph can answer, each once, and why others are left out."""
    left_out: Counter[str] = Counter()
    rows: dict[str, dict[str, Any]] = {}
    for row in read_rows(options.questions, split=options.split):
        if not can_be_labelled(row):
            left_out["without an answer that values could give"] += 1
        elif _key(row) in rows:
            left_out["asked twice"] += 1
        elif options.limit is None or len(rows) < options.limit:
            rows[_key(row)] = row
    left_out.update({f"of split {split}": count for split, count in options.split.left_out.items()})
    if not rows:
        told = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "it is empty"
        raise DatasetError(f"{options.questions}: no question to label in it ({told})")
    return list(rows.values()), left_out


def _key(row: Mapping[str, Any]) -> str:
    asked = [row.get(name, "") for name in ("interaction_id", "query", "query_time")]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]


def _identity(
    options: argparse.Namespace, settings: Settings, engine: LanguageModelSettings, judge: Judge
) -> dict[str, Any]:
    """All that could make another label of a question; the same on every resumption."""
    return {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        "engine": engine.model_dump(mode="json"),
        "attempts": options.attempts,
        "temperature": options.temperature if options.attempts > 1 else 0.0,
        "judge": f"{judge.name}@{judge.version}",
        "graph": options.kg_url or [str(folder) for folder in options.graph],
        Split.FIELD: str(options.split),
    }


def _bench(options: argparse.Namespace) -> Any:  # noqa: ANN401 - a context manager of a Bench
    return bench_at(options.kg_url) if options.kg_url else _bench_of_first(options.graph)


@contextmanager
def _bench_of_first(folders: Sequence[Path]) -> Iterator[Bench]:
    with opened(folders) as graphs, bench_of(graphs[:1]) as bench:
        yield bench


# --- what is kept on the way ------------------------------------------------------------------------------------------


def _entry(labelling: Labelling) -> dict[str, Any]:
    row = labelling.row
    return {
        "key": _key(row),
        "interaction_id": row.get("interaction_id"),
        "domain": row.get("domain", "unknown"),
        "outcomes": dict(labelling.outcomes),
        "failed": labelling.is_failed,
        "kept": kept_row(labelling),
    }


def _done(journal: Path, identity: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The entries of earlier sittings; a torn last line is cut off. The first line says what run they are of."""
    if not journal.is_file():
        _append(journal, {"run": identity})
        return {}
    content = journal.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if whole != content:
        os.truncate(journal, len(whole))
    try:
        first, *entries = [json.loads(line) for line in whole.splitlines()]
        before = first["run"]
        done = {entry["key"]: entry for entry in entries}
    except (ValueError, KeyError, TypeError):
        raise LabelRunError(f"{journal}: no journal of labels: remove it, or give another --out") from None
    other = [name for name in identity if before.get(name) != json.loads(json.dumps(identity[name]))]
    if other:
        raise LabelRunError(
            f"{journal} is of a run with another {', '.join(other)}: give the same options, or another --out"
        )
    return done


def _append(journal: Path, entry: Mapping[str, Any]) -> None:
    with journal.open("ab") as stream:
        stream.write(json_line(dict(entry)))
        stream.flush()
        os.fsync(stream.fileno())


# --- counts -----------------------------------------------------------------------------------------------------------


def _figures(entries: Sequence[Mapping[str, Any]], left_out: Mapping[str, int]) -> dict[str, Any]:
    """Counts of all and of each domain: questions asked and kept, attempts, and what became of them."""
    domains: dict[str, list[Mapping[str, Any]]] = {"all": list(entries)}
    for entry in entries:
        domains.setdefault(entry["domain"], []).append(entry)
    return {
        "domains": {name: _counts(found) for name, found in domains.items()},
        "kept_in_attempt": dict(
            sorted(Counter(str(entry["kept"]["label"]["attempt"]) for entry in entries if entry["kept"]).items())
        ),
        "left_out": dict(left_out),
    }


def _counts(entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    outcomes: Counter[str] = Counter()
    for entry in entries:
        outcomes.update(entry["outcomes"])
    return {
        "questions": len(entries),
        "questions kept": sum(1 for entry in entries if entry["kept"]),
        "attempts": outcomes.total(),
        "parsed": sum(outcomes[name] for name in _PARSED),
        "executed": sum(outcomes[name] for name in _EXECUTED),
        **{name: outcomes[name] for name in OUTCOMES},
    }


def _table(figures: Mapping[str, Any]) -> str:
    columns = ("questions", "questions kept", "attempts", "parsed", "executed", *OUTCOMES[1:])
    lines = [f"{'':9}" + "".join(f"{name:>15}" for name in columns)]
    for domain, counts in figures["domains"].items():
        lines.append(f"{domain:9}" + "".join(f"{counts[name]:>15,}" for name in columns))
    lines += [f"left out: {count:,} {reason}" for reason, count in figures["left_out"].items()]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m training.api_pairs label",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="questions with right answers")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write")
    add_split_argument(parser)
    parser.add_argument("--limit", type=_at_least_one, metavar="N", help="at most so many questions")
    engine = parser.add_argument_group("who proposes")
    engine.add_argument(
        "--preset", default="cpu", help="whose prompt and engine write the calls (default: %(default)s)"
    )
    engine.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change to the preset; can be repeated"
    )
    engine.add_argument("--url", metavar="URL", help="an OpenAI-compatible endpoint in place of the preset's engine")
    engine.add_argument("--model", metavar="NAME", help="its model; the key is in OPENAI_API_KEY")
    engine.add_argument(
        "--attempts",
        type=_at_least_one,
        default=1,
        metavar="N",
        help="for each question (default: %(default)s, greedy)",
    )
    engine.add_argument(
        "--temperature", type=float, default=0.7, help="of the attempts after the first (default: %(default)s)"
    )
    graph = parser.add_argument_group("what they are executed on")
    graph.add_argument(
        "--graph", type=Path, action="append", default=[], metavar="DIR",
        help="folder of graph tables (see `python -m mock_api.tables import`); default: the packed graph of "
        "../shared/data/kg, where it is, else the one that ships with the project",
    )  # fmt: skip
    graph.add_argument("--kg-url", metavar="URL", help="a running server in place of a folder")
    add_judge_arguments(parser.add_argument_group("who says what is right"))
    parser.add_argument("--resume", action="store_true", help="go on with an unfinished run")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, found {text}")
    return number


_at_least_one.__name__ = "number"  # argparse shows it in "invalid number value"


if __name__ == "__main__":
    sys.exit(main())
