"""The default of ``--preset``, and what the help says of it; where ``--set`` begins."""

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


@pytest.mark.parametrize("own_default", [None, "submission"])
def test_changes_of_the_environment_come_before_those_of_the_command_line(
    monkeypatch: pytest.MonkeyPatch, own_default: str | None
) -> None:
    monkeypatch.setenv("CRAG_SETTINGS", "batch_size = 3\n\n answering.audit = true \n")
    parser = argparse.ArgumentParser()
    add_preset_arguments(parser, own_default)
    inherited = ["batch_size = 3", "answering.audit = true"]
    assert parser.parse_args([]).set == inherited
    assert parser.parse_args(["--set", "batch_size=4"]).set == [*inherited, "batch_size=4"]
