"""How commands end: in processes of their own, with real signals and a real pipe."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crag.commands.command_line import write_or_print
from crag.commands.ending import EXIT_INTERRUPTED, EXIT_READER_GONE


def code_of(body: str) -> str:
    """A program whose command has this body."""
    # A shell's background job ignores SIGINT, and so would its child.
    heard = "import signal, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = f"{heard}from crag.commands.command_line import command\nfrom crag.commands.ending import end_with\n"
    code += f"@command()\ndef main():\n    {body}\n"
    return f"{code}end_with(main)"


def started(body: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code_of(body)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


def test_ctrl_c_is_one_line() -> None:
    with started("print('begun', flush=True); time.sleep(60)") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == EXIT_INTERRUPTED
        assert process.stderr.read().strip().startswith("interrupted: ")


def test_a_reader_that_has_enough_ends_it_quietly() -> None:
    with started("[print('x' * 100) for _ in range(100_000)]; return 0") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == EXIT_READER_GONE
        assert process.stderr.read() == ""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_the_caller_has_closed_costs_nothing(tmp_path: Path, closed: str) -> None:
    kept = tmp_path / "kept.txt"
    body = f"""
    import subprocess, sys
    file = open({str(kept)!r}, "w")
    print("an answer", *sys.stdin)
    print("a warning", file=sys.stderr)
    subprocess.run(["true"], check=True)
    file.write("as written")
    return 0"""
    command = f"exec {shlex.join([sys.executable, '-c', code_of(body)])} {closed}"
    assert subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, check=False).returncode == 0
    assert kept.read_text(encoding="utf-8") == "as written"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("is_buffered", [True, False])
def test_output_to_a_full_disk_is_one_line(is_buffered: bool) -> None:
    environment = os.environ | {"PYTHONUNBUFFERED": "" if is_buffered else "1"}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code_of("print('an answer'); return 0")],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            check=False,
        )
    assert done.stderr == "error: the output cannot be written: No space left on device\n"
    assert done.returncode == 2


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("utf-8", b'"caf\xc3\xa9 \xf0\x9f\x98\x80 \\ud800"'),
        ("latin-1", b'"caf\xe9 \\ud83d\\ude00 \\ud800"'),
        ("ascii", b'"caf\\u00e9 \\ud83d\\ude00 \\ud800"'),
    ],
)
def test_characters_that_the_terminal_lacks_are_escaped_as_in_json(encoding: str, shown: bytes) -> None:
    text = "café 😀 \ud800"
    done = subprocess.run(
        [sys.executable, "-c", code_of(f"print(chr(34) + {text!a} + chr(34)); return 0")],
        env=os.environ | {"PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    assert done.stdout.strip() == shown
    assert json.loads(done.stdout.decode(encoding)) == text


def test_a_package_that_is_not_installed_is_one_line_and_a_part_of_ours_is_none() -> None:
    for name, beginning in (
        ("no_such", "error: no_such is not installed: a file in requirements/ lists it"),
        ("sklearn.none", "error: sklearn is not installed: requirements/train.txt lists it"),
        ("crag.none", "Traceback"),
    ):
        with started(f"import {name}") as process:
            assert process.stderr is not None
            assert process.stderr.read().startswith(beginning)


def test_rows_go_to_standard_output_where_the_file_is_a_dash(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert write_or_print(Path("-"), [{"query": "où?"}, {"query": "x"}]) == 2
    assert capsys.readouterr().out == '{"query": "où?"}\n{"query": "x"}\n'
    assert list(tmp_path.iterdir()) == []
