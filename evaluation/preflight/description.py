"""Checks of `aicrowd.json` and of the preset that belongs to it."""

from agents.settings import Settings
from evaluation.preflight.challenges import CHALLENGES
from evaluation.preflight.findings import Findings, Outcome, Place, one_line, skipped
from evaluation.preflight.subject import ACTIVE, Subject
from evaluation.real_evaluator import GRAPH_VARIABLE

FILE = "aicrowd.json"
KNOWN_FIELDS = {"challenge_id", "authors", "gpu", "gpu_count", "description"}
"""Of the 2024 kit (docs/submission.md there)."""
MOST_GPUS = 4
PLACEHOLDERS = ("your-", "your_", "aicrowd-bot", "example", "todo", "changeme")


def fields(subject: Subject) -> Outcome:
    """aicrowd.json can be read and has the fields of the kit, each of its type."""
    found = Findings()
    description = subject.description
    if isinstance(description, str):
        found.error(FILE, one_line(description), "write it anew: make task1 (or task2, task3) shows the form")
        return found.outcome()
    types: dict[str, type] = {"challenge_id": str, "authors": list, "gpu": bool, "gpu_count": int, "description": str}
    for name, kind in types.items():
        value = description.get(name)
        if name not in description:
            found.error(Place(FILE, field=name), "is missing", f"add it, a value of type {kind.__name__}")
        elif not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            problem = f"is {value!r}"
            found.error(Place(FILE, field=name), problem, f"write a value of type {kind.__name__}, without quotes")
    for name in sorted(set(description) - KNOWN_FIELDS):
        problem = "runs a debug submission, which does not count" if name == "debug" else "is not a field of the kit"
        found.warning(Place(FILE, field=name), problem, "take it out before the submission that counts")
    return found.outcome()


def challenge(subject: Subject) -> Outcome:
    """challenge_id is that of a task, of the task asked for, and of one that the preset is for."""
    if isinstance(subject.description, str):
        return skipped("aicrowd.json cannot be read")
    found = Findings()
    place = Place(FILE, field="challenge_id")
    named = subject.description.get("challenge_id")
    task = next((task for task, known in CHALLENGES.items() if known == named), None)
    if task is None:
        found.error(place, f"no challenge {named!r}", f"make task1, task2 or task3 writes it; known: {CHALLENGES}")
        return found.outcome()
    if subject.asked_task not in (None, task):
        found.error(place, f"names {task}, not {subject.asked_task}", f"make {subject.asked_task}")
    preset = subject.preset or ""
    tasks = _tasks_in(preset)
    if tasks and task not in tasks:
        wanted = f"make {min(tasks)} PRESET={preset}, or make {task} with another preset"
        found.error(place, f"names {task}, and the preset {preset} is for {' and '.join(sorted(tasks))}", wanted)
    return found.outcome(note=task)


def _tasks_in(preset: str) -> set[str]:
    """The tasks that a preset's name restricts it to: db3_task23 is for tasks 2 and 3; empty where it says nothing."""
    digits = preset.rpartition("task")[2] if "task" in preset else ""
    return {f"task{digit}" for digit in digits if f"task{digit}" in CHALLENGES}


def gpu(subject: Subject) -> Outcome:
    """A machine with GPUs is asked for: the kit's default is one without."""
    if isinstance(subject.description, str):
        return skipped("aicrowd.json cannot be read")
    found = Findings()
    if subject.description.get("gpu") is not True:
        problem = f"is {subject.description.get('gpu')!r}: the evaluator's machine has 4 processors, 8 GB and no GPU"
        found.error(Place(FILE, field="gpu"), problem, 'write "gpu": true')
    count = subject.description.get("gpu_count")
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_GPUS:
        found.error(Place(FILE, field="gpu_count"), f"is {count!r}", f"write a number from 1 to {MOST_GPUS}")
    elif (used := _gpus_used(subject.settings)) > count:
        problem = f"is {count}, and the preset {subject.preset} uses {used} GPUs"
        found.error(Place(FILE, field="gpu_count"), problem, f"write {used}")
    return found.outcome()


def _gpus_used(settings: Settings | str) -> int:
    """How many GPUs the preset names: the highest device it puts something on, or its tensor parallel size."""
    if isinstance(settings, str):
        return 0
    devices = [getattr(part, "device", "") for part in _parts(settings)]
    highest = [int(name.removeprefix("cuda:")) + 1 for name in devices if name.removeprefix("cuda:").isdecimal()]
    return max([*highest, getattr(settings.language_model, "tensor_parallel_size", 0)])


def _parts(settings: Settings) -> tuple[object, ...]:
    return settings.language_model, settings.dense_encoder, settings.cross_encoder, settings.router


def authors(subject: Subject) -> Outcome:
    """The authors are AIcrowd user names, not what the kit has in their place."""
    if isinstance(subject.description, str):
        return skipped("aicrowd.json cannot be read")
    found = Findings()
    names = subject.description.get("authors")
    place = Place(FILE, field="authors")
    if not isinstance(names, list) or not names:
        found.error(place, f"is {names!r}", 'write a list of AIcrowd user names: "authors": ["name"]')
        return found.outcome()
    for name in names:
        if not isinstance(name, str) or not name.strip() or name.strip().lower().startswith(PLACEHOLDERS):
            found.warning(place, f"{name!r} is no user name", "write the AIcrowd user names of your team")
    return found.outcome()


def preset(subject: Subject) -> Outcome:
    """The preset can be loaded, is the one that the evaluator gets, and has a model that is there."""
    found = Findings()
    settings = subject.settings
    if isinstance(settings, str):
        found.error(subject.preset_file, one_line(settings, 400), "correct the key, or choose: make task1 PRESET=...")
        return found.outcome()
    if subject.active_preset is None:
        found.error(ACTIVE, "names no preset", 'write one line: preset = "submission"')
    elif subject.preset != subject.active_preset:
        problem = f"the evaluator gets {subject.active_preset}, but {subject.preset} is checked"
        found.warning(ACTIVE, problem, "leave --preset out, or choose it: make task1 PRESET=...")
    place = Place(subject.preset_file, field="language_model.engine")
    engine = settings.language_model.engine
    if engine == "scripted" and subject.preset == subject.active_preset:
        found.warning(place, "is a fake model, which says it does not know", "choose a real one: make task1")
    if engine == "openai":
        problem = "asks a server, and the evaluator has no network"
        found.error(place, problem, 'use engine "vllm" or "transformers" in a submission')
    return found.outcome(note=f"{settings.name}: {settings.description}")


def engine(subject: Subject) -> Outcome:
    """What is known to fail on the evaluator's T4 or to disturb its processes."""
    settings = subject.settings
    if isinstance(settings, str):
        return skipped("the preset cannot be loaded")
    found = Findings()
    model = settings.language_model

    def place(field: str) -> Place:
        return Place(subject.preset_file, field=f"language_model.{field}")

    if model.engine == "transformers" and model.dtype == "bfloat16":
        found.error(place("dtype"), "is bfloat16, which a T4 does not have", 'write dtype = "float16"')
    if model.engine == "transformers" and model.dtype == "float32" and model.device != "cpu":
        problem = "is float32, twice the memory of a T4's half precision"
        found.warning(place("dtype"), problem, 'write dtype = "float16"')
    if model.engine == "vllm":
        if model.tensor_parallel_size > 1 and model.distributed_executor != "ray":
            problem = f"is {model.distributed_executor!r}: vLLM's own processes disturbed the evaluator"
            found.error(place("distributed_executor"), problem, 'write distributed_executor = "ray"')
        if model.attention_backend != "TRITON_ATTN":
            problem = f"is {model.attention_backend!r}, and FlashInfer and Flash Attention do not run on a T4"
            found.warning(place("attention_backend"), problem, 'write attention_backend = "TRITON_ATTN"')
    if model.engine not in {"transformers", "vllm"}:
        return skipped(f"engine {model.engine} uses no GPU")
    return found.outcome()


def graph_variable(subject: Subject) -> Outcome:
    """Tasks 2 and 3: the graph's address comes from the evaluator's variable. Task 1 has no such variable."""
    settings = subject.settings
    if isinstance(settings, str):
        return skipped("the preset cannot be loaded")
    if subject.task is None:
        return skipped("the task is not known")
    if subject.task == "task1":
        return skipped(f"task 1 has no {GRAPH_VARIABLE}; the batch is asked without it")
    found = Findings()
    graph = settings.knowledge_graph
    if graph is None:
        problem = f"is missing, so the graph that {subject.task} offers is never asked"
        found.warning(Place(subject.preset_file, field="knowledge_graph"), problem, "add a [knowledge_graph] table")
    elif graph.client.url_variable != GRAPH_VARIABLE:
        place = Place(subject.preset_file, field="knowledge_graph.client.url_variable")
        found.error(
            place, f"is {graph.client.url_variable!r}, which the evaluator does not set", f"write {GRAPH_VARIABLE!r}"
        )
    return found.outcome()
