"""Checks of the agent: imports, builds and asks it in a clean process without network."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agents.common.contracts import I_DONT_KNOW
from agents.settings import PRESET_VARIABLE
from evaluation.batches import (
    GRAPH_VARIABLE,
    MAX_BATCH_SIZE,
    SECONDS_PER_QUERY,
    STARTUP_SECONDS,
    evaluator_batch,
    in_batches,
)
from evaluation.datasets import DatasetError, read_rows
from evaluation.graph_server import mock_graph
from evaluation.preflight.subject import Finding, Findings, Level, Subject, note, one_line, some
from evaluation.preflight.weights import lend
from evaluation.preflight.world import empty_world, refused
from evaluation.trim import official_trim

PROBE = Path(__file__).with_name("probe.py")
AGENT_FILE = "agents/user_config.py"
QUESTIONS = "data/sample/questions.jsonl"
NEARLY = 0.8
"""Warn if a batch takes this share of its limit here: it may take all of it there."""
PAGES_OF_TASK_3 = 50
_ALMOST_ABSTENTION = re.compile(r"\bi (?:do not|don['’`´]?t|dont) know\b", re.IGNORECASE)


def probe(subject: Subject, rows: dict[str, list[Any]] | None, graph_url: str | None) -> dict[str, Any]:
    """Run `probe.py` in an empty world and return its notes and output. Without `rows` the agent is only imported."""
    root = subject.pushed
    is_rehearsed = subject.preset != subject.active_preset
    if is_rehearsed and root != subject.root:
        lend(subject)
    with tempfile.TemporaryDirectory(prefix="preflight-") as name:
        folder = Path(name)
        request, result, out = (folder / part for part in ("request", "result", "out"))
        hidden = subject.root if root != subject.root else PROBE.parent
        environment = empty_world(folder, hidden=hidden, server=urlsplit(graph_url or "").hostname)
        environment |= {PRESET_VARIABLE: str(subject.preset)} if is_rehearsed else {}
        environment |= {GRAPH_VARIABLE: graph_url} if graph_url else {}
        asked = {"rows": rows, "startup": STARTUP_SECONDS, "per_query": SECONDS_PER_QUERY}
        request.write_text(json.dumps(asked), encoding="utf-8")
        command = [sys.executable, "-s", "-P", "-B", str(PROBE), str(root), str(request), str(result)]
        with out.open("wb") as stdout:
            process = subprocess.Popen(  # noqa: S603 - this interpreter with a list of arguments
                command, cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            try:
                code = process.wait()  # each of its steps has a limit
            finally:
                with suppress(ProcessLookupError, PermissionError):  # all have ended
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        written: dict[str, Any] = json.loads(result.read_text(encoding="utf-8")) if result.is_file() else {}
        if not written.get("done"):
            written["error"] = f"its process ended with exit code {code}"
            if time.time() > written.get("until", float("inf")):
                written["error"] = f"{written['step']} took more than its {written['limit']:g} s"
        written["network"] = refused(folder)
        return written | {"printed": out.read_text(encoding="utf-8", errors="replace")}


def agent(subject: Subject) -> Findings:
    """Imported without network and output, it answers as the evaluator asks: in time, in form, in 75 tokens."""
    where = "this tree: git cannot list what it would push"
    if subject.pushed != subject.root:
        where = f"a copy of the {len(subject.tracked)} files that git has"
    rows = None
    if subject.settings.needs_gpu and shutil.which("nvidia-smi") is None:
        why = f"the preset {subject.preset} needs GPUs, and this machine has none; --preset scripted asks a fake model"
        yield note(f"not asked: {why}")
    else:
        rows = rehearsal_rows(subject.root / QUESTIONS, subject.task)
    with ExitStack() as beside:
        graph_url = None
        if rows and subject.task in {"task2", "task3"}:
            graph_url = os.environ.get(GRAPH_VARIABLE) or beside.enter_context(mock_graph())
        result = probe(subject, rows, graph_url)
    yield note(f"imported in {result.get('import_seconds', 0.0):.1f} s in {where}")
    if "error" in result:
        last = result["error"].strip().splitlines()[-1]
        frames = re.findall(r'File "([^"]+)", line (\d+)', result["error"])
        place = next((f" ({file}:{line})" for file, line in reversed(frames) if "/agents/" in file), "")
        remedy = "correct it; the whole traceback: python -c 'import agents.user_config as u; u.UserAgent()'"
        yield Finding(Level.ERROR, AGENT_FILE, f"fails: {one_line(last, 400)}{place}", remedy)
    if result["printed"]:
        problem = f"prints to standard output, which evaluators use: {one_line(result['printed'], 80)!r}"
        yield Finding(Level.ERROR, AGENT_FILE, problem, "write to standard error, or use logging")
    if result["network"] is None:
        remedy = "its interpreter has another sitecustomize: use another environment"
        yield Finding(Level.ERROR, AGENT_FILE, "its network could not be blocked", remedy)
    elif result["network"]:
        problem = f"uses the network, which the evaluator lacks: {some(result['network'])}"
        remedy = "ship the file with the submission, and load it from its folder"
        yield Finding(Level.ERROR, AGENT_FILE, problem, remedy)
    if "build_seconds" in result:
        yield from _batches(subject, result, graph_url)


def _batches(subject: Subject, result: dict[str, Any], graph_url: str | None) -> Findings:
    size, asked = result["batch_size"], result.get("batches", [])
    if not asked and "error" not in result:
        remedy = f"give a whole number from 1 to {MAX_BATCH_SIZE}; presets set batch_size"
        yield Finding(Level.ERROR, AGENT_FILE, f"get_batch_size() gives {size!r}", remedy)
        return
    for done in asked:
        for problem, remedy in _faults_of(done):
            yield Finding(Level.ERROR, f"{AGENT_FILE}, batch_generate_answer", problem, remedy)
        limit = SECONDS_PER_QUERY * done["size"]
        if done["seconds"] > NEARLY * limit:
            over = done["seconds"] > limit
            problem = f"a batch of {done['size']} took {done['seconds']:.1f} s of {limit:g} s on this machine"
            problem += ": an overrun ends the whole submission" if over else ""
            remedy = (
                "a smaller model, fewer passages or tokens; results/.../report.html shows the seconds of each stage"
            )
            yield Finding(Level.ERROR if over else Level.WARNING, subject.preset_file, problem, remedy)
    seconds = max((done["seconds"] for done in asked if done["size"] == size), default=0.0)
    timed = f"a batch of {size} in {seconds:.1f} of {SECONDS_PER_QUERY * size:g} s here"
    yield note(f"built in {result['build_seconds']:.1f} s; {timed}{f', graph {graph_url}' if graph_url else ''}")


def rehearsal_rows(questions: Path, task: str | None) -> dict[str, list[Any]]:
    """Seventeen questions as the evaluator's four lists, with pages like those of real batches.

    Raises DatasetError if the file is unusable or has no questions.
    """
    rows = list(read_rows(questions, MAX_BATCH_SIZE + 1))
    if not rows:
        raise DatasetError(f"{questions} has no questions")
    rows = [rows[place % len(rows)] | {"interaction_id": f"preflight-{place}"} for place in range(MAX_BATCH_SIZE + 1)]
    batch_rows = evaluator_batch(next(in_batches(rows, len(rows))))
    pages: list[list[dict[str, str]]] = batch_rows["search_results"]
    if task == "task3":
        every = [page for own in pages for page in own]
        for own in pages:
            own.extend(every[: max(0, PAGES_OF_TASK_3 - len(own))])
    pages[0][-1] = dict(pages[0][0])
    pages[1][-1] = dict.fromkeys(pages[1][-1], "")
    html = pages[2][0]["page_result"]
    pages[2][0] = pages[2][0] | {"page_result": f"{html[: len(html) // 2]}<div <p class='"}
    pages[3].clear()
    return batch_rows


def _faults_of(done: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Problem and remedy of a batch's answers."""
    answers = done["answers"]
    if not done["is_list"] or len(answers) != done["size"]:
        given = f"{len(answers)} answers" if done["is_list"] else "something else than a list"
        yield f"gives {given} for {done['size']} questions", "give a list, one text per question"
        return
    cut = official_trim().cut
    for answer in answers:
        shown = repr(one_line(answer, 60))
        if not isinstance(answer, str) or not answer.strip():
            yield f"gives {answer!r}", f"give a text; {I_DONT_KNOW!r} where there is no answer"
        elif "\n" in answer or "\r" in answer:
            yield f"gives several lines: {shown}", "join the lines with spaces"
        elif cut(answer) != answer.strip():
            remedy = "agents.answering.trim_to_tokens cuts it as the evaluator does"
            yield f"gives more than 75 tokens: {shown}", remedy
        elif _ALMOST_ABSTENTION.search(answer) and I_DONT_KNOW not in answer.lower():
            problem = f"abstains as {shown}, which is judged as a wrong answer"
            yield problem, f"write {I_DONT_KNOW!r} with an ASCII apostrophe"
