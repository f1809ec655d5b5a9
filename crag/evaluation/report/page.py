"""The pages: a run, or two side by side, as one file with its data, packed traces, style and script.

The page opens a block of traces (zlib in base64) only when a question of it is opened.
"""

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, TemplateError

from crag.core.files import DatasetError, check_target, write_whole
from crag.evaluation.batches import gold_answers
from crag.evaluation.compare import Comparison, verdicts_title
from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import FEWEST
from crag.evaluation.report import measured
from crag.evaluation.report.measured import FinishedRun, ThresholdPoint, read_finished_run, table_data
from crag.evaluation.results import lost_line, out_of_time_line, tokens_line
from crag.evaluation.signature import signature_line
from crag.evaluation.store import REPORT, SavedRun

SHARED_SCRIPTS = ("elements.js", "page.js", "trace.js")
"""In order of dependency; each page has one more."""
REPORT_FAULTS = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError),
    TemplateError,
)
"""Raised for unreadable files or unexpected traces and results. A finished run must not fail for them."""
CHANCE = 0.05
"""From this p-value on, a difference is called one that chance may have made."""
BARS = 20
BLOCK_QUESTIONS = 16
"""Questions per block; they share a dictionary and are unpacked together."""
PACKED_LIMIT = 11_000_000
"""Maximum characters of all blocks, so that a report of 2,706 questions stays below 15 MB."""
LONGEST = (40_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 80)
"""Characters to which each text is cut, tried in turn until the blocks are small enough."""
LEFT, RIGHT, UPPER, LOWER = 60.0, 408.0, 12.0, 256.0
"""The plot area of a line chart of 420 x 300."""


def write_report(folder: Path, out: Path | None = None) -> Path:
    """Write report.html of the finished run in `folder`, there or to `out` (creating folders); returns the path.
    Raises DatasetError: the run is unfinished, or the page cannot be written.
    """
    path, run = out or folder / REPORT, read_finished_run(folder)
    check_target(path)
    return _written(path, _report, run)


def write_comparison(comparison: Comparison, first: SavedRun, second: SavedRun, path: Path) -> Path:
    """Write the page of two runs side by side; returns its path; raises DatasetError."""
    return _written(path, _comparison, comparison, first, second)


def _written(path: Path, made: Callable[..., str], *parts: object) -> Path:
    try:
        page = made(*parts)
    except REPORT_FAULTS as error:
        raise DatasetError(f"{path}: the page cannot be made: {type(error).__name__}: {error}") from error
    try:
        write_whole(path, page.encode("utf-8", errors="replace"))
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def _report(run: FinishedRun) -> str:
    packed = pack(run.records, [run.trace(record) for record in run.records])
    return _filled("report.html", "table.js", packed, table_data(run), run=run)


def _comparison(comparison: Comparison, first: SavedRun, second: SavedRun) -> str:
    sides = (first, comparison.first), (second, comparison.second)
    runs = [FinishedRun(saved, {**asdict(metrics), "signature": saved.run.signature}) for saved, metrics in sides]
    pairs = [pair for pairs in comparison.flips.values() for pair in pairs]
    records = [record for pair in pairs for record in (pair.first, pair.second)]
    traces = [run.trace(record) for pair in pairs for run, record in zip(runs, (pair.first, pair.second), strict=True)]
    data = {"limits": [run.limit for run in runs]}
    won = sum(len(pairs) for kind, pairs in comparison.flips.items() if kind.second is Verdict.CORRECT)
    lost = sum(len(pairs) for kind, pairs in comparison.flips.items() if kind.first is Verdict.CORRECT)
    named = {"sides": list(zip("AB", runs, strict=True)), "won": won, "lost": lost, "chance": CHANCE}
    return _filled("compared.html", "compare.js", pack(records, traces), data, compared=comparison, **named)


def _filled(template: str, script: str, packed: "PackedTraces", data: Mapping[str, Any], **parts: object) -> str:
    """A template with its parts, our style and scripts, and the packed traces; nothing else may run in it."""
    style = _file("style.css")
    scripts = "\n".join(_file(name) for name in (*SHARED_SCRIPTS, script))
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(scripts)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    ours = {"style": style, "script": scripts, "policy": policy, "packed": packed}
    data = {**data, "block_questions": BLOCK_QUESTIONS}
    return TEMPLATES.get_template(template).render(**ours, data=data, **parts)


def _file(name: str) -> str:
    return files("crag.evaluation.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


# --- traces made small enough for one page: long texts are cut, questions compressed in blocks -----------------------


class PackedTraces(NamedTuple):
    """The blocks, the characters kept of each text, and how many questions were cut."""

    blocks: Sequence[str]
    longest: int
    shortened: int


def pack(records: Sequence[Mapping[str, Any]], traces: Sequence[Mapping[str, Any]]) -> PackedTraces:
    """Blocks of ``[{record, trace, left_out}]``, `BLOCK_QUESTIONS` questions each, in order."""
    whole = [
        {"record": record, "trace": trace or None} for record, trace in zip(records, map(_once, traces), strict=True)
    ]
    for longest in LONGEST:
        left_out = [sum(max(0, len(text) - longest) for text in _texts(entry)) for entry in whole]
        entries = [{**cut(entry, longest), "left_out": count} for entry, count in zip(whole, left_out, strict=True)]
        blocks = [_block(entries[n : n + BLOCK_QUESTIONS]) for n in range(0, len(entries), BLOCK_QUESTIONS)]
        if sum(map(len, blocks)) <= PACKED_LIMIT:
            break
    return PackedTraces(blocks, longest, sum(map(bool, left_out)))


def _block(entries: Sequence[Mapping[str, Any]]) -> str:
    plain = json.dumps(entries, separators=(",", ":"), allow_nan=False).encode("ascii")
    return base64.b64encode(zlib.compress(plain, 9)).decode("ascii")


def _once(trace: Mapping[str, Any]) -> Mapping[str, Any]:
    """The trace without its context, if a prompt has it word for word, as is usual."""
    context = trace.get("context")
    if isinstance(context, str) and any(context in text for text in _texts(trace.get("prompts"))):
        return {**trace, "context": ""}
    return trace


def cut(value: Any, longest: int) -> Any:  # noqa: ANN401 - any JSON value
    """Cut every text longer than `longest` in its middle, with a note of how much is missing."""
    if isinstance(value, str) and len(value) > longest:
        head = longest * 2 // 3
        return f"{value[:head]} [... {len(value) - longest} characters left out ...] {value[head - longest :]}"
    if isinstance(value, Mapping):
        return {name: cut(item, longest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [cut(item, longest) for item in value]
    return value


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)


# --- what the templates call ------------------------------------------------------------------------------------------


def counted(count: int, one: str, several: str = "") -> str:
    """``1 question``, ``2 questions``."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def percent(share: float, digits: int = 1) -> str:
    """``12.3`` of 0.123."""
    return f"{100 * share:.{digits}f}"


def interval_of(ends: Sequence[float], n: int, form: str = "{:+.3f} to {:+.3f}") -> str:
    """Both ends; a dash if the interval is of too few questions."""
    return form.format(*ends) if n >= FEWEST else "–"


def facts_of(run: FinishedRun) -> dict[str, str]:
    """What was run, where and when."""
    facts = {
        **{name: run.signature.get(name) for name in ("preset", "set", "agent", "data", "judge")},
        **{name: run.saved.run.measured.get(name) for name in ("date", "machine", "commit", "command")},
        "tokens": tokens_line(run.results).removeprefix("tokens: "),
    }
    return {"changes" if name == "set" else name: str(value) for name, value in facts.items() if value}


def histogram(run: FinishedRun) -> Mapping[str, Any] | None:
    """How many questions took how long, in `BARS` steps of ``width`` seconds; None without seconds."""
    seconds = [float(record["seconds"]) for record in run.records]
    if not seconds or max(seconds) <= 0:
        return None
    counts, _ = np.histogram(seconds, BARS, (0.0, max(seconds)))
    alone = len({row["batch"] for row in run.records}) == len(run.records)
    return {"counts": counts.tolist(), "width": max(seconds) / BARS, "longest": max(seconds), "is_alone": alone}


@dataclass(frozen=True, slots=True)
class Frame:
    """A line chart of data from (0, the lowest mark) to (1, 1)."""

    marks: Sequence[float]

    def x(self, value: float) -> float:
        """The place from the left."""
        return round(LEFT + value * (RIGHT - LEFT), 1)

    def y(self, value: float) -> float:
        """The place from above; what lies below the lowest mark or above 1 stands at the edge."""
        bottom = min(self.marks)
        return round(LOWER - (min(1.0, max(bottom, value)) - bottom) / (1.0 - bottom) * (LOWER - UPPER), 1)

    def path(self, points: Iterable[tuple[float, float]]) -> str:
        """A line through these points, as data of an SVG path."""
        return "M" + "L".join(f"{self.x(x)} {self.y(y)}" for x, y in points)

    def line(self, points: Sequence[ThresholdPoint], name: str) -> str:
        """The line of a field over the threshold."""
        return self.path((point.threshold, getattr(point, name)) for point in points)


def threshold_frame(points: Sequence[ThresholdPoint]) -> Frame:
    """From the lowest end of an interval, at most 0, to 1."""
    lowest = min(point.interval.low for point in points)
    return Frame([mark / 4 for mark in range(-4, 5) if mark >= 0 or mark / 4 > lowest - 0.25])


def band(points: Sequence[ThresholdPoint]) -> list[tuple[float, float]]:
    """The corners of the area between both ends of the intervals."""
    upper = [(point.threshold, point.interval.high) for point in points]
    return upper + [(point.threshold, point.interval.low) for point in reversed(points)]


TEMPLATES = Environment(
    loader=PackageLoader("crag.evaluation.report", "."),
    autoescape=True,  # no text of a page, a question or a model can become markup
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}  # JSON.parse refuses NaN
_CALLED = (counted, interval_of, facts_of, histogram, Frame, threshold_frame, band, gold_answers, verdicts_title)
_MEASURED = (measured.confidence, measured.threshold_curve, measured.reliability, measured.stage_seconds)
_LINES = (lost_line, out_of_time_line, signature_line, measured.row_id)
TEMPLATES.globals |= {"FEWEST": FEWEST, "SHOWN": measured.SHOWN} | {
    call.__name__: call for call in (*_CALLED, *_MEASURED, *_LINES)
}
TEMPLATES.filters |= {
    "title_of": measured.title,
    "signed": "{:+.3f}".format,
    "percent": percent,
}
