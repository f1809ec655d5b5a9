"""The check of the agent: imports and evaluates it in an isolated environment with `local_evaluation.py`."""

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crag.answering import trim_to_tokens
from crag.core.contracts import I_DONT_KNOW
from crag.core.files import read_jsonl, write_rows
from crag.evaluation.batches import GRAPH_VARIABLE, MAX_BATCH_SIZE, SECONDS_PER_QUERY
from crag.evaluation.datasets import DatasetError, read_rows
from crag.evaluation.graph_server import mock_graph
from crag.evaluation.store import PREDICTIONS
from crag.settings import PRESET_VARIABLE
from crag.submission.preflight.subject import Finding, Findings, Level, Subject, note, one_line, some
from crag.submission.preflight.world import empty_world, refused, run_python
from crag.weights.manifest import cache_folder

AGENT_FILE = "agents/user_config.py"
QUESTIONS = "data/sample/questions.jsonl"
SERVING = ".venv-gpu/bin/python"
"""The interpreter of the evaluator's environment, which `make serving` makes: vLLM is not in this one."""
NEARLY = 0.8
"""Warn if a batch takes this share of its limit here: it may take all of it there."""
PAGES_OF_TASK_3 = 50
IMPORT = """
from agents.user_config import UserAgent
from models.user_config import UserModel
UserAgent.get_batch_size, UserAgent.batch_generate_answer, UserModel
"""
_ALMOST_ABSTENTION = re.compile(r"\bi (?:do not|don['’`´]?t|dont) know\b", re.IGNORECASE)


def agent(subject: Subject) -> Findings:
    """Without network and output on import, the agent answers in time, in the required form, in 75 tokens."""
    root = subject.pushed
    where = "this tree: git cannot list what it would push"
    if root != subject.root:
        where = f"a copy of the {len(subject.tracked)} files that git has"
    asks = not subject.settings.needs_gpu or shutil.which("nvidia-smi") is not None
    if not asks:
        why = f"the preset {subject.preset} needs GPUs, and this machine has none; --preset scripted asks a fake model"
        yield note(f"not asked: {why}")
    python = str(subject.root / SERVING) if asks and subject.settings.needs_gpu else sys.executable
    if not Path(python).is_file():
        yield Finding(Level.ERROR, SERVING, "is missing: the evaluator's environment, with vLLM", "make serving")
        return
    with ExitStack() as beside:
        folder = Path(beside.enter_context(tempfile.TemporaryDirectory(prefix="preflight-")))
        graph = None
        if asks and subject.task in {"task2", "task3"}:
            graph = os.environ.get(GRAPH_VARIABLE) or beside.enter_context(mock_graph())
        hidden = subject.root if root != subject.root else folder
        environment = empty_world(folder, hidden=hidden, server=urlsplit(graph or "").hostname)
        environment[PRESET_VARIABLE] = str(subject.preset)
        if subject.preset != subject.active_preset:  # only rehearsed: may use this machine's weights
            environment["CRAG_MODELS_DIR"] = str(cache_folder())
        began = time.monotonic()
        done = run_python(root, environment, "-c", IMPORT, python=python)
        yield note(f"imported in {time.monotonic() - began:.1f} s in {where}")
        if done.stdout:
            problem = f"prints to standard output, which evaluators use: {one_line(done.stdout, 80)!r}"
            yield Finding(Level.ERROR, AGENT_FILE, problem, "write to standard error, or use logging")
        if asks and done.returncode == 0:
            write_rows(folder / "questions.jsonl", rehearsal_rows(subject.root / QUESTIONS, subject.task))
            options = ["--dataset", str(folder / "questions.jsonl"), "--output", str(folder / "out"), "--quiet"]
            options += ["--seconds-per-query", str(SECONDS_PER_QUERY), *(["--kg-url", graph] if graph else [])]
            done = run_python(root, environment, "local_evaluation.py", *options, python=python)
        answered = folder / "out" / PREDICTIONS
        if not answered.is_file() and (done.returncode or asks):
            yield _failure(done.stderr)
        elif asks:
            yield from _batches(subject, [record.data for record in read_jsonl(answered)], graph)
        hosts = refused(folder)
    if hosts is None:
        remedy = "its interpreter has another sitecustomize: use another environment"
        yield Finding(Level.ERROR, AGENT_FILE, "its network could not be blocked", remedy)
    elif hosts:
        problem = f"uses the network, which the evaluator lacks: {some(hosts)}"
        remedy = "ship the file with the submission, and load it from its folder"
        yield Finding(Level.ERROR, AGENT_FILE, problem, remedy)


def _failure(output: str) -> Finding:
    """The last line of a traceback, with its place in the agent."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', output)
    place = next((f" ({file}:{line})" for file, line in reversed(frames) if "/agents/" in file or "/crag/" in file), "")
    last = output.strip().splitlines()[-1] if output.strip() else "its process ended"
    remedy = "correct it; the whole traceback: python -c 'import agents.user_config as u; u.UserAgent()'"
    return Finding(Level.ERROR, AGENT_FILE, f"fails: {one_line(last.removeprefix('error: '), 400)}{place}", remedy)


def _batches(subject: Subject, rows: list[dict[str, Any]], graph: str | None) -> Findings:
    batches = [list(batch) for _, batch in groupby(rows, itemgetter("batch"))]
    for batch in batches:
        first, limit = batch[0], SECONDS_PER_QUERY * len(batch)
        if first["error"] and not first["timed_out"]:
            yield _failure(first["error"])
        for row in batch:
            for problem, remedy in () if row["error"] or first["timed_out"] else _faults_of(row["prediction"]):
                yield Finding(Level.ERROR, f"{AGENT_FILE}, batch_generate_answer", problem, remedy)
        if first["batch_seconds"] > NEARLY * limit:
            over = first["timed_out"] or first["batch_seconds"] > limit
            problem = f"a batch of {len(batch)} took {first['batch_seconds']:.1f} s of {limit:g} s on this machine"
            problem += ": an overrun ends the whole submission" if over else ""
            remedy = "a smaller model, fewer passages or tokens; report.html of a run shows the seconds of each stage"
            yield Finding(Level.ERROR if over else Level.WARNING, subject.preset_file, problem, remedy)
    size = max(map(len, batches))
    seconds = max(batch[0]["batch_seconds"] for batch in batches if len(batch) == size)
    timed = f"a batch of {size} in {seconds:.1f} of {SECONDS_PER_QUERY * size:g} s here"
    yield note(f"{timed}, graph {graph}" if graph else timed)


def rehearsal_rows(questions: Path, task: str | None) -> list[dict[str, Any]]:
    """Seventeen questions with pages like those of real batches.

    Raises DatasetError if the file is unusable or has no questions.
    """
    rows = list(read_rows(questions, MAX_BATCH_SIZE + 1))
    if not rows:
        raise DatasetError(f"{questions} has no questions")
    rows = [dict(rows[place % len(rows)], interaction_id=f"preflight-{place}") for place in range(MAX_BATCH_SIZE + 1)]
    for row in rows:
        row["search_results"] = list(row["search_results"])
    pages: list[list[dict[str, str]]] = [row["search_results"] for row in rows]
    if task == "task3":
        every = [page for own in pages for page in own]
        for own in pages:
            own.extend(every[: max(0, PAGES_OF_TASK_3 - len(own))])
    pages[0][-1] = dict(pages[0][0])
    pages[1][-1] = dict.fromkeys(pages[1][-1], "")
    html = pages[2][0]["page_result"]
    pages[2][0] = pages[2][0] | {"page_result": f"{html[: len(html) // 2]}<div <p class='"}
    pages[3].clear()
    return rows


def _faults_of(answer: str) -> Iterator[tuple[str, str]]:
    """Problem and remedy of an answer."""
    shown = repr(one_line(answer, 60))
    if not answer.strip():
        yield f"gives {answer!r}", f"give a text; {I_DONT_KNOW!r} where there is no answer"
    elif "\n" in answer or "\r" in answer:
        yield f"gives several lines: {shown}", "join the lines with spaces"
    elif trim_to_tokens(answer) != answer.strip():
        yield f"gives more than 75 tokens: {shown}", "crag.answering.trim_to_tokens cuts it as the evaluator does"
    elif _ALMOST_ABSTENTION.search(answer) and I_DONT_KNOW not in answer.lower():
        problem = f"abstains as {shown}, which is judged as a wrong answer"
        yield problem, f"write {I_DONT_KNOW!r} with an ASCII apostrophe"
