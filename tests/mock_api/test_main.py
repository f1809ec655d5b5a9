"""The command as its users see it: a process of its own."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from crag.commands.graph.serve import main
from crag.mock_api.server import listen
from tests.mock_api.small_graph import write_graph

COMMAND = [sys.executable, "-m", "crag", "graph", "serve"]


def test_it_says_where_it_listens_answers_and_stops_on_sigterm(tmp_path: Path) -> None:
    command = [*COMMAND, "--port", "0", "--data", str(write_graph(tmp_path))]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.fullmatch(
                r"Mock API ready on (http://127\.0\.0\.1:\d+) "
                r"\(open 3, movie 4, finance 3, music 4, sports 6 records\)\n",
                line,
            )
            assert found, line
            answer = requests.post(f"{found[1]}/movie/get_movie_info", json={"query": "story"}, timeout=60)
            assert [movie["title"] for movie in answer.json()["result"]] == ["Story, without an id", "Café Story"]
            process.send_signal(signal.SIGTERM)
            output, errors = process.communicate(timeout=300)
        finally:
            process.kill()

    assert (output, errors) == ("", "")
    assert process.returncode == -signal.SIGTERM


def test_what_cannot_be_served_is_one_line_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--port", "0", "--data", str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err == f"error: {tmp_path / 'nowhere'}: no such directory\n"
    with listen() as taken:
        port = taken.getsockname()[1]
        assert main(["--port", str(port)]) == 2
    assert str(port) in capsys.readouterr().err


def test_it_stops_with_the_program_that_started_it(tmp_path: Path) -> None:
    command = [*COMMAND, "--port", "0", "--data", str(write_graph(tmp_path)), "--stop-with-stdin"]
    pipe = subprocess.PIPE

    with subprocess.Popen(command, text=True, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("Mock API ready on ")
        process.stdin.write("whatever it says\n")
        process.stdin.flush()
        address = line.split()[4]
        assert requests.post(f"{address}/movie/get_movie_info", json={"query": "story"}, timeout=60).ok
        process.stdin.close()
        assert process.wait(300) == -signal.SIGTERM
        assert process.stdout.read() == ""
