"""Run each preset over the same questions, and report what its gates cost and saved.

    python -m benchmarks.presets [--presets P ...] [--dataset FILE ...] [--limit N] [--output DIR] [--no-kg]
    python -m benchmarks.presets --report-only [--output DIR]

Every pair of preset and file is a run of local_evaluation.py with ``answering.audit``: an interruption costs at most a
batch, and the same command continues. If a preset's own models cannot run on this machine (no weights, no engine, no
GPU), those of `cpu` replace them, and the tables say so: such a run shows the effect of the preset's steps and
gates, not the quality of its authors' system. Every question has ten minutes.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents.answering import EXPECTED_SCORE, FORMULA, REFINE, SELF_ASSESSMENT
from agents.common.console import end_with
from agents.common.files import write_json
from agents.encoders import load_cross_encoder, load_dense_encoder
from agents.llm import EngineUnavailableError, load_language_model
from agents.questions import open_router
from agents.settings import EncoderRouter, Settings, StrictModel, load_settings
from benchmarks.common import SHARED, UNUSABLE, evaluate_preset, exit_code, table, with_interval
from evaluation.cli import DEFAULT_DATASET, EXIT_INTERRUPTED
from evaluation.store import RESULTS
from models.manifest import WeightsMissingError
from training.command import parser_of

PRESETS = ("db3_task1", "db3_task23", "nec", "weknow", "submission", "cpu")
EXAMPLES = SHARED / "crag/example_dev_10q.jsonl.bz2"
"""The ten public example questions of the competition with their real pages."""
PLAN = "plan.json"

SMALL_ROUTER = EncoderRouter(engine="encoder", classifiers=("cpu",))
BATCH_SIZE = 4
CAPS = {"web.context.max_tokens": 600, "knowledge_graph.max_fact_tokens": 300, "knowledge_graph.writer.examples": 6}
"""Limits of a small language model's prompts: with thousands of tokens per question a CPU would need a day."""

PARTS: dict[str, Callable[[Any], Any]] = {
    "language_model": load_language_model,
    "dense_encoder": load_dense_encoder,
    "cross_encoder": load_cross_encoder,
    "router": lambda router: open_router(router if isinstance(router, EncoderRouter) else None),
}
"""Parts of the settings with weights -> how to load them. A router by prompt uses the language model."""


class PresetRun(NamedTuple):
    """How a preset is run on this machine: changes to its settings, and notes for the reader of the figures."""

    changes: list[str]
    stand_ins: list[str]
    """Small models used instead of the preset's; none: its own."""
    caps: list[str]
    gates: list[str]
    """Names of all gates that may withhold an answer."""
    graph: bool


def make_plan(settings: Settings) -> PresetRun:
    """Small models for all parts that cannot run here, and caps if the language model is one of them."""
    small = load_settings("cpu", ())
    changes, stand_ins, caps = ["answering.audit=true"], [], {}
    for name in PARTS:
        own = getattr(settings, name)
        if runs_here(name, own):
            continue
        part = SMALL_ROUTER if name == "router" else getattr(small, name)
        data = part.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        changes += [f"{name}=none", f"{name}={_inline(data)}"]
        if _name(part) != _name(own):
            stand_ins.append(f"{_name(part)} for {_name(own)}")
        if name == "language_model":
            caps = dict(_caps(settings))
    answering = settings.answering
    others = {
        SELF_ASSESSMENT: answering.self_assessment,
        REFINE: answering.refine,
        FORMULA: answering.compute or None,
        EXPECTED_SCORE: answering.confidence,
    }
    gates = [*(gate.name for gate in answering.gates), *(name for name, part in others.items() if part is not None)]
    return PresetRun([*changes, *caps], stand_ins, list(caps.values()), gates, settings.knowledge_graph is not None)


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
    """Change -> note for the reader, for each limit of the preset that is above the cap."""
    for key, most in CAPS.items():
        own: Any = settings
        for name in key.split("."):
            own = getattr(own, name, None)
        if own is not None and own > most:
            yield f"{key}={most}", f"{key} {most} instead of {own}"


def _name(part: Any) -> str:  # noqa: ANN401 - any part of the settings
    return " + ".join(part.classifiers) if isinstance(part, EncoderRouter) else getattr(part, "model", part.engine)


def _inline(value: Any) -> str:  # noqa: ANN401 - any value of TOML
    """A value as TOML in one line; strings, numbers, booleans and lists of them are written as JSON writes them."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_inline(item)}" for key, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)


def run(options: argparse.Namespace) -> int:
    """Ask the remaining questions; return the evaluator's worst exit code."""
    worst = 0
    for dataset in options.dataset:
        for preset in options.presets:
            plan = make_plan(load_settings(preset))
            folder = _folder(options.output, dataset, preset)
            print(f"\n{preset} over {dataset.name}: {_about(plan.stand_ins, plan.caps)}", file=sys.stderr)
            more = ["--batch-size", str(BATCH_SIZE), *(["--mock-kg"] if options.kg and plan.graph else [])]
            code = evaluate_preset(preset, dataset, folder, plan.changes, options.limit, *more)
            if code == EXIT_INTERRUPTED:
                return code
            if code != UNUSABLE:
                write_json(folder / PLAN, plan._asdict())
            worst = max(worst, code)
    return worst


def _folder(output: Path, dataset: Path, preset: str) -> Path:
    return output / dataset.name.partition(".")[0] / Path(preset).stem


# --- the report -------------------------------------------------------------------------------------------------------


def report(options: argparse.Namespace) -> int:
    """Print the tables of all finished runs; write them as report.md, and all figures as report.json."""
    facts = {dataset.name: dict(_finished(options, dataset)) for dataset in options.dataset}
    if not any(facts.values()):
        print(f"error: no finished run in {options.output}", file=sys.stderr)
        return UNUSABLE
    parts = [_section(name, presets) for name, presets in facts.items() if presets]
    text = "# Presets and their gates\n\n" + "\n\n".join(parts) + "\n"
    (options.output / "report.md").write_text(text, encoding="utf-8")
    write_json(options.output / "report.json", facts)
    print(f"\n{text}\nwrote report.md and report.json in {options.output}")
    return 0


def _finished(options: argparse.Namespace, dataset: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name of the preset -> results of its run, with its plan."""
    for preset in options.presets:
        folder = _folder(options.output, dataset, preset)
        if (folder / PLAN).is_file() and (folder / RESULTS).is_file():
            results, plan = (json.loads((folder / name).read_text(encoding="utf-8")) for name in (RESULTS, PLAN))
            yield Path(preset).stem, {**results, "plan": plan}
        else:
            print(f"{preset} over {dataset.name}: no finished run in {folder}", file=sys.stderr)


def _section(dataset: str, presets: Mapping[str, Mapping[str, Any]]) -> str:
    """The section about one file: the table of presets, that of gates, and notes."""
    signature = next(iter(presets.values()))["signature"]
    scores = table(
        ["preset", "n", "score", "95 % interval", "accuracy", "hallucination", "missing", "s per question", "models"],
        [_score_row(name, facts) for name, facts in presets.items()],
    )
    gates = table(
        ["preset", "gate", "fired", "right lost", "wrong saved", "missing", "unknown", "effect on the score"],
        [row for name, facts in presets.items() for row in _gate_rows(name, facts)],
    )
    notes = "\n".join(f"- {name}: {_notes(facts)}" for name, facts in presets.items())
    heading = f"## {dataset}\n\ndata {signature['data']}, judge {signature['judge']}, trim {signature['trim']}"
    return f"{heading}\n\n{scores}\n\n{gates}\n\n{notes}"


def _score_row(name: str, facts: Mapping[str, Any]) -> list[object]:
    score, _, interval = with_interval(facts["score"], facts["ci"]).partition(" ")
    shares = [facts[share] for share in ("accuracy", "hallucination", "missing")]
    models = "small" if facts["plan"]["stand_ins"] else "own"
    return [name, facts["n"], score, interval, *shares, f"{facts['seconds']['per_question']:.1f}", models]


def _gate_rows(name: str, facts: Mapping[str, Any]) -> Iterator[list[object]]:
    """One row for each gate of the preset, also for gates that never fired."""
    gates = dict.fromkeys([*facts["plan"]["gates"], *facts["gates"]])
    if not gates:
        yield [name, "(has none)", *[""] * 6]
    for gate in gates:
        found = facts["gates"].get(gate, {})
        counts = [found.get(key, 0) for key in ("fired", "right_lost", "wrong_saved", "missing", "unknown")]
        effect = found.get("score_effect")
        shown = with_interval(effect, found["ci"]) if effect is not None else "?" if found else "+0.000"
        yield [name, gate, *counts, shown]


def _notes(facts: Mapping[str, Any]) -> str:
    failed = [f"; {facts[what]} batch(es) with {what}" for what in ("timeouts", "errors") if facts[what]]
    models = _about(facts["plan"]["stand_ins"], facts["plan"]["caps"])
    return f"{models}; knowledge graph: {facts['signature']['kg']}{''.join(failed)}"


def _about(stand_ins: Sequence[str], caps: Sequence[str]) -> str:
    models = f"small models: {', '.join(stand_ins)}" if stand_ins else "its own models"
    return "; ".join([models, *caps])


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; 0 done, 1 batches failed, 2 a preset could not run or nothing is finished, 130 interrupted."""
    parser = parser_of("benchmarks.presets", __doc__)
    datasets = [DEFAULT_DATASET, *([EXAMPLES] if EXAMPLES.is_file() else [])]
    parser.add_argument("--presets", nargs="+", metavar="P", default=list(PRESETS), help="presets, or TOML files")
    parser.add_argument(
        "--dataset", nargs="+", type=Path, metavar="FILE", default=datasets, help="default: the sample and the examples"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions of each file")
    parser.add_argument("--output", type=Path, metavar="DIR", default=Path("results/presets"))
    parser.add_argument("--no-kg", dest="kg", action="store_false", help="run without the shipped knowledge graph")
    parser.add_argument("--report-only", action="store_true", help="only print the tables of finished runs")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run_and_report(options))


def _run_and_report(options: argparse.Namespace) -> int:
    code = 0 if options.report_only else run(options)
    return code if code == EXIT_INTERRUPTED else max(code, report(options))


if __name__ == "__main__":
    end_with(main)
