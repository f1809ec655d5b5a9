"""The sections of the report above the table of questions."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from evaluation.metrics import FEWEST
from evaluation.report.charts import (
    histogram,
    reliability_chart,
    score_whisker,
    shares_bar,
    stages_bar,
    threshold_chart,
    time_bar,
)
from evaluation.report.markup import Child, element, table
from evaluation.report.measured import (
    FinishedRun,
    StageSeconds,
    confidence,
    labels,
    reliability,
    stage_seconds,
    threshold_curve,
    title,
)
from evaluation.report.opening import counted, filter_link
from evaluation.signature import signature_line

BARS = 20


def headline(run: FinishedRun) -> list[Element]:
    """Score, shares and times as cards, and one bar of all questions."""
    results = run.results
    cards = [*(_share_cards(run) if results["n"] else [_card("Score", "nothing scored", "", "score")]), _time_card(run)]
    shares = _shares(results)
    parts = [element("div", *cards, class_="cards")]
    if results["n"]:
        parts.append(shares_bar(shares, f"all questions: {_reported(shares)}"))
    if results["unscored"]:
        more = f"{counted(results['unscored'], 'more question')} could not be scored and count neither way."
        parts.append(element("p", more, class_="note"))
    return parts


def _share_cards(run: FinishedRun) -> list[Element]:
    results = run.results
    shown = results["n"] >= FEWEST
    ends = "{:+.3f} to {:+.3f}".format(*results["ci"]) if shown else "–"
    cards = [_card("Score", f"{results['score']:+.3f}", f"95 % interval\n{ends}", "score")]
    for key, name, kind in (
        ("accuracy", "Right (accuracy)", "correct"),
        ("missing", "Missing", "missing"),
        ("hallucination", "Wrong (hallucination)", "incorrect"),
    ):
        ends = "{} to {}".format(*map(_percent, results["intervals"][key])) if shown else "–"
        cards.append(_card(name, _percent(results[key]), f"95 % interval\n{ends}", kind))
    return cards


def _time_card(run: FinishedRun) -> Element:
    seconds = run.results.get("seconds") or {}
    reported = [f"slowest batch {seconds['slowest_batch_per_question']:.1f} s"] if seconds else []
    if seconds.get("startup") is not None:
        reported.append(f"start-up {seconds['startup']:.0f} s")
    if run.results.get("peak_memory_mb"):
        reported.append(f"peak memory {run.results['peak_memory_mb'] / 1024:.1f} GiB")
    return _card("Seconds per question", f"{seconds.get('per_question', 0.0):.2f}", ", ".join(reported), "time")


def _card(name: str, value: str, more: str, kind: str) -> Element:
    return element(
        "div",
        element("div", name, class_="name"),
        element("div", value, class_="value"),
        element("div", more, class_="more"),
        class_=f"card {kind}",
    )


def by_slice(run: FinishedRun) -> list[Element]:
    """A table of bars for each label field; a label is a link to its questions.

    A label without scored questions has dashes.
    """
    slices = run.results.get("slices")
    if not isinstance(slices, Mapping) or not slices:
        return [element("p", "The questions carry no labels.", class_="note")]
    found = labels(run)
    tables = [_slice_table(field, groups, filters=field in found) for field, groups in slices.items()]
    pairs = run.results.get("pairs")
    return [*tables, *(_pair_table(fields, cells) for fields, cells in (pairs or {}).items())]


def _slice_table(field: str, groups: Mapping[str, Mapping[str, Any]], *, filters: bool) -> Element:
    rows: list[list[Child]] = [
        [
            filter_link(label, **{field: label}) if filters else element("span", label),
            str(metrics["n"]),
            *(_slice_cells(label, metrics) if metrics["n"] else (None, "–", "–", None, "–")),
        ]
        for label, metrics in groups.items()
    ]
    columns = {
        "label": title(field),
        "number": "n",
        "shares": "shares",
        "percent": "right / missing / wrong, %",
        "score": "score",
        "drawn": "from -1 to 1",
        "interval": "95 % interval",
    }
    return table(columns, rows, "slices", f"Score by {title(field)}")


def _slice_cells(label: str, metrics: Mapping[str, Any]) -> list[Child]:
    """Shares, score and interval of the scored questions with one label; no interval of too few."""
    shown = metrics["n"] >= FEWEST
    low, high = metrics["ci"] if shown else (metrics["score"], metrics["score"])
    score = f"{metrics['score']:+.3f}"
    interval = f"{low:+.2f} to {high:+.2f}" if shown else "–"
    shares = _shares(metrics)
    return [
        shares_bar(shares, f"{label}: {_reported(shares)}"),
        " / ".join(f"{100 * share:.0f}" for share in shares),
        score,
        score_whisker(metrics["score"], low, high, f"{label}: score {score}, 95 % interval {interval}"),
        interval,
    ]


def _pair_table(fields: str, cells: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Element:
    """The score of each pair of labels, collapsed; `fields` is ``domain/question_type``."""
    first, _, second = fields.partition("/")
    others = sorted({other for row in cells.values() for other in row})
    rows = [[label, *(_pair_cell(row.get(other)) for other in others)] for label, row in cells.items()]
    name = f"{title(first)} and {title(second)}"
    columns = {"label": title(first), **{f"other-{number}": other for number, other in enumerate(others)}}
    cells_table = table(columns, rows, "matrix", f"Score, and number of questions, by {name}")
    return element("details", element("summary", f"By {name}"), cells_table)


def _pair_cell(metrics: Mapping[str, Any] | None) -> Child:
    if not metrics or not metrics["n"]:
        return None
    sign = (metrics["score"] > 0) - (metrics["score"] < 0)
    score = element("span", f"{metrics['score']:+.2f}", class_=("negative", "even", "positive")[sign + 1])
    return element("span", score, element("span", f" of {metrics['n']}", class_="quiet"))


def latency(run: FinishedRun) -> list[Element]:
    """Seconds of each stage and of whole batches against the limit."""
    stages, limit = stage_seconds(run), run.limit
    scale = max([limit or 0.0, *(stage.worst for stage in stages)]) or 1.0
    budgeted = any(stage.budget is not None for stage in stages)
    columns = {
        "label": "stage",
        "p50": "p50",
        "p95": "p95",
        "worst": "worst",
        **({"budget": "budget", "over": "batches over it"} if budgeted else {}),
        **({"percent": "worst of limit"} if limit else {}),
        "drawn": "against the limit" if limit else "",
        "number": "batches",
    }
    note = (
        "Seconds of a batch divided by its questions: every stage works on the whole batch at once, so nothing tells "
        "what one question took. Stages may run side by side: they need not add up to the batch."
    )
    if limit:
        note += f" The line at the right is the limit, {limit:g} s per question."
    if budgeted:
        note += " Budget: the stage's share of the preset's clock; later stages get the time that a stage saves."
    if len(stages) < 2:
        note += " The traces have no stage times."
    rows = [_stage_cells(stage, columns, scale, limit) for stage in stages]
    drawn = [stages_bar(parts)] if (parts := [stage for stage in stages[:-1] if stage.mean > 0]) else []
    return [
        *drawn,
        *_spread(run),
        table(columns, rows, "latency", "Seconds per question and stage"),
        element("p", note, class_="note"),
    ]


def _spread(run: FinishedRun) -> list[Element]:
    """How many questions took how long."""
    seconds = [float(record["seconds"]) for record in run.records]
    if not seconds or max(seconds) <= 0:
        return []
    width = max(seconds) / BARS
    counts = [0] * BARS
    for value in seconds:
        counts[min(int(value / width), BARS - 1)] += 1
    label = f"Questions by seconds: {', '.join(map(str, counts))} in {BARS} steps of {width:.3g} s"
    alone = len({row["batch"] for row in run.records}) == len(run.records)
    mean = "" if alone else " A question has its batch's mean; --batch-size 1 measures each alone."
    caption = f"Number of questions by seconds; the longest {max(seconds):.1f} s.{mean}"
    return [_figure("Questions by seconds", histogram(counts, width, label), caption)]


def _stage_cells(stage: StageSeconds, columns: Iterable[str], scale: float, limit: float | None) -> list[Child]:
    cells: dict[str, Child] = {
        "label": stage.stage.replace("_", " "),
        "p50": f"{stage.median:.2f}",
        "p95": f"{stage.p95:.2f}",
        "worst": f"{stage.worst:.2f}",
        "budget": f"{stage.budget:.2f}" if stage.budget is not None else None,
        "over": element("strong", f"{stage.over} of {stage.batches}", class_="negative") if stage.over else None,
        "percent": f"{100 * stage.worst / limit:.0f} %" if limit else None,
        "drawn": time_bar(stage, scale, limit),
        "number": str(stage.batches),
    }
    return [cells[column] for column in columns]


def abstention(run: FinishedRun) -> list[Element]:
    """Score over thresholds and the reliability diagram, or a sentence why there are none."""
    found = confidence(run)
    if not found.estimates:
        why = "The traces have no P(correct) for candidates with known verdicts."
        return [element("p", why, class_="note")]
    points, bins = threshold_curve(found.estimates), reliability(found.estimates)
    best = max(points, key=lambda point: point.score)
    left_out = [
        f"{counted(count, 'question')} {what}"
        for count, what in ((found.unjudged, "with an unjudged candidate"), (found.without, "without P(correct)"))
        if count
    ]
    curve = (
        f"Of {counted(len(found.estimates), 'question')}, each gets its likeliest candidate where P(correct) reaches "
        f'the threshold, else "i don\'t know". Best here: {best.score:+.3f} at {best.threshold:.2f}, chosen with '
        "hindsight. Shaded: 95 % interval; dashed: the share of questions answered."
    )
    of_bins = (
        "Each point is a tenth of the scale with its number of questions and, from ten questions on, its 95 % "
        "interval; the diagonal is ideal."
    )
    return [
        element(
            "div",
            _figure("Score over abstention thresholds", threshold_chart(points, best, len(found.estimates)), curve),
            _figure("Reliability of P(correct)", reliability_chart(bins), of_bins),
            class_="figures",
        ),
        *([element("p", f"Left out: {' and '.join(left_out)}.", class_="note")] if left_out else []),
    ]


def _figure(name: str, chart: Element, caption: str) -> Element:
    return element("figure", element("h3", name), chart, element("figcaption", caption))


def gates(run: FinishedRun) -> list[Element]:
    """What each gate cost and saved."""
    counts = run.results.get("gates")
    if not isinstance(counts, Mapping) or not counts:
        return [element("p", "No gate closed in this run.", class_="note")]
    names = ("fired", "score_effect", "ci", "right_lost", "wrong_saved", "missing", "unknown", "questions")
    titles = {"fired": "closed", "score_effect": "effect", "ci": "95 % interval", "questions": "n"}
    columns = {"label": "gate", **{name: titles.get(name, name.replace("_", " ")) for name in names}}
    rows: list[list[Child]] = [
        [
            filter_link(gate, gates=gate),
            *(_gate_cell(one[name]) if name != "ci" or one["questions"] >= FEWEST else "–" for name in names),
        ]
        for gate, one in counts.items()
    ]
    note = (
        "Effect: the score of the run minus the score with the withheld answers, over n questions. Missing: "
        "an abstention was withheld. Unknown: the answer was not generated (--set answering.audit=true does)."
    )
    return [table(columns, rows, "gates", "What each gate cost and saved"), element("p", note, class_="note")]


def _gate_cell(value: float | Sequence[float] | None) -> str:
    if value is None:
        return "?"
    if isinstance(value, Sequence):
        return "{:+.3f} to {:+.3f}".format(*value)
    return f"{value:+.3f}" if isinstance(value, float) else str(value)


def signature(run: FinishedRun) -> list[Element]:
    """The signature, as a list and as the line to quote beside any number of this run."""
    pairs = [
        part
        for name, value in run.signature.items()
        if value is not None
        for part in (element("dt", name.replace("_", " ")), element("dd", str(value)))
    ]
    line = element("p", element("code", signature_line(run.signature)))
    return [element("dl", *pairs, class_="pairs"), line] if pairs else [element("p", "This run has no signature.")]


def _shares(metrics: Mapping[str, Any]) -> tuple[float, float, float]:
    return metrics["accuracy"], metrics["missing"], metrics["hallucination"]


def _reported(shares: Sequence[float]) -> str:
    return "right {:.0%}, missing {:.0%}, wrong {:.0%}".format(*shares)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
