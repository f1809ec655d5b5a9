"""The report's charts as SVG with descriptive labels; sizes are attributes, colours are style classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from evaluation.metrics import FEWEST
from evaluation.report.markup import element
from evaluation.report.measured import ReliabilityBin, StageSeconds, ThresholdPoint

SHARES = ("correct", "missing", "incorrect")
"""Verdicts in the order of a bar, with their style classes."""

LEFT, RIGHT, UPPER, LOWER = 60.0, 408.0, 12.0, 256.0
"""The plot area of a line chart of 420 x 300."""


def shares_bar(shares: Sequence[float], label: str) -> Element:
    """One bar, divided among `SHARES`."""
    return strip_of(dict(zip(SHARES, shares, strict=True)), label)


def strip_of(shares: Mapping[str, float], label: str) -> Element:
    """One bar with a part of that share for each style class."""
    bar = _strip(label)
    start = 0.0
    for name, share in shares.items():
        if share > 0:
            bar.append(element("rect", x=start, y=0, width=100 * share, height=10, class_=name))
        start += 100 * share
    return bar


def score_whisker(score: float, low: float, high: float, label: str) -> Element:
    """A score with its interval on the scale from -1 to 1, of any width; no interval where both ends are the score."""
    at = [f"{50 + 46 * value:.1f}%" for value in (low, score, high)]
    return element(
        "svg",
        element("line", x1="4%", x2="96%", y1=8, y2=8, class_="grid"),
        element("line", x1="50%", x2="50%", y1=1, y2=15, class_="axis"),
        element("line", x1=at[0], x2=at[2], y1=8, y2=8, class_="interval"),
        element("circle", cx=at[1], cy=8, r=3.5, class_="point"),
        class_="whisker",
        role="img",
        aria_label=label,
    )


def time_bar(seconds: StageSeconds, scale: float, limit: float | None) -> Element:
    """Median, 95th percentile and worst on a scale from 0 to `scale` seconds, with the limit."""
    bar = _strip(
        f"{seconds.stage}: median {seconds.median:.2f} s, 95th percentile {seconds.p95:.2f} s, "
        f"worst {seconds.worst:.2f} s" + (f", limit {limit:g} s" if limit else "")
    )
    for name, value in (("worst", seconds.worst), ("p95", seconds.p95), ("median", seconds.median)):
        bar.append(element("rect", x=0, y=1, width=100 * value / scale, height=8, class_=name))
    if limit:
        bar.append(element("rect", x=100 * limit / scale - 0.6, y=0, width=0.6, height=10, class_="limit"))
    return bar


def histogram(counts: Sequence[int], width: float, label: str) -> Element:
    """Bars of `counts`, each of `width` seconds from 0 on."""
    sheet = element("svg", viewBox="0 0 420 150", class_="plot histogram", role="img", aria_label=label)
    step, most = 400 / len(counts), max(counts)
    for number, count in enumerate(counts):
        height = 110 * count / most
        hint = element("title", f"{number * width:.3g} to {(number + 1) * width:.3g} s: {count}")
        x, y = 10 + number * step, 120 - height
        sheet.append(element("rect", hint, x=x, y=y, width=step - 1, height=height, class_="median"))
    for share, anchor in ((0.0, "start"), (0.25, "middle"), (0.5, "middle"), (0.75, "middle"), (1.0, "end")):
        text = f"{share * width * len(counts):.3g} s"
        sheet.append(element("text", text, x=10 + 400 * share, y=138, text_anchor=anchor))
    sheet.append(element("line", x1=10, x2=410, y1=120, y2=120, class_="axis"))
    return sheet


def stages_bar(stages: Sequence[StageSeconds]) -> Element:
    """Mean seconds of each stage in sequence, with names where they fit."""
    names = [f"{stage.stage.replace('_', ' ')} {stage.mean:.2f} s" for stage in stages]
    label = f"Mean seconds a question: {', '.join(names)}"
    bar = element("svg", viewBox="0 0 1000 28", class_="stages", role="img", aria_label=label)
    whole, start = sum(stage.mean for stage in stages), 0.0
    for number, (stage, name) in enumerate(zip(stages, names, strict=True)):
        width = 1000 * stage.mean / whole
        rect = element("rect", x=round(start, 1), y=0, width=round(width, 1), height=28, class_=f"part{number % 2}")
        rect.append(element("title", name))
        bar.append(rect)
        if width > 9 * len(name):
            bar.append(element("text", name, x=round(start + 6, 1), y=19))
        start += width
    return bar


def _strip(label: str) -> Element:
    return element(
        "svg", viewBox="0 0 100 10", preserveAspectRatio="none", class_="strip", role="img", aria_label=label
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """A line chart of data from (0, `bottom`) to (1, `top`)."""

    bottom: float
    top: float

    def x(self, value: float) -> float:
        return round(LEFT + value * (RIGHT - LEFT), 1)

    def y(self, value: float) -> float:
        return round(LOWER - (value - self.bottom) / (self.top - self.bottom) * (LOWER - UPPER), 1)

    def sheet(self, label: str, across: str, up: str, marks: Sequence[float]) -> Element:
        """The empty chart with grid, numbers and axis labels."""
        sheet = element("svg", viewBox="0 0 420 300", class_="plot", role="img", aria_label=label)
        for value in marks:
            y = self.y(value)
            sheet.append(element("line", x1=LEFT, x2=RIGHT, y1=y, y2=y, class_="grid"))
            sheet.append(element("text", f"{value:g}", x=LEFT - 6, y=y + 4, text_anchor="end"))
        for step in range(0, 11, 2):
            sheet.append(element("text", f"{step / 10:g}", x=self.x(step / 10), y=LOWER + 17, text_anchor="middle"))
        middle = (UPPER + LOWER) / 2
        sheet.append(element("text", across, x=self.x(0.5), y=293, text_anchor="middle"))
        turned = f"rotate(-90 11 {middle:g})"
        sheet.append(element("text", up, x=11, y=middle, text_anchor="middle", transform=turned))
        return sheet

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        return "M" + "L".join(f"{self.x(x)} {self.y(y)}" for x, y in points)


def threshold_chart(points: Sequence[ThresholdPoint], best: ThresholdPoint, questions: int) -> Element:
    """The score over the abstention threshold, with its interval (not of too few questions) and the answered share."""
    lowest = min(point.interval.low for point in points)
    marks = [mark / 4 for mark in range(-4, 5) if mark >= 0 or mark / 4 > lowest - 0.25]
    frame = _Frame(min(marks), 1.0)
    label = (
        f"Score over the threshold on P(correct): {points[0].score:+.3f} at 0, best {best.score:+.3f} at "
        f"{best.threshold:.2f}, {points[-1].score:+.3f} at 1"
    )
    sheet = frame.sheet(label, "answer only where P(correct) is at least", "score", marks)
    upper = [(point.threshold, min(1.0, point.interval.high)) for point in points]
    lower = [(point.threshold, max(frame.bottom, point.interval.low)) for point in reversed(points)]
    if questions >= FEWEST:
        sheet.append(element("path", d=frame.path([*upper, *lower]) + "Z", class_="band"))
    sheet.append(element("line", x1=LEFT, x2=RIGHT, y1=frame.y(0), y2=frame.y(0), class_="axis"))
    answered = [(point.threshold, point.answered) for point in points]
    sheet.append(element("path", d=frame.path(answered), class_="answered"))
    sheet.append(element("path", d=frame.path([(point.threshold, point.score) for point in points]), class_="line"))
    sheet.append(element("circle", cx=frame.x(best.threshold), cy=frame.y(best.score), r=4, class_="point"))
    return sheet


def reliability_chart(bins: Sequence[ReliabilityBin]) -> Element:
    """The share of right candidates over their mean P(correct), with the ideal diagonal."""
    frame = _Frame(0.0, 1.0)
    reported = "; ".join(f"{one.probability:.2f}: {one.right:.2f} of {one.questions}" for one in bins)
    label = f"Reliability diagram, share right by P(correct): {reported}"
    sheet = frame.sheet(label, "P(correct), mean of each tenth", "share that was right", [0, 0.25, 0.5, 0.75, 1])
    sheet.append(element("path", d=frame.path([(0, 0), (1, 1)]), class_="diagonal"))
    for one in (one for one in bins if one.questions >= FEWEST):
        x = frame.x(one.probability)
        ends = frame.y(one.interval.low), frame.y(one.interval.high)
        sheet.append(element("line", x1=x, x2=x, y1=ends[0], y2=ends[1], class_="interval"))
    for one in bins:
        x, y = frame.x(one.probability), frame.y(one.right)
        hint = f"P(correct) {one.probability:.2f}: {one.right:.2f} right of {one.questions}"
        sheet.append(element("circle", element("title", hint), cx=x, cy=y, r=4, class_="point"))
        sheet.append(element("text", str(one.questions), x=x + 7, y=y + 4, class_="count"))
    return sheet
