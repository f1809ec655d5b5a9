"""How commands end: in processes of their own, with real signals and a real pipe."""

import signal
import subprocess
import sys

from crag.commands.ending import EXIT_INTERRUPTED, EXIT_READER_GONE


def started(body: str) -> subprocess.Popen[str]:
    # A shell's background job ignores SIGINT, and so would its child.
    heard = "import signal, time\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code = f"{heard}from crag.commands.command_line import command\nfrom crag.commands.ending import end_with\n"
    code += f"@command()\ndef main():\n    {body}\n"
    code += "end_with(main)"
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
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


def test_a_package_that_is_not_installed_is_one_line_and_a_part_of_ours_is_none() -> None:
    for name, beginning in (("no_such", "error: no_such is not installed"), ("crag.none", "Traceback")):
        with started(f"import {name}") as process:
            assert process.stderr is not None
            assert process.stderr.read().startswith(beginning)
