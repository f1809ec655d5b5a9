"""Reads an EPUB in a process of its own, which is killed when it takes too long."""

from crag.asking.reading_process import PACKAGE_REMEDIES, FileReply, read_file_in_process

_REMEDIES = {
    "ProtectedBookError": "its text is encrypted (DRM), so only the program of its shop can show it",
    **PACKAGE_REMEDIES,
}
"""What can be done, by a part of the error's message."""


def read_e_book(content: bytes) -> FileReply:
    """The sections of an EPUB.

    Raises UnreadableFileError: it is damaged or encrypted, or takes too long or too much memory.
    """
    return read_file_in_process("crag.asking.epub.reading", "", content, _REMEDIES)
