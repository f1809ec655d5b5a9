"""How good P(correct) is: the score when abstaining below a threshold, and the reliability diagram."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from crag.core.contracts import INVALID_QUESTION
from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import VALUE, Interval, wilson_interval
from crag.evaluation.report.candidates import likeliest_candidate
from crag.evaluation.report.finished_run import FinishedRun

RELIABILITY_BINS = 10
THRESHOLDS = tuple(step / 50 for step in range(51))
NORMAL_95 = 1.959964
"""The 97.5th percentile of the standard normal distribution."""


class Estimate(NamedTuple):
    """P(correct) of a question's likeliest candidate, and its score: 1 if right, 0 if missing, -1 if wrong."""

    probability: float
    value: float


class Confidence(NamedTuple):
    """The estimates of a run. `unjudged`: likeliest candidates without a known verdict. `without`: no estimate."""

    estimates: Sequence[Estimate]
    unjudged: int
    without: int


def collect_estimates(run: FinishedRun) -> Confidence:
    """P(correct) and verdict of each question's likeliest candidate."""
    estimates: list[Estimate] = []
    unjudged = 0
    without = 0
    for record in run.records:
        candidate = likeliest_candidate(run.trace(record))
        if candidate is None:
            without += 1
            continue

        # The likeliest candidate need not be the answer: a gate may have withheld it
        verdict = _candidate_verdict(record, str(candidate.get("text", "")))
        if verdict in VALUE:
            estimates.append(Estimate(float(candidate["probability"]), VALUE[verdict]))
        else:
            unjudged += 1
    return Confidence(estimates, unjudged, without)


def _candidate_verdict(record: Mapping[str, Any], text: str) -> Verdict:
    """The verdict of a candidate: that of the answer, or of the gate that withheld it; otherwise unscored.

    "invalid question" is right if it is the gold answer.
    """
    if _is_same(text, record["prediction"]):
        return Verdict(record["verdict"])
    for firing in record.get("gates", ()):
        if _is_same(text, firing.get("withheld")) and firing.get("withheld_verdict"):
            return Verdict(firing["withheld_verdict"])

    # The one candidate that can be judged without a judge
    if _is_same(text, INVALID_QUESTION) and record.get("answer") is not None:
        return Verdict.CORRECT if _is_same(text, record["answer"]) else Verdict.INCORRECT
    return Verdict.UNSCORED


def _is_same(text: str, answer: object) -> bool:
    return isinstance(answer, str) and text.strip().casefold() == answer.strip().casefold()


class ThresholdPoint(NamedTuple):
    """The score, its 95 % interval and the answered share when answering only if P(correct) >= `threshold`."""

    threshold: float
    score: float
    interval: Interval
    answered: float


def threshold_curve(estimates: Sequence[Estimate]) -> list[ThresholdPoint]:
    """The score when abstaining below each of `THRESHOLDS`, with normal-distribution intervals."""
    probabilities, values = np.array(estimates).T
    points: list[ThresholdPoint] = []
    for threshold in THRESHOLDS:
        is_answered = probabilities >= threshold
        scores = np.where(is_answered, values, 0.0)
        score = float(scores.mean())
        # The standard error of the mean: abstentions count as 0
        margin = NORMAL_95 * float(scores.std()) / math.sqrt(len(scores))
        interval = Interval(score - margin, score + margin)
        points.append(ThresholdPoint(threshold, score, interval, float(is_answered.mean())))
    return points


class ReliabilityBin(NamedTuple):
    """Candidates of similar P(correct): its mean, the share right with a Wilson interval, and their number."""

    probability: float
    right: float
    interval: Interval
    questions: int


def reliability(estimates: Sequence[Estimate]) -> list[ReliabilityBin]:
    """Bins of equal width over P(correct), without empty ones; a bin includes its lower end."""
    probabilities, values = np.array(estimates).T
    # P(correct) of exactly 1 belongs to the last bin
    bin_numbers = np.minimum((probabilities * RELIABILITY_BINS).astype(int), RELIABILITY_BINS - 1)
    bins: list[ReliabilityBin] = []
    for bin_number in np.unique(bin_numbers):
        is_inside = bin_numbers == bin_number
        mean = float(probabilities[is_inside].mean())
        right = int((values[is_inside] > 0).sum())
        count = int(is_inside.sum())
        bins.append(ReliabilityBin(mean, right / count, wilson_interval(right, count), count))
    return bins
