"""Paired statistics against scipy's general implementations and against counting every toss."""

import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from evaluation.compare import MEASURES, VerdictPair, paired_differences, randomisation_p_value
from evaluation.judge import Verdict

C, W, M = Verdict.CORRECT, Verdict.INCORRECT, Verdict.MISSING


def some_pairs(n: int, seed: int, better: float = 0.3) -> list[VerdictPair]:
    draw = random.Random(seed)
    pairs = []
    for _ in range(n):
        first = draw.choice([C, W, M])
        changed = draw.random() < 0.4
        pairs.append(VerdictPair(first, (C if draw.random() < better else draw.choice([W, M])) if changed else first))
    return pairs


def values(pairs: Sequence[VerdictPair], name: str) -> tuple[list[int], list[int]]:
    return [MEASURES[name][pair.first] for pair in pairs], [MEASURES[name][pair.second] for pair in pairs]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", list(MEASURES))
def test_the_p_value_is_that_of_every_toss_counted_by_scipy(seed: int, name: str) -> None:
    pairs = some_pairs(11, seed)
    first, second = values(pairs, name)
    theirs = stats.permutation_test(
        (second, first),
        lambda b, a, axis: np.mean(b, axis=axis) - np.mean(a, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    found = paired_differences(pairs)[name]
    assert found.change == pytest.approx(theirs.statistic)
    assert found.p_value == pytest.approx(min(1.0, theirs.pvalue))


@pytest.mark.parametrize(("ones", "twos"), [(0, 0), (3, 0), (0, 4), (4, 3), (1, 7)])
def test_the_p_value_by_enumeration(ones: int, twos: int) -> None:
    steps = [1] * ones + [2] * twos
    sums = [sum(toss) for toss in itertools.product(*((step, -step) for step in steps))]
    for total in {*sums, 0}:
        expected = sum(abs(one) >= abs(total) for one in sums) / len(sums)
        assert randomisation_p_value(total, ones=ones, twos=twos) == pytest.approx(expected)


def test_for_shares_it_is_the_exact_mcnemar_test() -> None:
    pairs = [VerdictPair(W, C)] * 31 + [VerdictPair(C, W)] * 15 + [VerdictPair(C, C)] * 900
    expected = stats.binomtest(15, 46).pvalue
    assert paired_differences(pairs)["accuracy"].p_value == pytest.approx(expected)
    assert paired_differences(pairs)["hallucination"].p_value == pytest.approx(expected)


def test_the_interval_is_that_of_scipys_paired_bootstrap() -> None:
    pairs = some_pairs(300, 5)
    for name in MEASURES:
        first, second = values(pairs, name)
        theirs = stats.bootstrap(
            (first, second),
            lambda a, b, axis: np.mean(b, axis=axis) - np.mean(a, axis=axis),
            paired=True,
            method="percentile",
            n_resamples=4000,
            rng=np.random.default_rng(1),
        ).confidence_interval
        found = paired_differences(pairs, resamples=4000)[name].ci
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.012)


def test_by_hand() -> None:
    found = paired_differences([VerdictPair(W, C), VerdictPair(M, C), VerdictPair(C, C), VerdictPair(W, M)])
    assert (found["score"].first, found["score"].second, found["score"].change) == (-0.25, 0.75, 1.0)
    assert (found["accuracy"].change, found["hallucination"].change) == (0.5, -0.5)
    assert found["score"].p_value == 0.25, "all three changes point one way: two of the eight tosses do as much"
