"""The default of ``--preset``, and what the help says of it."""

import argparse

import pytest

from crag.commands.command_line import add_preset_arguments


@pytest.mark.parametrize(
    ("own_default", "expected", "said"),
    [(None, "nec", "default: $CRAG_PRESET, else cpu"), ("submission", "submission", "default: submission")],
)
def test_only_a_command_without_a_default_of_its_own_reads_the_environment(
    monkeypatch: pytest.MonkeyPatch, own_default: str | None, expected: str, said: str
) -> None:
    monkeypatch.setenv("CRAG_PRESET", "nec")
    parser = argparse.ArgumentParser()
    add_preset_arguments(parser, own_default)

    assert parser.parse_args([]).preset == expected
    assert said in " ".join(parser.format_help().split())
