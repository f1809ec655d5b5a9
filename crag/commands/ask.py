"""`crag ask QUESTION`: answer from your pages, a knowledge graph or both, with the sentence that supports the answer.

Without a question it reads questions from the terminal until the input ends.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from importlib import import_module
from itertools import groupby
from pathlib import Path

from crag.asking.asker import Asker, CitedAnswer
from crag.commands.argument_types import argument_type, moment, number, whole_number
from crag.commands.ask_ending import EXIT_CODES, PrintedAnswer, describe_interruption, end_asking
from crag.commands.ask_explanation import explain
from crag.commands.ask_questions import GivenQuestion, is_question, read_questions, take_question, typed_questions
from crag.commands.command_line import (
    add_graph_arguments,
    add_preset_arguments,
    add_progress_argument,
    command,
    parser_of,
    say,
    warn_of_silent_graph,
)
from crag.commands.ending import interrupt_code, stopped_in_order
from crag.core.log_lines import one_line_warnings
from crag.core.progress import Progress, ProgressMode
from crag.core.queries import TIME_FORMS
from crag.evaluation.graph_server import mock_graph
from crag.settings import graph_address


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Print the answers; returns the exit code.

    0: done. 2: wrong arguments, no readable page, or missing weights. 3: answers were lost. 130 and 143: interrupted or
    terminated.
    """
    words = sys.argv[1:] if arguments is None else arguments
    options = _parse(words)
    questions = read_questions(options)
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
        asker = stack.enter_context(
            Asker(
                options.preset,
                kg_url=_choose_graph(options, stack),
                changes=options.set,
                threshold=options.threshold,
                index=not options.no_index,
            )
        )
        # Before the models are loaded, so that a wrong path is reported at once
        asker.read(options.pages)
        say(f"loading the models of preset {asker.settings.name} ...")
        asker.warm_up()

        if questions:
            _answer_given(asker, questions, options, printed)
        else:
            _answer_typed(asker, options, printed)


def _choose_graph(options: argparse.Namespace, stack: ExitStack) -> str | None:
    """The address of the graph for `Asker`; None if the environment names it, or only pages are asked."""
    if options.mock_kg is not None:
        return _start_graph(stack, options.mock_kg)

    # An address of the command line wins over that of the environment
    address = graph_address(options.kg_url)
    if not (options.pages or address):
        say("no page and no graph is given: asking the small graph that is shipped")
        return _start_graph(stack, "")
    if address:
        warn_of_silent_graph(address)
    kg_url: str | None = options.kg_url
    return kg_url


def _answer_typed(asker: Asker, options: argparse.Namespace, printed: list[PrintedAnswer]) -> None:
    """Answer questions as they are typed, until the input ends."""
    for text in typed_questions():
        question = GivenQuestion(text)
        for answer in _answers(asker, [question], options):
            _print(question, answer, options, printed, several=True)


def _answer_given(
    asker: Asker, questions: Sequence[GivenQuestion], options: argparse.Namespace, printed: list[PrintedAnswer]
) -> None:
    """Answer the questions of the command line or of its file, with the progress of the whole file."""
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
        options.question = take_question(options.pages)
        # `--mock-kg "who?"`: the option takes a folder or nothing, and so the word behind it
        if options.question is None and options.mock_kg and is_question(options.mock_kg):
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
