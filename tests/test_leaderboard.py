"""docs/leaderboard.md has a row for every preset."""

from pathlib import Path

from crag.settings import available_presets

PAGE = Path(__file__).parents[1] / "docs/leaderboard.md"


def test_every_preset_has_a_row() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    assert [name for name in available_presets() if not any(f"| `{name}` |" in row for row in rows)] == []
