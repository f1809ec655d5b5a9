"""`crag ask QUESTION`: answer from your pages, a knowledge graph or both, with the sentence that supports the answer.

Without a question it reads questions from the terminal until the input ends.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from crag.asking.asker import Asker, CitedAnswer
from crag.commands.ask_ending import EXIT_CODES, PrintedAnswer, describe_interruption, end_asking
from crag.commands.ask_explanation import explain
from crag.commands.command_line import (
    add_graph_arguments,
    add_preset_arguments,
    add_progress_argument,
    argument_type,
    command,
    moment,
    number,
    parser_of,
    say,
    warn_of_silent_graph,
    whole_number,
)
from crag.commands.ending import interrupt_code, stopped_in_order
from crag.core.files import UserError
from crag.core.log_lines import one_line_warnings
from crag.core.places import expand_home
from crag.core.progress import Progress, ProgressMode
from crag.core.queries import TIME_FORMS
from crag.core.text import counted
from crag.core.utf8_lines import ENCODING, ERRORS, utf8_lines
from crag.evaluation.datasets import is_question_file, question_of, read_records, with_query_time
from crag.evaluation.graph_server import mock_graph
from crag.settings import graph_address

_SUFFIX = re.compile(r"\.\w{1,5}\Z")
"""The end of a file's name."""


class GivenQuestion(NamedTuple):
    """A question, and the time and the name that its file gives it, if any."""

    text: str
    time: str | None = None
    interaction_id: str | None = None


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Print the answers; returns the exit code.

    0: done. 2: wrong arguments, no readable page, or missing weights. 3: answers were lost. 130 and 143: interrupted or
    terminated.
    """
    words = sys.argv[1:] if arguments is None else arguments
    options = _parse(words)
    questions = _questions(options)
    printed: list[PrintedAnswer] = []
    try:
        with stopped_in_order():
            _ask(options, questions, printed)
    except KeyboardInterrupt as interrupt:
        question_count = len(questions) if options.file else None
        say(f"\n{describe_interruption(words, options.start, question_count, len(printed))}")
        return interrupt_code(interrupt)
    return end_asking(words, options.start if options.file else None, printed)


def _ask(options: argparse.Namespace, questions: Sequence[GivenQuestion], printed: list[PrintedAnswer]) -> None:
    """Load what is needed, ask the questions and print the answers; notes in `printed` what became of each."""
    with ExitStack() as stack:
        stack.enter_context(one_line_warnings())
        # What the command line names wins over the address of the environment
        graph = "" if options.mock_kg is not None else graph_address(options.kg_url)
        needs_our_graph = options.mock_kg is None and not (options.pages or graph)
        # Said only to a user who did not ask for it
        if needs_our_graph:
            say("no page and no graph is given: asking the small graph that is shipped")

        if options.mock_kg is not None or needs_our_graph:
            options.kg_url = _start_graph(stack, options.mock_kg or "")
        elif graph:
            warn_of_silent_graph(graph)

        asker = stack.enter_context(
            Asker(
                options.preset,
                kg_url=options.kg_url,
                changes=options.set,
                threshold=options.threshold,
                index=not options.no_index,
            )
        )
        # Before the models are loaded, so that a wrong path is reported at once
        asker.read(options.pages)
        say(f"loading the models of preset {asker.settings.name} ...")
        asker.warm_up()

        if not questions:
            for text in _typed_questions():
                question = GivenQuestion(text)
                for answer in _answers(asker, [question], options):
                    _print(question, answer, options, printed, several=True)
            return

        earlier = options.start - 1
        several = earlier + len(questions) > 1
        mode = options.progress if several else ProgressMode.NONE
        with Progress(earlier + len(questions), earlier, mode=mode) as progress:
            for question, answer in zip(questions, _answers(asker, questions, options), strict=True):
                _print(question, answer, options, printed, several=several)
                progress.update(1)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag ask", __doc__, EXIT_CODES, more_words="put the question in quotes")
    _add_questions(parser)
    _add_pages(parser)
    _add_output(parser)
    add_graph_arguments(parser)
    parser.add_argument(
        "--time",
        metavar="T",
        type=argument_type(moment),
        help=f"query time: {TIME_FORMS}; default: that of the file, else now",
    )
    add_preset_arguments(parser)
    add_progress_argument(parser)

    options = parser.parse_args(arguments)
    if options.question is None and not options.file:
        options.question = _take_question(options.pages)
        # `--mock-kg "who?"`: the option takes a folder or nothing, and so the word behind it
        if options.question is None and options.mock_kg and _is_question(options.mock_kg):
            options.question, options.mock_kg = options.mock_kg, ""
    if options.question is not None and options.file:
        parser.error("give a question or --file, not both")
    if options.start > 1 and not options.file:
        parser.error("--start is for --file")
    return options


def _add_questions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "question",
        nargs="?",
        help="the question; without one, questions are read from the terminal",
    )
    parser.add_argument(
        "--file",
        metavar="FILE",
        type=Path,
        help="file of questions: one per line, or .csv, .tsv or .jsonl with the field query and perhaps query_time",
    )
    parser.add_argument(
        "--start",
        metavar="N",
        type=whole_number(1),
        default=1,
        help="begin with the Nth question of --file, after an interruption; default: 1",
    )


def _add_pages(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pages",
        metavar="PLACE",
        nargs="+",
        action="extend",
        default=[],
        help="read files (HTML, text, Markdown, PDF, DOCX, XLSX, PPTX, ODT, ODS, ODP, EPUB, RTF, CSV, TSV, JSON, "
        "e-mail, calendars), folders or URLs",
    )
    parser.add_argument(
        "--no-index",
        action="store_true",
        help="keep nothing of many pages for later starts; they are then searched by their words alone",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Which answers are given, and how they are printed."""
    parser.add_argument(
        "--threshold",
        metavar="P",
        type=number(0, 1),
        help="give answers whose P(correct) is above P: 0 gives all; default: that of the preset for chosen pages",
    )
    parser.add_argument(
        "--why",
        action="store_true",
        help="show classes, calls, facts, passages, candidates and gates",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the answer and its trace as JSON; several: one per line",
    )


def _take_question(places: list[str]) -> str | None:
    """The question behind the places of --pages, which takes all words that follow it: ``--pages *.html "who?"``.

    An empty word is a question too, of which `_questions` complains.
    """
    if len(places) < 2:
        return None
    final_word = places[-1].strip()
    return places.pop() if not final_word or _is_question(final_word) else None


def _is_question(word: str) -> bool:
    """Whether a word is neither a file nor an address, and ends with a question mark or has a blank.

    A misspelt path is no question.
    """
    if word.startswith(("http://", "https://")) or expand_home(word).exists():
        return False
    looks_like_path = bool(_SUFFIX.search(word)) or "/" in word
    return word.endswith("?") or (" " in word and not looks_like_path)


def _questions(options: argparse.Namespace) -> list[GivenQuestion]:
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


def _typed_questions() -> Iterator[str]:
    """The lines of standard input that are not blank, until it ends."""
    # On standard error: standard output has only the answers
    prompt = "question> " if sys.stdin.isatty() else ""
    sys.stderr.write(prompt)
    for line in sys.stdin:
        if line.strip():
            yield line.strip()
        sys.stderr.write(prompt)


def _start_graph(stack: ExitStack, folder: str) -> str:
    """The address of a graph server that runs until the stack is closed."""
    with ThreadPoolExecutor(1) as thread:
        address = thread.submit(stack.enter_context, mock_graph(folder))
        import_module("crag.pipeline.agent")  # meanwhile: it takes as long as the graph's start
        return address.result()


def _answers(asker: Asker, questions: Sequence[GivenQuestion], options: argparse.Namespace) -> Iterator[CitedAnswer]:
    """The answers in order, each as soon as it is there."""
    # Questions of one time are asked together: the agent answers in batches.
    for time, group in groupby(questions, key=lambda question: options.time or question.time):
        texts = [question.text for question in group]
        yield from asker.ask_all(texts, options.pages, time)


def _print(
    question: GivenQuestion,
    answer: CitedAnswer,
    options: argparse.Namespace,
    printed: list[PrintedAnswer],
    *,
    several: bool,
) -> None:
    sys.stdout.write(_format(question, answer, options, several=several))
    sys.stdout.flush()
    printed.append(PrintedAnswer.of(answer.trace))


def _format(question: GivenQuestion, answer: CitedAnswer, options: argparse.Namespace, *, several: bool) -> str:
    if options.json:
        fields = answer.to_dict()
        if question.interaction_id is not None:
            fields["interaction_id"] = question.interaction_id
        indent = None if several else 1  # one line for each of several
        content = json.dumps(fields, ensure_ascii=False, indent=indent, default=str)
        return f"{content}\n"
    if options.why:
        blank_line = "\n" if several else ""
        return f"{explain(answer.trace)}\n{blank_line}"
    if several:
        return f"{answer.trace.query}\n    {answer}\n"
    return f"{answer}\n"
