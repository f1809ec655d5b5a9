"""What each way of saying "i don't know" is worth, on real questions with the segments that a search found for them.

    python -m benchmarks.abstention run --output DIR [--contexts FILE] [--preset cpu] [--limit N]
    python -m benchmarks.abstention report --output DIR [--routes FILE] [--pictures DIR]

`run` asks the preset's own agent, without knowledge graph and public data. Each segment becomes a page, and all pages
are read, so that extraction, chunking, retrieval, reranking and the context are those of the preset. It is a run of
local_evaluation.py: an interruption costs a batch at most, and the same command goes on.

One run compares all rules: the model answers, says how sure it is, and looks at its answer a second time; nothing is
withheld, so that each rule can be applied to the same drafts afterwards.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.contracts import Route
from agents.files import write_rows
from benchmarks.abstention_rules import THRESHOLD, Rule, rules
from evaluation.cli import main as evaluate
from evaluation.datasets import DatasetError
from evaluation.judge import RulesJudge
from evaluation.signature import signature_line
from training.calibrate.__main__ import draw
from training.calibrate.expected_score import difference, score_table
from training.calibrate.runs import CalibrationError, asked_questions, read_routes, read_run
from training.pictures import Estimate, estimates
from training.segments import DEFAULT_FILE, questions_of

PAIRS = "pairs.jsonl"
MOST_SEGMENTS = 20
UNHURRIED_SECONDS = 600
"""Per question, for the agent and for the evaluator: a slow machine takes longer, but answers the same."""

CHANGES = (
    "knowledge_graph=none",
    "public_data=none",
    f"web.pages.keep={MOST_SEGMENTS}",
    "web.pages.method=search_order",
    f"deadline.seconds_per_query={UNHURRIED_SECONDS}",
    "answering.gates=[]",
    "answering.confidence=none",
    "answering.prompt=reader",
    "answering.self_assessment.asked=afterwards",
    "answering.self_assessment.accepted=['high', 'medium', 'low']",
    "answering.refine.prompt=refine",
)
"""Changes to the preset, as `local_evaluation.py --set` takes them."""


def run(options: argparse.Namespace) -> int:
    """Ask all that is not asked yet; the evaluator's exit code."""
    options.output.mkdir(parents=True, exist_ok=True)
    questions = options.output / PAIRS
    write_rows(questions, questions_of(options.contexts))
    arguments = ["--preset", options.preset, "--dataset", str(questions), "--output", str(options.output), "--resume"]
    for change in CHANGES:
        arguments += ["--set", change]
    if options.limit is not None:
        arguments += ["--limit", str(options.limit)]
    return evaluate([*arguments, "--seconds-per-query", str(UNHURRIED_SECONDS)])


def report(options: argparse.Namespace) -> int:
    """Print the table; write report.json and the pictures."""
    options.pictures = options.pictures or options.output / "pictures"
    routes: dict[str, Route] = {}
    for path in options.routes:
        for name, route in read_routes(path).items():
            routes[name] = {**routes.get(name, {}), **route}
    finished = read_run(options.output)
    more = [question for folder in options.more for question in asked_questions(read_run(folder), RulesJudge(), routes)]
    found, calibrations, notes = rules(finished, routes, options.folds, options.seed, more)
    groups = [question.record["interaction_id"] for question in finished.questions]
    facts = figures(found, groups)
    for name, calibration in calibrations.items():
        facts["rules"][name]["probabilities"] = calibration.metrics(THRESHOLD)["probabilities"]
        draw(options.pictures / name.replace(", ", "_").replace(" ", "_"), calibration, THRESHOLD)
    scores = [Estimate(name, rule["score"], *rule["ci"]) for name, rule in facts["rules"].items()]
    estimates(options.pictures / "scores.svg", scores, "score, 95 % interval", f"{facts['pairs']} pairs")
    facts |= {"left_out": notes, "run": signature_line(finished.signature)}
    (options.output / "report.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    print("\n".join([*table(facts), *(f"left out: {note}" for note in notes)]))
    print(f"wrote {options.output / 'report.json'} and pictures in {options.pictures}")
    return 0


def figures(found: Sequence[Rule], groups: Sequence[str]) -> dict[str, Any]:
    """Scores of all rules, and paired differences: each rule less plain answering, and each calibrated rule less it."""
    rewards = {rule.name: rule.rewards for rule in found}
    calibrated = {name: own for name, own in rewards.items() if name.startswith("calibrated")}
    return {
        "pairs": len(groups),
        "questions": len(set(groups)),
        "rules": {
            name: {
                **score_table(own, groups),
                "against_plain": difference(own, rewards["plain answering"], groups),
                "calibrated_against_it": {
                    other: difference(theirs, own, groups) for other, theirs in calibrated.items() if other != name
                },
            }
            for name, own in rewards.items()
        },
    }


def table(facts: Mapping[str, Any]) -> list[str]:
    """The figures as lines of Markdown."""
    lines = [
        f"{facts['pairs']} pairs of {facts['questions']} questions; intervals: 95 %, whole questions drawn\n",
        "| rule | score | right | wrong | missing | less plain answering | calibrated less it |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, rule in facts["rules"].items():
        ours = rule["calibrated_against_it"].get("calibrated")
        cells = [
            name,
            _with_interval(rule["score"], rule["ci"]),
            *(f"{rule[share]:.3f}" for share in ("accuracy", "hallucination", "missing")),
            _with_interval(rule["against_plain"]["difference"], rule["against_plain"]["ci"]),
            _with_interval(ours["difference"], ours["ci"]) if ours else "",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    for name, rule in facts["rules"].items():
        if "probabilities" in rule:
            shown = ", ".join(f"{key} {rule['probabilities'][key]:.3f}" for key in ("ece", "brier", "auc", "right"))
            lines.append(f"{name}: P(correct) of {rule['probabilities']['answers']} answers: {shown}")
    return lines


def _with_interval(value: float, interval: Sequence[float]) -> str:
    return f"{value:+.3f} [{interval[0]:+.3f}, {interval[1]:+.3f}]"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run or report. Exit code: 0 done, 2 a file cannot be used, else the evaluator's."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
    except (DatasetError, CalibrationError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.abstention",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="run|report")
    running = commands.add_parser("run", help="ask the questions; goes on where it was interrupted")
    running.add_argument("--output", type=Path, required=True, metavar="DIR")
    running.add_argument("--contexts", type=Path, default=DEFAULT_FILE, metavar="FILE", help="default: %(default)s")
    running.add_argument("--preset", default="cpu", metavar="P", help="default: %(default)s")
    running.add_argument("--limit", type=int, metavar="N", help="only the first N pairs")
    running.set_defaults(command=run)
    reporting = commands.add_parser("report", help="compare the rules")
    reporting.add_argument("--output", type=Path, required=True, metavar="DIR", help="that of `run`")
    reporting.add_argument(
        "--routes", type=Path, nargs="+", default=[], metavar="FILE", help="out-of-fold routes, as training.calibrate"
    )
    reporting.add_argument(
        "--more",
        type=Path,
        nargs="+",
        default=[],
        metavar="RUN_DIR",
        help="further runs that teach the calibration, in the same folds; only the pairs are scored",
    )
    reporting.add_argument("--pictures", type=Path, metavar="DIR", help="default: DIR/pictures of --output")
    reporting.add_argument("--folds", type=int, default=10, metavar="K", help="default: %(default)s")
    reporting.add_argument("--seed", type=int, default=20240605, metavar="N", help="default: %(default)s")
    reporting.set_defaults(command=report)
    return parser


if __name__ == "__main__":
    sys.exit(main())
