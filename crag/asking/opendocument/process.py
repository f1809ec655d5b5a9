"""Reads a file of OpenDocument in a process of its own, which is killed when it takes too long."""

from crag.asking.reading_process import PACKAGE_REMEDIES, FileReply, read_file_in_process

_REMEDIES = {
    "EncryptedFileError": "it needs a password; save a copy without one (in LibreOffice: File, Save As)",
    "UnknownContentError": "it is no text, sheet or presentation of OpenDocument; save it as PDF",
    **PACKAGE_REMEDIES,
}
"""What can be done, by a part of the error's message."""


def read_open_document_file(content: bytes) -> FileReply:
    """The pages of a file of OpenDocument.

    Raises UnreadableFileError: it is damaged, encrypted or of another kind, or takes too long or too much memory.
    """
    return read_file_in_process("crag.asking.opendocument.reading", "", content, _REMEDIES)
