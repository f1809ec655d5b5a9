"""Which prefixes are kept."""

import numpy as np

from crag.engines.llm.prefixes import MOST_KEPT_BYTES, KeptPrefixes

QUARTER = np.zeros(MOST_KEPT_BYTES // 16, np.float32)
"""Of the bytes that may be kept."""


def test_the_prefixes_used_last_are_kept_within_the_bytes() -> None:
    kept = KeptPrefixes()
    for token in range(4):
        kept.keep(None, (token,), [QUARTER])
    kept.find(None, (0,))
    kept.keep(None, (4,), [QUARTER[:1], QUARTER[1:]])
    assert [kept.find(None, (token,)) is not None for token in range(5)] == [True, False, True, True, True]
    assert kept.find("tuned", (0,)) is None

    kept.keep("tuned", (0,), [QUARTER] * 5)
    assert kept.find("tuned", (0,)) is None, "a prefix beyond all bounds is read each time"
