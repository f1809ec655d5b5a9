"""Runs in its own clean process: imports the submission's agent, asks it, and writes down what happened.

Standard library only, and run as a file, so that nothing is imported before the agent. The guard
(`guard/sitecustomize.py`) has already blocked the network.
"""

import faulthandler
import importlib
import json
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

GRACE_SECONDS = 1.0
"""What a step may take beyond its limit before the process ends."""


def steps(request: dict[str, Any], result: dict[str, Any]) -> Iterator[tuple[str, float]]:
    """Import, build and ask the agent. Gives the name and the limit in seconds of each step before it begins."""
    yield "its start", request["startup"]
    began = time.monotonic()
    agent_class = importlib.import_module("agents.user_config").UserAgent
    _ = agent_class.get_batch_size, agent_class.batch_generate_answer, agent_class.__init__
    _ = importlib.import_module("models.user_config").UserModel
    result["import_seconds"] = time.monotonic() - began
    rows = request["rows"]
    if rows is None:
        return
    began = time.monotonic()
    agent = agent_class()
    size = result["batch_size"] = agent.get_batch_size()
    result["build_seconds"] = time.monotonic() - began
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= 16:
        return
    last = len(rows["query"]) - 1
    ends = [(start, min(start + size, last)) for start in range(0, last, size)]
    for start, end in [*ends, (last, last + 1)]:
        yield f"a batch of {end - start}", request["per_query"] * (end - start)
        began = time.monotonic()
        answers = agent.batch_generate_answer({name: values[start:end] for name, values in rows.items()})
        done = {"size": end - start, "seconds": time.monotonic() - began, "answers": answers}
        result.setdefault("batches", []).append(done | {"is_list": isinstance(answers, list)})
    yield "its end", request["startup"]
    getattr(agent, "close", lambda: None)()


def main() -> None:
    """Arguments: the submission's folder, the request file (JSON), and the result file (JSON)."""
    root, request_file, result_file = sys.argv[1:]
    sys.path[:] = [root, *(path for path in sys.path if path and Path(path).resolve() != Path(__file__).parent)]
    result: dict[str, Any] = {}

    def write() -> None:
        Path(result_file).write_text(json.dumps(result, default=repr), encoding="utf-8")

    try:
        for step, seconds in steps(json.loads(Path(request_file).read_text(encoding="utf-8")), result):
            result |= {"step": step, "limit": seconds, "until": time.time() + seconds}
            write()
            # A thread outside of Python: it ends the process even where the agent never comes back from C.
            faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=2)
    except BaseException:  # noqa: BLE001 - every exception of external code is a finding, even SystemExit
        result["error"] = traceback.format_exc()
    faulthandler.cancel_dump_traceback_later()
    result["done"] = True
    write()


if __name__ == "__main__":
    main()
