"""Rehearses a preset in an empty folder, without home, caches and network."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from shutil import copytree

from crag.core.files import UserError
from crag.evaluation.lost import EXIT_LOST
from crag.settings import Settings, VllmEngine, load_settings
from crag.submission.examination import examine
from crag.submission.preflight.subject import Subject, first_few
from crag.submission.preflight.world import empty_world, refused, run_python
from crag.submission.stand_in import make_stand_ins
from crag.weights.manifest import cache_folder

QUESTIONS = 4
PATIENCE = "deadline.seconds_per_query=120"
"""A change for rehearsals with stand-ins, which say nothing about speed: a busy machine is no fault of the wiring."""
VLLM_ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
"""For vLLM's CPU build: GiB of its cache of keys and values; no NUMA node of its own for each process."""
PARALLEL_BYTES = 6 * 2**30
"""Memory of an agent with a stand-in on two processes of vLLM's CPU build."""


def processor_changes(settings: Settings, processes: int = 2) -> list[str]:
    """Changes with which a preset for GPUs runs on a CPU, as lines for `--set`.

    A preset for several cards runs its language model in so many processes. AWQ weights and half precision stay:
    vLLM's CPU build computes with them.
    """
    parts = (settings.language_model, settings.dense_encoder, settings.cross_encoder, settings.router)
    changes: list[str] = []
    # vLLM has no key `device`, and an absent part none either
    if any(getattr(part, "device", "cpu") != "cpu" for part in parts):
        changes.append("device=cpu")

    engine = settings.language_model
    if isinstance(engine, VllmEngine):
        # A tenth of the memory; vLLM's CPU build reserves only VLLM_CPU_KVCACHE_SPACE of it.
        parallel = min(processes, engine.tensor_parallel_size)
        changes += [f"language_model.tensor_parallel_size={parallel}", "language_model.gpu_memory_utilization=0.1"]
        if engine.attention_backend:
            changes.append("language_model.attention_backend=none")
    return changes


def smoke(repository: Path, preset: str, *, stand_ins: bool) -> None:
    """The whole rehearsal; raises `UserError` if the submission would not work."""
    settings = load_settings(preset, [])
    subject = Subject(repository)
    _print_uncommitted(subject)

    with tempfile.TemporaryDirectory(prefix="smoke-") as name:
        root = Path(name)
        staged = subject.pushed
        weights = cache_folder()
        if stand_ins:
            weights = root / "stand-ins"
            _add_stand_ins(settings, repository, weights, staged)

        changes = processor_changes(settings, _affordable_processes())
        if stand_ins:
            changes.append(PATIENCE)
        print(f"changed for the CPU: {', '.join(changes) or 'nothing'}", flush=True)
        change_options = [f"--set={change}" for change in changes]

        # A preset that asks a graph also reads pages in this run, so that one start shows all of its steps.
        environment = empty_world(root, hidden=repository) | VLLM_ENVIRONMENT | {"CRAG_MODELS_DIR": str(weights)}
        asks_graph = settings.knowledge_graph is not None
        graph_options = ["--mock-kg"] if asks_graph else []
        _evaluate(staged, preset, [*graph_options, *change_options], environment)

        form = f"{preset} with the shipped graph" if asks_graph else f"{preset} without a graph"
        examined = examine(staged / "results", settings, graph=asks_graph, stand_ins=stand_ins)
        if examined.faults:
            raise UserError(f"{form}: " + "; ".join(examined.faults))
        print(f"{form}: {examined.summary}", flush=True)

        _check_network(root)

    print(f"smoke: {preset} is wired well. This says nothing about quality, memory and speed", flush=True)


def _check_network(root: Path) -> None:
    """Raise UserError if the run in the empty world of this folder asked a host, even if it went on without it."""
    hosts = refused(root)
    if hosts is None:
        raise UserError("the network could not be blocked; the evaluator has no network")
    if hosts:
        raise UserError(f"the run asked {', '.join(hosts)}; the evaluator has no network")


def available_bytes() -> int:
    """Memory that new processes can have, by the kernel's estimate."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    kibibytes = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return int(kibibytes) * 1024


def _affordable_processes() -> int:
    """Processes of vLLM for a preset that has several cards: two, if the memory allows."""
    available = available_bytes()
    if available >= PARALLEL_BYTES:
        return 2
    print(
        f"note: one process of vLLM instead of two, as {available / 2**30:.1f} GiB of memory are free and "
        f"{PARALLEL_BYTES / 2**30:.0f} are needed",
        flush=True,
    )
    return 1


def _print_uncommitted(subject: Subject) -> None:
    changed, untracked = subject.uncommitted
    if changed:
        print(f"note: used, but not committed: {first_few(changed)}", flush=True)
    if untracked:
        print(f"note: not in git, left out: {first_few(untracked)}", flush=True)


def _add_stand_ins(
    settings: Settings,
    repository: Path,
    weights: Path,
    staged: Path,
) -> None:
    """Make stand-ins in the folder `weights`, and copy those of adapters and classifiers into the staged copy."""
    stand_ins = make_stand_ins(settings.model_dump(), weights, repository=repository)
    for folder, is_stand_in in stand_ins.items():
        print(f"{'stand-in' if is_stand_in else 'real'}: {folder}", flush=True)
    if (weights / "models").is_dir():
        copytree(weights / "models", staged / "models", dirs_exist_ok=True)


def _evaluate(
    folder: Path,
    preset: str,
    options: Sequence[str],
    environment: Mapping[str, str],
) -> None:
    """Answer a few questions in the copy. Raises UserError, with the end of its output."""
    command = [
        "local_evaluation.py",
        f"--preset={preset}",
        "--dataset=data/sample/questions.jsonl",
        f"--limit={QUESTIONS}",
        "--output=results",
        "--overwrite",
        "--quiet",
        "--stop-after-lost=0",
        *options,
    ]

    process = run_python(folder, environment, *command)
    # Of lost answers `examine` finds the reason
    if process.returncode not in {0, EXIT_LOST}:
        output = process.stderr or process.stdout
        # The end of a traceback names the error
        tail = "\n".join(output.strip().splitlines()[-12:])
        raise UserError(f"{preset} {' '.join(options)} ended with exit code {process.returncode}:\n{tail}")
