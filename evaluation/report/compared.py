"""Two runs side by side as one page, with a Markdown block and a picture to paste."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, tostring

from agents.common.files import write_whole
from evaluation.batches import golds_of
from evaluation.comparison import Comparison, RunPair
from evaluation.judge import Verdict
from evaluation.metrics import FEWEST, Metrics
from evaluation.paired import Difference, VerdictPair
from evaluation.report.charts import score_whisker
from evaluation.report.markup import Child, element, html, table
from evaluation.report.measured import FinishedRun, title
from evaluation.report.opening import counted, origin_list, run_name, score_text, task_of
from evaluation.report.packing import BLOCK_QUESTIONS, pack
from evaluation.report.page import REPORT_FAULTS, filled, script_json
from evaluation.store import SavedRun, StoreError

SCRIPTS = ("elements.js", "page.js", "trace.js", "compare.js")
WORDS = {Verdict.CORRECT: "right", Verdict.INCORRECT: "wrong"}
CHANCE = 0.05
"""From this p-value on, a difference is called one that chance may have made."""


class _Side(NamedTuple):
    letter: str
    run: FinishedRun
    metrics: Metrics

    @property
    def name(self) -> str:
        return f"{self.letter}: {run_name(self.run.signature)}"


def write_comparison(comparison: Comparison, first: SavedRun, second: SavedRun, path: Path) -> Path:
    """Write the page and, beside it, the picture with the ending ``.svg``; returns the page's path.

    Raises:
        StoreError: a trace is unreadable, or a file cannot be written.
    """
    a, b = (
        _Side(letter, FinishedRun({"signature": saved.run.signature}, (), saved.traces, saved.origin), metrics)
        for letter, saved, metrics in (("A", first, comparison.first), ("B", second, comparison.second))
    )
    drawn = tostring(picture(comparison, a, b), encoding="utf-8")
    try:
        page = _page(comparison, a, b, drawn, path.with_suffix(".svg").name)
    except REPORT_FAULTS as error:
        raise StoreError(f"the comparison cannot be shown: {type(error).__name__}: {error}") from error
    for target, content in ((path.with_suffix(".svg"), drawn), (path, page.encode("utf-8", errors="replace"))):
        try:
            write_whole(target, content)
        except OSError as error:
            raise StoreError(f"{target}: cannot be written: {error.strerror}") from None
    return path


def _page(comparison: Comparison, a: _Side, b: _Side, drawn: bytes, picture_name: str) -> str:
    pairs = [pair for pairs in comparison.flips.values() for pair in pairs]
    records = [record for pair in pairs for record in (pair.first, pair.second)]
    traces = [side.run.trace(record) for pair in pairs for side, record in ((a, pair.first), (b, pair.second))]
    address = f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode('ascii')}"
    picture_element = element("img", src=address, alt=sentence(comparison), width=1200, height=630, id="picture")
    return filled(
        "compared.html",
        SCRIPTS,
        pack(records, traces),
        data=script_json({"limits": [a.run.limit, b.run.limit], "block_questions": BLOCK_QUESTIONS}),
        title=html(element("title", headline(a, b))),
        headed=html(element("h1", headline(a, b))),
        sentence=html(element("p", sentence(comparison), class_="sentence")),
        sides=html(*(_side(side) for side in (a, b))),
        differences=html(*_differences(comparison)),
        changes=html(*_changes(comparison)),
        slices=html(*_slices(comparison)),
        flips=html(*_flips(comparison.flips)),
        markdown=html(element("pre", markdown(comparison, a, b, picture_name), id="markdown")),
        picture=html(picture_element),
    )


def headline(a: _Side, b: _Side) -> str:
    """``A: cpu +0.03 / B: cpu, changed +0.05``."""
    return " / ".join(f"{side.name} {score_text(side.metrics.to_dict())}" for side in (a, b))


def sentence(comparison: Comparison) -> str:
    """What the comparison says, in words."""
    found = comparison.differences.get("score")
    if found is None:
        return "No question is scored in both runs."
    interval = f" {_interval(found)}" if comparison.scored >= FEWEST else ""
    way = "as much as" if not found.change else f"{abs(found.change):.3f} {'more' if found.change > 0 else 'less'} than"
    said = f"B scores {way} A on {counted(comparison.scored, 'common question')}{interval}, p {_p_value(found)}"
    return said + (": chance may have made it." if found.p_value >= CHANCE else ": more than chance.")


def markdown(comparison: Comparison, a: _Side, b: _Side, picture_name: str) -> str:
    """The comparison as a Markdown block."""
    lines = [
        f"**{sentence(comparison)}**",
        "",
        "| | A | B | B - A | 95 % interval | p |",
        "|---|---:|---:|---:|---|---:|",
        *("| " + " | ".join(row) + " |" for row in _rows(comparison)),
        "",
        f"{_flip_counts(comparison)}.",
        f"{a.name}, {b.name}; data {a.run.signature.get('data')}, judge {a.run.signature.get('judge')}.",
        *(f"Changed: `{name}` from `{one}` to `{other}`." for name, one, other in comparison.signature_changes),
        "",
        f"![A and B]({picture_name})",
    ]
    return "\n".join(lines)


def _flip_counts(comparison: Comparison) -> str:
    won = sum(len(pairs) for kind, pairs in comparison.flips.items() if kind.second is Verdict.CORRECT)
    lost = sum(len(pairs) for kind, pairs in comparison.flips.items() if kind.first is Verdict.CORRECT)
    flipped = sum(map(len, comparison.flips.values()))
    return (
        f"{flipped} of {counted(comparison.common, 'question')} flipped: {won} became right, {lost} were right before"
    )


def _rows(comparison: Comparison) -> list[list[str]]:
    """One row for each measure: name, A, B, difference, interval, p."""
    return [[name, *_figures(difference, comparison.scored)] for name, difference in comparison.differences.items()]


def _figures(found: Difference, n: int) -> list[str]:
    interval = _interval(found) if n >= FEWEST else "–"
    return [f"{found.first:+.3f}", f"{found.second:+.3f}", f"{found.change:+.3f}", interval, _p_value(found)]


def _interval(found: Difference) -> str:
    return f"[{found.interval.low:+.3f}, {found.interval.high:+.3f}]"


def _p_value(found: Difference) -> str:
    return "<0.0001" if found.p_value < 0.0001 else f"{found.p_value:.4f}"


# --- the parts of the page --------------------------------------------------------------------------------------------


def _side(side: _Side) -> Element:
    counts = side.metrics
    shares = f"right {counts.accuracy:.1%}, missing {counts.missing:.1%}, wrong {counts.hallucination:.1%}"
    return element(
        "div",
        element("div", f"{side.name}, CRAG task {task_of(side.run.signature)}", class_="name"),
        element("div", score_text(counts.to_dict()), class_="value"),
        element("div", f"{shares}, n {counts.n}" if counts.n else "", class_="more"),
        *origin_list(side.run),
        class_="card score",
    )


def _differences(comparison: Comparison) -> list[Element]:
    notes = []
    if comparison.only_first or comparison.only_second:
        notes.append(f"{comparison.only_first} questions are only in A and {comparison.only_second} only in B.")
    notes += [
        f"{name} is not finished." for name, is_done in zip("AB", comparison.finished, strict=True) if not is_done
    ]
    if unscored := comparison.common - comparison.scored:
        notes.append(f"{counted(unscored, 'common question')} could not be scored in both.")
    columns = {"label": "", "a": "A", "b": "B", "change": "B - A", "interval": "95 % interval", "p": "p"}
    shown = [table(columns, _rows(comparison), "compared", "Over the questions scored in both")]
    return [*(shown if comparison.differences else []), *(element("p", note, class_="note") for note in notes)]


def _changes(comparison: Comparison) -> list[Element]:
    if not comparison.signature_changes:
        return [element("p", "The signatures are equal.", class_="note")]
    rows: list[list[Child]] = [[name, str(one), str(other)] for name, one, other in comparison.signature_changes]
    return [table({"label": "", "a": "A", "b": "B"}, rows, "changes", "What differs in the signatures")]


def _slices(comparison: Comparison) -> list[Element]:
    columns = {
        "label": "",
        "number": "n",
        "a": "A",
        "b": "B",
        "change": "B - A",
        "interval": "95 % interval",
        "p": "p",
        "drawn": "B - A, from -2 to 2",
    }
    made = []
    for field, parts in comparison.slices.items():
        rows: list[list[Child]] = []
        for label, part in parts.items():
            found = part.differences.get("score")
            if found is None:
                rows.append([label, "0", *["–"] * 5, None])
                continue
            ends = (found.interval.low, found.interval.high) if part.n >= FEWEST else (found.change, found.change)
            drawn = score_whisker(found.change / 2, ends[0] / 2, ends[1] / 2, f"{label}: {found.change:+.3f}")
            rows.append([label, str(part.n), *_figures(found, part.n), drawn])
        made.append(table({**columns, "label": title(field)}, rows, "compared", f"Score by {title(field)}"))
    note = "p-values of slices are uncorrected: by chance alone, one slice in twenty has p < 0.05."
    return [*made, element("p", note, class_="note")] if made else [element("p", "No labels.", class_="note")]


def _flips(flips: Mapping[VerdictPair, Sequence[RunPair]]) -> Iterable[Element]:
    """Every flipped question; its traces are unpacked when it is opened."""
    if not flips:
        yield element("p", "No verdict differs.", class_="note")
    place = 0
    for kind, pairs in flips.items():
        yield element("h3", f"{' to '.join(WORDS.get(verdict, verdict.value) for verdict in kind)} ({len(pairs)})")
        for pair in pairs:
            yield element(
                "details",
                element("summary", pair.first["query"]),
                element(
                    "p",
                    f"expected: {' | '.join(map(str, golds_of(pair.first))) or '(none)'} · A: "
                    f"{pair.first['prediction'] or '(empty)'} · B: {pair.second['prediction'] or '(empty)'}",
                    class_="quiet",
                ),
                class_="flip",
                data_place=place,
            )
            place += 1


# --- the picture ------------------------------------------------------------------------------------------------------

INK, QUIET, LINE, BLUE = "#1a1f27", "#59636f", "#d9dde3", "#2b5fa8"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def picture(comparison: Comparison, a: _Side, b: _Side) -> Element:
    """1200 x 630, as previews of links are: both scores with intervals on one scale, and what the difference is."""
    sheet = element("svg", viewBox="0 0 1200 630", width=1200, height=630, xmlns="http://www.w3.org/2000/svg")
    sheet.set("font-family", FONT)
    sheet.append(element("rect", width=1200, height=630, fill="#ffffff"))
    found = comparison.differences.get("score")
    sheet.append(_text("CRAG score, B less A", 60, 80, 30, QUIET))
    sheet.append(_text(f"{found.change:+.3f}" if found else "nothing scored", 60, 180, 96, INK, "700"))
    if found:
        interval = f"95 % interval {_interval(found)}, " if comparison.scored >= FEWEST else ""
        note = f"{interval}p {_p_value(found)}, {counted(comparison.scored, 'common question')}"
        sheet.append(_text(note, 60, 228, 28, QUIET))
    for side, y in ((a, 320), (b, 420)):
        sheet.append(_text(_cut(side.name, 22), 60, y + 10, 32, INK, "600"))
        _draw_score(sheet, side.metrics, y)
    for value in (-1.0, -0.5, 0.0, 0.5, 1.0):
        sheet.append(_text(f"{value:+g}" if value else "0", _x(value), 490, 22, QUIET, anchor="middle"))
    sheet.append(_text(_flip_counts(comparison), 60, 550, 26, INK))
    data, judge = (str(a.run.signature.get(name) or "?") for name in ("data", "judge"))
    sheet.append(_text(_cut(f"{data}, judge {judge}", 90), 60, 592, 22, QUIET))
    return sheet


def _draw_score(sheet: Element, metrics: Metrics, y: float) -> None:
    sheet.append(element("line", x1=_x(-1), x2=_x(1), y1=y, y2=y, stroke=LINE, stroke_width=3))
    sheet.append(element("line", x1=_x(0), x2=_x(0), y1=y - 24, y2=y + 24, stroke=QUIET, stroke_width=2))
    if not metrics.n:
        return
    if metrics.n >= FEWEST:
        low, high = metrics.score_interval.low, metrics.score_interval.high
        sheet.append(element("line", x1=_x(low), x2=_x(high), y1=y, y2=y, stroke=BLUE, stroke_width=8))
    sheet.append(element("circle", cx=_x(metrics.score), cy=y, r=13, fill=BLUE))
    sheet.append(_text(f"{metrics.score:+.3f}", 590, y + 10, 32, INK, "600", anchor="end"))


def _x(score: float) -> float:
    return round(880 + 250 * score, 1)


def _text(
    text: str, x: float, y: float, size: int, colour: str, weight: str = "400", anchor: str | None = None
) -> Element:
    return element("text", text, x=x, y=y, font_size=size, fill=colour, font_weight=weight, text_anchor=anchor)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
