"""The rehearsal in a clean process: what an agent must not do is seen, whatever it does it with."""

import re
from pathlib import Path

import pytest

from crag.preflight import CheckReport
from evaluation.datasets import DatasetError
from evaluation.preflight.agent import QUESTIONS, rehearsal_rows
from evaluation.preflight.subject import Level
from tests.evaluation.preflight.conftest import ROOT, Checked

AGENT = """
import os, socket, sys, threading
def attempt(function, *arguments):
    try:
        function(*arguments)
    except OSError:
        pass
class UserAgent:
    def get_batch_size(self):
        return SIZE
    def batch_generate_answer(self, batch):
        n = len(batch["query"])
        ANSWERS
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """As much of a submission as the rehearsal needs, around an agent of two methods."""
    root = tmp_path / "submission"
    (root / "agents").mkdir(parents=True)
    (root / "agents" / "presets").mkdir()
    (root / "agents" / "presets" / "active.toml").write_text('preset = "scripted"\n')
    (root / "agents" / "presets" / "scripted.toml").symlink_to(ROOT / "agents" / "presets" / "scripted.toml")
    (root / "models").mkdir()
    (root / "models" / "manifest.toml").symlink_to(ROOT / "models" / "manifest.toml")
    (root / "models" / "user_config.py").write_text("from agents.user_config import UserAgent as UserModel")
    (root / "data").symlink_to(ROOT / "data")
    return root


def ask(tree: Path, checked: Checked, answers: str, size: str = "4", task: str = "task1") -> CheckReport:
    (tree / "agents" / "user_config.py").write_text(AGENT.replace("ANSWERS", answers).replace("SIZE", size))
    return checked("agent", tree, task=task)


def problems(report: CheckReport) -> str:
    return "\n".join(finding.problem for finding in report.of(Level.ERROR))


def test_a_good_agent_has_no_finding_and_its_seconds_are_reported(tree: Path, checked: Checked) -> None:
    report = ask(tree, checked, "return ['paris'] * n")
    assert problems(report) == ""
    assert re.search(r"a batch of 4 in \d+\.\d of 120 s", report.of(Level.NOTE)[-1].problem)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (
            "return [None, '', 'a\\nb', 'word ' * 200][:n]",
            ["gives None", "gives ''", "several lines", "more than 75 tokens"],
        ),
        (
            "return ['I don\\u2019t know', 'I do not know.', 'x', 'x'][:n]",
            ["abstains as 'I don\u2019t know'", "abstains as 'I do not know.', which is judged as a wrong answer"],
        ),
        (
            "return ('x',) * n if n == 4 else []",
            ["gives something else than a list for 4 questions", "gives 0 answers for 1 questions"],
        ),
        (
            "print('thinking', flush=True); os.write(1, b'from C'); return ['x'] * n",
            ["which evaluators use: 'thinking from C"],
        ),
        (
            "attempt(socket.create_connection, ('192.0.2.1', 80)); socket.getaddrinfo('hub.example.org', 443)",
            ["uses the network, which the evaluator lacks: 192.0.2.1, hub.example.org", "fails: OSError"],
        ),
        ("raise ValueError(batch['query'][0][:0] + 'boom')", ["ValueError: boom"]),
        ("sys.exit(3)", ["SystemExit: 3"]),
        ("os._exit(7)", ["exit code 7"]),
    ],
)
def test_bad_habits_are_errors(answers: str, expected: list[str], tree: Path, checked: Checked) -> None:
    report = ask(tree, checked, answers)
    assert [problem for problem in expected if problem not in problems(report)] == [], problems(report)
    assert report.of(Level.ERROR)


@pytest.mark.parametrize("size", ["0", "True"])
def test_a_batch_size_that_the_evaluator_refuses(size: str, tree: Path, checked: Checked) -> None:
    assert "get_batch_size() gives" in problems(ask(tree, checked, "return ['x'] * n", size))


SERVED = "s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()).close()"


@pytest.mark.parametrize(
    "answers",
    ['return ["i don\'t know"] * n', f"{SERVED}; s.close(); return ['x'] * n"],
    ids=["an abstention as it counts", "processes of this machine may be asked, as engines do"],
)
def test_what_is_allowed(answers: str, tree: Path, checked: Checked) -> None:
    assert problems(ask(tree, checked, answers)) == ""


def test_the_agent_sees_the_evaluators_environment(
    tree: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_PRESET", "cpu")
    monkeypatch.setenv("CRAG_MOCK_API_URL", "http://127.0.0.1:9")
    code = "return ['x' if 'CRAG_MOCK_API_URL' in os.environ else 1] * n"
    assert "gives 1" in problems(ask(tree, checked, code)), "task 1 has no graph"
    assert problems(ask(tree, checked, code, task="task2")) == ""
    presets = "return ['x' if 'CRAG_PRESET' not in os.environ and os.environ['HF_HUB_OFFLINE'] == '1' else 1] * n"
    assert problems(ask(tree, checked, presets)) == ""


@pytest.mark.parametrize(
    ("answers", "size", "problem"),
    [
        (
            "__import__('time').sleep(0.3); return ['x'] * n",
            "4",
            "s of 0.2 s on this machine: an overrun ends the whole",
        ),
        ("__import__('time').sleep(600)", "4", "a batch of 4 took more than its 0.2 s"),
        ("__import__('re').match('(a*)*b', 'a' * 40)", "4", "a batch of 4 took more than its 0.2 s"),
        ("return ['x'] * n", "__import__('time').sleep(60)", "its start took more than its 3 s"),
    ],
    ids=["slow", "hangs", "never comes back from C", "never starts"],
)
def test_an_agent_that_is_slow_or_hangs(
    answers: str, size: str, problem: str, tree: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.preflight.agent.SECONDS_PER_QUERY", 0.05)
    monkeypatch.setattr("evaluation.preflight.agent.STARTUP_SECONDS", 3.0)
    assert problem in problems(ask(tree, checked, answers, size))


def test_the_rehearsal_has_the_pages_that_real_batches_have(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").touch()
    with pytest.raises(DatasetError, match="has no questions"):
        rehearsal_rows(tmp_path / "questions.jsonl", "task1")
    rows = rehearsal_rows(ROOT / QUESTIONS, "task1")
    assert set(rows) == {"interaction_id", "query", "search_results", "query_time"}
    assert {len(values) for values in rows.values()} == {17}
    pages = rows["search_results"]
    assert pages[0][-1] == pages[0][0], "the same page twice"
    assert not any(pages[1][-1].values()), "an empty page"
    assert pages[3] == [], "no page at all"
    assert {len(own) for own in rehearsal_rows(ROOT / QUESTIONS, "task3")["search_results"][4:]} == {50}
