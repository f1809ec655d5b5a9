"""The mock API from the command line: `crag graph serve --port 8000`.

Imports only the mock API: a run with `--mock-kg` waits for it, so it must start fast.
"""

import argparse
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from crag.commands.command_parser import CommandParser
from crag.commands.ending import EXIT_UNUSABLE
from crag.mock_api.server import LOOPBACK, build_server, listen, socket_url
from crag.mock_api.tables import SHIPPED_GRAPH, GraphError, load_tables


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until interrupted."""
    options = _parse(arguments)

    # A daemon thread: it must not keep the process alive when the server ends by itself
    if options.stop_with_stdin:
        threading.Thread(target=_stop_after_stdin, daemon=True, name="stop-with-stdin").start()
    try:
        tables = load_tables(options.data)
    except (GraphError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return EXIT_UNUSABLE
    try:
        # Bound before the server starts, so that a port in use is an error and port 0 is known
        listening = listen(options.host, options.port)
    except (OSError, OverflowError) as error:
        address = f"{options.host}:{options.port}"
        print(f"error: cannot listen on {address}: {error}; --port 0 takes a free port", file=sys.stderr)
        return EXIT_UNUSABLE

    counts = ", ".join(f"{domain} {number}" for domain, number in tables.records().items())
    with listening, suppress(KeyboardInterrupt):
        server = build_server(tables)
        print(f"Mock API ready on {socket_url(listening)} ({counts} records)", flush=True)
        server.run([listening])
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = CommandParser(
        prog="crag graph serve",
        description="The CRAG mock API over a graph of JSON tables.",
        epilog="Exit code: 0 stopped; 2 it could not start.",
    )

    parser.add_argument(
        "--port",
        type=_port,
        required=True,
        help="0 takes a free port and prints it",
    )

    parser.add_argument(
        "--host",
        default=LOOPBACK,
        help="address to listen on (default: %(default)s)",
    )

    parser.add_argument(
        "--data",
        type=Path,
        default=SHIPPED_GRAPH,
        metavar="DIR",
        help="folder of the graph (default: the shipped one)",
    )

    parser.add_argument(
        "--stop-with-stdin",
        action="store_true",
        help="stop when standard input ends, so that the server ends with the program that started it",
    )

    return parser.parse_args(arguments)


def _port(text: str) -> int:
    """The number of a port, or 0."""
    if not (text.isascii() and text.isdecimal() and int(text) < 1 << 16):
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 to 65535, found {text!r}")
    return int(text)


def _stop_after_stdin() -> None:
    # By descriptor: a thread that waits in sys.stdin would hold its lock when the interpreter ends.
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
