"""`crag ask QUESTION`: one question, one answer, from HTML files, a knowledge graph, or both; `--why` shows the way."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from textwrap import shorten
from typing import Any
from zoneinfo import ZoneInfo

import requests
from urllib3.exceptions import HTTPError

from agents.common.contracts import Passage, Trace
from agents.common.files import DatasetError
from agents.settings import load_settings
from crag.command import add_graph_arguments, add_preset_arguments, command, parser_of, say
from evaluation.batches import GRAPH_VARIABLE
from evaluation.graph_server import mock_graph

TIMEOUT = (5.0, 20.0)
"""Seconds to connect, seconds between bytes."""
LARGEST_PAGE = 20_000_000
"""Bytes of a page that are read; the agent parses fewer."""
WIDTH = 110
LEAST_SECONDS = 0.05
"""Stages that took less are not listed by --why."""
TIME_FORMAT = "%m/%d/%Y, %H:%M:%S PT"
"""Of `query_time` in CRAG: Pacific time."""


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the answer; exit code: 0 done, 2 it could not be asked."""
    parser = parser_of("crag ask", __doc__, "Exit code: 0 done; 2 it could not be asked.")
    parser.add_argument("question")
    parser.add_argument("--why", action="store_true", help="show classes, calls, facts, passages, candidates and gates")
    parser.add_argument("--json", action="store_true", help="print the whole trace as JSON")
    parser.add_argument("--pages", metavar="FILE", type=Path, nargs="+", default=[], help="HTML files to read")
    parser.add_argument(
        "--url-file", metavar="FILE", type=Path, help="a file with an address on each line: pages to read"
    )
    add_graph_arguments(parser)
    parser.add_argument("--time", metavar="T", help="when it is asked, like '03/05/2024, 23:18:31 PT'; default: now")
    add_preset_arguments(parser)
    options = parser.parse_args(arguments)
    settings = load_settings(options.preset, options.set)
    pages = [*map(page_of, options.pages), *(fetched_pages(options.url_file) if options.url_file else ())]
    say(f"loading the models of preset {settings.name} ...")
    from agents.crag_agent import CragAgent

    has_graph = options.kg_url or os.environ.get(GRAPH_VARIABLE)
    asked_at = options.time or datetime.now(ZoneInfo("America/Los_Angeles")).strftime(TIME_FORMAT)
    batch = {"interaction_id": ["asked"], "query": [options.question], "search_results": [pages]}
    with ExitStack() as beside:
        if options.mock_kg is not None or not (pages or has_graph):
            if options.mock_kg is None:
                say("no page and no graph is given: asking the small graph that is shipped")
            options.kg_url = beside.enter_context(mock_graph(options.mock_kg or ""))
        if options.kg_url:
            os.environ[GRAPH_VARIABLE] = options.kg_url
        agent = CragAgent.from_settings(settings)
        beside.callback(agent.close)
        agent.warm_up()
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
    return _search_result(html, path.resolve().as_uri(), path.stem)


def fetched_pages(path: Path) -> Iterator[Mapping[str, Any]]:
    """The pages of a file with an address on each line; one that cannot be had is told and left out.
    Raises DatasetError: the file cannot be read.
    """
    try:
        addresses = path.read_text(encoding="utf-8").split()
    except (OSError, ValueError) as error:
        raise DatasetError(f"--url-file {path}: cannot be read: {error}") from None
    for address in addresses:
        try:
            with requests.get(address, timeout=TIMEOUT, stream=True) as reply:
                reply.raise_for_status()
                html = reply.raw.read(LARGEST_PAGE, decode_content=True)
        except (requests.RequestException, HTTPError) as error:
            say(f"left out: {address}: {type(error).__name__}")
        else:
            yield _search_result(html, address, address)


def _search_result(html: bytes, address: str, name: str) -> Mapping[str, Any]:
    from lxml import etree

    root = etree.fromstring(html, etree.HTMLParser(recover=True)) if html.strip() else None
    title = "" if root is None else root.findtext(".//title") or ""
    return {
        "page_name": " ".join(title.split()) or name,
        "page_url": address,
        "page_snippet": "",
        "page_result": html.decode("utf-8", "replace"),
        "page_last_modified": "",
    }


def explained(trace: Trace) -> str:
    """The question, its classes, calls, facts, passages, candidates, gates and events, and last the answer."""
    slow = {stage: seconds for stage, seconds in trace.seconds.items() if seconds >= LEAST_SECONDS}
    answer = trace.answer
    steps: Mapping[str, Sequence[str | None]] = {
        "question": [f"{trace.query}  ({trace.query_time})"],
        "classes": [", ".join(f"{name}: {_class(entry)}" for name, entry in (trace.route or {}).items())],
        "graph": [trace.graph_state],
        "calls": trace.calls,
        "facts": [f"{_short(fact.text)}  [{fact.source.partition(':')[0]}]" for fact in trace.facts],
        "pages": [f"{trace.pages_read} read, {len(trace.passages)} passages kept" if trace.pages_read else None],
        "passages": [_passage(passage) for passage in trace.passages],
        "candidates": [
            f"{_short(candidate.text)!r} from {candidate.source}"
            + ("" if candidate.probability is None else f", P(correct) {candidate.probability:.2f}")
            for candidate in trace.candidates
        ],
        "gates": [
            f"{gate.name}: {gate.reason}" + ("" if gate.withheld is None else f"; withheld {_short(gate.withheld)!r}")
            for gate in trace.gates
        ],
        "events": [_short(event) for event in trace.events],
        "seconds": [", ".join(f"{stage} {seconds:.1f}" for stage, seconds in slow.items()) or "next to none"],
        "lost to": [trace.lost],
        "answer": [answer.text if answer else None],
        "because": [f"{answer.source}: {answer.reason}" if answer else None],
    }
    shown = {name: [text for text in texts if text] for name, texts in steps.items()}
    lines = [("" if number else name, text) for name, texts in shown.items() for number, text in enumerate(texts)]
    return "\n".join(f"{name:11}{text}" for name, text in lines)


def _class(entry: Mapping[str, Any]) -> str:
    shares = entry.get("probabilities")
    label = str(entry.get("label"))
    return f"{label} {shares[label]:.2f}" if isinstance(shares, Mapping) and label in shares else label


def _passage(passage: Passage) -> str:
    score = "" if passage.score is None else f"{passage.score:.2f} "
    return f"{score}{_short(passage.page_name, 30)}: {_short(passage.text)}"


def _short(text: str, width: int = WIDTH) -> str:
    return shorten(text, width, placeholder=" ...")
