"""Run an agent over a question file as the real evaluator does.

The answers are judged and the CRAG metrics printed. Finished batches are saved in DIR; --resume continues after an
interruption.
"""

import argparse
import hashlib
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from crag.answering import trim_to_tokens
from crag.commands.command_line import (
    command,
    say,
    warn_of_silent_graph,
)
from crag.commands.ending import interrupt_code, stopped_in_order
from crag.commands.evaluate_options import PROGRAM, parse_options
from crag.commands.run_ending import end_early, end_run, resume_command, typed_program
from crag.core.files import DatasetError
from crag.core.log_lines import one_line_warnings
from crag.core.progress import ProgressMode
from crag.core.text import without_credentials
from crag.core.version import package_version
from crag.engines.llm import describe_served_model
from crag.evaluation.agent_code import code_signature, reads_preset
from crag.evaluation.batches import SECONDS_PER_QUERY
from crag.evaluation.cut_files import dataset_files
from crag.evaluation.graph_server import mock_graph
from crag.evaluation.in_process import InProcessWorker
from crag.evaluation.judge import Judge, cost_line, judge_from
from crag.evaluation.lost import DeadServerError, RetryPolicy
from crag.evaluation.origin import describe_origin
from crag.evaluation.process import ProcessWorker
from crag.evaluation.ray_workers import RayWorkers
from crag.evaluation.report.run_page import write_report
from crag.evaluation.results_text import metrics_table, results_footer
from crag.evaluation.runner import Evaluation
from crag.evaluation.signature import dataset_hash, preset_signature, trim_name, versions
from crag.evaluation.store import RunStore, SavedRun
from crag.evaluation.worker import DEFAULT_AGENT, AgentSpec, AgentStartError, Worker
from crag.settings import (
    KG_VARIABLE,
    OVERRIDES_VARIABLE,
    PRESET_VARIABLE,
    Settings,
    graph_address,
    load_settings,
    usual_preset,
)

LONGEST_FOLDER = 120
"""Maximum length of a folder's default name; a longer one is cut and ends in a hash."""


@command()
def main(
    arguments: Sequence[str] | None = None,
    program: str = PROGRAM,
    description: str | None = __doc__,
) -> int:
    """Run the evaluation; returns the exit code. `program` and `description` are another command's.

    0: the run is complete. 1: complete, but a batch timed out or failed, which would have lost a real submission. 2: it
    could not run. 3: answers were lost, or the run ended early because all were. 4: the score is below --fail-below.
    130 and 143: interrupted or terminated; it can be resumed.
    """
    # Kept as typed: the run's origin records them
    words = sys.argv[1:] if arguments is None else arguments
    options = parse_options(words, program, description)
    output = options.output or default_folder(options)
    try:
        with stopped_in_order():
            return _evaluate(options, output, words, program)
    except KeyboardInterrupt as interrupt:
        say("\n" + "; ".join(["interrupted", *getattr(interrupt, "__notes__", ())]))
        return interrupt_code(interrupt)


def _evaluate(options: argparse.Namespace, output: Path, words: Sequence[str], program: str) -> int:
    dataset_files(options.dataset)  # report a wrong path first
    options.seconds_per_query = options.seconds_per_query or _usual_seconds(options)
    address = graph_address(options.kg_url) if options.mock_kg is None else ""
    # Only a warning: the run goes on without facts of the graph
    if address:
        warn_of_silent_graph(address)

    again = resume_command(typed_program(program), words)
    try:
        with ExitStack() as stack:
            # Those of an agent in this process; one of its own does the same there
            stack.enter_context(one_line_warnings())
            if options.mock_kg is not None and not options.ray:  # on a cluster each worker has its own graph
                options.kg_url = stack.enter_context(mock_graph(options.mock_kg))
            results = _run(options, output, describe_origin(words, PROGRAM))
    except DeadServerError as error:
        return end_early(str(error), SavedRun.read(output).records.values(), output, again)

    sys.stdout.write(f"\n{metrics_table(results)}\n\n{results_footer(results, output)}\n")
    options.split.report()
    try:
        sys.stdout.write(f"report     {write_report(output)}\n")
    except DatasetError as error:
        say(f"no report: {error}")
    # Both streams may go to one terminal: what went wrong comes last
    sys.stdout.flush()
    return end_run(results, SavedRun.read(output).records.values(), again, options.fail_below)


def _run(
    options: argparse.Namespace,
    output: Path,
    origin: Mapping[str, Any],
) -> dict[str, Any]:
    """Ask and judge what is not answered yet; returns the content of results.json."""
    judge = judge_from(options)
    signature = _signature(options, judge)
    worker = _worker(options)
    store = RunStore(output, signature, resume=options.resume, overwrite=options.overwrite)

    _announce(options)
    try:
        return Evaluation(
            dataset=options.dataset,
            store=store,
            worker=worker,
            judge=judge,
            trim=trim_to_tokens,
            limit=options.limit,
            split=options.split,
            batch_size=options.batch_size,
            seconds_per_query=options.seconds_per_query,
            origin=origin,
            progress=ProgressMode.NONE if options.quiet else options.progress,
            identify_model=partial(_served_model, options),
            policy=RetryPolicy(options.retry_lost, options.stop_after_lost),
            say=say,
        ).run()

    except (AgentStartError, DatasetError) as error:
        # If nothing was answered, no empty run is left
        store.discard_if_new()
        if options.in_process and error.__cause__:
            traceback.print_exception(error.__cause__)
        raise

    except (KeyboardInterrupt, OSError) as error:  # such as a full disk
        error.add_note(store.describe_kept())
        raise

    finally:
        store.close()
        cost = cost_line(judge)
        if cost:
            say(cost)


def _announce(options: argparse.Namespace) -> None:
    """Say what is loaded, before the wait for it."""
    if not options.quiet:
        is_default = options.agent == DEFAULT_AGENT
        agent = f"preset {options.preset or usual_preset()}" if is_default else options.agent
        say(f"loading {agent} ...")
    if options.in_process:
        say("the agent runs in this process: its time limit is not enforced")


def _worker(options: argparse.Namespace) -> Worker:
    """What runs the agent: a process of its own, this process, or processes of a Ray cluster."""
    spec = AgentSpec(options.agent, _environment(options))
    if options.ray:
        return RayWorkers(
            spec,
            address=options.ray,
            workers=options.workers,
            cpus=options.worker_cpus,
            gpus=options.worker_gpus,
            mock_kg=options.mock_kg,
        )
    if options.in_process:
        return InProcessWorker(spec)
    return ProcessWorker(spec)


def _signature(options: argparse.Namespace, judge: Judge) -> dict[str, Any]:
    """Everything that the results of this run depend on."""
    changes = options.set
    settings = _settings(options)
    split = {} if options.split.number is None else {"split": str(options.split)}
    return {
        **preset_signature(settings),
        # A URL among the changes may hold a password
        "set": without_credentials("; ".join(changes)) or None,
        "agent": options.agent,
        "code": code_signature(options.agent),
        "data": f"{options.dataset.name}@{dataset_hash(options.dataset)}",
        "judge": f"{judge.name}@{judge.version}",
        "trim": trim_name(),
        "seconds_per_query": f"{options.seconds_per_query:g}",
        "batch_size": options.batch_size,
        "kg": _graph_signature(options),
        **split,
        "package": package_version(),
        **versions(),
    }


def _settings(options: argparse.Namespace) -> Settings | None:
    """The settings that the agent reads; another agent than ours may have none, so there only a named preset counts."""
    preset = options.preset
    if preset is None and (options.agent == DEFAULT_AGENT or reads_preset(options.agent)):
        preset = usual_preset()
    return load_settings(preset, options.set) if preset else None


def _served_model(options: argparse.Namespace) -> str | None:
    """What the preset's server says it serves; None if it does not reply, or the preset has no server."""
    settings = _settings(options)
    if settings is None or settings.language_model.engine != "openai":
        return None
    return describe_served_model(settings.language_model)


def _graph_signature(options: argparse.Namespace) -> str:
    """The agent's knowledge graph: none, the mock graph with its folder, or another server."""
    if options.mock_kg is not None:
        return f"mock:{Path(options.mock_kg).name or 'shipped'}"
    return "yes" if graph_address(options.kg_url) else "no"


def _usual_seconds(options: argparse.Namespace) -> float:
    """The evaluator's seconds for a question: as many as the agent takes by its settings, at least the contest's."""
    settings = _settings(options)
    return max(SECONDS_PER_QUERY, settings.deadline.seconds_per_query) if settings else SECONDS_PER_QUERY


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """Additions to the agent's environment: like the real evaluator, we pass no arguments."""
    additions = {
        PRESET_VARIABLE: options.preset or usual_preset(),
        KG_VARIABLE: options.kg_url,
        OVERRIDES_VARIABLE: "\n".join(options.set),
    }
    return {name: value for name, value in additions.items() if value}


def default_folder(options: argparse.Namespace) -> Path:
    """``results/DATASET-PRESET-GRAPH-CHANGES``."""
    # "questions.jsonl.bz2.part1" becomes "questions"
    parts = [re.sub(r"(\.jsonl|\.json|\.bz2|\.part\d+)+$", "", options.dataset.name)]

    if options.agent != DEFAULT_AGENT:
        source, _, class_name = options.agent.rpartition(":")
        module = Path(source).stem if source.endswith(".py") else source
        parts.append(f"{module}.{class_name}")
    if options.preset or options.agent == DEFAULT_AGENT:
        parts.append(Path(options.preset or usual_preset()).stem)

    graph = _graph_signature(options)
    if graph == "yes":
        parts.append("kg")
    elif graph != "no":
        parts.append(graph.replace("mock:", "mock-kg-").removesuffix("-shipped"))

    for line in options.set:
        # Quotes, blanks and slashes are awkward in a folder's name
        unquoted = re.sub(r"[^\w.=,-]", "", without_credentials(line))
        parts.append(unquoted)

    name = "-".join(parts)
    if len(name) > LONGEST_FOLDER:
        # Two long names that begin alike must not share a folder
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        name = f"{name[:LONGEST_FOLDER]}-{digest}"
    return Path("results") / name
