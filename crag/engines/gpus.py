"""Checks the GPUs that a preset names before anything is loaded: present, served by the driver, and free.

torch is asked in a process of its own, because a driver that does not answer hangs whoever asks it.
"""

import json
import os
import re
import subprocess
import sys
from typing import NamedTuple

from crag.core.files import UserError
from crag.core.places import REPOSITORY
from crag.settings import Settings, VllmEngine

PROBE_SECONDS = 120.0
"""Time limit of the question, with torch's import from a cold disk."""
ENCODER_GIB = 1.0
"""The least that an encoder in half precision and CUDA's own memory take on a card."""
GIB = 2**30
_COMMAND = "from crag.engines.gpus import main; main()"


class GpuError(UserError, RuntimeError):
    """The preset cannot run on this machine's GPUs. The message is one line that names the cause and what to do."""


class Gpu(NamedTuple):
    """A card, as torch sees it."""

    name: str
    free_gib: float
    total_gib: float


class _Need(NamedTuple):
    """What one key of a preset needs of one card: a share of its memory, and at least some GiB."""

    card: int
    key: str
    share: float
    gib: float


def require_gpus(settings: Settings, python: str = sys.executable) -> None:
    """Return if all cards that the preset names are there and free, as the torch of this interpreter sees them.

    A preset that names no card returns at once, and vLLM's build for processors needs none.

    Raises GpuError: no card, too few cards, a card in use, a driver that does not fit or does not answer.
    """
    needs = _list_needs(settings)
    if not needs:
        return

    gpus = probe_gpus(python)
    if gpus is None:
        needs = [need for need in needs if need.share == 0]
        if needs:
            raise GpuError(
                f"{needs[0].key} names a GPU, but this torch computes on processors only: pip install -r "
                "requirements.txt, or --set device=cpu"
            )
        return

    count = 1 + max(need.card for need in needs)
    if count > len(gpus):
        raise GpuError(
            f"the preset {settings.name} needs {_in_words(count)}, and this machine has {len(gpus) or 'none'}: "
            "docs/scale.md has the settings for fewer cards"
        )
    for need in needs:
        _require_memory(need, gpus[need.card])


def _list_needs(settings: Settings) -> list[_Need]:
    needs: list[_Need] = []
    model = settings.language_model
    if isinstance(model, VllmEngine):
        share = model.gpu_memory_utilization
        cards = range(model.tensor_parallel_size)
        needs += [_Need(card, "language_model.gpu_memory_utilization", share, 0) for card in cards]

    for key in ("language_model", "dense_encoder", "cross_encoder", "router"):
        device = getattr(getattr(settings, key), "device", "")
        match = re.fullmatch(r"cuda(?::(\d+))?", device)
        if match:
            needs.append(_Need(int(match[1] or 0), f"{key}.device", 0, ENCODER_GIB))
    return needs


def _require_memory(need: _Need, gpu: Gpu) -> None:
    """Raise GpuError if the card is in use by others."""
    needed = max(need.share * gpu.total_gib, need.gib)
    if gpu.free_gib < needed:
        raise GpuError(
            f"GPU {need.card} ({gpu.name}) is in use: {gpu.free_gib:.1f} of {gpu.total_gib:.1f} GiB are free, and "
            f"{need.key} needs {needed:.1f}: nvidia-smi shows which processes to end"
        )


def _in_words(cards: int) -> str:
    """A number of cards, for messages."""
    return "a GPU" if cards == 1 else f"{cards} GPUs"


def probe_gpus(python: str = sys.executable, seconds: float = PROBE_SECONDS) -> list[Gpu] | None:
    """The cards that the torch of this interpreter sees; None if it is a build for processors.

    Raises GpuError: the driver or torch does not work, or does not answer in time.
    """
    search_path = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(search_path)}
    try:
        process = subprocess.run(  # noqa: S603 - an interpreter of ours and a constant command
            [python, "-c", _COMMAND],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=seconds,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        raise GpuError(
            f"the NVIDIA driver does not answer within {seconds:g} seconds: try nvidia-smi, and restart the machine"
        ) from None

    lines = process.stdout.strip().splitlines()
    if process.returncode or not lines:
        errors = process.stderr.strip().splitlines() or [f"exit code {process.returncode}"]
        raise GpuError(f"torch cannot be asked for the GPUs: {errors[-1]}")

    reply = json.loads(lines[-1])
    if "error" in reply:
        raise GpuError(f"torch cannot use the GPUs: {reply['error']} (nvidia-smi shows driver and cards)")
    return [Gpu(*row) for row in reply["gpus"]] if reply["for_gpus"] else None


def main() -> None:
    """In the process of its own: write what torch sees, as a line of JSON."""
    sys.stdout.write(json.dumps(_ask_torch()) + "\n")


def _ask_torch() -> dict[str, object]:
    import torch

    if torch.version.cuda is None:
        return {"for_gpus": False}

    gpus: list[tuple[str, float, float]] = []
    try:
        torch.cuda.init()
        for card in range(torch.cuda.device_count()):
            free, total = torch.cuda.mem_get_info(card)
            gpus.append((torch.cuda.get_device_name(card), free / GIB, total / GIB))
    except (RuntimeError, AssertionError) as error:
        # torch's first sentence is the cause; links follow.
        cause = " ".join(str(error).split()).partition(". ")[0].rstrip(".")
        return {"error": cause}
    return {"for_gpus": True, "gpus": gpus}
