"""The results of a run as text: tables of metrics, and lines about what was lost."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crag.core.contracts import Lost
from crag.evaluation.batches import SECONDS_PER_QUERY
from crag.evaluation.judge import hedged_line
from crag.evaluation.metrics import FEWEST, Metrics, field_title
from crag.evaluation.retrieval_quality import retrieval_line
from crag.evaluation.signature import signature_line

LOST_TO = {Lost.CLOCK: "the clock", Lost.FAULT: "a fault", Lost.GRAPH: "a knowledge graph that did not reply"}


def metrics_table(results: Mapping[str, Any]) -> str:
    """The metrics as text: one line for all questions, then one per label of each slice, with 95 % intervals.

    A line without scored questions has dashes, one of fewer than `FEWEST` has no interval. If gates closed, a block
    about them follows.
    """
    titles = ("", "score", f"{'95 % interval':^17}", "accuracy", "hallucin.", "missing", "    n")
    rows: list[tuple[str, ...]] = [titles, _metrics_cells("all questions", results)]
    for field, groups in results["slices"].items():
        rows.append((field_title(field),))
        rows.extend(_metrics_cells(f"  {label}", metrics) for label, metrics in groups.items())

    lost = lost_line(results["lost"])
    notes = [
        f"{results['unscored']} more could not be scored and count neither way" if results["unscored"] else "",
        results.get("no_verdict") or "",  # older runs did not say it
        f'{lost} ("lost" in predictions.jsonl)' if lost else "",
        _asked_again_line(results.get("asked_again", 0)),  # older runs did not count them
        hedged_line(results.get("hedged_abstentions", 0)),  # nor these
        clock_line(results),
        out_of_time_line(results),
    ]
    lines = [*align_columns(rows), *filter(None, notes), *_gates_block(results["gates"])]
    return "\n".join(lines)


def _asked_again_line(count: int) -> str:
    if not count:
        return ""
    noun = "question was" if count == 1 else "questions were"
    return f'{count} {noun} asked again after a loss ("attempts" in predictions.jsonl)'


def _metrics_cells(label: str, metrics: Mapping[str, Any]) -> tuple[str, ...]:
    if not metrics["n"]:
        return (label, "-", f"{'-':^17}", "-", "-", "-", "0")

    shares = [f"{metrics[name]:.3f}" for name in ("accuracy", "hallucination", "missing")]
    interval = interval_text(metrics["ci"], metrics["n"])
    return (label, f"{metrics['score']:+.3f}", interval, *shares, str(metrics["n"]))


def align_columns(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows as lines, the first column to the left, the others to the right; a row of one cell is a title."""
    # Titles may be wider than the first column
    full_rows = [row for row in rows if len(row) > 1]
    columns = zip(*full_rows, strict=True)
    label_width, *cell_widths = [max(map(len, column)) for column in columns]

    lines: list[str] = []
    for label, *cells in rows:
        if not cells:
            lines.append(label)
            continue
        aligned = [cell.rjust(width) for cell, width in zip(cells, cell_widths, strict=True)]
        lines.append("  ".join([label.ljust(label_width), *aligned]))
    return lines


def interval_text(ends: Sequence[float], n: int) -> str:
    """``[ -0.189, +0.243]``, or a dash of the same width if the interval is of too few questions."""
    # The same width as an interval, so that the columns stay aligned
    if n < FEWEST:
        return f"{'-':^17}"
    low, high = ends
    return f"[{low:>+7.3f},{high:>+7.3f}]"


def metrics_headline(name: str, metrics: Metrics, fewest: int = FEWEST) -> str:
    """The score of a run or a file, and the shares, in one line; with the interval from `fewest` questions on."""
    if not metrics.n:
        return f"{name}: nothing scored, {metrics.unscored} unscored"

    interval = ""
    if metrics.n >= fewest:
        low, high = metrics.ci
        interval = f" [{low:+.3f},{high:+.3f}]"
    unscored = f", {metrics.unscored} unscored" if metrics.unscored else ""
    return (
        f"{name}: score {metrics.score:+.3f}{interval}, accuracy {metrics.accuracy:.3f}, "
        f"hallucination {metrics.hallucination:.3f}, missing {metrics.missing:.3f}, n {metrics.n}{unscored}"
    )


def lost_line(counts: Mapping[str, int]) -> str:
    """``3 answers lost: 2 to the clock, 1 to a fault``; empty if none was."""
    parts = [f"{counts[cause]} to {name}" for cause, name in LOST_TO.items() if counts.get(cause)]
    if not parts:
        return ""

    total = sum(counts.values())
    noun = "answer" if total == 1 else "answers"
    return f"{total} {noun} lost: {', '.join(parts)}"


def clock_line(results: Mapping[str, Any]) -> str:
    """The settings that matter if the clock took answers; empty if it took none."""
    if not results["lost"].get(Lost.CLOCK.value):
        return ""
    limit = float(results["signature"].get("seconds_per_query") or SECONDS_PER_QUERY)
    return (
        f"for more time than {limit:g} s a question: --set deadline.seconds_per_query={2 * limit:g}; "
        "for less to read: --set web.context.max_tokens=500"
    )


def out_of_time_line(results: Mapping[str, Any]) -> str:
    """The generations that ran out of time; empty if none."""
    counts = results["generations_out_of_time"]
    parts = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    return f"generations that ran out of time: {', '.join(parts)}" if parts else ""


def tokens_line(results: Mapping[str, Any]) -> str:
    """``tokens: 12,345 read, 678 written``; empty if none were counted."""
    tokens = results.get("tokens", {})
    if not any(tokens.values()):
        return ""
    return f"tokens: {tokens['prompt']:,} read, {tokens['completion']:,} written"


def results_footer(results: Mapping[str, Any], folder: Path) -> str:
    """The lines below the table: times, memory, tokens, signature, and the folder."""
    seconds = results["seconds"]
    measured = {
        "{:.2f} s per question": seconds["per_question"],
        "start-up {:.1f} s": seconds["startup"],
        "first answer after {:.1f} s": seconds["first_answer"],
        "peak memory {:.0f} MiB": results["peak_memory_mb"] or None,  # 0: the machine has no /proc
    }
    lines = [
        ", ".join(form.format(value) for form, value in measured.items() if value is not None),
        tokens_line(results),
        retrieval_line(results),
        f"signature  {signature_line(results['signature'])}",
        f"files      {folder}",
    ]
    return "\n".join(filter(None, lines))


def _gates_block(gates: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One line per gate: its effect on the score, the number of questions, and what it did in how many."""
    if not gates:
        return []

    titles = {
        "questions": "n",
        "right_lost": "right lost",
        "wrong_saved": "wrong saved",
        "missing": "missing",
        "unknown": "unknown",
        "fired": "closed",
    }
    rows: list[tuple[str, ...]] = [("gates", "effect", f"{'95 % interval':^17}", *titles.values())]
    for name, counts in gates.items():
        effect = "?"
        interval = f"{'?':^17}"
        if counts["score_effect"] is not None:
            effect = f"{counts['score_effect']:+.3f}"
            interval = interval_text(counts["ci"], counts["questions"])
        numbers = [str(counts[kind]) for kind in titles]
        rows.append((f"  {name}", effect, interval, *numbers))

    lines = ["", *align_columns(rows)]
    if any(counts["unknown"] for counts in gates.values()):
        lines.append("unknown: the withheld answer was not generated; the effect is over the other n questions;")
        lines.append("--set answering.audit=true generates it, which takes longer")
    return lines
