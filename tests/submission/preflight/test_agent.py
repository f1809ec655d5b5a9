"""The rehearsal in an empty world: what loses a submission is seen."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crag.commands.ending import EXIT_TERMINATED
from crag.core.files import DatasetError
from crag.submission.preflight.agent import QUESTIONS, rehearsal_rows
from crag.submission.preflight.checks import CHECKS, CheckReport
from crag.submission.preflight.subject import Level
from tests.submission.preflight.conftest import ROOT, Checked

AGENT = """
import os, socket, sys, threading, time
def attempt(function, *arguments):
    try:
        function(*arguments)
    except OSError:
        pass
class UserAgent:
    def get_batch_size(self):
        return 4
    def batch_generate_answer(self, batch):
        n = len(batch["query"])
        ANSWERS
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """As much of a submission as the rehearsal needs, around an agent of two methods."""
    root = tmp_path / "submission"
    (root / "agents").mkdir(parents=True)
    for path in ROOT.glob("agents/*"):
        if path.name not in {"active.toml", "user_config.py"}:
            (root / "agents" / path.name).symlink_to(path)
    for name in ("crag", "data", "models"):
        (root / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "local_evaluation.py", root)
    active = root / "agents" / "active.toml"
    active.write_text('preset = "scripted"\n')
    return root


def ask(tree: Path, checked: Checked, answers: str, task: str = "task1") -> CheckReport:
    (tree / "agents" / "user_config.py").write_text(AGENT.replace("ANSWERS", answers))
    return checked("agent", tree, task=task)


def problems(report: CheckReport) -> str:
    return "\n".join(finding.problem for finding in report.of(Level.ERROR))


SERVED = "s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()).close(); s.close()"


def test_a_good_agent_has_no_finding_and_its_seconds_are_reported(tree: Path, checked: Checked) -> None:
    """It may ask processes of this machine, as engines do."""
    report = ask(tree, checked, f'{SERVED}; return ["i don\'t know"] * n')
    assert problems(report) == ""
    assert re.search(r"a batch of 4 in \d+\.\d of 120 s", report.of(Level.NOTE)[-1].problem)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (
            "return ['', 'a\\nb', 'word ' * 200, 'I don\\u2019t know'][:n]",
            ["gives ''", "several lines", "more than 75 tokens", "abstains as 'I don\u2019t know', which is judged"],
        ),
        ("return ('x',) * n if n == 4 else []", ["must return a list of 4 strings", "must return a list of 1 strings"]),
        (
            "attempt(socket.create_connection, ('192.0.2.1', 80)); socket.getaddrinfo('hub.example.org', 443)",
            ["uses the network, which the evaluator lacks: 192.0.2.1, hub.example.org", "fails: OSError"],
        ),
        ("os._exit(7)", ["exit code 7"]),
        ("time.sleep(600)", [" of 0.2 s on this machine: an overrun ends the whole submission"]),
    ],
    ids=["form", "not a list", "network", "dies", "hangs"],
)
def test_bad_habits_are_errors(
    answers: str, expected: list[str], tree: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("agent", "answers"):
        limit = f"crag.submission.preflight.{module}.SECONDS_PER_QUERY"
        monkeypatch.setattr(limit, 0.05 if "sleep" in answers else 30.0)
    found = problems(ask(tree, checked, answers))
    assert [problem for problem in expected if problem not in found] == [], found


def test_a_batch_that_fails_is_looked_up_in_a_run(tree: Path, checked: Checked) -> None:
    """To build the agent again would show no traceback: only its answers fail."""
    found = ask(tree, checked, "raise ValueError('boom')").of(Level.ERROR)
    assert {finding.remedy for finding in found} == {
        "correct it; the whole traceback: predictions.jsonl of local_evaluation.py, field error"
    }
    places = [finding.problem.partition("boom ")[2] for finding in found]
    assert all(place.startswith("(agents/user_config.py:") for place in places), "a file that the user has"


def test_a_check_that_is_terminated_leaves_no_process_and_no_file(tree: Path, tmp_path: Path) -> None:
    begun, temporary = tmp_path / "begun", tmp_path / "temporary"
    temporary.mkdir()
    hang = f"open({str(begun)!r}, 'w').write(str(os.getpid())); os.rename({str(begun)!r}, {str(begun) + '.txt'!r}); "
    (tree / "agents" / "user_config.py").write_text(AGENT.replace("ANSWERS", hang + "time.sleep(10_000)"))
    others = [name for name in CHECKS if name != "agent"]
    command = [sys.executable, "-m", "crag", "preflight", "--root", str(tree), "--task", "task1", "--skip", *others]
    environment = {**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}

    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (tmp_path / "begun.txt").exists():
            assert process.poll() is None, "the check has ended before it asked the agent"
            time.sleep(0.05)
        process.terminate()

    assert process.returncode == EXIT_TERMINATED
    assert list(temporary.iterdir()) == []

    agent = int((tmp_path / "begun.txt").read_text())
    while Path(f"/proc/{agent}").exists():  # it ends by itself, or the test never does
        time.sleep(0.05)


def test_on_a_machine_with_gpus_the_agent_starts_in_the_evaluators_environment(
    tree: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment of this command has no vLLM."""
    machine, serving = tree.parent / "machine", tree / ".venv-gpu/bin"
    monkeypatch.setattr("crag.settings.Settings.needs_gpu", True)
    scripts = {machine / "nvidia-smi": "", serving / "python": f'touch "$0.asked"; exec {sys.executable} "$@"'}

    for file, script in scripts.items():
        file.parent.mkdir(parents=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)

    monkeypatch.setenv("PATH", f"{machine}:{os.environ['PATH']}")
    answers = 'return ["i don\'t know"] * n'
    assert problems(ask(tree, checked, answers)) == ""
    assert (serving / "python.asked").is_file()

    (serving / "python").unlink()
    (finding,) = ask(tree, checked, answers).of(Level.ERROR)
    assert (finding.place, finding.remedy) == (".venv-gpu/bin/python", "make serving")


def test_a_machine_whose_cards_do_not_suffice_is_told_so_in_one_line(
    tree: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That is no fault of the submission, so it is a note, and at least the import is rehearsed."""
    machine = tree.parent / "machine"
    for file in (machine / "nvidia-smi", tree / ".venv-gpu/bin/python"):
        file.parent.mkdir(parents=True)
        file.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{machine}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(machine))
    cuda = "class cuda:\n    init = staticmethod(int)\n    device_count = staticmethod(int)\n"
    (machine / "torch.py").write_text(f'class version:\n    cuda = "12.8"\n{cuda}')

    (tree / "agents" / "user_config.py").write_text(AGENT.replace("ANSWERS", "return ['x'] * n"))
    report = checked("agent", tree, task="task1", preset="submission")
    assert report.of(Level.ERROR) == []
    said, imported = (finding.problem for finding in report.of(Level.NOTE))
    assert said.startswith("not asked: the preset submission needs 4 GPUs, and this machine has none")
    assert imported.startswith("imported in ")


def test_only_tasks_with_a_graph_have_one(tree: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_MOCK_API_URL", "http://127.0.0.1:9")
    code = "return ['x' if 'CRAG_MOCK_API_URL' in os.environ else ''] * n"
    assert "gives ''" in problems(ask(tree, checked, code)), "task 1 has no graph"
    assert problems(ask(tree, checked, code, task="task2")) == ""


def test_the_rehearsal_has_the_pages_that_real_batches_have(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").touch()
    with pytest.raises(DatasetError, match="it has no rows"):
        rehearsal_rows(tmp_path / "questions.jsonl", "task1")
    pages = [row["search_results"] for row in rehearsal_rows(ROOT / QUESTIONS, "task1")]
    assert len(pages) == 17
    assert pages[0][-1] == pages[0][0], "the same page twice"
    assert not any(pages[1][-1].values()), "an empty page"
    assert pages[3] == [], "no page at all"
    assert {len(row["search_results"]) for row in rehearsal_rows(ROOT / QUESTIONS, "task3")[4:]} == {50}
