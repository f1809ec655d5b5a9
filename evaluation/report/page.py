"""The whole page: sections, table data, packed traces, style and script in one self-contained file."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from agents.common.files import check_target, write_whole
from evaluation.report import opening, sections
from evaluation.report.markup import element, html
from evaluation.report.measured import FinishedRun, read_run, table_data
from evaluation.report.packing import PackedTraces, pack
from evaluation.store import REPORT, StoreError

SCRIPTS = ("elements.js", "page.js", "trace.js", "table.js")
"""In order of dependency."""

REPORT_FAULTS = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""Raised for unreadable files or unexpected traces and results. A finished run must not fail for them."""


def write_report(folder: Path, out: Path | None = None) -> Path:
    """Write report.html of the finished run in `folder`, there or to `out` (creating folders); returns the path.

    Raises:
        DatasetError: the run is unfinished, or the page cannot be written.
    """
    path = out or folder / REPORT
    run = read_run(folder)
    check_target(path)
    try:
        page = render(run)
    except REPORT_FAULTS as error:
        raise StoreError(f"{folder}: the report cannot be made: {type(error).__name__}: {error}") from error
    try:
        write_whole(path, page.encode("utf-8", errors="replace"))
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def render(run: FinishedRun) -> str:
    """The page as text."""
    packed = pack(run.records, [run.trace(record) for record in run.records])
    return filled(
        "template.html",
        SCRIPTS,
        packed,
        data=script_json(table_data(run)),
        title=html(element("title", opening.run_title(run))),
        headed=html(element("h1", opening.run_title(run))),
        sentence=html(*opening.sentence(run)),
        heading=html(*opening.heading(run)),
        count=f"{len(run.records):,}",
        headline=html(*sections.headline(run)),
        points=html(*opening.points(run)),
        ruler=html(*opening.ruler(run)),
        slices=html(*sections.by_slice(run)),
        latency=html(*sections.latency(run)),
        abstention=html(*sections.abstention(run)),
        gates=html(*sections.gates(run)),
        signature=html(*sections.signature(run)),
        about_traces=html(element("p", about_traces(run, packed), class_="note")),
    )


def filled(template: str, scripts: Sequence[str], packed: PackedTraces, **parts: str) -> str:
    """A template with its parts, our style, these scripts and the packed traces; nothing else may run in it."""
    style, script = _file("style.css"), "\n".join(_file(name) for name in scripts)
    return Template(_file(template)).substitute(
        policy=f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        blocks="\n".join(
            f'<script type="text/plain" id="block-{number}">{block}</script>'
            for number, block in enumerate(packed.blocks)
        ),
        **parts,
    )


def about_traces(run: FinishedRun, packed: PackedTraces) -> str:
    """A note on which traces the page has."""
    if not run.traces:
        return "The agent left no traces, so a question shows only its answer and verdict."
    if not packed.shortened:
        return "Every question has its whole trace."
    return (
        f"The page keeps {packed.budget:,} characters of text per question to stay small: in "
        f"{packed.shortened:,} of {len(run.records):,} questions the longest texts are cut in their middle. "
        "traces.jsonl has the full texts."
    )


def script_json(data: Mapping[str, Any]) -> str:
    """JSON that cannot end its script element or a script's line: ASCII without ``<``, ``>``, ``&``.

    Raises:
        ValueError: a number is not valid in JSON, which JSON.parse would refuse.
    """
    plain = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _file(name: str) -> str:
    return files("evaluation.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
