"""Label questions with calls: python -m training.api_pairs label --questions FILE --out calls.jsonl.

FILE is a question file of CRAG (JSON lines, bz2, archives, split or whole): `query`, `query_time`, `domain`, `answer`.
A model proposes calls with the preset's prompt. They are executed against a graph, and kept if the judge accepts the
answer of their values. training.api_pairs and training.adapters read the output as --questions. calls/attempts.jsonl
has the result of every question, calls/run_card.json the counts.

    python -m training.api_pairs label --questions FILE --graph DIR --preset cpu --out calls.jsonl
    python -m training.api_pairs label ... --url http://gpu:8000/v1 --model MODEL --attempts 4
    python -m training.api_pairs label ... --preset db3_task23 --set tuned=false

db3 (section 3.2, "Fine-tuning for API Generation") had GPT-4 write a first version and corrected it by hand; here the
right answer replaces the correction. One attempt, as in the paper, is the default; --attempts repeats questions without
kept calls at --temperature.
"""

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agents.common.files import append_rows, lock_folder, read_growing, write_rows
from agents.encoders import load_dense_encoder
from agents.kg.trainable import CallWriter
from agents.llm import LanguageModelDiedError, load_language_model
from agents.settings import (
    KgWriterSettings,
    LanguageModelSettings,
    OpenAIEngine,
    Settings,
    SettingsError,
    load_settings,
)
from evaluation.datasets import DatasetError, Split, read_rows
from evaluation.judge import Judge, add_judge_arguments, judge_from
from evaluation.signature import settings_hash
from training.api_pairs.execution import bench_at, bench_of
from training.api_pairs.graph import check_whole, graph_files, opened
from training.api_pairs.proposals import GraphDownError, LabelledQuestion, Labeller, can_be_labelled
from training.command import (
    CommandError,
    add_split_argument,
    check_data_file,
    count_table,
    exit_code,
    parser_of,
    positive,
)
from training.run_card import card_folder, file_hash, run_card, write_card

JOURNAL = "attempts.jsonl"
OUTCOMES = ("kept", "other answer", "not found", "no reply", "none", "unreadable", "failed")
_EXECUTED = ("kept", "other answer")
_PARSED = (*_EXECUTED, "not found", "no reply", "none")


def main(arguments: Sequence[str] | None = None) -> int:
    """Label. Exit code: 0 all questions were asked, 1 some were not, or an input is missing or wrong."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.attempts > 1 and options.temperature <= 0:
        parser.error("--attempts above 1 needs a --temperature above 0: a greedy model repeats itself")
    if bool(options.url) != bool(options.model):
        parser.error("--url and --model go together: an endpoint and its model's name")
    if options.graph and options.kg_url:
        parser.error("pass either --graph or --kg-url")
    return exit_code(lambda: _label(options))


def _label(options: argparse.Namespace) -> int:
    started = time.monotonic()
    folder = card_folder(options.out)
    journal = folder / JOURNAL
    there = next((path for path in (options.out, journal) if path.exists()), None)
    if there and not options.resume:
        raise CommandError(f"{there} exists already: pass --resume to continue it, or remove it")
    check_data_file(options.questions, "--questions names the file")
    for graph in options.graph:
        check_whole(graph)  # before the long work
    settings, writer, engine = _settings(options)
    judge = judge_from(options)
    rows, left_out = _questions(options)
    identity = _identity(options, settings, engine, judge)
    with lock_folder(folder), ExitStack() as stack:
        done = _done(journal, identity)
        missing = [row for row in rows if _key(row) not in done]
        labeller = _labeller(options, settings, writer, engine, judge, stack)
        if missing:
            labeller.writer.warm_up()
        with tqdm(total=len(rows), initial=len(done), unit="question", disable=options.quiet or None) as bar:
            for question in _labelled(labeller, missing, settings.batch_size):
                entry = {"key": _key(question.row), **question.to_entry()}
                done[entry["key"]] = entry
                if not entry["failed"]:
                    append_rows(journal, [entry])
                bar.update()
        entries = [done[_key(row)] for row in rows]
        write_rows(options.out, (entry["kept"] for entry in entries if entry["kept"]))
    figures = _figures(entries, left_out) | {"sha256": file_hash(options.out)}
    data = {"questions": options.questions} | ({} if options.kg_url else graph_files(options.graph))
    card = write_card(folder, run_card(data, identity, time.monotonic() - started, figures))
    shown = {
        name: {key: n for key, n in counts.items() if key != "kept"} for name, counts in figures["domains"].items()
    }
    sys.stdout.write(f"{count_table(shown)}\n")
    sys.stdout.writelines(f"left out: {count:,} {reason}\n" for reason, count in left_out.items())
    sys.stdout.write(f"wrote {options.out} ({figures['domains']['all']['questions kept']} questions) and {card}\n")
    if failed := sum(entry["failed"] for entry in entries):
        sys.stderr.write(f"error: the engine failed on {failed} questions: --resume asks them again\n")
    return int(failed > 0)


def _labeller(
    options: argparse.Namespace,
    settings: Settings,
    writer: KgWriterSettings,
    engine: LanguageModelSettings,
    judge: Judge,
    stack: ExitStack,
) -> Labeller:
    model = load_language_model(engine)
    stack.callback(model.close)
    model.check_weights()
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    if dense is not None:
        dense.check_weights()
    if options.kg_url:
        bench = stack.enter_context(bench_at(options.kg_url))
    else:
        bench = stack.enter_context(bench_of(stack.enter_context(opened(options.graph))[:1]))
    return Labeller(CallWriter(writer, model, dense), bench, judge, options.attempts, options.temperature)


def _labelled(labeller: Labeller, rows: Sequence[dict[str, Any]], size: int) -> Iterator[LabelledQuestion]:
    for start in range(0, len(rows), size):
        try:
            yield from labeller.label(rows[start : start + size])
        except (LanguageModelDiedError, GraphDownError) as error:
            raise CommandError(f"{error}; finished questions are kept: --resume continues") from error


def _settings(options: argparse.Namespace) -> tuple[Settings, KgWriterSettings, LanguageModelSettings]:
    """The preset, its writer, and the engine with only the writer's adapter."""
    settings = load_settings(options.preset, options.set)
    graph = settings.knowledge_graph
    if graph is None:
        raise SettingsError(f"the preset {settings.name} uses no graph: pass --preset cpu, or another with a graph")
    if options.url:
        engine: LanguageModelSettings = OpenAIEngine(
            engine="openai", model=options.model, base_url=options.url, base_url_variable=""
        )
        return settings, graph.writer.model_copy(update={"adapter": None}), engine
    used = {name: path for name, path in settings.language_model.adapters.items() if name == graph.writer.adapter}
    return settings, graph.writer, settings.language_model.model_copy(update={"adapters": used})


def _questions(options: argparse.Namespace) -> tuple[list[dict[str, Any]], Counter[str]]:
    """The questions that graph values can answer, without duplicates, and counts of the others by reason."""
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
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "it is empty"
        raise DatasetError(f"{options.questions}: no question to label ({reasons})")
    return list(rows.values()), left_out


def _key(row: Mapping[str, Any]) -> str:
    asked = [row.get(name, "") for name in ("interaction_id", "query", "query_time")]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:24]


def _identity(
    options: argparse.Namespace, settings: Settings, engine: LanguageModelSettings, judge: Judge
) -> dict[str, Any]:
    """Everything that can change a label; a resumed run must have the same."""
    return {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        "engine": engine.model_dump(mode="json"),
        "attempts": options.attempts,
        "temperature": options.temperature if options.attempts > 1 else 0.0,
        "judge": f"{judge.name}@{judge.version}",
        "graph": options.kg_url or [str(folder) for folder in options.graph],
        Split.FIELD: str(options.split),
    }


def _done(journal: Path, identity: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The entries of earlier runs; the first line identifies the run."""
    rows = [row.data for row in read_growing(journal)]
    if not rows:
        append_rows(journal, [{"run": identity}])
        return {}
    before = rows[0].get("run", {})
    other = [name for name in identity if before.get(name) != json.loads(json.dumps(identity[name]))]
    if other:
        raise CommandError(
            f"{journal} is from a run with another {', '.join(other)}: pass the same options, or another --out"
        )
    return {entry["key"]: entry for entry in rows[1:]}


def _figures(entries: Sequence[Mapping[str, Any]], left_out: Mapping[str, int]) -> dict[str, Any]:
    """Counts over all and per domain: questions asked and kept, attempts and their outcomes."""
    domains: dict[str, list[Mapping[str, Any]]] = {"all": list(entries)}
    for entry in entries:
        domains.setdefault(entry["domain"], []).append(entry)
    attempts = Counter(str(entry["kept"]["label"]["attempt"]) for entry in entries if entry["kept"])
    return {
        "domains": {name: _counts(found) for name, found in domains.items()},
        "kept_in_attempt": dict(sorted(attempts.items())),
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


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("training.api_pairs label", __doc__)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="questions with right answers")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write")
    add_split_argument(parser)
    parser.add_argument("--limit", type=positive, metavar="N", help="label at most N questions")
    parser.add_argument(
        "--preset", default="cpu", help="preset whose prompt and engine write the calls (default: %(default)s)"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change to the preset")
    parser.add_argument("--url", metavar="URL", help="an OpenAI-compatible endpoint instead of the preset's engine")
    parser.add_argument("--model", metavar="NAME", help="its model; the key is in OPENAI_API_KEY")
    parser.add_argument(
        "--attempts", type=positive, default=1, metavar="N", help="per question (default: %(default)s, greedy)"
    )
    parser.add_argument(
        "--temperature", type=float, default=0.7, help="for the attempts after the first (default: %(default)s)"
    )
    parser.add_argument(
        "--graph", type=Path, action="append", default=[], metavar="DIR",
        help="folder of graph tables to execute the calls on (see `python -m mock_api.tables import`); default: the "
        "packed graph of ../shared/data/kg, if present, else the project's own",
    )  # fmt: skip
    parser.add_argument("--kg-url", metavar="URL", help="a running server instead of a folder")
    add_judge_arguments(parser.add_argument_group("the judge of the values"))
    parser.add_argument("--resume", action="store_true", help="continue an unfinished run")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser
