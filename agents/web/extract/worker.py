"""The extraction worker: one process that reads pages from its standard input and writes their texts to standard
output.

A frame is its length in bytes (4 bytes, big-endian) and that many bytes of UTF-8. The first frame holds the settings as
JSON; an empty frame is sent back when the worker is ready. The alarm is the second safety net: a page that is stuck
in C code ends the process by signal even if the parent is gone.
"""

import math
import resource
import signal
import struct
import sys
from typing import BinaryIO

HEADER = struct.Struct(">I")
MEMORY_BYTES = 3 * 1024**3
"""Address space of a worker; a page that wants more ends its worker, not the machine."""


def read_frame(stream: BinaryIO) -> bytes | None:
    """The next frame's content, None at the end of the stream."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    return stream.read(HEADER.unpack(header)[0])


def write_frame(stream: BinaryIO, content: bytes) -> None:
    """Send one frame."""
    stream.write(HEADER.pack(len(content)) + content)
    stream.flush()


def main(source: BinaryIO, sink: BinaryIO) -> None:
    """Serve pages until the source ends."""
    from agents.settings import ExtractSettings
    from agents.web.extract import load_extractor

    first = read_frame(source)
    if first is None:
        return
    settings = ExtractSettings.model_validate_json(first)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    extractor = load_extractor(settings)
    extractor.extract("<p>warm up</p>")
    write_frame(sink, b"")
    while (page := read_frame(source)) is not None:
        signal.alarm(math.ceil(settings.page_seconds) + 1)
        text = extractor.extract(page.decode("utf-8", "replace"))
        signal.alarm(0)
        write_frame(sink, text.encode("utf-8", "replace"))


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
