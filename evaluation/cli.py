"""The command line of local_evaluation.py: runs an evaluation; errors become one clear line and an exit code."""

import argparse
import hashlib
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from agents.settings import (
    DEFAULT_PRESET,
    OVERRIDES_VARIABLE,
    PRESET_VARIABLE,
    SettingsError,
    available_presets,
    load_settings,
    parse_override,
    quoted_override,
    usual_preset,
)
from evaluation.agent_host import DEFAULT_AGENT, AgentSpec, AgentStartError
from evaluation.batches import WHOLE, Shard
from evaluation.datasets import DatasetError, Split, dataset_files
from evaluation.graph_server import GraphServerError, mock_graph, silent_graph
from evaluation.judge import Judge, JudgeUnavailableError, add_judge_arguments, cost_line, judge_from
from evaluation.origin import origin_of
from evaluation.ray_shards import LOCAL, RayUnavailableError, run_on_ray
from evaluation.real_evaluator import GRAPH_VARIABLE, MAX_BATCH_SIZE, SECONDS_PER_QUERY, STARTUP_SECONDS
from evaluation.report import write_report
from evaluation.results import footer, table
from evaluation.runner import Evaluation, FailedBatchError, RunOptions
from evaluation.signature import (
    adapters_signature,
    dataset_hash,
    identity_of,
    package_version,
    prompts_signature,
    settings_hash,
    trained_signature,
    versions,
)
from evaluation.store import RunStore, StoreError
from evaluation.termination import Terminated, stopped_in_order
from evaluation.trim import Trim, official_trim

_SAMPLE = Path("data/sample/questions.jsonl")
_INSTALLED_SAMPLE = Path(sysconfig.get_path("data"), "share/crag/sample/questions.jsonl")
DEFAULT_DATASET = _INSTALLED_SAMPLE if _INSTALLED_SAMPLE.is_file() and not _SAMPLE.is_file() else _SAMPLE
"""The shipped sample: of the repository where the user stands, else of the installed package."""

EXIT_FAILED_BATCHES = 1
EXIT_UNUSABLE = 2
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143

LONGEST_FOLDER = 120
"""Maximum length of a folder's default name; a longer one is cut and ends in a hash."""

T = TypeVar("T")
_UNUSABLE = (
    DatasetError,
    SettingsError,
    AgentStartError,
    StoreError,
    JudgeUnavailableError,
    GraphServerError,
    RayUnavailableError,
)
_SUFFIXES = (".jsonl", ".json", ".tar", ".tbz2", ".bz2")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the evaluation; returns the exit code.

    0: the run is complete. 1: complete, or stopped by --fail-on-error, but a batch timed out or failed, which would
    have lost a real submission. 2: it could not run. 130 and 143: interrupted or terminated; it can be resumed.
    """
    options = _parsed_options(arguments)
    folder = options.output or _default_folder(options)
    words = sys.argv[1:] if arguments is None else arguments
    try:
        with stopped_in_order():
            dataset_files(options.dataset)  # report a wrong path first
            _warn_of_silent_graph(options)
            if options.ray:
                results = run_on_ray(options, folder, words, _evaluate)
            else:
                results = _evaluate(options, folder, words)
    except KeyboardInterrupt as interrupt:
        _say(f"\ninterrupted; finished batches are kept in {folder}. Continue with --resume and the same arguments")
        return EXIT_TERMINATED if isinstance(interrupt, Terminated) else EXIT_INTERRUPTED
    except FailedBatchError as error:
        _say(f"error: {error}\nfinished batches are kept in {folder}. Continue with --resume --retry-failed")
        return EXIT_FAILED_BATCHES
    except _UNUSABLE as error:
        _say("error: " + "; ".join([str(error), *getattr(error, "__notes__", ())]))
        return EXIT_UNUSABLE
    except OSError as error:  # such as a full disk; everything before it is saved
        _say(f"error: {error.filename or folder}: {error.strerror}; finished batches are kept. Continue with --resume")
        return EXIT_UNUSABLE
    sys.stdout.write(f"\n{table(results)}\n\n{footer(results, folder)}\n")
    options.split.report()
    if not options.no_report:
        _report(folder)
    return _warn_of_lost_submission(results, allow_timeouts=options.allow_timeouts)


def _evaluate(options: argparse.Namespace, folder: Path, words: Sequence[str]) -> dict[str, Any]:
    """Run the evaluation, or one shard of it; `words` are the command's."""
    with ExitStack() as beside:
        if options.mock_kg is not None:
            options.kg_url = beside.enter_context(mock_graph(Path(options.mock_kg) if options.mock_kg else None))
        return _evaluate_beside_graph(options, folder, origin_of(words))


def _evaluate_beside_graph(options: argparse.Namespace, folder: Path, origin: Mapping[str, Any]) -> dict[str, Any]:
    judge, trim = judge_from(options), official_trim()
    signature = _signature(options, judge, trim)
    store = RunStore(folder, identity_of(signature), signature, resume=options.resume, overwrite=options.overwrite)
    run_options = RunOptions(
        dataset=options.dataset,
        limit=options.limit,
        split=options.split,
        agent=AgentSpec(options.agent, _environment(options)),
        batch_size=options.batch_size,
        seconds_per_query=options.seconds_per_query,
        startup_seconds=options.startup_seconds,
        in_process=options.in_process,
        fail_on_error=options.fail_on_error,
        retry_failed=options.retry_failed,
        shard=options.shard or WHOLE,
        origin=origin,
    )
    if not options.quiet:
        _say(f"loading {options.agent if options.agent != DEFAULT_AGENT else f'preset {_preset(options)}'} ...")
    if options.in_process:
        _say("the agent runs in this process: its time limit is not enforced")
    try:
        with Evaluation(run_options, store, judge, trim, signature, show_progress=not options.quiet) as evaluation:
            return evaluation.run()
    except AgentStartError:
        store.discard_if_new()
        raise
    finally:
        store.close()
        if cost := cost_line(judge):
            _say(cost)


def _signature(options: argparse.Namespace, judge: Judge, trim: Trim) -> dict[str, Any]:
    """Everything that the results of this run depend on."""
    return {
        **_preset_signature(options),
        "set": "; ".join(_overrides(options)) or None,
        "agent": options.agent,
        "data": f"{options.dataset.name}@{dataset_hash(options.dataset)}",
        "judge": f"{judge.name}@{judge.version}",
        "trim": trim.name,
        "seconds_per_query": f"{options.seconds_per_query:g}",
        "batch_size": options.batch_size,
        "kg": _graph_signature(options),
        "shard": str(options.shard) if options.shard else None,
        **({} if options.split.wanted is None else {"split": str(options.split)}),
        "package": package_version(),
        **versions(),
    }


def _graph_signature(options: argparse.Namespace) -> str:
    """The agent's knowledge graph: none, the mock graph with its folder, or another server."""
    if options.mock_kg is not None:
        return f"mock:{Path(options.mock_kg).name or 'shipped'}"
    return "yes" if options.kg_url or os.environ.get(GRAPH_VARIABLE) else "no"


def _preset_signature(options: argparse.Namespace) -> dict[str, str | None]:
    """Preset, prompts and trained files. Another agent may have none, so there only a named preset counts."""
    if options.agent != DEFAULT_AGENT and options.preset is None:
        return {"preset": None, "prompts": None, "adapters": None, "trained": None}
    settings = load_settings(_preset(options), _overrides(options))
    return {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        "prompts": prompts_signature(settings),
        "adapters": adapters_signature(settings),
        "trained": trained_signature(settings),
    }


def _preset(options: argparse.Namespace) -> str:
    return options.preset or usual_preset()


def _overrides(options: argparse.Namespace) -> list[str]:
    """Changes to the preset: from the environment, then from the command line, which take precedence."""
    inherited = (line.strip() for line in os.environ.get(OVERRIDES_VARIABLE, "").splitlines())
    return [*filter(None, inherited), *options.set]


def _environment(options: argparse.Namespace) -> dict[str, str]:
    """Additions to the agent's environment: like the real evaluator, we pass no arguments."""
    environment = {PRESET_VARIABLE: _preset(options)}
    if options.kg_url:
        environment[GRAPH_VARIABLE] = options.kg_url
    if overrides := _overrides(options):
        environment[OVERRIDES_VARIABLE] = "\n".join(overrides)
    return environment


def _default_folder(options: argparse.Namespace) -> Path:
    stem = options.dataset.name.split(".part")[0]
    while stem.endswith(_SUFFIXES):
        stem = stem.rpartition(".")[0]
    named = Path(_preset(options)).stem
    if options.agent != DEFAULT_AGENT:
        named = options.agent.replace(":", ".") + (f"-{named}" if options.preset else "")
    shard = [f"shard-{options.shard.number}-of-{options.shard.shards}"] if options.shard else []
    changes = [re.sub(r"[^\w.=,-]", "", line) for line in _overrides(options)]  # without quotes and brackets
    graph = {"no": [], "yes": ["kg"], "mock:shipped": ["mock-kg"]}.get(_graph_signature(options))
    graph = graph if graph is not None else [f"mock-kg-{Path(options.mock_kg).name}"]
    name = "-".join([stem, named, *graph, *shard, *changes])
    if len(name) > LONGEST_FOLDER:
        name = f"{name[:LONGEST_FOLDER]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return Path("results") / name


def _report(folder: Path) -> None:
    try:
        sys.stdout.write(f"report     {write_report(folder)}\n")
    except DatasetError as error:
        _say(f"no report: {error}")


def _warn_of_lost_submission(results: dict[str, Any], *, allow_timeouts: bool) -> int:
    """Warn if the submission would have been lost; returns the exit code."""
    faults = []
    if results["timeouts"]:
        faults.append(f"{results['timeouts']} batch(es) exceeded their time limit")
    if results["errors"]:
        faults.append(f"{results['errors']} batch(es) failed")
    if not faults:
        return 0
    bar = "!" * 88
    last = f"\n  The last error: {results['last_error']}" if results["last_error"] else ""
    _say(
        f"\n{bar}\n  {' and '.join(faults)}. THE REAL EVALUATOR WOULD HAVE FAILED THIS WHOLE SUBMISSION.\n"
        f"  See the fields timed_out and error in predictions.jsonl.{last}\n{bar}"
    )
    return 0 if allow_timeouts and not results["errors"] else EXIT_FAILED_BATCHES


def _warn_of_silent_graph(options: argparse.Namespace) -> None:
    address = options.kg_url or os.environ.get(GRAPH_VARIABLE, "").strip()
    if options.mock_kg is None and address and (why := silent_graph(address)):
        _say(f"warning: the knowledge graph at {address} gives no results ({why}): answers will be lost or worse")


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _parsed_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args(arguments)
    if bool(options.ray) != bool(options.shards) or (options.ray and options.shard):
        parser.error("--ray and --shards N belong together, and without --shard")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="local_evaluation.py",
        description="Run the agent over a question file as the real evaluator does, judge its answers and print the "
        "CRAG metrics. Finished batches are saved in DIR; --resume continues after an interruption.",
        epilog="Exit code: 0 done; 1 a batch timed out or failed; 2 it could not run; 130 interrupted (143 by "
        "SIGTERM).",
    )
    _add_what(parser.add_argument_group("what is run"))
    add_judge_arguments(parser.add_argument_group("who judges"))
    _add_cluster(parser.add_argument_group("a Ray cluster"))
    _add_limits(parser.add_argument_group("limits"))
    _add_files(parser.add_argument_group("files"))
    return parser


def _add_what(what: argparse._ArgumentGroup) -> None:
    what.add_argument(
        "--preset",
        metavar="P",
        help=f"a preset ({', '.join(available_presets())}) or a TOML file; default: ${PRESET_VARIABLE}, "
        f"else {DEFAULT_PRESET}",
    )
    what.add_argument(
        "--set",
        metavar="KEY=VALUE",
        type=override,
        action="append",
        default=[],
        help="change a key of the preset, as in --set answering.audit=true or --set answering.prompt=basic; the value "
        "is TOML, none removes the key; can be repeated",
    )
    what.add_argument(
        "--dataset",
        metavar="FILE",
        type=Path,
        default=DEFAULT_DATASET,
        help="questions: .jsonl, .jsonl.bz2, .tar.bz2, or the first part of a cut file (default: %(default)s)",
    )
    what.add_argument("--limit", metavar="N", type=_whole(1), help="only the first N questions")
    what.add_argument(
        "--split",
        metavar="N|any",
        type=_parsed(Split.parse),
        default=Split.ANY,
        help="only questions of this split of CRAG: 0 is for training, 1 is the public test set (default: %(default)s)",
    )
    what.add_argument(
        "--shard",
        metavar="I/N",
        type=_parsed(Shard.parse),
        help="only every Nth batch, starting with the Ith; python -m evaluation.merge merges the N runs",
    )
    what.add_argument(
        "--agent", metavar="M:C", default=DEFAULT_AGENT, help="the agent's module and class (default: %(default)s)"
    )
    graph = what.add_mutually_exclusive_group()
    graph.add_argument(
        "--kg-url", metavar="URL", type=_server, help=f"knowledge graph server, passed as {GRAPH_VARIABLE}"
    )
    graph.add_argument(
        "--mock-kg",
        metavar="DIR",
        nargs="?",
        const="",
        help="start the project's own knowledge graph server for this run: the shipped graph, or the tables of DIR",
    )


def _add_cluster(cluster: argparse._ArgumentGroup) -> None:
    cluster.add_argument(
        "--ray",
        metavar="HOST:PORT|auto",
        nargs="?",
        type=_cluster_address,
        const=LOCAL,
        help="run the shards as tasks of this Ray cluster (auto: this machine's; nothing: one of our own, started "
        "and stopped with the run) and merge them; needs requirements-ray.txt",
    )
    cluster.add_argument("--shards", metavar="N", type=_whole(1), help="with --ray: in how many shards")
    cluster.add_argument(
        "--shard-cpus", metavar="N", type=_number, default=1.0, help="processors of a shard (default: %(default)g)"
    )
    cluster.add_argument(
        "--shard-gpus", metavar="N", type=_number, default=0.0, help="cards of a shard (default: %(default)g)"
    )


def _add_limits(limits: argparse._ArgumentGroup) -> None:
    limits.add_argument("--batch-size", metavar="N", type=_whole(1, MAX_BATCH_SIZE), help="default: the agent's")
    limits.add_argument(
        "--seconds-per-query",
        metavar="S",
        type=_seconds,
        default=SECONDS_PER_QUERY,
        help="a batch of N questions gets N times this (default: %(default)g)",
    )
    limits.add_argument(
        "--startup-seconds",
        metavar="S",
        type=_seconds,
        default=STARTUP_SECONDS,
        help="limit for building the agent (default: %(default)g)",
    )
    limits.add_argument("--allow-timeouts", action="store_true", help="exit with 0 despite timeouts")
    limits.add_argument("--fail-on-error", action="store_true", help="stop at the first failed batch")
    limits.add_argument("--in-process", action="store_true", help="no process for the agent, no limits; for debuggers")


def _add_files(files: argparse._ArgumentGroup) -> None:
    files.add_argument("--output", metavar="DIR", type=_folder, help="default: results/DATASET-PRESET-GRAPH-CHANGES")
    going_on = files.add_mutually_exclusive_group()
    going_on.add_argument("--resume", action="store_true", help="continue the run in DIR")
    going_on.add_argument("--overwrite", action="store_true", help="delete the run in DIR")
    files.add_argument("--retry-failed", action="store_true", help="with --resume: ask failed questions again")
    files.add_argument("--no-report", action="store_true", help="do not write report.html")
    files.add_argument("--quiet", action="store_true", help="no progress bar")


def override(text: str) -> str:
    """``KEY=VALUE`` as a TOML line; a bare word needs no quotes."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not (key and equals and value) or "\n" in text:
        raise argparse.ArgumentTypeError(f"must be KEY=VALUE in one line, found {text!r}")
    try:
        parse_override(f"{key}={value}")
    except SettingsError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return quoted_override(f"{key}={value}")


def _whole(least: int, most: int | None = None) -> Any:  # noqa: ANN401 - argparse takes any callable
    def parse(text: str) -> int:
        value = int(text)
        if value < least or (most is not None and value > most):
            allowed = f"at least {least}" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"must be {allowed}, found {value}")
        return value

    parse.__name__ = "whole number"  # argparse names it in "invalid whole number value"
    return parse


def _parsed(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Wraps a parser as an argparse type, so that argparse shows its error messages."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed


def _folder(text: str) -> Path:
    if not text.strip():
        raise argparse.ArgumentTypeError("must name a folder, found nothing")
    return Path(text)


def _server(text: str) -> str:
    parts = urlsplit(text)
    if not text.startswith(("http://", "https://")) or not parts.hostname or parts.port == 0:
        raise argparse.ArgumentTypeError(f"must be http://HOST:PORT or https://HOST, found {text!r}")
    return text


_server.__name__ = "server address"  # argparse shows it in "invalid server address value"


def _cluster_address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if text not in {"auto", LOCAL} and not (host and "/" not in host and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise argparse.ArgumentTypeError(f"must be HOST:PORT or auto, found {text!r}")
    return text


def _number(text: str) -> float:
    value = float(text)
    if not 0 <= value < float("inf") or (value > 1 and value % 1):
        raise argparse.ArgumentTypeError(f"must be 0 or more, and whole above 1, found {text}")
    return value


_number.__name__ = "number"  # argparse shows it in "invalid number value"


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be more than 0, found {text}")
    return value


_seconds.__name__ = "number of seconds"  # argparse shows it in "invalid number of seconds value"
