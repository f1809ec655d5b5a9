"""The text of a PDF, standard input to output, in a process that its parent kills when it takes too long.

It is run as a file, so that nothing of ours is imported.
"""

import io
import resource
import sys

from pypdf import PdfReader

MEMORY_BYTES = 3 * 1024**3
MOST_CHARACTERS = 300_000
"""The agent reads no more of a page."""


def main() -> None:
    """Write the text of the pages, a blank line between two; any fault ends the process with a message."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    written = 0
    for page in PdfReader(io.BytesIO(sys.stdin.buffer.read())).pages:
        text = page.extract_text()
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n\n")
        written += len(text)
        if written > MOST_CHARACTERS:
            break


if __name__ == "__main__":
    main()
