"""The check of the agent: imports and evaluates it in an isolated environment with `local_evaluation.py`."""

import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from itertools import chain, cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crag.core.files import read_jsonl, write_rows
from crag.core.log_lines import one_line
from crag.engines.gpus import GpuError, require_gpus
from crag.evaluation.batches import MAX_BATCH_SIZE, SECONDS_PER_QUERY
from crag.evaluation.datasets import read_rows
from crag.evaluation.graph_server import mock_graph
from crag.evaluation.store import PREDICTIONS
from crag.settings import PRESET_VARIABLE, graph_address
from crag.submission.preflight.answers import AGENT_FILE, batch_findings, failure
from crag.submission.preflight.subject import Finding, Findings, Level, Subject, first_few, note
from crag.submission.preflight.world import empty_world, refused, run_python
from crag.weights.manifest import cache_folder

QUESTIONS = "data/sample/questions.jsonl"
SERVING = ".venv-gpu/bin/python"
"""The interpreter of the evaluator's environment, which `make serving` makes: vLLM is not in this one."""
PAGES_OF_TASK_3 = 50
IMPORT = """
from agents.user_config import UserAgent
from models.user_config import UserModel
UserAgent.get_batch_size, UserAgent.batch_generate_answer
if UserModel is not UserAgent:
    raise SystemExit("models.user_config.UserModel, which the 2024 evaluator asks, is not agents.user_config.UserAgent")
"""


def agent(subject: Subject) -> Findings:
    """Without network and output on import, the agent answers in time, in the required form, in 75 tokens."""
    python = _choose_interpreter(subject)
    reason = _reason_not_to_ask(subject, python)
    if reason:
        yield note(f"not asked: {reason}")

    if not python.is_file():
        yield Finding(
            Level.ERROR,
            SERVING,
            "is missing: the evaluator's environment, with vLLM",
            "make serving",
        )
        return
    yield from _rehearse(subject, python, asks=not reason)


def _choose_interpreter(subject: Subject) -> Path:
    """The evaluator's interpreter, which may be missing, if the preset needs GPUs and there are any; else this one."""
    if subject.settings.needs_gpu and _has_gpus():
        return subject.root / SERVING
    return Path(sys.executable)


def _reason_not_to_ask(subject: Subject, python: Path) -> str:
    """Why the agent can only be imported on this machine; empty if it can also be asked."""
    if not subject.settings.needs_gpu:
        return ""
    if not _has_gpus():
        return f"the preset {subject.preset} needs GPUs, and this machine has none; --preset scripted asks a fake model"
    if python.is_file():
        try:
            require_gpus(subject.settings, str(python))
        except GpuError as error:
            # A fault of this machine, not of the submission
            return str(error)
    return ""


def _has_gpus() -> bool:
    return shutil.which("nvidia-smi") is not None


def _rehearse(subject: Subject, python: Path, *, asks: bool) -> Findings:
    """Import the agent in an empty world and, if it `asks`, evaluate it there."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="preflight-")))
        graph = None
        # Task 1 has no graph under the evaluator
        if asks and subject.task in {"task2", "task3"}:
            graph = graph_address() or stack.enter_context(mock_graph())
        rehearsal = _Rehearsal(subject, folder, str(python), graph)

        began = time.monotonic()
        process = rehearsal.import_agent()
        yield note(f"imported in {time.monotonic() - began:.1f} s in {rehearsal.tree_in_words}")
        # An evaluator may read its own messages from standard output
        if process.stdout:
            problem = f"prints to standard output, which evaluators use: {one_line(process.stdout, 80)!r}"
            remedy = "write to standard error, or use logging"
            yield Finding(Level.ERROR, AGENT_FILE, problem, remedy)

        # Without a card only the import can be rehearsed
        if asks and process.returncode == 0:
            process = rehearsal.evaluate()
        if not rehearsal.predictions.is_file() and (process.returncode or asks):
            yield failure(subject.pushed, process.stderr)
        elif asks:
            rows = [record.data for record in read_jsonl(rehearsal.predictions)]
            yield from batch_findings(subject, rows, graph)

        # Before the block ends, which deletes the log
        hosts = refused(folder)

    yield from _network_findings(hosts)


class _Rehearsal:
    """The submission in an empty world, asked by an interpreter, with the URL of a knowledge graph or without."""

    def __init__(
        self,
        subject: Subject,
        folder: Path,
        python: str,
        graph: str | None,
    ) -> None:
        self._subject = subject
        self._tree = subject.pushed
        self._folder = folder
        self._python = python
        self._graph = graph

        is_copy = self._tree != subject.root
        self.tree_in_words = "this tree: git cannot list what it would push"
        if is_copy:
            self.tree_in_words = f"a copy of the {len(subject.tracked)} files that git has"

        # Without a copy this tree is what is tested, so nothing of it may be hidden
        hidden = subject.root if is_copy else folder
        self._environment = empty_world(folder, hidden=hidden, server=urlsplit(graph or "").hostname)
        self._environment[PRESET_VARIABLE] = str(subject.preset)
        if subject.preset != subject.active_preset:  # only rehearsed: may use this machine's weights
            self._environment["CRAG_MODELS_DIR"] = str(cache_folder())

    @property
    def predictions(self) -> Path:
        """The file that `evaluate` writes."""
        return self._folder / "out" / PREDICTIONS

    def import_agent(self) -> "subprocess.CompletedProcess[str]":
        """Import the agent's two names."""
        return run_python(self._tree, self._environment, "-c", IMPORT, python=self._python)

    def evaluate(self) -> "subprocess.CompletedProcess[str]":
        """Ask the questions of `rehearsal_rows` with local_evaluation.py."""
        dataset = self._folder / "questions.jsonl"
        write_rows(dataset, rehearsal_rows(self._subject.root / QUESTIONS, self._subject.task))

        command = [
            "local_evaluation.py",
            f"--dataset={dataset}",
            f"--output={self.predictions.parent}",
            "--quiet",
            "--stop-after-lost=0",
            f"--seconds-per-query={SECONDS_PER_QUERY}",
        ]
        if self._graph:
            command.append(f"--kg-url={self._graph}")
        return run_python(self._tree, self._environment, *command, python=self._python)


def _network_findings(hosts: list[str] | None) -> Findings:
    """Problems with the network: `hosts` were refused (None: the network was not watched)."""
    if hosts is None:
        remedy = "its interpreter has another sitecustomize: use another environment"
        yield Finding(
            Level.ERROR,
            AGENT_FILE,
            "its network could not be blocked",
            remedy,
        )
    elif hosts:
        problem = f"uses the network, which the evaluator lacks: {first_few(hosts)}"
        remedy = "ship the file with the submission, and load it from its folder"
        yield Finding(Level.ERROR, AGENT_FILE, problem, remedy)


def rehearsal_rows(questions: Path, task: str | None) -> list[dict[str, Any]]:
    """Seventeen questions with pages like those of real batches.

    Raises DatasetError if the file is unusable or has no rows.
    """
    samples = list(read_rows(questions, MAX_BATCH_SIZE + 1))

    # A full batch and one more question; the samples repeat, with lists of pages that can be changed.
    rows: list[dict[str, Any]] = []
    for number, sample in zip(range(MAX_BATCH_SIZE + 1), cycle(samples), strict=False):
        rows.append(
            {
                **sample,
                "interaction_id": f"preflight-{number}",
                "search_results": list(sample["search_results"]),
            }
        )

    pages_by_row: list[list[dict[str, str]]] = [row["search_results"] for row in rows]
    if task == "task3":
        # Task 3 gives fifty pages: those of the other samples fill up
        pool = list(chain.from_iterable(pages_by_row))
        for pages in pages_by_row:
            missing = max(0, PAGES_OF_TASK_3 - len(pages))
            pages.extend(pool[:missing])

    # A page twice, an empty page, HTML that breaks off, and a question without pages.
    with_repetition, with_empty_page, with_broken_page, without_pages, *_ = pages_by_row
    with_repetition[-1] = dict(with_repetition[0])
    with_empty_page[-1] = dict.fromkeys(with_empty_page[-1], "")
    html = with_broken_page[0]["page_result"]
    first_half = html[: len(html) // 2]
    with_broken_page[0] = with_broken_page[0] | {"page_result": f"{first_half}<div <p class='"}
    without_pages.clear()
    return rows
