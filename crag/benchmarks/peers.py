"""Our engine beside llama.cpp and our pipeline beside Haystack's, in turns, each side in a process of its own."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

from crag.answering import trim_to_tokens
from crag.benchmarks.common import Row
from crag.core.files import UserError
from crag.core.progress import batches_with_progress
from crag.evaluation.batches import gold_answers
from crag.evaluation.in_process import read_peak_memory
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims
from crag.evaluation.origin import processor_name

PEER_WORKER = Path(__file__).with_name("peer_worker.py")
LONGEST_TASK = 1800.0
"""Seconds after which a side counts as hanging; loading the weights is a task too."""
KINDS = ("answers", "calls")
"""What the preset asks its model for."""
WARM_UP_ROW: Row = {
    "interaction_id": "warm-up",
    "query": "who founded the rowing club of lindal?",
    "query_time": "03/05/2024, 23:18:31 PT",
    "answer": "Mira Holm",
    "search_results": [
        {
            "page_name": "The rowing club of Lindal",
            "page_url": "https://example.org/club",
            "page_snippet": "",
            "page_result": "<p>The rowing club of Lindal was founded by Mira Holm. It has 120 members.</p>",
        }
    ],
}
"""A made-up question that each side answers before its seconds count: the first one reads the weights from the disk."""
CPU_FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx_vnni", "avx512_bf16", "amx_int8", "amx_bf16")
"""Instructions that decide how fast a matrix product is, as Linux names them."""


class Side(Protocol):
    """A side of the comparison."""

    def run(self, task: Mapping[str, Any]) -> Row:
        """Run one task and return its result."""

    def peak_mib(self) -> float:
        """The peak of its memory so far."""


# --- processes --------------------------------------------------------------------------------------------------------


class SideProcess:
    """A process that runs tasks; see `crag.benchmarks.peer_worker` for what is said between both.

    Raises UserError: it ended, or takes longer than `LONGEST_TASK`.
    """

    def __init__(self, name: str, arguments: Sequence[str], threads: int) -> None:
        self._name = name
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self._process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
            text=True,
            start_new_session=True,
            # For what has no option of its own: the encoders of both sides
            env={**os.environ, "OMP_NUM_THREADS": str(threads)},
        )
        self.versions: dict[str, str] = self._read()["versions"]

    def run(self, task: Mapping[str, Any]) -> Row:
        """Run one task and return its result."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # the process ended: reading says so
            self._process.stdin.write(json.dumps(task) + "\n")
            self._process.stdin.flush()
        return self._read()

    def peak_mib(self) -> float:
        """The peaks of resident memory of all processes of this side, added up."""
        peaks = 0.0
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it ended meanwhile
                if os.getpgid(int(folder.name)) == self._process.pid:
                    peaks += read_peak_memory(folder / "status")
        return peaks

    def close(self) -> None:
        """End the process and those that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._messages):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]

    def _read(self) -> Row:
        assert self._process.stdout is not None
        watchdog = threading.Timer(LONGEST_TASK, self._process.kill)
        watchdog.start()
        line = self._process.stdout.readline()
        watchdog.cancel()
        if not line:
            raise self._failure()
        result: Row = json.loads(line)
        return result

    def _failure(self) -> UserError:
        """The error of a process that ended, with the last line that it wrote."""
        code = self._process.wait()
        self._messages.seek(0)
        lines = self._messages.read().decode(errors="replace").strip().splitlines()
        if code == -signal.SIGILL:
            lines = ["it was compiled for another processor: delete .venv-peers, make peers compiles it again"]
        end = f"ended with code {code}" if code >= 0 else f"was ended by {signal.Signals(-code).name}"
        return UserError(f"{self._name} {end}: {lines[-1] if lines else 'no message'}")


@contextmanager
def open_side(name: str, arguments: Sequence[str], threads: int) -> Iterator[SideProcess]:
    """A side in a process of its own, which ends with the block."""
    side = SideProcess(name, arguments, threads)
    try:
        yield side
    finally:
        side.close()


def describe_processor() -> dict[str, Any]:
    """The processor, its cores, its load, and which of `CPU_FEATURES` it has and lacks."""
    cpu_file = Path("/proc/cpuinfo")
    text = cpu_file.read_text(encoding="utf-8") if cpu_file.is_file() else ""
    flags = re.search(r"^flags\s*: (.+)$", text, re.MULTILINE)
    flag_names = set(flags[1].split()) if flags else set()
    return {
        "processor": processor_name(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "has": [feature for feature in CPU_FEATURES if feature in flag_names],
        "lacks": [feature for feature in CPU_FEATURES if feature not in flag_names],
    }


# --- engines ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EngineFigures:
    """A side's figures over all prompts."""

    seconds: Mapping[str, float]
    """Of all prompts of a kind."""
    prefill: float
    """Tokens a second of the answers' prompts."""
    decode: float
    """Tokens a second after the first, of the answers."""
    peak_mib: float


def record_prompts(recorder: Side, rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The prompts of the preset about questions, by kind, each once."""
    prompts: dict[str, list[Row]] = {kind: [] for kind in KINDS}
    for [row] in batches_with_progress(rows, 1):
        recorded = recorder.run({"row": row})
        for kind in KINDS:
            prompts[kind] += [prompt for prompt in recorded[kind] if prompt not in prompts[kind]]
    return prompts


def run_prompts(
    our_side: Side, peer_side: Side, prompts: Mapping[str, Sequence[Row]], warm_up: Sequence[Row]
) -> list[Row]:
    """Each prompt on our engine, then on the peer, which writes as many tokens; before them those that warm both up.

    Raises UserError: our engine fails.
    """
    for prompt in warm_up:
        _run_prompt(our_side, peer_side, prompt)

    tasks: list[tuple[str, Row]] = []
    for kind in KINDS:
        tasks += [(kind, prompt) for prompt in prompts[kind]]

    results: list[Row] = []
    for [(kind, prompt)] in batches_with_progress(tasks, 1, title="prompts"):
        results.append({"kind": kind, **_run_prompt(our_side, peer_side, prompt)})
    return results


def _run_prompt(our_side: Side, peer_side: Side, prompt: Row) -> Row:
    own_result = our_side.run({"request": prompt["request"]})
    if own_result["error"] or not own_result["count"]:
        raise UserError(f"our engine wrote nothing: {own_result['error']}")

    count = own_result["count"]
    peer_result = peer_side.run({"prompt": prompt["prompt"], "count": count})
    return {"prompt_tokens": len(prompt["prompt"]), "tokens": count, "ours": own_result, "peer": peer_result}


def engine_figures(results: Sequence[Row], side: str, peak_mib: float) -> EngineFigures:
    """Sum up the results of `run_prompts` for "ours" or "peer"."""
    seconds = dict.fromkeys(KINDS, 0.0)
    for row in results:
        seconds[row["kind"]] += row[side]["seconds"]

    answers = [row for row in results if row["kind"] == "answers"]
    prefill_seconds = sum(row[side]["prefill_seconds"] for row in answers)
    # The step that ends the prompt gives the first token
    decoded = sum(row["tokens"] - 1 for row in answers)
    return EngineFigures(
        seconds=seconds,
        prefill=_rate(sum(row["prompt_tokens"] for row in answers), prefill_seconds),
        decode=_rate(decoded, seconds["answers"] - prefill_seconds),
        peak_mib=peak_mib,
    )


def _rate(count: float, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0


# --- pipelines --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PipelineFigures:
    """A side's figures over all questions."""

    seconds: float
    """A question."""
    seconds_of_read: float
    """A question whose pages our pipeline reads; a gate closes the others before."""
    verdicts: Mapping[Verdict, int]
    score: float
    """Right answers less wrong ones, per question."""
    peak_mib: float


def ask_questions(our_side: Side, peer_side: Side, rows: Sequence[Row]) -> list[Row]:
    """Each question to our pipeline, then to the peer; before them one that warms both up."""
    _ask_question(our_side, peer_side, WARM_UP_ROW)
    return [_ask_question(our_side, peer_side, row) for [row] in batches_with_progress(rows, 1)]


def _ask_question(our_side: Side, peer_side: Side, row: Row) -> Row:
    own_result = our_side.run({"row": row})
    pages = [page.get("page_result") or "" for page in row["search_results"]]
    peer_result = peer_side.run({"query": row["query"], "pages": pages})
    return {
        "interaction_id": row["interaction_id"],
        "query": row["query"],
        "golds": gold_answers(row),
        "was_read": own_result["was_read"],
        "ours": own_result,
        "peer": peer_result,
    }


def pipeline_figures(results: Sequence[Row], side: str, peak_mib: float, judge: Judge) -> PipelineFigures:
    """Sum up the results of `ask_questions` for "ours" or "peer"."""
    claims = [Claim(row["query"], row["golds"], row[side]["answer"]) for row in results]
    judgements = judge_claims(judge, claims, trim_to_tokens)
    counts = dict.fromkeys(Verdict, 0)
    for judgement in judgements:
        counts[judgement.verdict] += 1

    read = [row[side]["seconds"] for row in results if row["was_read"]]
    scored = len(results) - counts[Verdict.UNSCORED]
    return PipelineFigures(
        seconds=fmean(row[side]["seconds"] for row in results),
        seconds_of_read=fmean(read) if read else 0.0,
        verdicts=counts,
        score=(counts[Verdict.CORRECT] - counts[Verdict.INCORRECT]) / max(1, scored),
        peak_mib=peak_mib,
    )
