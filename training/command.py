"""Names that benchmarks still import; all else is `crag.command`."""

import argparse
from argparse import ArgumentParser

from agents.common.files import UserError as CommandError
from crag.command import FAULTS
from crag.command import parser_of as _parser_of

__all__ = ["FAULTS", "CommandError", "parser_of", "positive"]


def parser_of(module: str, description: str | None) -> ArgumentParser:
    """A command's parser."""
    return _parser_of(f"python -m {module}", description)


def positive(text: str) -> int:
    """Parse an argument: a whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1, found {text!r}")
    return int(text)


if __name__ == "__main__":
    raise SystemExit(2)
