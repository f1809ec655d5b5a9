"""What would make skipped tests run: one line for each cause, at the very end of a run."""

import re
from collections import Counter
from collections.abc import Iterable

CAUSES = (
    (r"vllm", "vLLM", "make test-vllm"),
    (r"models\.fetch|weights of", "model weights", "crag models fetch tests"),
    (r"chrom|selenium|browser", "a browser", "make browser"),
    (r"\bshared\b|real CRAG|labelled|judged|recorded", "real data", "put it into ../shared/data"),
    (r"^could not import|pip install", "Python packages", "make test"),
)
"""Part of the reason of a skip (in any case), what the tests need, and what to do."""


def lines(reasons: Iterable[str]) -> list[str]:
    """``45 tests skipped for lack of vLLM: make test-vllm`` and the like; any other reason stands for itself."""
    found = Counter(_cause(reason.removeprefix("Skipped: ")) for reason in reasons)
    return [f"{count} {'test' if count == 1 else 'tests'} {reported}" for reported, count in found.most_common()]


def _cause(reason: str) -> str:
    for part, what, remedy in CAUSES:
        if re.search(part, reason, re.IGNORECASE):
            return f"skipped for lack of {what}: {remedy}"
    return f"skipped: {reason}"
