"""The logistic function, also where the exponential would overflow."""

import math

import pytest

from crag.core.logistic import logistic


@pytest.mark.parametrize("logit", [-2.0, 0.0, 3.0, 30.0])
def test_it_is_half_of_a_shifted_hyperbolic_tangent(logit: float) -> None:
    assert logistic(logit) == pytest.approx(0.5 * (1 + math.tanh(logit / 2)), rel=1e-12)


@pytest.mark.parametrize("logit", [800.0, 1e300, math.inf])
def test_a_large_logit_is_certain(logit: float) -> None:
    assert logistic(logit) == 1.0
    assert 0.0 < logistic(-logit) < 1e-300
