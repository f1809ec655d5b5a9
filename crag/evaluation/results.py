"""One run: results.json, the final table, and what the agent's gates cost and saved."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from crag.core.contracts import Lost
from crag.evaluation.batches import Question, gold_answers
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims
from crag.evaluation.metrics import FEWEST, VALUE, bootstrap_interval, compute_metrics, field_title, slices
from crag.evaluation.signature import signature_line

COUNTS = {"out_of_time": ("not_begun", "cut_short"), "tokens": ("prompt", "completion")}
"""Generations that ran out of time: before their first token, and later. Tokens that were read and written."""
COUNT_FIELDS = {"out_of_time": "out_of_time", "tokens": "batch_tokens"}
"""The fields of a row of predictions.jsonl with the counts of its whole batch."""
LOST_TO = {Lost.CLOCK: "the clock", Lost.FAULT: "a fault", Lost.GRAPH: "a knowledge graph that did not reply"}


def summarise(
    records: Sequence[Mapping[str, Any]], measured: Mapping[str, Any], signature: Mapping[str, Any]
) -> dict[str, Any]:
    """The contents of results.json.

    `slices` are by label. `timeouts` and `errors` count batches. `last_error` is the last line of the last error: of a
    traceback the exception and its place. Seconds `total` are the agent's over all batches; `startup` and
    `first_answer` are of its last start: `measured`. `gates` are those of `gate_effects`. `generations_out_of_time`
    counts generations of all tasks that ran out of time, ``not_begun`` and ``cut_short``.
    `lost` counts questions without an answer by what it was lost to: see `crag.core.contracts.Lost`. `tokens` are
    the language model's.
    """
    batches = {(record["batch"], record["batch_seconds"]): record for record in records}
    total = sum(record["batch_seconds"] for record in batches.values())
    faults = [str(record["error"]).strip() for record in records if record["error"] and not record["timed_out"]]
    return {
        **asdict(compute_metrics([Verdict(record["verdict"]) for record in records])),
        "slices": {
            field: {label: asdict(metrics) for label, metrics in groups.items()}
            for field, groups in slices(records).items()
        },
        "gates": gate_effects(records),
        "signature": dict(signature),
        "seconds": {
            "total": round(total, 3),
            "per_question": round(total / len(records), 3) if records else 0.0,
            "slowest_batch_per_question": round(max((record["seconds"] for record in records), default=0.0), 3),
            "startup": measured.get("startup_seconds"),
            "first_answer": measured.get("first_answer_seconds"),
        },
        "peak_memory_mb": measured.get("peak_memory_mb", 0.0),
        "timeouts": sum(bool(record["timed_out"]) for record in batches.values()),
        "errors": sum(bool(record["error"]) and not record["timed_out"] for record in batches.values()),
        "generations_out_of_time": _counted("out_of_time", batches.values()),
        "tokens": _counted("tokens", batches.values()),
        "last_error": _told(faults[-1]) if faults and faults[-1] else None,
        "lost": count_lost(records),
    }


def _told(error: str) -> str:
    """The last line of an error; of a traceback, after the file and line of the exception."""
    places = re.findall(r'^ *File "([^"\n]+)", line (\d+)', error, re.MULTILINE)
    place = f"{Path(places[-1][0]).name}, line {places[-1][1]}: " if places else ""
    return place + error.splitlines()[-1].strip()


def _counted(name: str, batches: Collection[Mapping[str, Any]]) -> dict[str, int]:
    return {kind: sum(batch.get(COUNT_FIELDS[name], {}).get(kind, 0) for batch in batches) for kind in COUNTS[name]}


def count_lost(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many answers were lost to what; every `Lost` is there."""
    return {kind.value: sum(record.get("lost") == kind for record in records) for kind in Lost}


# --- as text ----------------------------------------------------------------------------------------------------------


def metrics_table(results: Mapping[str, Any]) -> str:
    """The metrics as text: one line for all questions, then one per label of each slice, with 95 % intervals.

    A line without scored questions has dashes, one of fewer than `FEWEST` has no interval. If gates closed, a block
    about them follows.
    """
    rows: list[tuple[str, ...]] = [("", "score", f"{'95 % interval':^17}", "accuracy", "hallucin.", "missing", "    n")]
    rows.append(_cells("all questions", results))
    for field, groups in results["slices"].items():
        rows.append((field_title(field),))
        rows.extend(_cells(f"  {label}", metrics) for label, metrics in groups.items())
    notes = [
        f"{results['unscored']} more could not be scored and count neither way" if results["unscored"] else "",
        f'{lost} ("lost" in predictions.jsonl)' if (lost := lost_line(results["lost"])) else "",
        out_of_time_line(results),
    ]
    return "\n".join([*_aligned(rows), *filter(None, notes), *_gates_block(results["gates"])])


def _cells(label: str, metrics: Mapping[str, Any]) -> tuple[str, ...]:
    if not metrics["n"]:
        return (label, "-", f"{'-':^17}", *"---", "0")
    shares = (f"{metrics[name]:.3f}" for name in ("accuracy", "hallucination", "missing"))
    interval = interval_text(metrics["ci"], metrics["n"])
    return (label, f"{metrics['score']:+.3f}", interval, *shares, str(metrics["n"]))


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """The rows as lines, the first column to the left, the others to the right; a row of one cell is a title."""
    widths = [max(map(len, column)) for column in zip(*(row for row in rows if len(row) > 1), strict=True)]
    return [
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) if len(row) > 1 else row[0]
        for row in rows
    ]


def interval_text(ends: Sequence[float], n: int) -> str:
    """``[ -0.189, +0.243]``, or a dash of the same width if the interval is of too few questions."""
    return "[{:>+7.3f},{:>+7.3f}]".format(*ends) if n >= FEWEST else f"{'-':^17}"


def lost_line(counts: Mapping[str, int]) -> str:
    """``3 answers lost: 2 to the clock, 1 to a fault``; empty if none was."""
    parts = [f"{counts[kind]} to {name}" for kind, name in LOST_TO.items() if counts.get(kind)]
    total = sum(counts.values())
    return f"{total} {'answer' if total == 1 else 'answers'} lost: {', '.join(parts)}" if parts else ""


def out_of_time_line(results: Mapping[str, Any]) -> str:
    """The generations that ran out of time; empty if none."""
    counts = results["generations_out_of_time"]
    parts = [f"{count} {name.replace('_', ' ')}" for name, count in counts.items() if count]
    return f"generations that ran out of time: {', '.join(parts)}" if parts else ""


def tokens_line(results: Mapping[str, Any]) -> str:
    """``tokens: 12,345 read, 678 written``; empty if none were counted."""
    tokens = results.get("tokens", {})
    return f"tokens: {tokens['prompt']:,} read, {tokens['completion']:,} written" if any(tokens.values()) else ""


def results_footer(results: Mapping[str, Any], folder: Path) -> str:
    """Below the table: times, memory, signature, and the folder."""
    seconds = results["seconds"]
    measured = {
        "{:.2f} s per question": seconds["per_question"],
        "start-up {:.1f} s": seconds["startup"],
        "first answer after {:.1f} s": seconds["first_answer"],
        "peak memory {:.0f} MiB": results["peak_memory_mb"] or None,
    }
    times = [form.format(value) for form, value in measured.items() if value is not None]
    used = filter(None, (", ".join(times), tokens_line(results)))
    return "\n".join([*used, f"signature  {signature_line(results['signature'])}", f"files      {folder}"])


def _gates_block(gates: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One line per gate: its effect on the score, the number of questions, and what it did in how many."""
    if not gates:
        return []
    kinds = ("questions", "right_lost", "wrong_saved", "missing", "unknown", "fired")
    titles = ("n", "right lost", "wrong saved", "missing", "unknown", "closed")
    rows: list[tuple[str, ...]] = [("gates", "effect", f"{'95 % interval':^17}", *titles)]
    for name, counts in gates.items():
        effect, interval = "?", f"{'?':^17}"
        if counts["score_effect"] is not None:
            effect, interval = f"{counts['score_effect']:+.3f}", interval_text(counts["ci"], counts["questions"])
        rows.append((f"  {name}", effect, interval, *(str(counts[kind]) for kind in kinds)))
    lines = ["", *_aligned(rows)]
    if any(counts["unknown"] for counts in gates.values()):
        lines.append("unknown: the withheld answer was not generated; the effect is over the other n questions;")
        lines.append("--set answering.audit=true generates it, which takes longer")
    return lines


# --- the agent's gates ------------------------------------------------------------------------------------------------

Firing = dict[str, Any]
"""A firing in a row of predictions.jsonl: ``{name, reason, answer, withheld, withheld_verdict}``."""


def judged_firings(
    judge: Judge, trim: Callable[[str], str], questions: Sequence[Question], traces: Sequence[Mapping[str, Any]]
) -> list[list[Firing]]:
    """The firings in a batch's traces, one list per question: withheld answers are judged as if they had been given.

    ``withheld_verdict`` is None if the withheld answer was not generated.
    """
    firings = [_firings(trace) for trace in traces]
    asked = [
        (firing, Claim(question.row["query"], gold_answers(question.row), firing["withheld"]))
        for question, closed in zip(questions, firings, strict=True)
        for firing in closed
        if firing["withheld"] is not None
    ]
    judgements = judge_claims(judge, [claim for _, claim in asked], trim)
    for (firing, _), judgement in zip(asked, judgements, strict=True):
        firing["withheld_verdict"] = judgement.verdict.value
    return firings


def _firings(trace: Mapping[str, Any]) -> list[Firing]:
    """The firings of one trace; another agent's trace may have any form."""
    entries = trace.get("gates")
    return [
        {
            "name": entry["name"],
            "reason": str(entry.get("reason", "")),
            "answer": str(entry.get("answer", "")),
            "withheld": entry["withheld"] if isinstance(entry.get("withheld"), str) else None,
            "withheld_verdict": None,
        }
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str)
    ]


def gate_effects(records: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """What each gate cost and saved, by name, in numbers of questions; empty if no gate closed.

    ``fired``: the gate closed. ``right_lost``: it withheld a right answer, and the final answer is not right.
    ``wrong_saved``: it withheld a wrong one, and the final answer is not wrong. ``missing``: it withheld an "i don't
    know". ``unknown``: the withheld answer was not generated. The rest made no difference or cannot be judged.

    ``score_effect`` is the run's score minus the score with the withheld answers. ``ci`` is its 95 % interval, paired
    by question. Both are over the ``questions`` with a known effect (the scored ones minus the unknown), and None if no
    withheld answer is known. Two gates may close on one question, so the effects of several gates do not add up.
    """
    names = dict.fromkeys(firing["name"] for record in records for firing in record.get("gates", ()))
    return {name: _effect(records, name) for name in names}


def _effect(records: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    outcomes, untouched = [], 0
    for record in records:
        final = Verdict(record["verdict"])
        withheld = [firing["withheld_verdict"] for firing in record.get("gates", ()) if firing["name"] == name]
        if withheld:  # the first answer that the gate withheld is the one that would have been given
            first = next((Verdict(verdict) for verdict in withheld if verdict is not None), None)
            outcomes.append((first, final))
        else:
            untouched += final in VALUE
    known = [(first, final) for first, final in outcomes if first is not None and first in VALUE and final in VALUE]
    changes = [VALUE[final] - VALUE[first] for first, final in known]
    questions = len(changes) + untouched
    return {
        "fired": len(outcomes),
        "right_lost": sum(first is Verdict.CORRECT and final is not first for first, final in known),
        "wrong_saved": sum(first is Verdict.INCORRECT and final is not first for first, final in known),
        "missing": sum(first is Verdict.MISSING for first, _ in outcomes),
        "unknown": sum(first is None for first, _ in outcomes),
        "questions": questions,
        "score_effect": sum(changes) / questions if known else None,
        "ci": list(bootstrap_interval(changes + [0.0] * untouched)) if known else None,
    }
