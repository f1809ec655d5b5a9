"""How every command ends: with its exit code, quietly where its reader has gone, with one line after Ctrl-C."""

import os
import sys
from collections.abc import Callable
from typing import NoReturn

EXIT_INTERRUPTED, EXIT_READER_GONE = 130, 141
"""Those of a shell for the signals SIGINT and SIGPIPE."""


def end_with(main: Callable[[], int]) -> NoReturn:
    """Run the command and end the process."""
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
