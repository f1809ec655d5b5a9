"""`crag ask QUESTION`: one question, one answer, from HTML files, a knowledge graph, or both; `--why` shows the way."""

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from agents.common.files import DatasetError
from agents.settings import load_settings
from crag.command import add_graph_arguments, add_preset_arguments, exit_code, parser_of
from crag.why import explained
from evaluation.batches import GRAPH_VARIABLE
from evaluation.graph_server import mock_graph

TIME_FORMAT = "%m/%d/%Y, %H:%M:%S PT"
"""Of `query_time` in CRAG: Pacific time."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the answer; exit code: 0 done, 2 it could not be asked."""
    options = _parser().parse_args(arguments)
    with ExitStack() as beside:
        return exit_code(lambda: _ask(options, beside))


def _ask(options: argparse.Namespace, beside: ExitStack) -> None:
    settings = load_settings(options.preset, options.set)
    pages = [page_of(path) for path in options.pages]
    _say(f"loading the models of preset {settings.name} ...")
    from agents.crag_agent import CragAgent

    has_graph = options.kg_url or os.environ.get(GRAPH_VARIABLE)
    if options.mock_kg is not None or not (pages or has_graph):
        if options.mock_kg is None:
            _say("no page and no graph is given: asking the small graph that is shipped")
        options.kg_url = beside.enter_context(mock_graph(options.mock_kg or ""))
    if options.kg_url:
        os.environ[GRAPH_VARIABLE] = options.kg_url
    agent = CragAgent.from_settings(settings)
    beside.callback(agent.close)
    agent.warm_up()
    asked_at = options.time or datetime.now(ZoneInfo("America/Los_Angeles")).strftime(TIME_FORMAT)
    batch = {"interaction_id": ["asked"], "query": [options.question], "search_results": [pages]}
    (answer,), (trace,) = agent.answer_batch({**batch, "query_time": [asked_at]})
    if options.json:
        sys.stdout.write(json.dumps(trace.to_dict(), ensure_ascii=False, indent=1, default=str) + "\n")
    else:
        sys.stdout.write(f"{explained(trace)}\n" if options.why else f"{answer.text}\n")


def page_of(path: Path) -> Mapping[str, Any]:
    """An HTML file as a search result. Raises DatasetError: it cannot be read."""
    try:
        html = path.read_bytes()
    except OSError as error:
        raise DatasetError(f"--pages {path}: cannot be read: {error.strerror}") from None
    from lxml import etree

    root = etree.fromstring(html, etree.HTMLParser(recover=True)) if html.strip() else None
    title = "" if root is None else root.findtext(".//title") or ""
    return {
        "page_name": " ".join(title.split()) or path.stem,
        "page_url": path.resolve().as_uri(),
        "page_snippet": "",
        "page_result": html.decode("utf-8", "replace"),
        "page_last_modified": "",
    }


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("crag ask", __doc__, "Exit code: 0 done; 2 it could not be asked.")
    parser.add_argument("question")
    parser.add_argument("--why", action="store_true", help="show classes, calls, facts, passages, candidates and gates")
    parser.add_argument("--json", action="store_true", help="print the whole trace as JSON")
    parser.add_argument("--pages", metavar="FILE", type=Path, nargs="+", default=[], help="HTML files to read")
    add_graph_arguments(parser)
    parser.add_argument("--time", metavar="T", help="when it is asked, like '03/05/2024, 23:18:31 PT'; default: now")
    add_preset_arguments(parser)
    return parser


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
