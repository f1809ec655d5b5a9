"""`crag evaluate` and `crag ask --file` with a language model server that dies on the way, and a run that is ended."""

import json
import logging
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar

import pytest

from crag.commands.ask import main as ask
from crag.commands.ending import EXIT_INTERRUPTED, EXIT_TERMINATED
from crag.commands.evaluate import main
from crag.evaluation.lost import EXIT_LOST
from crag.evaluation.store import SavedRun

SAMPLE = Path("data/sample/questions.jsonl")
START = 1
"""Requests before the first question: one that the server may load its model for."""


class Server(BaseHTTPRequestHandler):
    """Serves one model, as long as it has answers left; after that it drops every connection."""

    model: ClassVar = "small"
    answers_left: ClassVar = 10**6
    released: ClassVar[threading.Event | None] = None
    """After its last answer it keeps a request waiting for this, and sets `reached`."""
    reached: ClassVar = threading.Event()

    def do_GET(self) -> None:
        if Server.answers_left and self.path == "/v1/models":
            self._send({"object": "list", "data": [{"id": Server.model, "max_model_len": 4096}]})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if not Server.answers_left and Server.released is not None:
            Server.reached.set()
            Server.released.wait()
        if Server.answers_left:
            Server.answers_left -= 1
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "a guess"}}
            self._send({"choices": [choice]})

    def _send(self, reply: object) -> None:
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        found = f"127.0.0.1:{server.server_port}/v1"
        monkeypatch.setenv("CRAG_LLM_URL", f"http://me:secret@{found}")
        monkeypatch.delenv("CRAG_LLM_MODEL", raising=False)
        yield f"http://{found}"
        server.shutdown()


def arguments(folder: Path, *more: str, limit: int = 5) -> list[str]:
    preset = ["--preset", "scripted", "--set", "language_model={engine='openai'}", "--set", "web.extract.workers=0"]
    size = ["--dataset", str(SAMPLE), "--limit", str(limit), "--batch-size", "1"]
    return [*preset, *size, "--output", str(folder / "out"), *more]


def test_questions_that_a_dead_server_lost_are_asked_again_with_the_same_model_only(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Server, "answers_left", START + 2)
    assert main(arguments(tmp_path)) == EXIT_LOST
    errors = capfd.readouterr().err
    assert "Traceback" not in errors
    assert "\r" not in errors, "no bar in a log"
    assert "questions: 5/5 (100 %), score " in errors
    assert f"ended early: 3 batches in a row have no answer at all. What was answered is kept in {tmp_path}" in errors
    assert "3 answers lost: 3 to a fault" in errors
    assert re.search(rf"why \(3\): .*the server at {address} breaks off its replies: ", errors)

    # What was printed is what is typed next
    again = re.search(r"ask them again: crag evaluate (.*)", errors)
    assert again is not None
    words = shlex.split(again[1])
    assert words == [*arguments(tmp_path), "--resume"]

    monkeypatch.setattr(Server, "answers_left", 10)
    monkeypatch.setattr(Server, "model", "large")
    assert main([*words, "--in-process"]) == 2
    errors = capfd.readouterr().err
    server = f"at {address}, context 4096"
    assert f"model was small {server}, now large {server}; --output names another folder" in errors
    assert "secret" not in errors

    monkeypatch.setattr(Server, "model", "small")
    assert main([*words, "--in-process"]) == 0
    printed = capfd.readouterr().out
    assert "3 questions were asked again after a loss" in printed
    assert f"|model:small {server}|" in printed
    saved = SavedRun.read(tmp_path / "out")
    assert [row["lost"] for row in saved.records.values()] == [None] * 5
    assert f"small {server}" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_complete_run_that_lost_answers_has_its_own_exit_code(
    tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Server, "answers_left", START + 1)
    # As outside of a test, where nobody else takes the warnings
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    assert main(arguments(tmp_path, "--in-process", "--quiet", "--overwrite", limit=2)) == EXIT_LOST
    printed = capsys.readouterr()
    assert "1 answer lost: 1 to a fault" in printed.err
    assert "the language model died: " in printed.err
    assert "Traceback" not in printed.err
    assert "--quiet --resume" in printed.err, "the folder would otherwise be emptied"
    assert "all questions" in printed.out, "its results are there all the same"


@pytest.mark.parametrize(("fail_below", "code"), [("-1", 0), ("0.1", 4), ("0", 0)])
def test_a_score_can_fail_a_build(
    tmp_path: Path, fail_below: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scripted model abstains: the score is 0."""
    options = ["--preset", "scripted", "--dataset", str(SAMPLE), "--limit", "1", "--output", str(tmp_path / "out")]
    assert main([*options, "--in-process", "--quiet", "--fail-below", fail_below]) == code
    assert ("the score +0.000 is below --fail-below 0.1" in capsys.readouterr().err) == bool(code)


@pytest.fixture
def asking(tmp_path: Path) -> list[str]:
    """The arguments of `crag ask`, for four questions that are asked one by one."""
    page, questions = tmp_path / "mill.html", tmp_path / "questions.txt"
    page.write_text("<p>Mira Holm built the mill.</p>", encoding="utf-8")
    questions.write_text("".join(f"who built mill {number}?\n" for number in "1234"), encoding="utf-8")
    engine = "language_model={engine='openai', concurrency=1}"
    return ["--file", str(questions), "--pages", str(page), "--preset", "scripted", "--set", engine]


def asked_questions(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith("who built")]


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGTERM, EXIT_TERMINATED), (signal.SIGINT, EXIT_INTERRUPTED)])
def test_questions_of_a_file_are_asked_from_where_they_were_ended(
    asking: list[str],
    sent: signal.Signals,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Server, "answers_left", START + 2)
    released = threading.Event()
    monkeypatch.setattr(Server, "released", released)
    monkeypatch.setattr(Server, "reached", threading.Event())

    # A shell's background job ignores SIGINT, and so would its child
    start = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    start += "from crag.__main__ import main; from crag.commands.ending import end_with; end_with(main)"
    command = [sys.executable, "-c", start, "ask", *asking]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert Server.reached.wait(300)
        process.send_signal(sent)
        # It ends although the reply to the third question has not come
        out, err = process.communicate(timeout=300)
        released.set()

    assert process.returncode == code
    assert asked_questions(out) == ["who built mill 1?", "who built mill 2?"]
    again = re.search(r"^interrupted: 2 of 4 questions are answered; the others: crag ask (.*)$", err, re.MULTILINE)
    assert again is not None

    monkeypatch.setattr(Server, "answers_left", 10)
    assert shlex.split(again[1]) == [*asking, "--start", "3"]
    assert ask(shlex.split(again[1])) == 0
    assert asked_questions(capsys.readouterr().out) == ["who built mill 3?", "who built mill 4?"]


@pytest.mark.usefixtures("address")
def test_lost_answers_to_questions_of_a_file_have_the_exit_code_of_a_run(
    asking: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Server, "answers_left", START + 1)
    assert ask([*asking, "--start", "2"]) == EXIT_LOST
    printed = capsys.readouterr()
    assert len(asked_questions(printed.out)) == 3
    assert "2 answers lost: 2 to a fault" in printed.err
    assert "ask them again: crag ask" in printed.err
    assert printed.err.endswith("--start 3\n")


def test_a_start_behind_the_last_question_is_one_line(asking: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ask([*asking, "--start", "5"]) == 2
    assert capsys.readouterr().err.endswith("questions.txt has 4 questions\n")
