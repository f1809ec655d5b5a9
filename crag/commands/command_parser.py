"""The parser of every command. Standard library only: some commands start before anything is installed, or often."""

import argparse
from difflib import get_close_matches
from typing import NoReturn

from crag.commands.ending import EXIT_UNUSABLE


class CommandParser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, with the option that was perhaps meant."""

    def error(self, message: str) -> NoReturn:
        """End the process with exit code 2; argparse would print all options before the message."""
        suggestion = self._suggestion(message) or ";"
        self.exit(EXIT_UNUSABLE, f"error: {message}{suggestion} all options: {self.prog} --help\n")

    def _suggestion(self, message: str) -> str:
        """The option that is most like one that argparse does not know."""
        _, _, unknown = message.partition("unrecognized arguments: ")
        for word in unknown.split():
            name = word.partition("=")[0]
            matches = get_close_matches(name, self._option_string_actions, n=1)
            if name.startswith("--") and matches:
                return f": did you mean {matches[0]}?"
        return ""
