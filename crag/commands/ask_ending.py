"""How `crag ask` ends: what is said about answers that were lost or not reached, and the exit code."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Self

from crag.commands.command_line import say
from crag.commands.run_ending import shell_command, typed_program
from crag.core.contracts import Trace
from crag.evaluation.lost import EXIT_LOST, lost_advice, why_lost

EXIT_CODES = (
    "Exit code: 0 done; 2 an error, which is printed; 3 answers were lost, such as to a server that is down;\n"
    "130 interrupted (143 by SIGTERM)."
)


@dataclass(frozen=True, slots=True)
class PrintedAnswer:
    """What became of a question: to what its answer was lost and why, if it was."""

    lost: str | None
    lost_because: str | None

    @classmethod
    def of(cls, trace: Trace) -> Self:
        """That of a trace."""
        return cls(trace.lost, why_lost(trace.to_dict()) if trace.lost else None)


def end_asking(words: Sequence[str], start: int | None, printed: Sequence[PrintedAnswer]) -> int:
    """Say how to ask again for lost answers; returns the exit code.

    `words` are the command's arguments, `start` is the number of the first question of a file; None: no file.
    """
    lost = [position for position, answer in enumerate(printed) if answer.lost]
    if not lost:
        return 0
    # Once a server is down, all that follow are lost
    again = _typed(words) if start is None else _command_from(words, start + lost[0])
    say("\n" + "\n".join(lost_advice([asdict(answer) for answer in printed], again)))
    return EXIT_LOST


def describe_interruption(words: Sequence[str], start: int, question_count: int | None, printed: int) -> str:
    """How many questions of a file have their answer, and the command that asks the others.

    `question_count`: questions from number `start` on, None: they are no file's; `printed`: those with an answer.

    >>> describe_interruption(["--file", "q.txt"], 3, 8, 2)
    'interrupted: 4 of 10 questions are answered; the others: crag ask --file q.txt --start 5'
    """
    if question_count is None:
        return "interrupted"
    earlier = start - 1
    answered = f"interrupted: {earlier + printed} of {earlier + question_count} questions are answered"
    return answered if printed == question_count else f"{answered}; the others: {_command_from(words, start + printed)}"


def _command_from(words: Sequence[str], start: int) -> str:
    """The command as it was typed, with another --start."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--start")
    _, other_words = parser.parse_known_args(words)
    return _typed([*other_words, "--start", str(start)])


def _typed(words: Sequence[str]) -> str:
    return shell_command(typed_program("crag ask"), words)
