"""Label questions with calls: crag train label-calls --questions FILE --out calls.jsonl.

FILE is a question file of CRAG (JSON lines, bz2, archives, split or whole): `query`, `query_time`, `domain`, `answer`.
A model proposes calls with the preset's prompt. They are executed against a graph, and kept if the judge accepts the
answer of their values. crag.training.api_pairs and crag.training.adapters read the output as --questions.
calls/attempts.jsonl has the result of every question, calls/run_card.json the counts.

    crag train label-calls --questions FILE --graph DIR --preset cpu --out calls.jsonl
    crag train label-calls ... --url http://HOST:8000/v1 --model NAME     # a stronger model is asked first

db3 (section 3.2, "Fine-tuning for API Generation") had GPT-4 write a first version and corrected it by hand. The model
at --url is asked once; questions without kept calls go to the preset's own model, --attempts times: greedily, then at
--temperature. calls/rejected.jsonl has what is left, with all that was tried: write right calls, or ["None"], into the
field `calls` of a row, and run the same command with --resume. They are kept if the graph has values for them.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from tqdm import tqdm

from crag.commands.command_line import (
    add_preset_arguments,
    add_split_argument,
    command,
    number,
    parser_of,
    server,
    whole,
)
from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION
from crag.core.files import UserError, append_rows, lock_folder, read_growing, read_jsonl, write_rows
from crag.engines.encoders import load_dense_encoder
from crag.engines.llm import LanguageModelDiedError, load_language_model
from crag.evaluation.datasets import DatasetError, Split, read_rows
from crag.evaluation.judge import add_judge_arguments, judge_from
from crag.evaluation.signature import settings_hash
from crag.graph.writing import CallWriter
from crag.mock_api import GraphError
from crag.settings import KgWriterSettings, OpenAIEngine, Settings, load_settings
from crag.training.api_pairs import (
    add_graph_argument,
    executor_of,
    graph_files,
    open_graph,
    pair_of,
)
from crag.training.api_pairs.label import JOURNAL, OUTCOMES, REJECTED, Labeller
from crag.training.files import RunCard, count_table, file_hash


@command(GraphError, LanguageModelDiedError)
def main(arguments: Sequence[str] | None = None) -> int:
    """Label. Exit code: 0 all questions were asked, 1 the engine failed on some, 2 an input is missing or wrong."""
    parser = parser_of("crag train label-calls", __doc__)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="questions with right answers")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the file to write")
    add_split_argument(parser)
    parser.add_argument("--limit", type=whole(1), metavar="N", help="label at most N questions")
    add_preset_arguments(parser, "cpu")
    address = "a server that speaks OpenAI's protocol, with a stronger model (key: $OPENAI_API_KEY)"
    parser.add_argument("--url", type=server, metavar="URL", help=address)
    parser.add_argument("--model", default="", metavar="NAME", help="its name there (default: the server's only one)")
    several = "of the preset's own model per question; 0 with --url: none (default: %(default)s)"
    parser.add_argument("--attempts", type=whole(0), default=4, metavar="N", help=several)
    later = "for its attempts after the first, which is greedy (default: %(default)s)"
    parser.add_argument("--temperature", type=number(0.01), default=0.7, help=later)
    add_graph_argument(parser)
    add_judge_arguments(parser.add_argument_group("the judge of the values"))
    parser.add_argument("--resume", action="store_true", help="continue an unfinished run")
    return _label(parser.parse_args(arguments))


def _label(options: argparse.Namespace) -> int:
    card = RunCard.beside(options.out)
    journal, rejected = card.folder / JOURNAL, card.folder / REJECTED
    there = next((path for path in (options.out, journal) if path.exists()), None)
    if there and not options.resume:
        raise UserError(f"{there} exists already: pass --resume to continue it, or remove it")
    settings = load_settings(options.preset, options.set)
    if settings.knowledge_graph is None:
        raise UserError(f"the preset {settings.name} uses no graph: pass --preset cpu, or another with a graph")
    writer = settings.knowledge_graph.writer
    if not (options.attempts or options.url):
        raise UserError("--attempts 0 leaves nobody to ask: pass --url")
    judge = judge_from(options)
    identity = {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        "asked_first": f"{options.model} at {options.url}" if options.url else None,
        "attempts": options.attempts,
        "temperature": options.temperature if options.attempts > 1 else 0.0,
        "judge": f"{judge.name}@{judge.version}",
        "graph": str(options.graph),
        Split.FIELD: str(options.split),
    }
    corrected = _corrected(rejected)
    rows, left_out = _questions(options, identity, corrected)
    with lock_folder(card.folder), ExitStack() as stack:
        done = {row.data["key"]: row.data for row in read_growing(journal) if row.data.get("key") in rows}
        missing = [row for key, row in rows.items() if key not in done]
        executor = stack.enter_context(executor_of(stack.enter_context(open_graph(options.graph))))
        labeller = Labeller(list(_attempts(options, settings, writer, stack)) if missing else (), executor, judge)
        with tqdm(total=len(rows), initial=len(done), unit="question", disable=None) as bar:
            for start in range(0, len(missing), settings.batch_size):
                try:
                    batch = labeller.label(missing[start : start + settings.batch_size])
                except LanguageModelDiedError as error:
                    error.add_note("finished questions are kept: --resume continues")
                    raise
                made = [{"key": _key(question.row, identity), **question.to_entry()} for question in batch]
                append_rows(journal, [entry for entry in made if not entry["failed"]])
                done |= {entry["key"]: entry for entry in made}
                bar.update(len(made))
        entries = [done[key] for key in rows]
        write_rows(options.out, (entry["asked"] | entry["kept"] for entry in entries if entry["kept"]))
        for_hands = _write_rejected(rejected, corrected, entries)
    domains = {"all": entries}
    for entry in entries:
        domains.setdefault(entry["domain"], []).append(entry)
    counts = {name: _counts(found) for name, found in domains.items()}
    figures = {"domains": counts, "left_out": dict(left_out), "sha256": file_hash(options.out)}
    data = {"questions": options.questions, **graph_files(options.graph)}
    written = card.write(data, identity, figures)
    sys.stdout.write(count_table(counts) + "\n")
    for reason, count in left_out.items():
        sys.stdout.write(f"left out: {count:,} {reason}\n")
    sys.stdout.write(f"wrote {options.out} ({counts['all']['questions kept']} questions) and {written}\n")
    if for_hands:
        sys.stdout.write(f"{for_hands} questions for correction by hand: {rejected} (--help)\n")
    if failed := sum(entry["failed"] for entry in entries):
        sys.stderr.write(f"error: the engine failed on {failed} questions: --resume asks them again\n")
    return int(failed > 0)


def _attempts(
    options: argparse.Namespace, settings: Settings, writer: KgWriterSettings, stack: ExitStack
) -> Iterator[tuple[CallWriter, float]]:
    """Whom to ask one after another, with the temperature: the stronger model once, in a chat, then the preset's."""
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    used = {name: path for name, path in settings.language_model.adapters.items() if name == writer.adapter}
    engines = [(writer, settings.language_model.model_copy(update={"adapters": used}), options.attempts)]
    if options.url:
        stronger = OpenAIEngine(engine="openai", model=options.model, base_url=options.url, base_url_variable="")
        chat = writer.model_copy(update={"form": "chat", "adapter": None, "grammar": False})
        engines.insert(0, (chat, stronger, 1))
    for form, engine, attempts in engines:
        if attempts:
            model = load_language_model(engine)
            stack.callback(model.close)
            asked = CallWriter(form, model, dense)
            asked.warm_up()
            yield from ((asked, options.temperature if later else 0.0) for later in range(attempts))


def _corrected(rejected: Path) -> dict[str, dict[str, Any]]:
    """The rows of the file in which a person wrote calls, by their questions; raises DatasetError."""
    written = [record for record in read_jsonl(rejected) if record.data.get("calls")] if rejected.is_file() else []
    return {_asked(record.data): record.data | {"calls": list(pair_of(record).calls)} for record in written}


def _write_rejected(rejected: Path, corrected: Mapping[str, Any], entries: Sequence[dict[str, Any]]) -> int:
    """Write the questions without kept calls, and all that a person wrote; returns how many have none."""
    left = {_asked(each["asked"]): each for each in entries if not each["failed"] and each["kept"] is None}
    calls = {key: row["calls"] for key, row in corrected.items()}
    rows = {k: each["asked"] | {"calls": calls.get(k, []), "tried": each["tried"]} for k, each in left.items()}
    write_rows(rejected, {**corrected, **rows}.values())
    return len(left)


def _questions(
    options: argparse.Namespace, identity: Mapping[str, Any], corrected: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], Counter[str]]:
    """The questions that graph values can answer, by their keys, with calls by hand; counts of the others by reason."""
    left_out: Counter[str] = Counter()
    rows: dict[str, dict[str, Any]] = {}
    for row in read_rows(options.questions, split=options.split):
        row["by_hand"] = corrected.get(_asked(row), {}).get("calls", [])
        answer = str(row.get("answer") or "").strip().lower().rstrip(".")
        if not answer or answer in {I_DONT_KNOW, INVALID_QUESTION}:
            left_out["without an answer that values could give"] += 1
        elif (key := _key(row, identity)) in rows:
            left_out["asked twice"] += 1
        elif options.limit is None or len(rows) < options.limit:
            rows[key] = {name: value for name, value in row.items() if name != "search_results"}  # gigabytes
    left_out.update({f"of split {split}": count for split, count in options.split.left_out.items()})
    if not rows:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "it is empty"
        raise DatasetError(f"{options.questions}: no question to label ({reasons})")
    return rows, left_out


def _asked(row: Mapping[str, Any]) -> str:
    return json.dumps([row.get(name, "") for name in ("interaction_id", "query", "query_time")])


def _key(row: Mapping[str, Any], identity: Mapping[str, Any]) -> str:
    """The question and all that can change its label: what another preset, judge or graph gave is not used."""
    return hashlib.sha256(f"{json.dumps(identity)}{_asked(row)}{row['by_hand'] or ''}".encode()).hexdigest()[:24]


def _counts(entries: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Questions asked and kept, attempts and their outcomes."""
    outcomes = sum((Counter(entry["outcomes"]) for entry in entries), Counter())
    kept = sum(entry["kept"] is not None for entry in entries)
    asked = {"questions": len(entries), "questions kept": kept, "attempts": outcomes.total()}
    return asked | {name: outcomes[name] for name in OUTCOMES}
