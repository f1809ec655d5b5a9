"""How runs of questions end: what is said about lost answers, the exit code, and the command that goes on."""

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from crag.commands.command_line import say
from crag.core.text import without_credentials
from crag.evaluation.lost import EXIT_LOST, lost_advice

EXIT_FAILED_BATCHES = 1
EXIT_BELOW = 4
EXIT_CODES = (
    "Exit code: 0 done; 1 a batch timed out or failed; 2 it did not start; 3 answers were lost, which --resume asks\n"
    "again; 4 the score is below --fail-below; 130 interrupted (143 by SIGTERM)."
)


def end_run(
    results: Mapping[str, Any],
    rows: Iterable[Mapping[str, Any]],
    command: str,
    fail_below: float | None,
) -> int:
    """Tell what went wrong in a complete run; returns the exit code. `command` asks lost questions again."""
    has_failed = _warn_of_lost_submission(results)
    advice = lost_advice(list(rows), command)
    if advice:
        say("\n" + "\n".join(advice))

    is_below = False
    if fail_below is not None:
        # Without a scored question the score is 0 and says nothing
        is_below = not results["n"] or results["score"] < fail_below
    if is_below:
        score = f"{results['score']:+.3f}" if results["n"] else "of no scored question"
        say(f"the score {score} is below --fail-below {fail_below:g}")

    if has_failed:
        return EXIT_FAILED_BATCHES
    if advice:
        return EXIT_LOST
    return EXIT_BELOW if is_below else 0


def end_early(reason: str, rows: Iterable[Mapping[str, Any]], folder: Path, command: str) -> int:
    """Tell why a run has ended before its last question; returns the exit code."""
    lines = ["", f"ended early: {reason}. What was answered is kept in {folder}"]
    lines += lost_advice(list(rows), command)
    lines.append("  --stop-after-lost N sets after how many such batches a run ends, --retry-lost N asks again at once")
    say("\n".join(lines))
    return EXIT_LOST


def _warn_of_lost_submission(results: Mapping[str, Any]) -> bool:
    """Warn if the submission would have been lost; returns whether it would."""
    faults = []
    if results["timeouts"]:
        faults.append(f"{results['timeouts']} batch(es) exceeded their time limit")
    if results["errors"]:
        faults.append(f"{results['errors']} batch(es) failed")
    if not faults:
        return False

    bar = "!" * 88
    lines = [
        "",
        bar,
        f"  {' and '.join(faults)}. THE REAL EVALUATOR WOULD HAVE FAILED THIS WHOLE SUBMISSION.",
        "  See the fields timed_out and error in predictions.jsonl.",
    ]
    if results["last_error"]:
        lines.append(f"  The last error: {results['last_error']}")
    say("\n".join([*lines, bar]))
    return True


def resume_command(program: str, words: Sequence[str]) -> str:
    """The command that continues a run: as it was typed, with --resume. Addresses lose their passwords.

    >>> resume_command("crag evaluate", ["--preset", "cpu", "--overwrite"])
    'crag evaluate --preset cpu --resume'
    """
    other_words = [word for word in words if word not in {"--resume", "--overwrite"}]
    return shell_command(program, [*other_words, "--resume"])


def shell_command(program: str, words: Sequence[str]) -> str:
    """A command as one types it in a shell. Addresses lose their passwords.

    >>> shell_command("crag ask", ["who founded it?", "--pages", "reports/"])
    "crag ask 'who founded it?' --pages reports/"
    """
    return without_credentials(f"{program} {shlex.join(words)}")


def typed_program(program: str) -> str:
    """The program as the user can type it again: a clone has no command `crag`."""
    started = Path(sys.argv[0])
    if started.name == "local_evaluation.py" and program == "crag evaluate":
        return f"python {sys.argv[0]}"
    if started.name == "__main__.py" and started.parent.name == "crag":
        return program.replace("crag", "python -m crag", 1)
    return program
