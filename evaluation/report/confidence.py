"""What the agent's P(correct) was worth: the score over abstention thresholds, and its reliability."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from agents.contracts import INVALID_QUESTION
from evaluation.judge import Verdict
from evaluation.metrics import VALUE, Interval
from evaluation.report.run_folder import FinishedRun

RELIABILITY_BINS = 10
THRESHOLDS = tuple(step / 50 for step in range(51))
NORMAL_95 = 1.959964
"""The 97.5th percentile of the standard normal distribution."""


class Estimate(NamedTuple):
    """P(correct) of a question's likeliest candidate, and its worth: 1 where it is right, 0 missing, -1 wrong."""

    probability: float
    value: float


class Confidence(NamedTuple):
    """The estimates of a run. `unjudged`: likeliest candidates of which no verdict is known. `without`: no estimate."""

    estimates: Sequence[Estimate]
    unjudged: int
    without: int


def likeliest(trace: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The candidate of the highest P(correct), None where no candidate has any."""
    entries = trace.get("candidates")
    known = [
        entry
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, Mapping) and _is_number(entry.get("probability"))
    ]
    return max(known, key=lambda entry: float(entry["probability"]), default=None)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def confidence(run: FinishedRun) -> Confidence:
    """What is known of each question's likeliest candidate.

    Its verdict is the question's where it was the answer, else the one of the gate that withheld it; "invalid question"
    is right where it is the gold answer.
    """
    estimates: list[Estimate] = []
    unjudged = without = 0
    for record in run.records:
        candidate = likeliest(run.trace(record))
        if candidate is None:
            without += 1
            continue
        verdict = _verdict(record, str(candidate.get("text", "")))
        if verdict in VALUE:
            estimates.append(Estimate(float(candidate["probability"]), VALUE[verdict]))
        else:
            unjudged += 1
    return Confidence(estimates, unjudged, without)


def _verdict(record: Mapping[str, Any], text: str) -> Verdict:
    """The verdict that a candidate's text would have; unscored where nobody judged it."""
    if _same(text, record.get("prediction")):
        return Verdict(record["verdict"])
    for firing in record.get("gates", ()):
        if _same(text, firing.get("withheld")) and firing.get("withheld_verdict"):
            return Verdict(firing["withheld_verdict"])
    if _same(text, INVALID_QUESTION) and record.get("answer") is not None:
        return Verdict.CORRECT if _same(text, record["answer"]) else Verdict.INCORRECT
    return Verdict.UNSCORED


def _same(text: str, other: Any) -> bool:  # noqa: ANN401 - a field of a JSON row
    return isinstance(other, str) and text.strip().casefold() == other.strip().casefold()


class ThresholdPoint(NamedTuple):
    """The score, its 95 % interval and the share of answered questions where only P(correct) >= `threshold` answers."""

    threshold: float
    score: float
    interval: Interval
    answered: float


def threshold_curve(estimates: Sequence[Estimate]) -> list[ThresholdPoint]:
    """What abstaining below each of `THRESHOLDS` comes to; the interval is that of the normal distribution."""
    probabilities = np.array([estimate.probability for estimate in estimates])
    values = np.array([estimate.value for estimate in estimates])
    points = []
    for threshold in THRESHOLDS:
        given = probabilities >= threshold
        kept = np.where(given, values, 0.0)
        score, margin = float(kept.mean()), NORMAL_95 * float(kept.std()) / math.sqrt(len(kept))
        points.append(ThresholdPoint(threshold, score, Interval(score - margin, score + margin), float(given.mean())))
    return points


class ReliabilityBin(NamedTuple):
    """Candidates of about the same P(correct): its mean, the share that was right with a Wilson interval, how many."""

    probability: float
    right: float
    interval: Interval
    questions: int


def reliability(estimates: Sequence[Estimate]) -> list[ReliabilityBin]:
    """Bins of equal width over P(correct), empty ones left out; a bin owns its lower end."""
    bins: dict[int, list[Estimate]] = {}
    for estimate in estimates:
        number = min(int(estimate.probability * RELIABILITY_BINS), RELIABILITY_BINS - 1)
        bins.setdefault(number, []).append(estimate)
    return [_bin(bins[number]) for number in sorted(bins)]


def _bin(estimates: Sequence[Estimate]) -> ReliabilityBin:
    count = len(estimates)
    right = sum(estimate.value > 0 for estimate in estimates) / count
    mean = sum(estimate.probability for estimate in estimates) / count
    return ReliabilityBin(mean, right, wilson_interval(right, count), count)


def wilson_interval(share: float, count: int) -> Interval:
    """The 95 % interval of a share of `count` trials (Wilson, 1927)."""
    square = NORMAL_95**2 / count
    centre = (share + square / 2) / (1 + square)
    margin = math.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    return Interval(centre - margin, centre + margin)
