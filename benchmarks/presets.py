"""Each preset over the same questions, and what each of its gates cost and saved.

    python -m benchmarks.presets [--presets P ...] [--dataset FILE ...] [--limit N] [--output DIR] [--no-kg]
    python -m benchmarks.presets --report-only [--output DIR]

Every pair of preset and file is a run of local_evaluation.py with ``answering.audit``: an interruption costs a batch at
most, and the same command goes on. Where a preset's own models cannot run on this machine (no weights, no engine, no
GPU), those of the cpu preset stand in for them, and the tables say so: such a run shows what the preset's steps and
gates do, not how well its authors' system answers. Time does not matter: every question has ten minutes.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from agents.answering import EXPECTED_SCORE, FORMULA, REFINE, SELF_ASSESSMENT
from agents.encoders import load_cross_encoder, load_dense_encoder
from agents.llm import EngineUnavailableError, load_language_model
from agents.questions import open_router
from agents.settings import EncoderRouter, Settings, SettingsError, StrictModel, load_settings
from evaluation.cli import DEFAULT_DATASET
from evaluation.cli import main as evaluate
from evaluation.store import RESULTS
from models.manifest import WeightsMissingError

PRESETS = ("db3_task1", "db3_task23", "nec", "weknow", "submission", "cpu")
EXAMPLES = Path(__file__).parents[2] / "shared/data/crag/example_dev_10q.jsonl.bz2"
"""The ten public example questions of the competition with their real pages."""
PLAN = "plan.json"
INTERRUPTED = 130
UNUSABLE = 2

SMALL_PRESET = "cpu"
SMALL_ROUTER = EncoderRouter(engine="encoder", classifiers=("cpu",))
BATCH_SIZE = 4
UNHURRIED_SECONDS = 600
CHANGES = ("answering.audit=true", f"deadline.seconds_per_query={UNHURRIED_SECONDS}")
"""Changes to every preset, as `local_evaluation.py --set` takes them."""
CAPS = {"web.context.max_tokens": 600, "knowledge_graph.max_fact_tokens": 300, "knowledge_graph.writer.examples": 6}
"""What a small language model is shown at most: with thousands of tokens a question a CPU would need a day."""


class _Weights(Protocol):
    def check_weights(self) -> object: ...


PARTS: dict[str, Callable[[Any], _Weights]] = {
    "language_model": load_language_model,
    "dense_encoder": load_dense_encoder,
    "cross_encoder": load_cross_encoder,
    "router": lambda router: open_router(router if isinstance(router, EncoderRouter) else None),
}
"""Parts of the settings that have weights -> what can look for them. A router by prompt asks the language model."""


class PresetRun(NamedTuple):
    """How a preset is run on this machine: changes to its settings, and what a reader of the figures must know."""

    changes: list[str]
    stand_ins: list[str]
    """Small models used instead of the preset's; none: its own."""
    caps: list[str]
    gates: list[str]
    """Names of all that may withhold an answer, whether or not it ever does."""
    graph: bool


def make_plan(settings: Settings) -> PresetRun:
    """Stand-ins for all parts that cannot run here, and caps where the language model is one of them."""
    cpu = load_settings(SMALL_PRESET, ())
    small = {name: SMALL_ROUTER if name == "router" else getattr(cpu, name) for name in PARTS}
    replaced = {name: small[name] for name in PARTS if not runs_here(name, getattr(settings, name))}
    changes = [line for name, part in replaced.items() for line in (f"{name}=none", f"{name}={_inline(_data(part))}")]
    stand_ins = [
        f"{_name(part)} for {_name(getattr(settings, name))}"
        for name, part in replaced.items()
        if _name(part) != _name(getattr(settings, name))
    ]
    caps = dict(_caps(settings)) if "language_model" in replaced else {}
    return PresetRun(
        changes=[*CHANGES, *changes, *caps],
        stand_ins=stand_ins,
        caps=list(caps.values()),
        gates=_gate_names(settings),
        graph=settings.knowledge_graph is not None,
    )


def runs_here(name: str, part: StrictModel | None) -> bool:
    """Whether a part of the settings finds its weights, its engine and its GPU on this machine."""
    if part is None:
        return True
    try:
        PARTS[name](part).check_weights()
    except (WeightsMissingError, EngineUnavailableError):
        return False
    device: str = getattr(part, "device", "cpu")
    return not device.startswith("cuda") or _has_gpu(device)


def _has_gpu(device: str) -> bool:
    import torch

    return bool((torch.device(device).index or 0) < torch.cuda.device_count())


def _caps(settings: Settings) -> Iterator[tuple[str, str]]:
    """Change -> what it says to a reader, for each limit of the preset that is above the cap."""
    for key, most in CAPS.items():
        own: Any = settings
        for name in key.split("."):
            own = getattr(own, name, None)
        if own is not None and own > most:
            yield f"{key}={most}", f"{key} {most} instead of {own}"


def _gate_names(settings: Settings) -> list[str]:
    answering = settings.answering
    others = {
        SELF_ASSESSMENT: answering.self_assessment,
        REFINE: answering.refine,
        FORMULA: answering.compute or None,
        EXPECTED_SCORE: answering.confidence,
    }
    return [*(gate.name for gate in answering.gates), *(name for name, part in others.items() if part is not None)]


def _name(part: Any) -> str:  # noqa: ANN401 - any part of the settings
    return " + ".join(part.classifiers) if isinstance(part, EncoderRouter) else getattr(part, "model", part.engine)


def _data(part: StrictModel) -> dict[str, Any]:
    return part.model_dump(mode="json", exclude_unset=True, exclude_none=True)


def _inline(value: Any) -> str:  # noqa: ANN401 - any value of TOML
    """A value as TOML in one line; strings, numbers, booleans and lists of them are written as JSON writes them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_inline(item)}" for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def run(options: argparse.Namespace) -> int:
    """Ask all that is not asked yet; the worst exit code of the evaluator."""
    worst = 0
    for dataset in options.dataset:
        for preset in options.presets:
            plan = make_plan(load_settings(preset))
            folder = _folder(options.output, dataset, preset)
            print(f"\n{preset} over {dataset.name}: {_about(plan.stand_ins, plan.caps)}", file=sys.stderr)
            code = evaluate(_arguments(options, preset, dataset, plan))
            if code == INTERRUPTED:
                return code
            if code != UNUSABLE:
                (folder / PLAN).write_text(json.dumps(plan._asdict(), indent=1) + "\n", encoding="utf-8")
            worst = max(worst, code)
    return worst


def _arguments(options: argparse.Namespace, preset: str, dataset: Path, plan: PresetRun) -> list[str]:
    folder = _folder(options.output, dataset, preset)
    arguments = ["--preset", preset, "--dataset", str(dataset), "--output", str(folder), "--resume"]
    arguments += ["--batch-size", str(BATCH_SIZE), "--seconds-per-query", str(UNHURRIED_SECONDS)]
    for change in plan.changes:
        arguments += ["--set", change]
    if options.limit is not None:
        arguments += ["--limit", str(options.limit)]
    return [*arguments, "--mock-kg"] if options.kg and plan.graph else arguments


def _folder(output: Path, dataset: Path, preset: str) -> Path:
    return output / dataset.name.partition(".")[0] / Path(preset).stem


def report(options: argparse.Namespace) -> int:
    """Print the tables of all runs that are finished; write them as report.md, and all figures as report.json."""
    facts = {dataset.name: dict(_finished(options, dataset)) for dataset in options.dataset}
    if not any(facts.values()):
        print(f"error: no finished run in {options.output}", file=sys.stderr)
        return UNUSABLE
    parts = [_section(name, presets) for name, presets in facts.items() if presets]
    text = "# Presets and their gates\n\n" + "\n\n".join(parts) + "\n"
    (options.output / "report.md").write_text(text, encoding="utf-8")
    (options.output / "report.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print(f"\n{text}\nwrote report.md and report.json in {options.output}")
    return 0


def _finished(options: argparse.Namespace, dataset: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name of the preset -> results of its run, with what was planned for it."""
    for preset in options.presets:
        folder = _folder(options.output, dataset, preset)
        if (folder / PLAN).is_file() and (folder / RESULTS).is_file():
            results = json.loads((folder / RESULTS).read_text(encoding="utf-8"))
            plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
            yield Path(preset).stem, {**results, "plan": plan}
        else:
            print(f"{preset} over {dataset.name}: there is no finished run in {folder}", file=sys.stderr)


def _section(dataset: str, presets: Mapping[str, Mapping[str, Any]]) -> str:
    """All about one file: the table of presets, that of gates, and what must be known beside them."""
    signature = next(iter(presets.values()))["signature"]
    scores = table(
        ["preset", "n", "score", "95 % interval", "accuracy", "hallucination", "missing", "s a question", "models"],
        [_score_row(name, facts) for name, facts in presets.items()],
    )
    gates = table(
        ["preset", "gate", "fired", "right lost", "wrong saved", "missing", "unknown", "effect on the score"],
        [row for name, facts in presets.items() for row in _gate_rows(name, facts)],
    )
    notes = [f"- {name}: {note}" for name, facts in presets.items() for note in _notes(facts)]
    heading = f"## {dataset}\n\ndata {signature['data']}, judge {signature['judge']}, trim {signature['trim']}"
    return "\n\n".join([heading, scores, gates, "\n".join(notes)])


def _score_row(name: str, facts: Mapping[str, Any]) -> list[str]:
    shares = [f"{facts[share]:.3f}" for share in ("accuracy", "hallucination", "missing")]
    seconds = f"{facts['seconds']['per_question']:.1f}"
    models = "small" if facts["plan"]["stand_ins"] else "own"
    return [name, str(facts["n"]), f"{facts['score']:+.3f}", _interval(facts["ci"]), *shares, seconds, models]


def _gate_rows(name: str, facts: Mapping[str, Any]) -> Iterator[list[str]]:
    """One row for each gate that the preset has, those that never fired included."""
    gates = dict.fromkeys([*facts["plan"]["gates"], *facts["gates"]])
    if not gates:
        yield [name, "(has none)", *[""] * 6]
    for gate in gates:
        told = facts["gates"].get(gate, {})
        counts = [str(told.get(key, 0)) for key in ("fired", "right_lost", "wrong_saved", "missing", "unknown")]
        effect = told.get("score_effect")
        shown = f"{effect:+.3f} {_interval(told['ci'])}" if effect is not None else "?" if told else "+0.000"
        yield [name, gate, *counts, shown]


def _notes(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"{_about(facts['plan']['stand_ins'], facts['plan']['caps'])}; knowledge graph: {facts['signature']['kg']}"
    for what in ("timeouts", "errors"):
        if facts[what]:
            yield f"{facts[what]} batch(es) with {what}"


def _about(stand_ins: Sequence[str], caps: Sequence[str]) -> str:
    models = f"small models: {', '.join(stand_ins)}" if stand_ins else "its own models"
    return "; ".join([models, *caps])


def _interval(ends: Sequence[float]) -> str:
    return f"[{ends[0]:+.3f}, {ends[1]:+.3f}]"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Markdown that is aligned, so that it can be read in a terminal too."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 0 done, 1 batches failed, 2 a preset could not run or nothing is finished, 130 interrupted."""
    options = _parser().parse_args(arguments)
    if options.dataset is None:
        options.dataset = [DEFAULT_DATASET, *([EXAMPLES] if EXAMPLES.is_file() else [])]
    try:
        code = 0 if options.report_only else run(options)
    except SettingsError as error:
        print(f"error: {error}", file=sys.stderr)
        return UNUSABLE
    return code if code == INTERRUPTED else max(code, report(options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presets", nargs="+", metavar="P", default=list(PRESETS), help="presets, or TOML files")
    parser.add_argument("--dataset", nargs="+", type=Path, metavar="FILE", help="default: the sample and the examples")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions of each file")
    parser.add_argument("--output", type=Path, metavar="DIR", default=Path("results/presets"))
    parser.add_argument(
        "--kg",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="the shipped knowledge graph, for presets that ask one",
    )
    parser.add_argument("--report-only", action="store_true", help="only the tables of what is finished")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
