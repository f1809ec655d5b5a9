"""Run calls of the call language against a knowledge graph, and print their results as JSON."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from crag.commands.argument_types import argument_type, moment, number, server
from crag.commands.command_line import command, parser_of
from crag.core.deadline import Deadline
from crag.core.queries import TIME_FORMS, parse_query_time
from crag.graph.client import KgClient
from crag.graph.executor import Executor, Task
from crag.graph.results import Result, Status
from crag.graph.schema import Domain
from crag.settings import KG_VARIABLE, graph_address

_EXIT = {Status.OK: 0, Status.NOT_FOUND: 0, Status.INVALID: 1, Status.KG_DOWN: 3}
"""Outcome of a statement -> exit code; the largest counts."""


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run calls; the exit code is as in --help."""
    options = _parse(arguments)

    query_time = parse_query_time(options.query_time) if options.query_time else None
    task = Task(Domain(options.domain), options.calls, query_time)
    with KgClient(options.kg_url) as client:
        (outcome,) = Executor(client).run_batch([task], Deadline(options.seconds))

    report = {
        "statements": [_statement(result) for result in outcome.results],
        "http_calls": outcome.request_count,
    }
    print(json.dumps(report, ensure_ascii=False, indent=1))
    return max((_EXIT[result.status] for result in outcome.results), default=0)


def _statement(result: Result) -> dict[str, Any]:
    return {
        "call": result.call,
        "status": str(result.status),
        "values": list(result.values),
        "text": result.text,
        "explanation": list(result.explanation),
    }


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    exit_codes = (
        "Exit code: 0 every statement was run, whatever it found; 1 an invalid one; 2 an argument is wrong; "
        "3 no graph replied."
    )
    parser = parser_of("crag graph run", __doc__, exit_codes)
    parser.add_argument("calls", metavar="CALLS", help="the calls, one statement a line")
    parser.add_argument(
        "--domain",
        required=True,
        choices=[str(domain) for domain in Domain],
        help="whose endpoints the calls are of",
    )

    parser.add_argument(
        "--kg-url",
        metavar="URL",
        type=server,
        help=f"address of a knowledge graph server; default: ${KG_VARIABLE}",
    )

    parser.add_argument(
        "--query-time",
        type=argument_type(moment),
        metavar="TIME",
        help=f"{TIME_FORMS}; default: now",
    )

    parser.add_argument(
        "--seconds",
        metavar="S",
        type=number(0),
        default=30.0,
        help="time limit (default: 30)",
    )

    options = parser.parse_args(arguments)
    options.kg_url = graph_address(options.kg_url)
    if not options.kg_url:
        parser.error(f"--kg-url is missing, and {KG_VARIABLE} is not set; crag graph serve --port 8080 starts a graph")
    return options
