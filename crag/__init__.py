"""Short answers to factual questions, from web pages and a knowledge graph (CRAG, Meta KDD Cup 2024).

`Asker` answers questions in Python; the command line is `crag VERB`. To read the code, start at `crag.pipeline.agent`.

    from crag import Asker

    with Asker() as asker:
        print(asker.ask("who directed the godfather?", pages=["films/"]))
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crag.asking.asker import Asker as Asker
    from crag.asking.asker import CitedAnswer as CitedAnswer
    from crag.pipeline.user_agent import UserAgent as UserAgent

# Before numpy is imported: its BLAS threads wait busily, which costs each process 0.3 CPU seconds.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Set before any of these libraries is imported: by default they send usage data to their makers.
for _switch, _off in (
    ("HF_HUB_DISABLE_TELEMETRY", "1"),
    ("VLLM_NO_USAGE_STATS", "1"),
    ("RAY_USAGE_STATS_ENABLED", "0"),
    ("ORT_DISABLE_TELEMETRY", "1"),
):
    os.environ.setdefault(_switch, _off)

# Before openvino is imported: without this module, openvino reports to nobody.
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

_LAZY = {
    "CitedAnswer": "crag.asking.asker",
    "Asker": "crag.asking.asker",
    "UserAgent": "crag.pipeline.user_agent",
}
"""Public name -> its module, imported on first use: a process that reads pages must start without the models."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - a module's attribute
    if name not in _LAZY:
        raise AttributeError(f"module 'crag' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
