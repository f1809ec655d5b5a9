"""The beginning of the report: what was run, what came of it in one sentence, and where the points went."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from evaluation.judge import Verdict
from evaluation.metrics import FEWEST
from evaluation.report.charts import score_whisker, strip_of
from evaluation.report.markup import Child, element, table
from evaluation.report.measured import FinishedRun, labels, likeliest, row_id, title
from evaluation.report.published import PUBLISHED
from evaluation.results import count_lost, lost_line, out_of_time_line, tokens_line

LOST = "The real evaluator would have failed this whole submission."
SHOWN = 5
"""Rows of a list at the beginning."""


def run_name(signature: Mapping[str, Any]) -> str:
    """The preset, or the agent if it has none: ``cpu``, ``cpu, changed``, ``MyAgent``."""
    name = Path(str(signature.get("preset") or "").partition("@")[0]).stem
    agent = str(signature.get("agent") or "").rpartition(":")[2]
    return (name or agent or "a run") + (", changed" if signature.get("set") else "")


def task_of(signature: Mapping[str, Any]) -> int:
    """CRAG's task: 1 without a graph, 3 if the data's name says so, else 2."""
    if "task_3" in str(signature.get("data")):
        return 3
    return 1 if signature.get("kg") in {"no", None} else 2


def score_text(metrics: Mapping[str, Any]) -> str:
    """``-0.05 [-0.27, +0.16]``."""
    if not metrics["n"]:
        return "nothing scored"
    interval = " [{:+.2f}, {:+.2f}]".format(*metrics["ci"]) if metrics["n"] >= FEWEST else ""
    return f"{metrics['score']:+.2f}{interval}"


def run_title(run: FinishedRun) -> str:
    """``cpu, CRAG task 2, -0.05 [-0.27, +0.16]``."""
    return f"{run_name(run.signature)}, CRAG task {task_of(run.signature)}, {score_text(run.results)}"


def origin_list(run: FinishedRun) -> list[Element]:
    """What was run, where and when."""
    told = {
        **{name: run.signature.get(name) for name in ("preset", "set", "agent", "data", "judge")},
        **{name: run.origin.get(name) for name in ("date", "machine", "commit", "command")},
    }
    told["tokens"] = tokens_line(run.results).removeprefix("tokens: ")
    known = {"changes" if name == "set" else name: str(value) for name, value in told.items() if value}
    facts = [element("div", element("dt", name), " ", element("dd", value)) for name, value in known.items()]
    return [element("dl", *facts, class_="origin")] if facts else []


def heading(run: FinishedRun) -> list[Element]:
    """What was run; a warning if a submission or answers would have been lost."""
    parts = origin_list(run)
    faults = [
        f"{counted(run.results[name], 'batch', 'batches')} {what}"
        for name, what in (("timeouts", "ran over the time limit"), ("errors", "failed"))
        if run.results.get(name)
    ]
    if faults:
        last = run.results.get("last_error")
        told = f"{LOST} The last error: {last}" if last else LOST
        parts.append(element("p", element("strong", " and ".join(faults) + ". "), told, class_="warning", role="alert"))
    counts = count_lost(run.records)
    if lost := lost_line(counts):
        shown = [filter_link(loss, lost=loss) for loss, count in counts.items() if count]
        spaced: list[Child] = [part for link in shown for part in (" ", link)]
        parts.append(element("p", element("strong", f"{lost}. "), "Show:", *spaced, class_="warning"))
    if late := out_of_time_line(run.results):
        why = "Their questions may have lost an answer; the traces say which."
        parts.append(element("p", element("strong", f"{late[0].upper()}{late[1:]}. "), why, class_="warning"))
    return parts


def sentence(run: FinishedRun) -> list[Element]:
    """What came of it in words, beside always being silent."""
    results, counts = run.results, Counter(record["verdict"] for record in run.records)
    if not results["n"]:
        return [element("p", "No question of this run could be scored.", class_="sentence")]
    said = (
        f"Of {counted(results['n'], 'question')}, {counts['correct']} were answered right and {counts['incorrect']} "
        f"wrong, and {counts['missing']} stayed without an answer: "
    )
    low, high = results["ci"]
    if results["n"] < FEWEST:
        said += "too few to say more."
    elif low > 0:
        said += "better than always being silent, which scores 0."
    elif high < 0:
        said += "worse than always being silent, which scores 0."
    else:
        said += "so few questions cannot tell this score from always being silent, which scores 0."
    return [element("p", said, class_="sentence")]


def ruler(run: FinishedRun) -> list[Element]:
    """The run between silence, the starter kit's method and the published systems."""
    if not run.results["n"]:
        return []
    task = task_of(run.signature)
    mine = f"this run: {run_name(run.signature)}"
    entries = [(one.score, one.system, one.source) for one in PUBLISHED if task in one.tasks]
    entries += [(0.0, "always silent", ""), (run.results["score"], mine, score_text(run.results))]
    rows: list[list[Child]] = []
    for score, name, source in sorted(entries):
        low, high = run.results["ci"] if name == mine and run.results["n"] >= FEWEST else (score, score)
        drawn = score_whisker(score, low, high, f"{name}: {score:+.3f}")
        named = element("strong", name) if name == mine else element("span", name)
        rows.append([element("div", named, element("div", source, class_="quiet")), f"{score:+.2f}", drawn])
    note = "The published figures are of other questions and another judge: they show the size, not a rank."
    columns = {"label": "", "number": "score", "drawn": "from -1 to 1"}
    return [table(columns, rows, "ruler", "On a ruler"), element("p", note, class_="note")]


def points(run: FinishedRun) -> list[Element]:
    """Where the points went: wrong answers by domain and type, the surest of them, and lost answers."""
    wrong = [record for record in run.records if record["verdict"] == Verdict.INCORRECT]
    lost = [record for record in run.records if record.get("lost")]
    blocks = [_losses(run, field) for field in ("domain", "question_type") if field in labels(run)]
    by_label = element("div", *(block for block in blocks if block is not None))
    named = [(_probability(run, record), record) for record in wrong]
    named.sort(key=lambda pair: -(pair[0] or 0.0))
    surest = [
        _told(record, "" if sure is None else f"P(correct) {sure:.2f}", f"said: {record['prediction'] or '(none)'}")
        for sure, record in named[:SHOWN]
    ]
    by_loss = sorted(lost, key=lambda record: ("clock", "fault", "graph").index(record["lost"]))
    given_up = [_told(record, f"lost to: {record['lost']}") for record in by_loss[:SHOWN]]
    is_counted = all("lost" in record for record in run.records)
    none_lost = (
        "None was lost to the clock, to a fault or to the graph." if is_counted else "This run did not count them."
    )
    all_wrong = [element("p", filter_link("all wrong answers", verdict="incorrect"))] if wrong else []
    return [
        element(
            "div",
            by_label,
            _list("The surest wrong answers", surest, "No answer was wrong.", all_wrong),
            _list("Lost answers", given_up, none_lost),
            class_="figures points",
        )
    ]


def _losses(run: FinishedRun, field: str) -> Element | None:
    """The labels with most wrong answers; of equals, those with most questions unanswered."""
    counts = Counter((str(record.get(field)), record["verdict"]) for record in run.records if record.get(field))
    names = sorted(
        {name for name, _ in counts}, key=lambda name: (-counts[name, "incorrect"], -counts[name, "missing"], name)
    )
    most = max((counts[name, "incorrect"] + counts[name, "missing"] for name in names), default=0)
    if not most:
        return None
    rows: list[list[Child]] = []
    for name in names[:SHOWN]:
        wrong, missing = counts[name, "incorrect"], counts[name, "missing"]
        shares = {"incorrect": wrong / most, "missing": missing / most}
        rows.append(
            [
                filter_link(name, **{field: name}),
                filter_link(str(wrong), **{field: name, "verdict": "incorrect"}),
                str(missing),
                strip_of(shares, f"{name}: {wrong} wrong, {missing} missing"),
            ]
        )
    columns = {"label": title(field), "number": "wrong", "missing": "missing", "drawn": ""}
    return table(columns, rows, "losses", f"Points lost by {title(field)}")


def _probability(run: FinishedRun, record: Mapping[str, Any]) -> float | None:
    candidate = likeliest(run.trace(record))
    return float(candidate["probability"]) if candidate else None


def _told(record: Mapping[str, Any], *more: str) -> Element:
    gold = record.get("answer")
    link = element("a", record["query"], href=f"#{urlencode({'question': row_id(record)})}")
    expected = f"expected: {gold}" if gold is not None else ""
    told = element("div", " · ".join(filter(None, (*more, expected))), class_="quiet clamp")
    return element("li", link, told)


def _list(name: str, items: Sequence[Element], empty: str, more: Sequence[Element] = ()) -> Element:
    shown = element("ol", *items) if items else element("p", empty, class_="note")
    return element("div", element("h3", name), shown, *more)


def filter_link(text: str, **wanted: str) -> Element:
    """A link to the questions with these values."""
    return element("a", text, href=f"#{urlencode(wanted)}", class_="filter")


def counted(count: int, one: str, several: str = "") -> str:
    """``1 question``, ``2 questions``."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"
