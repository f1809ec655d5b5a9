"""Reads a document of Office in a process of its own, which is killed when it takes too long."""

from crag.asking.kinds import Kind
from crag.asking.reading_process import PACKAGE_REMEDIES, FileReply, read_file_in_process

_LIBRARIES = {Kind.WORD: "mammoth", Kind.WORKBOOK: "openpyxl", Kind.SLIDES: "python-pptx"}
_REMEDIES = {
    **PACKAGE_REMEDIES,
    "PackageNotFoundError": "it is damaged; open it and save it again",
    "ParseError": "its XML is damaged; open it and save it again",
    "ExpatError": "its XML is damaged; open it and save it again",
    "InvalidXmlError": "its XML is not as Office writes it; open it and save it again",
    "TypeError": "a part of it is not as Office writes it; open it and save it again",
    "ValueError": "a part of it is not as Office writes it; open it and save it again",
    "AttributeError": "a part of it is not as Office writes it; open it and save it again",
    "IndexError": "a part of it is not as Office writes it; open it and save it again",
}
"""What can be done, by a part of the error's message."""


def read_office_file(content: bytes, kind: Kind) -> FileReply:
    """The pages of a document of Office.

    Raises UnreadableFileError: it is damaged, takes too long or too much memory, or its library is not installed.
    """
    library = _LIBRARIES[kind]
    missing = {"ModuleNotFoundError": f"{kind.upper()} needs {library}: pip install {library}"}
    return read_file_in_process("crag.asking.office.reading", kind.value, content, missing | _REMEDIES)
