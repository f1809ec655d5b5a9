"""`crag ask QUESTION`: answer from your pages, a knowledge graph or both, with the sentence that supports the answer.

Without a question it reads questions from the terminal until the input ends.
"""

import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import import_module
from itertools import chain
from pathlib import Path
from textwrap import shorten
from typing import Any

from crag.asking.asker import Answer, Asker
from crag.commands.command_line import (
    add_graph_arguments,
    add_preset_arguments,
    command,
    form,
    moment,
    parser_of,
    say,
    warn_of_silent_graph,
)
from crag.core.contracts import GRAPH, I_DONT_KNOW, WEB, Passage, Trace
from crag.core.files import UserError
from crag.evaluation.batches import GRAPH_VARIABLE
from crag.evaluation.graph_server import mock_graph

WIDTH = 110
LEAST_SECONDS = 0.05
"""Stages that took less are not listed by --why."""
GRAPH_STATES = {
    "found": "queried, facts found",
    "not_found": "nothing found",
    "empty_calendar": "queried, no game on that day",
    "no_call": "not queried: no call fits the question",
    "down": "queried, no reply",
    None: "not queried",
}
SOURCES = {GRAPH: "from the knowledge graph", WEB: "from the pages"}


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the answers; exit code: 0 done, 2 wrong arguments, no readable page, or missing weights."""
    parser = parser_of("crag ask", __doc__, "Exit code: 0 done; 2 an error, which is printed.")
    parser.add_argument("question", nargs="?")
    parser.add_argument("--file", metavar="FILE", type=Path, help="file of questions, one per line")
    pages = "read a file (HTML, plain text, PDF), a folder or a URL; can be repeated"
    parser.add_argument("--pages", metavar="PLACE", action="append", default=[], help=pages)
    parser.add_argument("--why", action="store_true", help="show classes, calls, facts, passages, candidates and gates")
    parser.add_argument("--json", action="store_true", help="print the trace as JSON; several: one per line")
    add_graph_arguments(parser)
    when = "query time, as '03/05/2024, 23:18:31 PT'; default: now"
    parser.add_argument("--time", metavar="T", type=form(moment), help=when)
    add_preset_arguments(parser)
    options = parser.parse_args(arguments)
    if options.question is not None and options.file:
        parser.error("give a question or --file, not both")
    questions = [options.question] if options.question is not None else _lines_of(options.file) if options.file else []
    if (questions or options.file) and not all(map(str.strip, questions or [""])):
        raise UserError("the question is empty" if not options.file else f"--file {options.file}: no question found")
    with ExitStack() as beside:
        graph = options.kg_url or os.environ.get(GRAPH_VARIABLE, "").strip()
        if options.mock_kg is not None or not (options.pages or graph):
            if options.mock_kg is None:
                say("no page and no graph is given: asking the small graph that is shipped")
            with ThreadPoolExecutor(1) as thread:
                started = thread.submit(beside.enter_context, mock_graph(options.mock_kg or ""))
                import_module("crag.pipeline.agent")  # takes as long as the graph's start
                options.kg_url = started.result()
        elif graph:
            warn_of_silent_graph(graph)
        asker = beside.enter_context(Asker(options.preset, kg_url=options.kg_url, changes=options.set))
        asker.read(options.pages)
        say(f"loading the models of preset {asker.settings.name} ...")
        asker.warm_up()
        several = len(questions) != 1
        asked = [questions] if questions else ([line] for line in _typed())
        for answer in chain.from_iterable(asker.ask_all(some, options.pages, options.time) for some in asked):
            sys.stdout.write(_told(answer, options, several=several))
            sys.stdout.flush()


def _lines_of(path: Path) -> list[str]:
    """The lines of a file that are not blank. Raises UserError: it cannot be read."""
    try:
        return [line for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise UserError(f"--file {path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _typed() -> Iterator[str]:
    """The lines of standard input that are not blank, until it ends."""
    prompt = "question> " if sys.stdin.isatty() else ""
    sys.stderr.write(prompt)
    for line in sys.stdin:
        if line.strip():
            yield line.strip()
        sys.stderr.write(prompt)


def _told(answer: Answer, options: Any, *, several: bool) -> str:  # noqa: ANN401 - argparse's namespace
    if options.json:
        indent = None if several else 1
        return json.dumps(answer.trace.to_dict(), ensure_ascii=False, indent=indent, default=str) + "\n"
    if options.why:
        return f"{explained(answer.trace)}\n" + ("\n" if several else "")
    return f"{answer.trace.query}\n    {answer}\n" if several else f"{answer}\n"


def explained(trace: Trace) -> str:
    """The trace as text, one line per fact; probabilities and relevance are from 0 to 1."""
    outcome, answer = Answer.of(trace), trace.answer
    slow = {stage: seconds for stage, seconds in trace.seconds.items() if seconds >= LEAST_SECONDS}
    scored = any("cross_encoder" in passage.scores for passage in trace.passages)
    fit = ", each with its relevance to the question from 0 to 1" if scored else ""
    steps: Mapping[str, Sequence[str | None]] = {
        "question": [f"{trace.query}  ({trace.query_time})"],
        "classes": [", ".join(f"{name}: {_class(entry)}" for name, entry in (trace.route or {}).items())],
        "graph": [GRAPH_STATES.get(trace.graph_state, trace.graph_state)],
        "calls": trace.calls,
        "facts": [f"{_short(fact.text)}  [{fact.source.partition(':')[0]}]" for fact in trace.facts],
        "pages": [f"{trace.pages_read} read, {len(trace.passages)} passages kept{fit}" if trace.pages_read else None],
        "passages": [_passage(passage) for passage in trace.passages],
        "candidates": [
            f"{_short(candidate.text)!r} {SOURCES.get(candidate.source, candidate.source)}"
            + ("" if candidate.probability is None else f", right with probability {candidate.probability:.2f}")
            for candidate in trace.candidates
        ],
        "withheld": [
            (f"{_short(gate.withheld or '')!r}, " if gate.withheld not in {None, I_DONT_KNOW} else "") + gate.reason
            for gate in trace.gates
        ],
        "events": [_short(event) for event in trace.events],
        "seconds": [", ".join(f"{stage} {seconds:.1f}" for stage, seconds in slow.items()) or "below 0.05"],
        "lost to": [trace.lost],
        "answer": [answer.text if answer else None],
        "evidence": [f'"{outcome.sentence}"', outcome.source] if outcome.sentence else ["none found"],
        "because": [answer.reason if answer else None],
    }
    shown = {name: [text for text in texts if text] for name, texts in steps.items()}
    lines = [("" if number else name, text) for name, texts in shown.items() for number, text in enumerate(texts)]
    return "\n".join(f"{name:11}{text}" for name, text in lines)


def _class(entry: Mapping[str, Any]) -> str:
    shares = entry.get("probabilities")
    label = str(entry.get("label"))
    return f"{label} {shares[label]:.2f}" if isinstance(shares, Mapping) and label in shares else label


def _passage(passage: Passage) -> str:
    logit = passage.scores.get("cross_encoder")
    fit = "" if logit is None else f"{1 / (1 + math.exp(-max(-99.0, logit))):.2f} "
    return f"{fit}{_short(passage.page_name, 30)}: {_short(passage.text)}"


def _short(text: str, width: int = WIDTH) -> str:
    return shorten(text, width, placeholder=" ...")
