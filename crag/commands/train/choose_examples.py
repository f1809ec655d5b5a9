"""Choose the call writer's fixed examples by its remaining errors (db3 section 3.2).

    crag train choose-examples --preset db3_task23 --questions FILE --out DIR [--set KEY=VALUE] [--resume]

A domain starts with --start examples, chosen so that each table and operator of our bank is in two of them, rare
ones first. In each of --rounds rounds the preset's untuned writer, shown the examples so far, is asked --asked labelled
questions. Its calls are executed on the graph; if they give other values than the labelled calls, at most --added
examples are added, for the most frequent kinds of failing calls first. By default this is the most similar example of
the same kind from our own bank, so that the list can be published; with --pool questions it is the question itself, as
in the paper. A domain is done when its list has the preset's number of examples (knowledge_graph.writer.examples),
nothing fails, or no candidate is left.

DIR gets a file of examples for each domain, which a preset names as knowledge_graph.writer.fixed_examples, and
run_card.json: data with sha256, settings, and the failures of each round. The model's output is kept in --work, so that
--resume continues after a kill.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from crag.commands.argument_types import argument_type, whole_number
from crag.commands.command_line import add_preset_arguments, add_split_argument, command, parser_of
from crag.core.files import UserError, lock_folder, write_json
from crag.core.places import REPOSITORY
from crag.core.text import counted
from crag.engines.llm import load_language_model
from crag.evaluation.signature import settings_hash
from crag.evaluation.split import Split
from crag.graph.schema import Domain
from crag.graph.writing import Example, load_bank, write_examples
from crag.mock_api import GraphError
from crag.settings import KgWriterSettings, KnowledgeGraphSettings, Settings, load_settings
from crag.training.api_pairs.entities import company_names
from crag.training.api_pairs.graph import add_graph_argument, executor_of, find_graph, graph_files
from crag.training.api_pairs.pairs import CallPair, bank_version, real_pairs
from crag.training.choose_examples import ASKED_FILE, RUN_FILE, ExampleTrial, GrownList, GrowthPlan, grow
from crag.training.files import RunCard, make_output_folder
from crag.training.folds import may_train, parse_fold


@command(GraphError)
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the folder."""
    options = _parse(arguments)
    card = RunCard(options.out)
    # Untuned: a writer that was trained on the questions makes too few errors to learn from
    settings = load_settings(options.preset, [*options.set, "tuned = false"])
    writer = (settings.knowledge_graph or KnowledgeGraphSettings()).writer
    plan = GrowthPlan(
        writer.examples,
        start=options.start,
        added=options.added,
        asked=options.asked,
        rounds=options.rounds,
    )
    make_output_folder(options.out)
    if any(options.out.glob("*.toml")):
        raise UserError(f"{options.out} holds examples: remove them, or --out names another folder")

    run_settings = {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        "model": getattr(settings.language_model, "model", settings.language_model.engine),
        "writer": writer.model_dump(include={"form", "schema_in_prompt", "schema_detail", "grammar", "repair"}),
        "plan": plan._asdict() | {"pool": options.pool},
        "bank": bank_version(),
        "hold_out": str(options.hold_out) if options.hold_out else None,
        Split.FIELD: options.split.number,
    }
    with lock_folder(options.work):
        _check_work_folder(options, run_settings)
        write_json(options.work / RUN_FILE, run_settings)
        grown = _grow(options, settings, writer, plan)

    comment = "Made by crag train choose-examples, in the order in which they joined; see run_card.json."
    metrics: dict[str, Any] = {}
    for domain, grown_list in grown.items():
        write_examples(options.out / f"{domain}.toml", comment, grown_list.examples)
        metrics[str(domain)] = {"examples": len(grown_list.examples), "rounds": grown_list.rounds}

    data = {"questions": options.questions, **graph_files(options.graph)}
    card_path = card.write(data, run_settings, metrics, ("torch", "transformers"))

    count = sum(len(grown_list.examples) for grown_list in grown.values())
    print(f"wrote {counted(count, 'example')} to {options.out}; the run card is {card_path}")
    options.split.report()


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag train choose-examples", __doc__, "Exit code: 0 written; 2 an input is missing or wrong.")
    add_preset_arguments(parser)
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="the folder of examples",
    )
    add_split_argument(parser)
    parser.add_argument(
        "--questions",
        type=Path,
        required=True,
        metavar="FILE",
        help="labelled questions",
    )
    add_graph_argument(parser)
    parser.add_argument(
        "--pool",
        choices=("bank", "questions"),
        default="bank",
        help="source of added examples (%(default)s)",
    )
    for name, default in GrowthPlan._field_defaults.items():
        parser.add_argument(
            f"--{name}",
            type=whole_number(1),
            default=default,
            help="see above (default: %(default)s)",
        )
    parser.add_argument(
        "--work",
        type=Path,
        default=REPOSITORY / "results/training/choose_examples",
        help="folder for the model's output",
    )
    parser.add_argument("--resume", action="store_true", help="continue the run in --work")
    parser.add_argument(
        "--hold-out",
        type=argument_type(parse_fold),
        metavar="NUMBER/TOTAL",
        help="do not ask the questions that this fold tests, such as 1/3",
    )

    return parser.parse_args(arguments)


def _check_work_folder(options: argparse.Namespace, run_settings: Mapping[str, Any]) -> None:
    """Raise UserError: the folder holds a run that is not to be continued, or one with other settings."""
    run_file = options.work / RUN_FILE
    if not (run_file.is_file() and (options.work / ASKED_FILE).is_file()):
        return

    if not options.resume:
        raise UserError(f"{options.work} holds a run: --resume continues it, --work names another folder")
    earlier_settings = json.loads(run_file.read_text(encoding="utf-8"))
    # Through JSON, which turns tuples into lists
    if earlier_settings != json.loads(json.dumps(run_settings)):
        raise UserError(f"{options.work} holds a run with other settings: --work names another folder")


def _grow(
    options: argparse.Namespace,
    settings: Settings,
    writer: KgWriterSettings,
    plan: GrowthPlan,
) -> dict[Domain, GrownList]:
    """Choose the examples of every domain."""
    grown: dict[Domain, GrownList] = {}
    with ExitStack() as stack:
        graph = find_graph(options.graph)
        executor = stack.enter_context(executor_of(graph))
        labelled = real_pairs(options.questions, company_names(graph), options.split)
        # Questions that measure the result later must not shape the list
        pairs = [pair for pair in labelled if may_train(pair.groups, options.hold_out)]

        model = load_language_model(settings.language_model)
        stack.callback(model.close)
        model.warm_up()
        trial = ExampleTrial(
            options.work,
            writer,
            model,
            executor,
            settings.batch_size,
        )

        for domain in Domain:
            domain_pairs = [pair for pair in pairs if pair.domain is domain]
            if options.pool == "questions":
                # As in the paper; such a list holds questions of the data set
                pool = [_as_example(pair) for pair in domain_pairs]
            else:
                pool = [example for example in load_bank() if example.domain is domain]
            grown[domain] = grow(domain, domain_pairs, pool, plan, trial)
    return grown


def _as_example(pair: CallPair) -> Example:
    calls = "\n".join(pair.calls)
    return Example(pair.domain, pair.query, calls, pair.program)
