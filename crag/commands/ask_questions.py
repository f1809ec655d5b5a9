"""The questions of `crag ask`: of the command line, of a file, or typed at the terminal."""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crag.core.files import UserError
from crag.core.places import expand_home
from crag.core.text import counted
from crag.core.utf8_lines import ENCODING, ERRORS, utf8_lines
from crag.evaluation.datasets import is_question_file, read_records
from crag.evaluation.question_fields import question_of, with_query_time

_SUFFIX = re.compile(r"\.\w{1,5}\Z")
"""The end of a file's name."""


class GivenQuestion(NamedTuple):
    """A question, and the time and the name that its file gives it, if any."""

    text: str
    time: str | None = None
    interaction_id: str | None = None


def take_question(places: list[str]) -> str | None:
    """The question behind the places of --pages, which takes all words that follow it: ``--pages *.html "who?"``.

    An empty word is a question too, of which `read_questions` complains.
    """
    if len(places) < 2:
        return None
    final_word = places[-1].strip()
    return places.pop() if not final_word or is_question(final_word) else None


def is_question(word: str) -> bool:
    """Whether a word is neither a file nor an address, and ends with a question mark or has a blank.

    A misspelt path is no question.
    """
    if word.startswith(("http://", "https://")) or expand_home(word).exists():
        return False
    looks_like_path = bool(_SUFFIX.search(word)) or "/" in word
    return word.endswith("?") or (" " in word and not looks_like_path)


def read_questions(options: argparse.Namespace) -> list[GivenQuestion]:
    """The questions of the command line or of its file; none: they are typed later. Raises UserError: an empty one."""
    if options.question is not None:
        if not options.question.strip():
            raise UserError("the question is empty")
        return [GivenQuestion(options.question)]

    if options.file:
        read = _read_records if is_question_file(options.file) else _read_lines
        questions = read(options.file)
        if not questions:
            raise UserError(f"--file {options.file}: no question found")
        if options.start > len(questions):
            raise UserError(f"--start {options.start}: {options.file} has {counted(len(questions), 'question')}")
        return questions[options.start - 1 :]
    return []


def _read_records(path: Path) -> list[GivenQuestion]:
    """The questions of a file with fields. Raises DatasetError: it cannot be read, or a row has no question."""
    questions: list[GivenQuestion] = []
    for record in map(with_query_time, read_records(path)):
        time = record.data.get("query_time") or None
        name = record.data.get("interaction_id")
        questions.append(
            GivenQuestion(
                question_of(record).strip(),
                time if isinstance(time, str) else None,
                None if name in (None, "") else str(name),
            )
        )
    return questions


def _read_lines(path: Path) -> list[GivenQuestion]:
    """The lines of a file that are not blank. Raises UserError: it cannot be read, or is not UTF-8."""
    try:
        with path.open(encoding=ENCODING, errors=ERRORS) as file:
            return [GivenQuestion(line.strip()) for line in utf8_lines(file, path) if line.strip()]
    except OSError as error:
        raise UserError(f"--file {path}: cannot be read: {error.strerror}") from None


def typed_questions() -> Iterator[str]:
    """The lines of standard input that are not blank, until it ends."""
    # On standard error: standard output has only the answers
    prompt = "question> " if sys.stdin.isatty() else ""
    sys.stderr.write(prompt)
    for line in sys.stdin:
        if line.strip():
            yield line.strip()
        sys.stderr.write(prompt)
