"""Changes files of Office part by part, for tests."""

import io
import re
import zipfile
from collections.abc import Callable, Mapping

Change = Callable[[str], str | None]


def with_parts(content: bytes, changes: Mapping[str, Change], added: Mapping[str, str] | None = None) -> bytes:
    """The package with the parts changed whose name fits a pattern; one that becomes None goes; `added`: others."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as archive, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as changed:
        for name in archive.namelist():
            part: bytes | None = archive.read(name)
            for pattern, change in changes.items():
                if part is not None and re.fullmatch(pattern, name):
                    text = change(part.decode())
                    part = None if text is None else text.encode()
            if part is not None:
                changed.writestr(name, part)
        for name, text in (added or {}).items():
            changed.writestr(name, text)
    return file.getvalue()


def damage(_: str) -> str:
    """A part that is no XML."""
    return "<not xml"


def remove(_: str) -> None:
    """A part that is missing."""
