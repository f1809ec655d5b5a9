"""docs/commands.md is what the commands say of themselves."""

import pytest

from crag.commands.reference import PAGE, page


def test_the_page_lists_what_the_commands_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_PRESET", "nec")  # must not show as a default
    assert PAGE.read_text(encoding="utf-8") == page(), "make docs writes the page"


def test_every_command_says_its_exit_codes() -> None:
    sections = page().split("\n## crag ")[1:]
    assert [section.splitlines()[0] for section in sections if "\nExit code: 0 " not in section] == []
