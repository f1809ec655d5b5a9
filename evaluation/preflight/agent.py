"""Checks of the agent: imports, builds and asks it in a clean process without network."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agents.common.contracts import I_DONT_KNOW
from agents.settings import PRESET_VARIABLE, needed_weights
from evaluation.batches import (
    GRAPH_VARIABLE,
    MAX_BATCH_SIZE,
    SECONDS_PER_QUERY,
    STARTUP_SECONDS,
    evaluator_batch,
    in_batches,
)
from evaluation.datasets import DatasetError, read_rows
from evaluation.graph_server import GraphServerError, mock_graph
from evaluation.preflight.findings import CheckReport, NotApplicableError, one_line, some
from evaluation.preflight.subject import Subject
from evaluation.preflight.weights import unusable
from evaluation.preflight.world import empty_environment, guarded, mount, refused
from evaluation.trim import official_trim
from models.manifest import cache_folder

PROBE = Path(__file__).with_name("probe.py")
AGENT_FILE = "agents/user_config.py"
QUESTIONS = "data/sample/questions.jsonl"
NEARLY = 0.8
"""Warn if a batch takes this share of its limit here: it may take all of it there."""
SLOW_IMPORT = 30.0
"""Warn if importing takes more seconds."""
POLL_SECONDS, GRACE_SECONDS = 0.2, 1.0
"""Pause between looks at a batch, and what it may take beyond its limit before it is ended."""
PAGES_OF_TASK_3 = 50
_ALMOST_ABSTENTION = re.compile(r"\bi (?:do not|don['’`´]?t|dont) know\b", re.IGNORECASE)


def probe(subject: Subject, rows: dict[str, list[Any]] | None, graph_url: str | None, limit: float) -> dict[str, Any]:
    """Run `probe.py` in an empty world and return its notes and output; kills it if its start takes `limit` seconds.

    Without `rows` the agent is only imported.
    """
    root = _pushed(subject)
    with tempfile.TemporaryDirectory(prefix="preflight-") as name:
        folder = Path(name)
        request, result, out, log = (folder / part for part in ("request", "result", "out", "log"))
        environment = empty_environment(folder / "home")
        if subject.preset and subject.preset != subject.active_preset:
            environment[PRESET_VARIABLE] = subject.preset
        if graph_url:
            environment[GRAPH_VARIABLE] = graph_url
        allowed = _addresses(graph_url) if graph_url else []
        hidden = subject.root if root != subject.root else PROBE.parent
        environment |= guarded(log, hidden=hidden, root=root, allowed=allowed, loopback=rows is not None)
        request.write_text(json.dumps({"rows": rows}), encoding="utf-8")
        command = [sys.executable, "-s", "-P", "-B", str(PROBE), str(root), str(request), str(result)]
        with out.open("wb") as stdout:
            process = subprocess.Popen(  # noqa: S603 - this interpreter with a list of arguments
                command, cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
            try:
                ending = _ending(process, Path(f"{result}.begun"), limit)
            finally:
                _kill_group(process)
        written = json.loads(result.read_text(encoding="utf-8")) if result.is_file() else {"error": ending}
        noted = refused(log)
        if noted is None and result.is_file():
            written["error"] = "its network could not be blocked: its interpreter has another sitecustomize"
        elif noted is not None:
            written |= noted._asdict()
        return {**written, "printed": out.read_text(encoding="utf-8", errors="replace")}


def _ending(process: "subprocess.Popen[bytes]", begun: Path, limit: float) -> str:
    """Wait for the process: for its start at most `limit` seconds, then for each batch as long as the evaluator."""
    told, since = 0, time.monotonic()
    while True:
        code: int | None = None
        with suppress(subprocess.TimeoutExpired):
            code = process.wait(POLL_SECONDS)
        sizes = [int(size) for size in begun.read_text(encoding="ascii").split()] if begun.is_file() else []
        if len(sizes) > told:
            since, limit = time.monotonic(), SECONDS_PER_QUERY * sizes[-1]
        for number in range(told, 0 if sys.stderr.isatty() else len(sizes)):
            sys.stderr.write(f"  batch {number + 1}: {sizes[number]} questions ...\n")
        told = len(sizes)
        if code is not None:
            return f"its process ended with exit code {code}"
        if time.monotonic() - since > limit + (GRACE_SECONDS if sizes else 0.0):
            if not sizes:
                return f"it was not ready within {limit:g} seconds"
            return f"a batch of {sizes[-1]} took more than its {limit:g} s: an overrun ends the whole submission"


def _pushed(subject: Subject) -> Path:
    """The copy of what git would push; a preset that is only rehearsed also gets this machine's weights."""
    root = subject.pushed
    rehearsed = subject.preset != subject.active_preset and root != subject.root
    if rehearsed:
        needed = needed_weights(subject.settings, manifest=subject.manifest, repository=subject.root)
        mount(needed, subject.root, subject.tracked, root, cache=cache_folder())
    return root


def _addresses(url: str) -> list[tuple[str, int]]:
    """Names and ports of a server: its name, and the addresses that the name resolves to."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    numbers: set[str] = set()
    with suppress(OSError):  # an unknown name: the agent will get the error
        numbers = {str(answer[4][0]) for answer in socket.getaddrinfo(host, port)}
    return [(name, port) for name in sorted({host, *numbers})]


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError, PermissionError):  # all have ended
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def imports(subject: Subject, found: CheckReport) -> None:
    """The evaluator's import works without network, prints nothing, and provides both methods."""
    result = probe(subject, None, None, STARTUP_SECONDS)
    _check_common(result, found, "importing it")
    if "import_seconds" not in result:
        return
    for method in {"get_batch_size", "batch_generate_answer"} - set(result["methods"]):
        found.error(AGENT_FILE, f"has no method {method}", f"define {method}(self, ...)", field="UserAgent")
    if result.get("user_model") is not True:
        problem = "does not offer UserModel, which the 2024 kit imports"
        found.warning("models/user_config.py", problem, "from agents.user_config import UserAgent as UserModel")
    seconds = result["import_seconds"]
    heavy = ", ".join(result["heavy"]) or "no heavy library"
    if seconds > SLOW_IMPORT:
        remedy = "import heavy libraries only where they are used"
        found.warning(AGENT_FILE, f"takes {seconds:.0f} s to import (it loads {heavy})", remedy)
    where = "in this tree: git cannot list what it would push"
    if subject.tracked is not None:
        where = f"in a copy of the {len(subject.tracked)} files that git has"
    found.note = f"{seconds:.1f} s; loads {heavy}; {where}"


def _check_common(result: dict[str, Any], found: CheckReport, what: str) -> None:
    if "error" in result:
        last = result["error"].strip().splitlines()[-1]
        frames = re.findall(r'File "([^"]+)", line (\d+)', result["error"])
        where = next((f" ({file}:{line})" for file, line in reversed(frames) if "/agents/" in file), "")
        remedy = "correct it; the whole traceback: python -c 'import agents.user_config as u; u.UserAgent()'"
        found.error(AGENT_FILE, f"{what} fails: {one_line(last, 400)}{where}", remedy)
    if result["printed"]:
        problem = f"{what} prints to standard output, which evaluators use: {one_line(result['printed'], 80)!r}"
        found.error(AGENT_FILE, problem, "write to standard error, or use logging")
    if result.get("network"):
        problem = f"{what} uses the network, which the evaluator lacks: {some(sorted(set(result['network'])))}"
        found.error(AGENT_FILE, problem, "ship the file with the submission, and load it from its folder")
    if result.get("writes"):
        problem = f"{what} writes into the submission's folder: {some(sorted(set(result['writes'])))}"
        found.error(AGENT_FILE, problem, "write below tempfile.gettempdir(), or not at all")


def batch(subject: Subject, found: CheckReport) -> None:
    """Sixteen questions and a shorter last batch, as the evaluator asks: seconds, answers, 75 tokens."""
    if subject.settings.needs_gpu and shutil.which("nvidia-smi") is None:
        no_gpu = f"the preset {subject.preset} needs GPUs, and this machine has none"
        raise NotApplicableError(f"{no_gpu}; --preset scripted asks a fake model")
    if why := unusable(subject):
        raise NotApplicableError(why)
    try:
        rows = rehearsal_rows(subject.root / QUESTIONS, subject.task)
    except (DatasetError, OSError) as error:
        raise NotApplicableError(f"no questions to ask: {one_line(error)}") from None
    with _graph(subject) as (graph_url, graph_note):
        result = probe(subject, rows, graph_url, STARTUP_SECONDS)
    _check_common(result, found, "asking it")
    if "batch_size" not in result:
        return
    size = result["batch_size"]
    if "batches" not in result and "error" not in result:
        remedy = f"give a whole number from 1 to {MAX_BATCH_SIZE}; presets set batch_size"
        found.error(AGENT_FILE, f"get_batch_size() gives {size!r}", remedy)
    for done in result.get("batches", []):
        _check_answers(done, found)
        _check_seconds(done, found, subject)
    full = [done["seconds"] for done in result.get("batches", []) if done["size"] == size]
    found.note = f"built in {result['build_seconds']:.1f} s"
    if full:
        found.note += f"; a batch of {size} in {max(full):.1f} of {SECONDS_PER_QUERY * size:g} s here{graph_note}"


@contextmanager
def _graph(subject: Subject) -> Iterator[tuple[str | None, str]]:
    if subject.task not in {"task2", "task3"}:
        yield None, ""
    elif given := os.environ.get(GRAPH_VARIABLE):
        yield given, f", graph {given}"
    else:
        with ExitStack() as beside:
            try:
                url: str | None = beside.enter_context(mock_graph())
                note = ", shipped graph"
            except GraphServerError as error:
                url, note = None, f", without a graph: {one_line(error, 80)}"
            yield url, note


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
    if pages[0]:
        pages[0][-1] = dict(pages[0][0])
    if len(pages[1]) > 1:
        pages[1][-1] = dict.fromkeys(pages[1][-1], "")
    if pages[2]:
        html = pages[2][0]["page_result"]
        pages[2][0] = pages[2][0] | {"page_result": f"{html[: len(html) // 2]}<div <p class='"}
    pages[3].clear()
    return batch_rows


def _check_seconds(done: dict[str, Any], found: CheckReport, subject: Subject) -> None:
    limit = SECONDS_PER_QUERY * done["size"]
    remedy = "a smaller model, fewer passages or tokens; results/.../report.html shows the seconds of each stage"
    problem = f"a batch of {done['size']} took {done['seconds']:.1f} s of {limit:g} s on this machine"
    if done["seconds"] > limit:
        found.error(subject.preset_file, f"{problem}: an overrun ends the whole submission", remedy)
    elif done["seconds"] > NEARLY * limit:
        found.warning(subject.preset_file, problem, remedy)


def _check_answers(done: dict[str, Any], found: CheckReport) -> None:
    answers, cut = done["answers"], official_trim().cut
    if not isinstance(answers, list) or len(answers) != done["size"]:
        given = f"{len(answers)} answers" if isinstance(answers, list) else answers
        faults = [(f"gives {given} for {done['size']} questions", "give a list, one text per question")]
    else:
        faults = [fault for answer in answers if (fault := _answer_fault(answer, cut))]
    for problem, remedy in faults:
        found.error(AGENT_FILE, problem, remedy, field="batch_generate_answer")


def _answer_fault(answer: object, cut: Callable[[str], str]) -> tuple[str, str] | None:
    if not isinstance(answer, str) or not answer.strip():
        return f"gives {answer!r}", f"give a text; {I_DONT_KNOW!r} where there is no answer"
    shown = repr(one_line(answer, 60))
    if "\n" in answer or "\r" in answer:
        return f"gives several lines: {shown}", "join the lines with spaces"
    if cut(answer) != answer.strip():
        remedy = "agents.answering.trim_to_tokens cuts it as the evaluator does"
        return f"gives more than 75 tokens: {shown}", remedy
    if _ALMOST_ABSTENTION.search(answer) and I_DONT_KNOW not in answer.lower():
        return (
            f"abstains as {shown}, which is judged as a wrong answer",
            f"write {I_DONT_KNOW!r} with an ASCII apostrophe",
        )
    return None
