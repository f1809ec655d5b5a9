"""Runs in its own clean process: imports the submission's agent, asks it, and writes down what happened.

Standard library only, and run as a file, so that nothing is imported before the agent. The guard
(`guard/sitecustomize.py`) has already blocked the network.
"""

import contextlib
import importlib
import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

HEAVY = ("torch", "transformers", "vllm", "sentence_transformers", "onnxruntime", "tensorflow", "pandas", "sklearn")
"""Libraries that take seconds to import; an agent that does not need them should not load them."""


def import_agent(result: dict[str, Any]) -> type[Any]:
    """Import both names of the agent, and record what was loaded with them."""
    began = time.monotonic()
    agent: type[Any] = importlib.import_module("agents.user_config").UserAgent
    result["import_seconds"] = time.monotonic() - began
    result["heavy"] = [name for name in HEAVY if name in sys.modules]
    result["methods"] = [
        name for name in ("get_batch_size", "batch_generate_answer") if callable(getattr(agent, name, None))
    ]
    with contextlib.suppress(ModuleNotFoundError):
        result["user_model"] = hasattr(importlib.import_module("models.user_config"), "UserModel")
    return agent


def ask(agent_class: type[Any], rows: dict[str, list[Any]], result: dict[str, Any], begun: Path) -> None:
    """Build the agent and ask all rows in batches of its own size, the last one shorter.

    The size of each batch is in the file `begun` before it is asked, so that the other process can measure a batch that
    does not end.
    """
    began = time.monotonic()
    agent = agent_class()
    result["build_seconds"] = time.monotonic() - began
    size = agent.get_batch_size()
    result["batch_size"] = size
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= 16:
        return
    count = len(rows["query"])
    starts = [*range(0, count - 1, size)]
    ends = [min(start + size, count - 1) for start in starts]
    result["batches"] = []
    for start, end in [*zip(starts, ends, strict=True), (count - 1, count)]:
        batch = {name: values[start:end] for name, values in rows.items()}
        with begun.open("a", encoding="ascii") as file:
            file.write(f"{end - start}\n")
        began = time.monotonic()
        answers = agent.batch_generate_answer(batch)
        seconds = time.monotonic() - began
        plain = answers if isinstance(answers, list) else str(type(answers))
        result["batches"].append({"size": end - start, "seconds": seconds, "answers": plain})
    close = getattr(agent, "close", None)
    if callable(close):
        close()


def main() -> None:
    """Arguments: the submission's folder, the request file (JSON), and the result file (JSON)."""
    root, request_file, result_file = sys.argv[1:]
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    sys.path[:] = [root, *(path for path in sys.path if path and Path(path).resolve() != Path(__file__).parent)]
    result: dict[str, Any] = {}
    try:
        agent = import_agent(result)
        if request["rows"] is not None:
            ask(agent, request["rows"], result, Path(f"{result_file}.begun"))
    except BaseException:  # noqa: BLE001 - every exception of external code is a finding, even SystemExit
        result["error"] = traceback.format_exc()
    Path(result_file).write_text(json.dumps(result, default=repr), encoding="utf-8")


if __name__ == "__main__":
    main()
