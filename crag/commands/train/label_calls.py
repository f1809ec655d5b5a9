"""Label questions with calls: crag train label-calls --questions FILE --out calls.jsonl.

FILE is a question file of CRAG (JSON lines, bz2, archives, split or whole): `query`, `query_time`, `domain`, `answer`.
A model proposes calls with the preset's prompt. They are executed against a graph, and kept if the judge accepts the
answer of their values. crag train api-pairs and crag train adapters read the output as --questions.
calls/attempts.jsonl has the result of every question, calls/run_card.json the counts.

    crag train label-calls --questions FILE --graph DIR --preset cpu --out calls.jsonl
    crag train label-calls ... --url http://HOST:8000/v1 --model NAME     # a stronger model is asked first

db3 (section 3.2, "Fine-tuning for API Generation") had GPT-4 write a first version and corrected it by hand. The model
at --url is asked once; questions without kept calls go to the preset's own model, --attempts times: greedily, then at
--temperature. calls/rejected.jsonl has what is left, with all that was tried: write right calls, or ["None"], into the
field `calls` of a row, and run the same command with --resume. They are kept if the graph has values for them.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tqdm import tqdm

from crag.commands.argument_types import argument_type, new_file, number, server, whole_number
from crag.commands.command_line import add_preset_arguments, add_split_argument, command, parser_of
from crag.commands.train.questions_to_label import QuestionsToLabel, Row, label_key, read_questions, write_rejected
from crag.core.files import UserError, append_rows, lock_folder, read_growing, write_rows
from crag.core.text import counted
from crag.engines.encoders import load_dense_encoder
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm import LanguageModelDiedError, load_language_model
from crag.evaluation.judge import Judge, add_judge_arguments, judge_from
from crag.evaluation.signature import settings_hash
from crag.evaluation.split import Split
from crag.graph.writing import CallWriter
from crag.mock_api import GraphError
from crag.settings import KgWriterSettings, LanguageModelSettings, OpenAIEngine, Settings, load_settings
from crag.training.api_pairs.graph import add_graph_argument, executor_of, find_graph, graph_files
from crag.training.api_pairs.label import JOURNAL, OUTCOMES, REJECTED, Labeller
from crag.training.files import RunCard, count_table, file_hash


@command(GraphError, LanguageModelDiedError)
def main(arguments: Sequence[str] | None = None) -> int:
    """Label."""
    options = _parse(arguments)
    card = RunCard.beside(options.out, options.questions)
    journal = card.folder / JOURNAL
    rejected = card.folder / REJECTED
    settings = _checked_settings(options, journal)
    judge = judge_from(options)
    # Part of every key: a journal of other settings is never mixed with this run
    identity = _identity(options, settings, judge)
    questions = read_questions(options, identity, rejected)

    with lock_folder(card.folder):
        # The journal grows during the run; the output is written whole at its end
        entries = _label(options, settings, judge, identity, questions, journal)
        write_rows(options.out, (entry["asked"] | entry["kept"] for entry in entries if entry["kept"]))
        rejected_count = write_rejected(rejected, questions.corrected, entries)

    counts = _counts_by_domain(entries)
    figures = {"domains": counts, "left_out": dict(questions.left_out), "sha256": file_hash(options.out)}
    data = {"questions": options.questions, **graph_files(options.graph)}
    card_path = card.write(data, identity, figures)

    print(count_table(counts))
    for reason, count in questions.left_out.items():
        print(f"left out: {count:,} {reason}")
    print(f"wrote {options.out} ({counted(counts['all']['questions kept'], 'question')}) and {card_path}")
    if rejected_count:
        print(f"{counted(rejected_count, 'question')} for correction by hand: {rejected} (--help)")

    failed = sum(entry["failed"] for entry in entries)
    if failed:
        sys.stderr.write(f"error: the engine failed on {counted(failed, 'question')}: --resume asks them again\n")
        return 1
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag train label-calls",
        __doc__,
        "Exit code: 0 all questions were asked; 1 the engine failed on some; 2 an input is missing or wrong.",
    )
    _add_questions(parser)
    _add_writers(parser)
    add_graph_argument(parser)
    add_judge_arguments(parser.add_argument_group("the judge of the values"))
    parser.add_argument("--resume", action="store_true", help="continue an unfinished run")
    return parser.parse_args(arguments)


def _add_questions(parser: argparse.ArgumentParser) -> None:
    """Which questions, and where their calls go."""
    parser.add_argument(
        "--questions",
        type=Path,
        required=True,
        metavar="FILE",
        help="questions with right answers",
    )

    parser.add_argument(
        "--out",
        type=argument_type(new_file),
        required=True,
        metavar="FILE",
        help="the file to write",
    )
    add_split_argument(parser)
    parser.add_argument(
        "--limit",
        type=whole_number(1),
        metavar="N",
        help="label at most N questions",
    )


def _add_writers(parser: argparse.ArgumentParser) -> None:
    """Who writes the calls, and how often it tries."""
    add_preset_arguments(parser, "cpu")
    parser.add_argument(
        "--url",
        type=server,
        metavar="URL",
        help="a server that speaks OpenAI's protocol, with a stronger model (key: $OPENAI_API_KEY)",
    )

    parser.add_argument(
        "--model",
        default="",
        metavar="NAME",
        help="its name there (default: the server's only one)",
    )

    parser.add_argument(
        "--attempts",
        type=whole_number(0),
        default=4,
        metavar="N",
        help="of the preset's own model per question; 0 with --url: none (default: %(default)s)",
    )

    parser.add_argument(
        "--temperature",
        type=number(0.01),
        default=0.7,
        help="for its attempts after the first, which is greedy (default: %(default)s)",
    )


def _checked_settings(options: argparse.Namespace, journal: Path) -> Settings:
    """The preset's settings. Raises UserError: the options do not fit them or the files that are there."""
    for path in (options.out, journal):
        if path.exists() and not options.resume:
            raise UserError(f"{path} exists already: pass --resume to continue it, or remove it")

    settings = load_settings(options.preset, options.set)
    if settings.knowledge_graph is None:
        raise UserError(f"the preset {settings.name} uses no graph: pass --preset cpu, or another with a graph")
    if not (options.attempts or options.url):
        raise UserError("--attempts 0 leaves nobody to ask: pass --url")
    return settings


def _identity(options: argparse.Namespace, settings: Settings, judge: Judge) -> Row:
    """All that labels depend on besides the questions: what another preset, judge or graph gave is not used."""
    return {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        "asked_first": f"{options.model} at {options.url}" if options.url else None,
        "attempts": options.attempts,
        "temperature": options.temperature if options.attempts > 1 else 0.0,
        "judge": f"{judge.name}@{judge.version}",
        "graph": str(options.graph),
        Split.FIELD: str(options.split),
    }


def _label(
    options: argparse.Namespace,
    settings: Settings,
    judge: Judge,
    identity: Row,
    questions: QuestionsToLabel,
    journal: Path,
) -> list[Row]:
    """The journal's entry of every question, in order; those that it lacks are asked now."""
    rows = questions.rows
    entries = _read_journal(journal, rows)
    missing = [row for key, row in rows.items() if key not in entries]

    with ExitStack() as stack:
        graph = find_graph(options.graph)
        executor = stack.enter_context(executor_of(graph))
        # No model is loaded if the journal has everything
        attempts = list(_attempts(options, settings, stack)) if missing else []
        labeller = Labeller(attempts, executor, judge)

        bar = stack.enter_context(
            tqdm(
                total=len(rows),
                initial=len(entries),
                unit="question",
                disable=None,
            )
        )
        for start in range(0, len(missing), settings.batch_size):
            batch = missing[start : start + settings.batch_size]
            labelled = _label_batch(labeller, batch, identity)

            # A question on which the engine failed is not kept, so that --resume asks it again.
            append_rows(journal, [entry for entry in labelled if not entry["failed"]])
            for entry in labelled:
                entries[entry["key"]] = entry
            bar.update(len(labelled))
    return [entries[key] for key in rows]


def _read_journal(journal: Path, rows: Mapping[str, Row]) -> dict[str, Row]:
    """The entries of this run's questions by key; the journal also has those of other settings."""
    entries: dict[str, Row] = {}
    for record in read_growing(journal):
        if record.data.get("key") in rows:
            entries[record.data["key"]] = record.data
    return entries


def _label_batch(labeller: Labeller, rows: Sequence[Row], identity: Row) -> list[Row]:
    try:
        questions = labeller.label(rows)
    except LanguageModelDiedError as error:
        error.add_note("finished questions are kept: --resume continues")
        raise
    return [{"key": label_key(question.row, identity), **question.to_entry()} for question in questions]


def _attempts(
    options: argparse.Namespace,
    settings: Settings,
    stack: ExitStack,
) -> Iterator[tuple[CallWriter, float]]:
    """Writers in the order of asking, with the temperature: the stronger model once, in a chat, then the preset's."""
    assert settings.knowledge_graph is not None  # noqa: S101 - `_checked_settings`
    writer = settings.knowledge_graph.writer
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None

    if options.url:
        # The stronger model has no adapter of ours, and its server knows no grammar
        chat = writer.model_copy(update={"form": "chat", "adapter": None, "grammar": False})
        stronger = OpenAIEngine(
            engine="openai",
            model=options.model,
            base_url=options.url,
            base_url_variable="",
        )
        yield _start_writer(chat, stronger, dense, stack), 0.0

    if options.attempts:
        # Of the preset's adapters only the writer's is loaded.
        adapters = settings.language_model.adapters
        writer_adapters = {name: path for name, path in adapters.items() if name == writer.adapter}
        engine = settings.language_model.model_copy(update={"adapters": writer_adapters})
        preset_writer = _start_writer(writer, engine, dense, stack)
        # Greedy first; repeating that would give the same text, so the others draw at random
        yield preset_writer, 0.0
        for _ in range(options.attempts - 1):
            yield preset_writer, options.temperature


def _start_writer(
    settings: KgWriterSettings,
    engine: LanguageModelSettings,
    dense: DenseEncoder | None,
    stack: ExitStack,
) -> CallWriter:
    """A writer that is warm; its model is closed with the stack."""
    model = load_language_model(engine)
    stack.callback(model.close)
    writer = CallWriter(settings, model, dense)
    writer.warm_up()
    return writer


def _counts_by_domain(entries: Sequence[Row]) -> dict[str, dict[str, int]]:
    domains = {"all": list(entries)}
    for entry in entries:
        domains.setdefault(entry["domain"], []).append(entry)
    return {domain: _counts(domain_entries) for domain, domain_entries in domains.items()}


def _counts(entries: Sequence[Row]) -> dict[str, int]:
    """Questions asked and kept, attempts and their outcomes."""
    outcomes: Counter[str] = Counter()
    for entry in entries:
        outcomes.update(entry["outcomes"])
    kept_count = sum(entry["kept"] is not None for entry in entries)
    counts = {"questions": len(entries), "questions kept": kept_count, "attempts": outcomes.total()}
    return counts | {name: outcomes[name] for name in OUTCOMES}
