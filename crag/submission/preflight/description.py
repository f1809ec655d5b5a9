"""Checks of `aicrowd.json` and of its preset."""

import codecs
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from crag.core.log_lines import one_line
from crag.evaluation.batches import GPU_MEMORY_GIB
from crag.settings import TransformersEngine, VllmEngine
from crag.submission.gpu_plan import plan_gpus
from crag.submission.preflight import CHALLENGES
from crag.submission.preflight.subject import (
    ACTIVE,
    DESCRIPTION,
    Finding,
    Findings,
    Level,
    NotApplicableError,
    Subject,
    note,
)

MOST_GPUS = 4
PLACEHOLDERS = ("your-", "your_", "aicrowd-bot", "example", "todo", "changeme")


def _known_challenge(name: str) -> str:
    if name not in CHALLENGES.values():
        raise ValueError(f"known are {', '.join(CHALLENGES.values())}")
    return name


class Description(BaseModel):
    """`aicrowd.json` as the 2024 kit has it (docs/submission.md there)."""

    model_config = ConfigDict(strict=True, extra="forbid")

    challenge_id: Annotated[str, AfterValidator(_known_challenge)]
    authors: list[str] = Field(min_length=1)
    gpu: Literal[True]
    gpu_count: int = Field(ge=1, le=MOST_GPUS)
    description: str


_REMEDIES = {
    "challenge_id": "make task1 (or task2, task3) PRESET={preset} writes it",
    "gpu": 'write "gpu": true: else the machine has 4 processors, 8 GB and no GPU',
    "gpu_count": f"write a number from 1 to {MOST_GPUS}, without quotes",
}


def aicrowd_json(subject: Subject) -> Findings:
    """aicrowd.json has the required fields, real user names as authors, and the challenge and GPUs of the preset."""
    try:
        description = subject.description
        Description.model_validate(description)
    except NotApplicableError as error:
        yield Finding(
            Level.ERROR,
            DESCRIPTION,
            one_line(str(error).removeprefix(f"{DESCRIPTION} ")),
            f"correct it, or take the last commit's: git checkout {DESCRIPTION}",
        )
        return
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            yield _field_finding(fault, subject.preset)

    if (subject.root / DESCRIPTION).read_bytes().startswith(codecs.BOM_UTF8):
        problem = "begins with a byte order mark, which Python's json and others refuse"
        yield Finding(Level.WARNING, DESCRIPTION, problem, "save it as UTF-8 without one")

    for name in description.get("authors") or ():
        if not str(name).strip() or str(name).strip().lower().startswith(PLACEHOLDERS):
            remedy = "write the AIcrowd user names of your team"
            yield Finding(
                Level.WARNING,
                f"{DESCRIPTION}, field authors",
                f"{name!r} is not a user name",
                remedy,
            )

    # These need no valid fields: each looks only at what it can read
    yield from _challenge_findings(subject)
    yield from _gpu_findings(subject)
    yield note(Subject(subject.root).task or "")


def _field_finding(fault: Mapping[str, Any], preset: str | None) -> Finding:
    """The finding for a field that pydantic rejects."""
    field = str(fault["loc"][0])
    level = Level.ERROR
    # pydantic says which kind of exception one of our own checks raised
    message = fault["msg"].removeprefix("Value error, ")
    problem = f"is {one_line(repr(fault['input']), 80)}: {message}"
    remedy = _REMEDIES.get(field, f"write it as in the shipped file: git log -p {DESCRIPTION}")

    if fault["type"] == "missing":
        problem = "is missing"
    elif fault["type"] == "extra_forbidden":
        level = Level.WARNING
        problem = "runs a debug submission, which does not count" if field == "debug" else "is not of the kit"
        remedy = "remove it before the submission that counts"
    return Finding(
        level,
        f"{DESCRIPTION}, field {field}",
        problem,
        remedy.format(preset=preset),
    )


def _challenge_findings(subject: Subject) -> Findings:
    """Whether the challenge is that of the command line, else one for which the preset is named (``db3_task23``)."""
    preset = subject.preset or ""
    if subject.asked_task:
        suitable = [subject.asked_task]
    else:
        # "db3_task23" is for tasks 2 and 3
        digits = preset.rpartition("task")[2] if "task" in preset else ""
        suitable = [task for task in CHALLENGES if task[-1] in digits]

    # The file's own task, not one of the command line
    described = Subject(subject.root).task
    if described and suitable and described not in suitable:
        problem = f"names {described}, but {preset} is to be submitted to {' or '.join(suitable)}"
        remedy = f"make {suitable[0]} PRESET={preset}"
        yield Finding(
            Level.ERROR,
            f"{DESCRIPTION}, field challenge_id",
            problem,
            remedy,
        )


def _gpu_findings(subject: Subject) -> Findings:
    """Whether the description asks for as many GPUs as the preset uses."""
    settings = subject.settings
    needed = getattr(settings.language_model, "tensor_parallel_size", 0)
    for part in (settings.language_model, settings.dense_encoder, settings.cross_encoder, settings.router):
        # "cuda:2" needs three cards
        number = str(getattr(part, "device", "")).removeprefix("cuda:")
        if number.isdecimal():
            needed = max(needed, int(number) + 1)

    count = subject.description.get("gpu_count")
    if isinstance(count, int) and needed > count:
        problem = f"is {count}, and the preset {subject.preset} uses {needed} GPUs"
        yield Finding(
            Level.ERROR,
            f"{DESCRIPTION}, field gpu_count",
            problem,
            f"write {needed}",
        )


def preset(subject: Subject) -> Findings:
    """The preset loads, is the active one, has an available model, and can run on T4 cards under the evaluator."""
    file = subject.preset_file
    try:
        settings = subject.settings
    except NotApplicableError as error:
        yield Finding(
            Level.ERROR,
            file,
            one_line(error, 400),
            "correct it, or choose another: make task1 PRESET=...",
        )
        return

    if subject.preset != subject.active_preset:
        problem = f"the evaluator uses {subject.active_preset}, but {subject.preset} is checked"
        yield Finding(
            Level.WARNING,
            ACTIVE,
            problem,
            f"leave --preset out, or choose it: make {subject.task or 'task1'} PRESET={subject.preset}",
        )

    for finding in _unsuitable(subject):
        yield finding._replace(place=f"{file}, field {finding.place}")
    yield note(f"{settings.name}: {settings.description}")


def _unsuitable(subject: Subject) -> Findings:
    """Settings that do not suit the evaluator; the place of a finding is the key alone."""
    yield from _unsuitable_model(subject)

    confidence = subject.settings.answering.confidence
    if confidence is not None and confidence.model == "portable":  # a substitute until one is fitted
        problem = "is portable: P(correct) was fitted to small models, not to this one"
        yield Finding(
            Level.WARNING,
            "answering.confidence.model",
            problem,
            'fit it: docs/training.md, "For your own model"',
        )

    public_data = subject.settings.public_data
    uses_small_tables = public_data is not None and public_data.tables is None
    if subject.task == "task1" and subject.settings.needs_gpu and uses_small_tables:
        problem = "is not set: the small tables that ship are used"
        remedy = 'build the full ones: docs/training.md, "db3\'s public tables"'
        yield Finding(Level.WARNING, "public_data.tables", problem, remedy)

    if subject.task in {"task2", "task3"} and subject.settings.knowledge_graph is None:
        problem = f"is missing, so the graph of {subject.task} is not used"
        yield Finding(
            Level.WARNING,
            "knowledge_graph",
            problem,
            "add a [knowledge_graph] table",
        )


def _unsuitable_model(subject: Subject) -> Findings:
    """Settings of the language model that do not suit the evaluator; see `_unsuitable`."""
    model = subject.settings.language_model
    if model.engine == "scripted" and subject.preset == subject.active_preset:
        problem = "is a fake model, which always abstains"
        yield Finding(Level.WARNING, "language_model.engine", problem, "choose a real one: make task1")

    if model.engine == "openai":
        problem = "uses a server, but the evaluator has no network"
        yield Finding(Level.ERROR, "language_model.engine", problem, 'write engine = "vllm" or "transformers"')

    if isinstance(model, TransformersEngine) and model.device != "cpu":
        yield from _unsuitable_number_type(model.dtype)

    if isinstance(model, VllmEngine) and model.attention_backend != "TRITON_ATTN":
        problem = f"is {model.attention_backend!r}, and FlashInfer and Flash Attention do not run on a T4"
        yield Finding(Level.WARNING, "language_model.attention_backend", problem, 'write "TRITON_ATTN"')


def _unsuitable_number_type(dtype: str) -> Findings:
    remedy = 'write dtype = "float16"'
    if dtype == "bfloat16":
        yield Finding(Level.ERROR, "language_model.dtype", "is bfloat16, which a T4 does not have", remedy)
    elif dtype != "float16":
        problem = "is float32, twice the memory of half precision"
        yield Finding(Level.WARNING, "language_model.dtype", problem, remedy)


def memory(subject: Subject) -> Findings:
    """The models fit on the GPUs, each engine in its share (estimated; `crag bench t4-plan` shows the details)."""
    if not subject.settings.needs_gpu:
        raise NotApplicableError(f"the preset {subject.preset} runs on a CPU")

    count = subject.description.get("gpu_count")
    # A wrong count is reported elsewhere; here the most cards are assumed
    cards = count if isinstance(count, int) and 1 <= count <= MOST_GPUS else MOST_GPUS
    gpu_plan = plan_gpus(subject.settings, cards=cards, manifest=subject.manifest)

    for problem in gpu_plan.problems:
        yield Finding(
            Level.ERROR,
            f"{subject.preset_file}, field {problem.key}",
            problem.fault,
            problem.remedy,
        )

    # A model that two keys name is unknown only once
    for name in dict.fromkeys(gpu_plan.unknown):
        remedy = "give its entry in crag/weights/manifest.toml a shape, the numbers of its config.json"
        yield Finding(
            Level.WARNING,
            subject.preset_file,
            f"the GPU memory of {name} is not known",
            remedy,
        )

    fullest = max(gpu_plan.total(card) for card in range(cards))
    yield note(f"the fullest GPU holds {fullest:.1f} of {GPU_MEMORY_GIB:g} GiB (estimated)")
