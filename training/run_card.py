"""The run card: a JSON file beside what was made that says what it was made of and how good it came out."""

import hashlib
import json
import os
import platform
import time
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from agents.files import write_whole
from evaluation.datasets import DatasetError, dataset_files

CARD_FILE = "run_card.json"
_CPU_FACTS = Path("/proc/cpuinfo")


def file_hash(path: Path) -> str:
    """sha256 of a file, or of its parts joined."""
    digest = hashlib.sha256()
    for file in dataset_files(path):
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def run_card(
    data: Mapping[str, Path],
    settings: Mapping[str, Any],
    seconds: float,
    metrics: Mapping[str, Any],
    packages: Sequence[str] = ("numpy",),
) -> dict[str, Any]:
    """What a run depended on. What is the same in every such run comes first, its moment last.

    Args:
        data: What each file was for -> the file; told by name, size and sha256, never by the path on this machine.
        settings: All that could have been chosen otherwise, JSON-ready.
        seconds: How long it took on the hardware that the card names.
        metrics: What was measured, JSON-ready.
        packages: Packages whose versions matter; those that are not installed are left out.
    """
    return {
        "data": {
            role: {"name": path.name, "bytes": sum(f.stat().st_size for f in dataset_files(path)), "sha256": digest}
            for role, path in data.items()
            for digest in [file_hash(path)]
        },
        "settings": dict(settings),
        "metrics": dict(metrics),
        "versions": {"python": platform.python_version(), **_versions(packages)},
        "hardware": hardware(),
        "seconds": round(seconds, 1),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def card_folder(out: Path) -> Path:
    """Where the run card of a file goes: the folder ``pairs/`` for ``pairs.jsonl``.

    Raises:
        DatasetError: `out` is a folder, the file's name has no ending, or a file has the folder's name.
    """
    if out.is_dir():
        raise DatasetError(f"--out {out}: is a folder, not a file")
    folder = out.with_suffix("")
    if folder == out:
        raise DatasetError(f"--out {out}: a name such as {out}.jsonl, for {folder}/ gets the run card")
    if folder.exists() and not folder.is_dir():
        raise DatasetError(f"--out {out}: {folder} is a file, and a folder of that name gets the run card")
    return folder


def write_card(folder: Path, card: Mapping[str, Any]) -> Path:
    """Write the card into the folder, which is made where it is not there; gives the card's path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / CARD_FILE
    write_whole(path, json.dumps(card, indent=1, ensure_ascii=False).encode() + b"\n")
    return path


def hardware() -> dict[str, Any]:
    """Processor, cores that this process may use, and GPUs as far as torch sees any."""
    model = platform.processor() or platform.machine()
    if _CPU_FACTS.is_file():
        lines = _CPU_FACTS.read_text(encoding="utf-8", errors="replace").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"processor": model, "cores": cores, "gpus": _gpus()}


def _gpus() -> list[str]:
    try:
        import torch
    except ImportError:
        return []
    return [torch.cuda.get_device_name(number) for number in range(torch.cuda.device_count())]


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
