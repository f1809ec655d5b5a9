"""Positions in the line charts of the report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crag.evaluation.report.confidence import ThresholdPoint
from crag.evaluation.report.finished_run import FinishedRun

# The plot area of a line chart of 420 x 300.
LEFT = 60.0
RIGHT = 408.0
UPPER = 12.0
LOWER = 256.0
BARS = 20


@dataclass(frozen=True, slots=True)
class Frame:
    """A line chart of data from (0, the lowest mark) to (1, 1)."""

    marks: Sequence[float]

    def x(self, value: float) -> float:
        """The distance from the left."""
        return round(LEFT + value * (RIGHT - LEFT), 1)

    def y(self, value: float) -> float:
        """The distance from the top. A value below the lowest mark or above 1 is drawn at the edge."""
        lowest = min(self.marks)
        # SVG counts downwards, hence the subtraction from `LOWER`
        inside = min(1.0, max(lowest, value))
        return round(LOWER - (inside - lowest) / (1.0 - lowest) * (LOWER - UPPER), 1)

    def path(self, points: Iterable[tuple[float, float]]) -> str:
        """A line through these points, as data of an SVG path."""
        return "M" + "L".join(f"{self.x(x)} {self.y(y)}" for x, y in points)

    def line(self, points: Sequence[ThresholdPoint], name: str) -> str:
        """The line of a field over the threshold."""
        return self.path((point.threshold, getattr(point, name)) for point in points)


def threshold_frame(points: Sequence[ThresholdPoint]) -> Frame:
    """A frame from the lowest end of an interval, at most 0, to 1, with a mark at every quarter."""
    lowest = min(point.interval.low for point in points)
    quarters = [step / 4 for step in range(-4, 5)]
    # One mark at or below the lowest value, so that the line stays inside
    return Frame([mark for mark in quarters if mark >= 0 or mark > lowest - 0.25])


def interval_band(points: Sequence[ThresholdPoint]) -> list[tuple[float, float]]:
    """The corners of the area between both ends of the intervals."""
    upper = [(point.threshold, point.interval.high) for point in points]
    lower = [(point.threshold, point.interval.low) for point in points]
    # Along the upper ends and back along the lower ones: a closed outline
    return upper + lower[::-1]


def histogram(run: FinishedRun) -> Mapping[str, Any] | None:
    """How many questions took how long, in `BARS` steps of ``width`` seconds; None without seconds.

    ``is_alone``: every question was a batch of its own, so the seconds are the question's.
    """
    seconds = [float(record["seconds"]) for record in run.records]
    longest = max(seconds, default=0.0)
    if longest <= 0:
        return None

    counts, _ = np.histogram(seconds, BARS, (0.0, longest))
    batches = {row["batch"] for row in run.records}
    return {
        "counts": counts.tolist(),
        "width": longest / BARS,
        "longest": longest,
        "is_alone": len(batches) == len(run.records),
    }
