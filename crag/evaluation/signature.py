"""The signature of a number: everything it depends on, as one line, so that scores are comparable."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from crag.answering import MAX_TOKENS, PROMPTS, answer_prompt
from crag.core.places import REPOSITORY
from crag.evaluation.cut_files import dataset_files, joined_files
from crag.settings import TRIM_TOKENIZER, Settings, needed_weights
from crag.weights.manifest import find

WHOLE_FILE_LIMIT = 1 << 30
"""Of larger files only the first 64 MiB and the size are hashed: task 3 (7 GB) would delay every start."""

VERSIONED_PACKAGES = ("torch", "transformers", "peft", "openvino", "vllm")
"""Installed packages that can change an answer."""

MODEL = "model"
"""The language model's name in a signature; of a server what it says it serves, known only once it replies."""

HEAD_BYTES = 64 << 20
"""What is hashed of a larger file."""

_PROMPT_SOURCES = {
    "calls": ("crag/graph/writing/prompt.py", "crag/graph/writing/examples/*", "crag/graph/writing/fixed/*.toml"),
    "entities": ("crag/facts/prompt_finder.py",),
    "route": ("crag/router/prompt_router.py",),
}
"""Prompts built by code, and their source files: any change there is another prompt."""


def preset_signature(settings: Settings | None) -> dict[str, str | None]:
    """A preset's part of a signature: settings, prompts and trained files; all None for an agent without a preset."""
    if settings is None:
        return dict.fromkeys(("preset", MODEL, "prompts", "adapters", "trained"))
    return {
        "preset": f"{settings.name}@{settings_hash(settings)}",
        MODEL: model_signature(settings),
        "prompts": prompts_signature(settings),
        "adapters": adapters_signature(settings),
        "trained": trained_signature(settings),
    }


def model_signature(settings: Settings) -> str | None:
    """The language model's name; None for a server, which is asked later: `describe_served_model`."""
    model = settings.language_model
    if model.engine == "openai":
        return None
    # Of a folder the last part: its whole path is in the hash of the settings
    return model.engine if model.engine == "scripted" else Path(model.model).name


def settings_hash(settings: Settings) -> str:
    """12 hexadecimal digits that change with any setting except the description."""
    # The description says nothing about behaviour
    values = settings.model_dump(mode="json", exclude={"description"})
    plain = json.dumps(values, sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:12]


def prompts_signature(settings: Settings) -> str:
    """Names of the preset's prompts, and 12 digits that change with them: ``reader+calls@0f...``."""
    digest = hashlib.sha256()

    prompts = {**PROMPTS, "own": answer_prompt(settings.answering)}
    written = _written_prompts(settings)
    for name in written:
        prompt = prompts[name]
        # The zero byte keeps "ab" + "c" apart from "a" + "bc"
        digest.update(f"{name}\0{prompt.system}\0{prompt.user}\0".encode())
        for domain, examples in prompt.examples.items():
            digest.update(f"{domain}\0{examples}\0".encode())

    built = _built_prompts(settings)
    for name in built:
        for file in _prompt_files(name):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())

    names = "+".join([*written, *built])
    return f"{names}@{digest.hexdigest()[:12]}"


def _prompt_files(name: str) -> list[Path]:
    """The source files of a prompt built by code, pattern by pattern, each in alphabetical order."""
    files: list[Path] = []
    for pattern in _PROMPT_SOURCES[name]:
        matches = sorted(REPOSITORY.glob(pattern))
        files += filter(Path.is_file, matches)
    return files


def _written_prompts(settings: Settings) -> list[str]:
    """The names of the preset's prompts that are plain texts; ``own`` is the one in the settings themselves."""
    answering = settings.answering
    names: list[str | None] = ["own" if answering.own_prompt else answering.prompt]
    if settings.knowledge_graph:
        names.append(settings.knowledge_graph.answer_prompt)
    if answering.refine:
        names.append(answering.refine.prompt)
    return list(dict.fromkeys(name for name in names if name))


def _built_prompts(settings: Settings) -> list[str]:
    """The names in `_PROMPT_SOURCES` of the prompts that the preset uses."""
    names: list[str] = []
    if settings.knowledge_graph is not None:
        names.append("calls")
    if settings.public_data is not None and settings.public_data.method == "prompt":
        names.append("entities")
    if settings.router is not None and settings.router.engine == "prompt":
        names.append("route")
    return names


def adapters_signature(settings: Settings) -> str | None:
    """The preset's adapters with 12 digits of their files' sha256, as ``kg_writer@0f...``; None without adapters.

    ``?`` for missing files, which the agent reports at its start. Adapters on a server have its model names instead,
    because their weights are not visible here.
    """
    model = settings.language_model
    # No weights in files: a server's are not visible, a script has none
    if model.engine in {"openai", "scripted"}:
        return _join_marks(model.adapters)
    return trained_signature(settings, {"adapter"})


def trained_signature(settings: Settings, kinds: Set[str] = frozenset({"classifier", "calibration"})) -> str | None:
    """Classifiers and P(correct) of the preset with 12 digits of their files' sha256, as ``cpu.json@0f...``; None
    without any. ``?`` for missing files, which the agent reports at its start.
    """
    marks: dict[str, str] = {}
    for folder in needed_weights(settings).folders:
        if folder.kind not in kinds:
            continue
        # Without names of files the path is itself the file.
        files = [folder.path / file for file in folder.files] if folder.files else [folder.path]
        name = folder.path.name if folder.kind == "calibration" else folder.name
        marks[name] = _hash_files(files)
    return _join_marks(marks)


def _join_marks(marks: Mapping[str, str]) -> str | None:
    parts = [f"{name}@{mark}" for name, mark in sorted(marks.items())]
    return "+".join(parts) or None


def _hash_files(files: Sequence[Path]) -> str:
    """12 digits that change with the files; ``?`` if one is missing."""
    if not all(file.is_file() for file in files):
        return "?"

    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            # A hash of hashes, so that the border between files counts
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:12]


def dataset_hash(path: Path) -> str:
    """sha256 of the question file or its joined parts, 16 digits; ``head-`` and the size if it is over 1 GiB.

    Page files of the rows are not included.
    """
    files = dataset_files(path)
    size = sum(file.stat().st_size for file in files)
    # A cut file has the same hash as the whole one
    with joined_files(path, files) as stream:
        if size <= WHOLE_FILE_LIMIT:
            return hashlib.file_digest(stream, "sha256").hexdigest()[:16]  # type: ignore[arg-type]
        head = hashlib.sha256(stream.read(HEAD_BYTES))
        return f"head-{head.hexdigest()[:16]}-{size}"


def trim_name() -> str:
    """How answers are cut as by the evaluator: with Llama-2's tokenizer, else at a safe bound, which keeps less."""
    has_tokenizer = find(TRIM_TOKENIZER).problem is None
    return f"llama2-{MAX_TOKENS}" if has_tokenizer else f"bound{MAX_TOKENS}"


def versions() -> dict[str, str]:
    """Versions of Python and of `VERSIONED_PACKAGES`, ``none`` if not installed."""
    installed = dict.fromkeys(VERSIONED_PACKAGES, "none")
    for name in VERSIONED_PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return {"python": platform.python_version(), **installed}


def run_identity(signature: Mapping[str, Any]) -> dict[str, Any]:
    """What must be equal when a run is resumed: the signature without the versions."""
    versioned = {"python", *VERSIONED_PACKAGES}
    return {name: value for name, value in signature.items() if name not in versioned}


def signature_line(signature: Mapping[str, Any]) -> str:
    """The signature as one line of ``key:value`` joined by bars, like sacrebleu's."""
    parts = [f"{key}:{value}" for key, value in signature.items() if value is not None]
    return "|".join(parts)
