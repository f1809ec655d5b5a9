"""`python -m agents.kg run` runs calls; `python -m agents.kg write` turns questions into calls."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agents.common.console import end_with
from agents.common.deadline import Deadline
from agents.common.queries import parse_query_time
from agents.kg.client import KgClient
from agents.kg.executor import Executor, Task
from agents.kg.results import Result, Status
from agents.kg.schema import Domain
from agents.kg.writing import cli as writing
from agents.settings import KgClientSettings, KgLimits

_ROWS_SHOWN = 200
_EXIT = {Status.OK: 0, Status.NOT_FOUND: 0, Status.INVALID: 1, Status.KG_DOWN: 3}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 0 if every statement was run, whatever it found."""
    parser = argparse.ArgumentParser(prog="python -m agents.kg", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run calls and print their results as JSON")
    run.add_argument(
        "calls", metavar="CALLS", help="the program: its text, a file that holds it, or - for standard input"
    )
    run.add_argument("--domain", required=True, choices=[str(domain) for domain in Domain])
    run.add_argument(
        "--kg-url", default=os.environ.get(KgClientSettings().url_variable), help="default: $CRAG_MOCK_API_URL"
    )
    run.add_argument("--query-time", help='time of asking, like "03/05/2024, 23:18:31 PT"; default: now')
    run.add_argument("--seconds", type=float, default=30.0, help="time limit (default: 30)")
    run.add_argument("--rows", action="store_true", help="also print the records")
    writing.add_arguments(commands.add_parser("write", help="write calls for the questions of a JSONL file"))
    options = parser.parse_args(arguments)
    if options.command == "write":
        return writing.run(options)
    return _run(parser, options)


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if not options.kg_url:
        parser.error("--kg-url is missing, and CRAG_MOCK_API_URL is not set")
    asked_at = None
    if options.query_time:
        asked_at = parse_query_time(options.query_time)
        if asked_at is None:
            parser.error(f'--query-time {options.query_time!r} is not like "03/05/2024, 23:18:31 PT"')
    task = Task(Domain(options.domain), _read(options.calls), asked_at)
    try:
        client = KgClient(options.kg_url, KgClientSettings())
    except ValueError as error:
        parser.error(f"--kg-url: {error}")
    try:
        outcome = Executor(client, KgLimits()).run_batch([task], Deadline(options.seconds))[0]
    finally:
        client.close()
    statements = [_shown(result, rows=options.rows) for result in outcome.results]
    sys.stdout.write(json.dumps({"statements": statements, "http_calls": outcome.calls}, ensure_ascii=False, indent=1))
    sys.stdout.write("\n")
    return max((_EXIT[result.status] for result in outcome.results), default=0)


def _shown(result: Result, *, rows: bool) -> dict[str, object]:
    shown: dict[str, object] = {
        "call": result.call,
        "status": str(result.status),
        "values": list(result.values),
        "text": result.text,
        "explanation": list(result.explanation),
    }
    if rows:
        shown["rows"] = [asdict(row) for row in result.rows[:_ROWS_SHOWN]]
    return shown


def _read(source: str) -> str:
    if source == "-":
        return sys.stdin.read()
    try:
        if len(source) < 256 and "\n" not in source and "(" not in source and Path(source).is_file():
            return Path(source).read_text(encoding="utf-8")
    except OSError:
        return source
    return source


if __name__ == "__main__":
    end_with(main)
