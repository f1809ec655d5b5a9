"""How a command ends. Standard library only: it is imported before the command is known."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn

EXIT_UNUSABLE = 2
"""The input cannot be used."""
EXIT_INTERRUPTED = 130
"""As a shell reports SIGINT."""
EXIT_READER_GONE = 141
"""As a shell reports SIGPIPE."""


def end_with(main: Callable[[], int]) -> NoReturn:
    """Run the command and end the process: quietly where its reader has gone, with one line after Ctrl-C."""
    try:
        code = main()
        sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted: the same command starts again, and continues where --help names --resume\n")
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # `| head` has read enough. Python would complain when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = EXIT_READER_GONE
    sys.exit(code)
