"""docs/leaderboard.md: the figures of the report's ruler, and every preset."""

from pathlib import Path

import pytest

from agents.settings import available_presets
from evaluation.report.published import PUBLISHED, Published

PAGE = Path(__file__).parents[1] / "docs/leaderboard.md"
ROWS = [line.replace("−", "-") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda one: one.system)
def test_the_ruler_and_the_page_have_the_same_figures(published: Published) -> None:
    name = published.system.partition(",")[0]
    assert any(f"| {name} | {published.score} |" in row for row in ROWS)


def test_every_preset_has_a_row() -> None:
    assert {name for name in available_presets() if not any(f"| `{name}` |" in row for row in ROWS)} == set()
