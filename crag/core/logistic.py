"""The logistic function, which turns a logit into a probability."""

import math

MIN_LOGIT = -700.0
"""Below it the exponential of the negated logit is near the largest float; its probability is 1e-304."""


def logistic(logit: float) -> float:
    """The probability of a logit (log-odds): 1 / (1 + exp(-logit)).

    Example:
        logistic(0.0)  # 0.5
        logistic(2.2)  # 0.90
    """
    return 1.0 / (1.0 + math.exp(-max(MIN_LOGIT, logit)))
