"""Checks of `aicrowd.json` and of its preset."""

from difflib import SequenceMatcher

from agents.settings import Settings
from evaluation.batches import GRAPH_VARIABLE
from evaluation.gpu_plan import plan
from evaluation.preflight.challenges import CHALLENGES
from evaluation.preflight.findings import CheckReport, NotApplicableError, one_line
from evaluation.preflight.subject import ACTIVE, Subject

FILE = "aicrowd.json"
FIELDS: dict[str, type] = {"challenge_id": str, "authors": list, "gpu": bool, "gpu_count": int, "description": str}
"""Of the 2024 kit (docs/submission.md there)."""
MOST_GPUS = 4
PLACEHOLDERS = ("your-", "your_", "aicrowd-bot", "example", "todo", "changeme")


def fields(subject: Subject, found: CheckReport) -> None:
    """aicrowd.json is readable and has the kit's fields with their types; the authors are user names."""
    try:
        description = subject.description
    except NotApplicableError as error:
        found.error(FILE, one_line(error), "write it again: make task1 (or task2, task3)")
        return
    for name, kind in FIELDS.items():
        value = description.get(name)
        if name not in description:
            found.error(FILE, "is missing", f"add it, a value of type {kind.__name__}", field=name)
        elif not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            problem = f"is {value!r}"
            found.error(FILE, problem, f"write a value of type {kind.__name__}, without quotes", field=name)
    for name in sorted(set(description) - FIELDS.keys()):
        problem = "runs a debug submission, which does not count" if name == "debug" else "is not a field of the kit"
        found.warning(FILE, problem, "remove it before the submission that counts", field=name)
    authors = description.get("authors")
    for name in authors if isinstance(authors, list) else []:
        if not isinstance(name, str) or not name.strip() or name.strip().lower().startswith(PLACEHOLDERS):
            problem = f"{name!r} is not a user name"
            found.warning(FILE, problem, "write the AIcrowd user names of your team", field="authors")


def challenge(subject: Subject, found: CheckReport) -> None:
    """challenge_id is that of the requested task, and the preset is for that task."""
    field = "challenge_id"
    task, preset = subject.named_task, subject.preset or ""
    if task is None:
        wrong = str(subject.description.get(field))
        like = {key: SequenceMatcher(None, wrong, CHALLENGES[key]).ratio() for key in _tasks_of(preset) or CHALLENGES}
        meant = subject.asked_task or max(like, key=lambda key: like[key])
        remedy = f"make {meant} PRESET={preset} writes it; known: {CHALLENGES}"
        found.error(FILE, f"no challenge {wrong!r}", remedy, field=field)
        return
    if subject.asked_task not in (None, task):
        remedy = f"make {subject.asked_task} PRESET={preset}"
        found.error(FILE, f"names {task}, not {subject.asked_task}", remedy, field=field)
    tasks = _tasks_of(preset)
    if tasks and task not in tasks:
        problem = f"names {task}, and the preset {preset} is for {' and '.join(tasks)}"
        found.error(FILE, problem, f"make {tasks[0]} PRESET={preset}, or make {task} with another preset", field=field)
    found.note = task


def _tasks_of(preset: str) -> list[str]:
    """The tasks that a preset's name restricts it to: 2 and 3 of db3_task23; none if it names none."""
    digits = preset.rpartition("task")[2] if "task" in preset else ""
    return sorted({f"task{digit}" for digit in digits} & CHALLENGES.keys())


def gpu(subject: Subject, found: CheckReport) -> None:
    """A machine with as many GPUs as the preset uses is requested: the kit's default has none."""
    asked, count = subject.description.get("gpu"), subject.description.get("gpu_count")
    if asked is not True:
        problem = f"is {asked!r}: the evaluator's machine has 4 processors, 8 GB and no GPU"
        found.error(FILE, problem, 'write "gpu": true', field="gpu")
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_GPUS:
        found.error(FILE, f"is {count!r}", f"write a number from 1 to {MOST_GPUS}", field="gpu_count")
    elif (used := _gpus_used(subject.settings)) > count:
        problem = f"is {count}, and the preset {subject.preset} uses {used} GPUs"
        found.error(FILE, problem, f"write {used}", field="gpu_count")


def _gpus_used(settings: Settings) -> int:
    parts = (settings.language_model, settings.dense_encoder, settings.cross_encoder, settings.router)
    devices = [str(getattr(part, "device", "")).removeprefix("cuda:") for part in parts]
    highest = [int(device) + 1 for device in devices if device.isdecimal()]
    return max([*highest, getattr(settings.language_model, "tensor_parallel_size", 0)])


def preset(subject: Subject, found: CheckReport) -> None:
    """The preset loads, is the evaluator's, and has an available model."""
    try:
        settings = subject.settings
    except NotApplicableError as error:
        found.error(subject.preset_file, one_line(error, 400), "correct the key, or choose: make task1 PRESET=...")
        return
    if subject.preset != subject.active_preset:
        problem = f"the evaluator uses {subject.active_preset}, but {subject.preset} is checked"
        found.warning(ACTIVE, problem, "leave --preset out, or choose it: make task1 PRESET=...")
    field = "language_model.engine"
    name = settings.language_model.engine
    if name == "scripted" and subject.preset == subject.active_preset:
        problem = "is a fake model, which always abstains"
        found.warning(subject.preset_file, problem, "choose a real one: make task1", field=field)
    if name == "openai":
        problem = "uses a server, but the evaluator has no network"
        found.error(subject.preset_file, problem, 'use engine "vllm" or "transformers" in a submission', field=field)
    found.note = f"{settings.name}: {settings.description}"


def engine(subject: Subject, found: CheckReport) -> None:
    """The engine's settings suit a T4 and do not disturb the evaluator's processes."""
    model, file = subject.settings.language_model, subject.preset_file
    if model.engine == "transformers":
        if model.dtype == "bfloat16":
            problem = "is bfloat16, which a T4 does not have"
            found.error(file, problem, 'write dtype = "float16"', field="language_model.dtype")
        if model.dtype == "float32" and model.device != "cpu":
            problem = "is float32, twice the memory of a T4's half precision"
            found.warning(file, problem, 'write dtype = "float16"', field="language_model.dtype")
    elif model.engine == "vllm":
        if model.tensor_parallel_size > 1 and model.distributed_executor != "ray":
            problem = f"is {model.distributed_executor!r}: vLLM's own processes disturbed the evaluator"
            key = "distributed_executor"
            found.error(file, problem, f'write {key} = "ray"', field=f"language_model.{key}")
        if model.attention_backend != "TRITON_ATTN":
            problem = f"is {model.attention_backend!r}, and FlashInfer and Flash Attention do not run on a T4"
            key = "attention_backend"
            found.warning(file, problem, f'write {key} = "TRITON_ATTN"', field=f"language_model.{key}")
    else:
        raise NotApplicableError(f"engine {model.engine} uses no GPU")


def graph_variable(subject: Subject, found: CheckReport) -> None:
    """Tasks 2 and 3: the graph's address comes from the evaluator's variable. Task 1 has no such variable."""
    graph = subject.settings.knowledge_graph
    if subject.task is None:
        raise NotApplicableError("the task is not known")
    if subject.task == "task1":
        raise NotApplicableError(f"task 1 has no {GRAPH_VARIABLE}; the batch is asked without it")
    if graph is None:
        problem = f"is missing, so the graph of {subject.task} is not used"
        found.warning(subject.preset_file, problem, "add a [knowledge_graph] table", field="knowledge_graph")
    elif graph.client.url_variable != GRAPH_VARIABLE:
        problem = f"is {graph.client.url_variable!r}, which the evaluator does not set"
        field = "knowledge_graph.client.url_variable"
        found.error(subject.preset_file, problem, f"write {GRAPH_VARIABLE!r}", field=field)


def memory(subject: Subject, found: CheckReport) -> None:
    """The models fit on the GPUs, each engine in its share (estimated; benchmarks.t4_plan shows the details)."""
    if not subject.settings.needs_gpu:
        raise NotApplicableError(f"the preset {subject.preset} runs on a CPU")
    count = subject.description.get("gpu_count")
    cards = count if isinstance(count, int) and 1 <= count <= MOST_GPUS else MOST_GPUS
    made = plan(subject.settings, cards=cards, manifest=subject.manifest)
    for key, problem, remedy in made.problems:
        found.error(subject.preset_file, problem, remedy, field=key)
    for name in dict.fromkeys(made.unknown):
        remedy = "give its entry in models/manifest.toml a shape, the numbers of its config.json"
        found.warning(subject.preset_file, f"the GPU memory of {name} is not known", remedy)
    fullest = max((made.total(card) for card in range(cards)), default=0.0)
    found.note = f"the fullest GPU holds {fullest:.1f} of {made.memory_gib:g} GiB (estimated)"
