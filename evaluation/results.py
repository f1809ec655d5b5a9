"""results.json and the final table of a run."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.common.contracts import Lost
from evaluation.gates import gate_effects
from evaluation.judge import Verdict
from evaluation.metrics import FEWEST, field_title, measure, pairs, slices
from evaluation.signature import signature_line

OUT_OF_TIME, TOKENS = ("not_begun", "cut_short"), ("prompt", "completion")
"""Generations that ran out of time: before their first token, and later. Tokens that were read and written."""
COUNTS = {"out_of_time": OUT_OF_TIME, "tokens": TOKENS}
PRICES = "prices"
"""Of a sitting: dollars for a million tokens read, and written."""
LOST_TO = {Lost.CLOCK: "the clock", Lost.FAULT: "a fault", Lost.GRAPH: "a knowledge graph that did not reply"}


def summarise(
    records: Sequence[Mapping[str, Any]], sittings: Sequence[Mapping[str, Any]], signature: Mapping[str, Any]
) -> dict[str, Any]:
    """The contents of results.json.

    `slices` are by label, `pairs` by any two labels: ``pairs["domain/question_type"]["movie"]["set"]``, with four
    digits. `timeouts` and `errors` count batches, `last_error` is the
    exception of the last batch that failed. Seconds `total` are the agent's over all batches; `startup` and
    `first_answer` are of the last sitting that started the agent. `gates` are those of
    `evaluation.gates.gate_effects`. `generations_out_of_time` counts generations of all tasks that ran out of time,
    ``not_begun`` and ``cut_short``. `lost` counts questions without an answer by what it was lost to: see
    `agents.common.contracts.Lost`. `tokens` are the language model's.
    """
    batches = {(record["batch"], record["batch_seconds"]): record for record in records}
    total = sum(record["batch_seconds"] for record in batches.values())
    last = sittings[-1] if sittings else {}
    return {
        **measure([Verdict(record["verdict"]) for record in records]).to_dict(),
        "slices": {
            field: {label: metrics.to_dict() for label, metrics in groups.items()}
            for field, groups in slices(records).items()
        },
        "pairs": {
            fields: {
                label: {other: metrics.to_short_dict() for other, metrics in row.items()}
                for label, row in by_label.items()
            }
            for fields, by_label in pairs(records).items()
        },
        "gates": gate_effects(records),
        "signature": dict(signature),
        "seconds": {
            "total": round(total, 3),
            "per_question": round(total / len(records), 3) if records else 0.0,
            "slowest_batch_per_question": round(max((record["seconds"] for record in records), default=0.0), 3),
            "startup": last.get("startup_seconds"),
            "first_answer": last.get("first_answer_seconds"),
        },
        "peak_memory_mb": max((sitting.get("peak_memory_mb", 0.0) for sitting in sittings), default=0.0),
        "timeouts": sum(bool(record["timed_out"]) for record in batches.values()),
        "errors": sum(bool(record["error"]) and not record["timed_out"] for record in batches.values()),
        "generations_out_of_time": _counted("out_of_time", batches.values()),
        "tokens": tokens_with_cost(_counted("tokens", batches.values()), last.get(PRICES)),
        "last_error": _last_error(records),
        "lost": count_lost(records),
    }


def _counted(name: str, batches: Collection[Mapping[str, Any]]) -> dict[str, int]:
    return {kind: sum(batch.get(name, {}).get(kind, 0) for batch in batches) for kind in COUNTS[name]}


def _last_error(records: Sequence[Mapping[str, Any]]) -> str | None:
    """The last line of the last batch's error: of a traceback the exception."""
    texts = [str(record["error"]).strip() for record in records if record["error"] and not record["timed_out"]]
    return texts[-1].splitlines()[-1].strip() if texts and texts[-1] else None


def tokens_with_cost(tokens: Mapping[str, int], prices: Sequence[float] | None) -> dict[str, float]:
    """The tokens and, where prices are known, ``dollars``."""
    if prices is None:
        return dict(tokens)
    dollars = sum(tokens[kind] * price / 1e6 for kind, price in zip(TOKENS, prices, strict=True))
    return {**tokens, "dollars": round(dollars, 6)}


def tokens_line(results: Mapping[str, Any]) -> str:
    """``tokens: 12,345 read, 678 written, 0.0012 dollars a question``; empty if none were counted."""
    tokens = results.get("tokens", {})
    if not any(tokens.values()):
        return ""
    line = f"tokens: {tokens['prompt']:,} read, {tokens['completion']:,} written"
    asked = results["n"] + results["unscored"]
    return f"{line}, {tokens['dollars'] / asked:.4f} dollars a question" if "dollars" in tokens else line


def table(results: Mapping[str, Any]) -> str:
    """The metrics as text: one line for all questions, then one per label of each slice, with 95 % intervals.

    A line without scored questions has dashes, one of fewer than `FEWEST` has no interval. If gates closed, a block
    about them follows.
    """
    labels = [label for groups in results["slices"].values() for label in groups]
    width = max(len(label) + 2 for label in [*labels, "all questions"])
    numbers = f"{'score':>7}  {'95 % interval':^17}  {'accuracy':>8}  {'hallucin.':>9}  {'missing':>8}  {'n':>5}"
    lines = [f"{'':{width}}  {numbers}", _line("all questions", results, width)]
    for field, groups in results["slices"].items():
        lines.append(field_title(field))
        lines.extend(_line(f"  {label}", metrics, width) for label, metrics in groups.items())
    if results["unscored"]:
        lines.append(f"{results['unscored']} more could not be scored and count neither way")
    if lost := lost_line(results["lost"]):
        lines.append(f'{lost} ("lost" in predictions.jsonl)')
    if late := out_of_time_line(results):
        lines.append(late)
    return "\n".join([*lines, *_gates_block(results["gates"])])


def count_lost(records: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many answers were lost to what; every `Lost` is there."""
    return {kind.value: sum(record.get("lost") == kind for record in records) for kind in Lost}


def lost_line(counts: Mapping[str, int]) -> str:
    """``3 answers lost: 2 to the clock, 1 to a fault``; empty if none was."""
    parts = [f"{counts[kind]} to {name}" for kind, name in LOST_TO.items() if counts.get(kind)]
    total = sum(counts.values())
    return f"{total} {'answer' if total == 1 else 'answers'} lost: {', '.join(parts)}" if parts else ""


def out_of_time_line(results: Mapping[str, Any]) -> str:
    """The generations that ran out of time; empty if none."""
    counts = results["generations_out_of_time"]
    parts = [f"{counts[name]} {name.replace('_', ' ')}" for name in OUT_OF_TIME if counts.get(name)]
    return f"generations that ran out of time: {', '.join(parts)}" if parts else ""


def footer(results: Mapping[str, Any], folder: Path) -> str:
    """Below the table: times, memory, signature, and the folder."""
    seconds = results["seconds"]
    times = [f"{seconds['per_question']:.2f} s per question"]
    if seconds["startup"] is not None:
        times.append(f"start-up {seconds['startup']:.1f} s")
    if seconds["first_answer"] is not None:
        times.append(f"first answer after {seconds['first_answer']:.1f} s")
    if results["peak_memory_mb"]:
        times.append(f"peak memory {results['peak_memory_mb']:.0f} MiB")
    used = filter(None, (", ".join(times), tokens_line(results)))
    return "\n".join([*used, f"signature  {signature_line(results['signature'])}", f"files      {folder}"])


def _gates_block(gates: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One line per gate: its effect on the score, the number of questions, and what it did in how many."""
    if not gates:
        return []
    width = max(len(name) + 2 for name in gates)
    numbers = f"{'effect':>7}  {'95 % interval':^17}  {'n':>5}  {'right lost':>10}  {'wrong saved':>11}"
    lines = ["", f"{'gates':{width}}  {numbers}  {'missing':>7}  {'unknown':>7}  {'closed':>6}"]
    for name, counts in gates.items():
        effect, interval = f"{'?':>7}", f"{'?':^17}"
        if counts["score_effect"] is not None:
            effect, interval = f"{counts['score_effect']:>+7.3f}", interval_text(counts["ci"], counts["questions"])
        lines.append(
            f"{'  ' + name:{width}}  {effect}  {interval}  {counts['questions']:>5}  {counts['right_lost']:>10}  "
            f"{counts['wrong_saved']:>11}  {counts['missing']:>7}  {counts['unknown']:>7}  {counts['fired']:>6}"
        )
    if any(counts["unknown"] for counts in gates.values()):
        lines.append("unknown: the withheld answer was not generated; the effect is over the other n questions;")
        lines.append("--set answering.audit=true generates it, which takes longer")
    return lines


def interval_text(ends: Sequence[float], n: int) -> str:
    """``[ -0.189, +0.243]``, or a dash of the same width if the interval is of too few questions."""
    return "[{:>+7.3f},{:>+7.3f}]".format(*ends) if n >= FEWEST else f"{'-':^17}"


def _line(label: str, metrics: Mapping[str, Any], width: int) -> str:
    if not metrics["n"]:
        return f"{label:{width}}  {'-':>7}  {'-':^17}  {'-':>8}  {'-':>9}  {'-':>8}  {0:>5}"
    interval = interval_text(metrics["ci"], metrics["n"])
    return (
        f"{label:{width}}  {metrics['score']:>+7.3f}  {interval}  {metrics['accuracy']:>8.3f}  "
        f"{metrics['hallucination']:>9.3f}  {metrics['missing']:>8.3f}  {metrics['n']:>5}"
    )
