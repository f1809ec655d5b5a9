"""What is wrong with the answers of the rehearsed agent: their form, their time, errors instead of answers."""

import re
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from crag.answering import trim_to_tokens
from crag.core.contracts import I_DONT_KNOW
from crag.core.log_lines import one_line
from crag.evaluation.batches import SECONDS_PER_QUERY
from crag.submission.preflight.subject import Finding, Findings, Level, Subject, note

AGENT_FILE = "agents/user_config.py"
NEARLY = 0.8
"""Warn if a batch takes this share of its limit here: it may take all of it there."""
BUILD = "python -c 'import agents.user_config as u; u.UserAgent()'"
"""What shows the whole traceback of an agent that cannot be built."""
_ALMOST_ABSTENTION = re.compile(r"\bi (?:do not|don['’`´]?t|dont) know\b", re.IGNORECASE)


def failure(tree: Path, output: str, whole_traceback: str = BUILD) -> Finding:
    """The final line of a traceback, with the innermost file and line of the submission in it.

    Files are named as in the submission, not as in the folder `tree` that was rehearsed: it is deleted at the end.
    `whole_traceback` says what shows all of the traceback.
    """
    position = ""
    # The last match wins: tracebacks name the innermost call last
    for file, line in re.findall(r'File "([^"]+)", line (\d+)', output):
        if "/agents/" in file or "/crag/" in file:
            position = f" ({file}:{line})"

    # A killed process may leave no output at all
    message = output.strip().splitlines()[-1] if output.strip() else "its process ended"
    problem = f"fails: {one_line(message.removeprefix('error: '), 400)}{position}".replace(f"{tree}/", "")
    return Finding(Level.ERROR, AGENT_FILE, problem, f"correct it; the whole traceback: {whole_traceback}")


def batch_findings(subject: Subject, rows: list[dict[str, Any]], graph: str | None) -> Findings:
    """Problems of each batch, and the time of the largest batch."""
    batch_seconds: list[tuple[int, float]] = []
    # Rows of a batch stand together, as groupby needs
    for _, group in groupby(rows, itemgetter("batch")):
        batch = list(group)
        batch_seconds.append((len(batch), batch[0]["batch_seconds"]))
        yield from _answer_findings(subject, batch)
        yield from _time_findings(subject, batch)

    # Of the largest batches the slowest.
    size, seconds = max(batch_seconds)
    timing = f"a batch of {size} in {seconds:.1f} of {SECONDS_PER_QUERY * size:g} s here"
    yield note(f"{timing}, graph {graph}" if graph else timing)


def _answer_findings(subject: Subject, batch: list[dict[str, Any]]) -> Findings:
    """The batch's error, or the faults of its answers. All rows of a batch share error and time."""
    first = batch[0]
    # Reported with its time
    if first["timed_out"]:
        return
    if first["error"]:
        yield failure(subject.pushed, first["error"], "predictions.jsonl of local_evaluation.py, field error")
    for row in batch:
        if not row["error"]:
            fault = _find_answer_fault(row["prediction"])
            if fault is not None:
                place = f"{AGENT_FILE}, batch_generate_answer"
                yield Finding(Level.ERROR, place, fault.problem, fault.remedy)


def _time_findings(subject: Subject, batch: list[dict[str, Any]]) -> Findings:
    """An error if the batch took more than its time, a warning if it took nearly all."""
    seconds = batch[0]["batch_seconds"]
    # The evaluator's limit grows with the batch
    limit = SECONDS_PER_QUERY * len(batch)
    if seconds <= NEARLY * limit:
        return

    problem = f"a batch of {len(batch)} took {seconds:.1f} s of {limit:g} s on this machine"
    level = Level.WARNING
    if batch[0]["timed_out"] or seconds > limit:
        problem += ": an overrun ends the whole submission"
        level = Level.ERROR
    remedy = "a smaller model, fewer passages or tokens; report.html of a run shows the seconds of each stage"
    yield Finding(level, subject.preset_file, problem, remedy)


class _AnswerFault(NamedTuple):
    """What is wrong with an answer, and what to do about it."""

    problem: str
    remedy: str


def _find_answer_fault(answer: str) -> _AnswerFault | None:
    excerpt = repr(one_line(answer, 60))
    if not answer.strip():
        return _AnswerFault(f"gives {answer!r}", f"give a text; {I_DONT_KNOW!r} where there is no answer")
    if "\n" in answer or "\r" in answer:
        return _AnswerFault(f"gives several lines: {excerpt}", "join the lines with spaces")

    # Trimming changes only what is too long
    if trim_to_tokens(answer) != answer.strip():
        remedy = "crag.answering.trim_to_tokens cuts it as the evaluator does"
        return _AnswerFault(f"gives more than 75 tokens: {excerpt}", remedy)

    # "I do not know" or a curly apostrophe: the evaluator looks for the exact words
    if _ALMOST_ABSTENTION.search(answer) and I_DONT_KNOW not in answer.lower():
        problem = f"abstains as {excerpt}, which is judged as a wrong answer"
        return _AnswerFault(problem, f"write {I_DONT_KNOW!r} with an ASCII apostrophe")
    return None
