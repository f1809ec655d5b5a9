"""The parser of every command. Standard library only: some commands start before anything is installed, or often."""

import argparse
from difflib import get_close_matches
from typing import Any, NoReturn

from crag.commands.ending import EXIT_UNUSABLE


class CommandParser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, with the option that was perhaps meant.

    `more_words` is the advice for words that no argument takes, if none of them is an option.
    """

    def __init__(self, *args: Any, more_words: str = "", **kwargs: Any) -> None:  # noqa: ANN401 - those of argparse
        super().__init__(*args, **kwargs)
        self._more_words = more_words

    def error(self, message: str) -> NoReturn:
        """End the process with exit code 2; argparse would print all options before the message."""
        suggestion = self._suggestion(message) or ";"
        self.exit(EXIT_UNUSABLE, f"error: {message}{suggestion} all options: {self.prog} --help\n")

    def _suggestion(self, message: str) -> str:
        """The option that is most like one that argparse does not know, or the advice for more words."""
        _, _, unknown = message.partition("unrecognized arguments: ")
        words = unknown.split()
        if words and self._more_words and not any(word.startswith("-") for word in words):
            return f": {self._more_words};"

        for word in words:
            name = word.partition("=")[0]
            matches = get_close_matches(name, self._option_string_actions, n=1)
            if name.startswith("--") and matches:
                return f": did you mean {matches[0]}?"
        return ""
