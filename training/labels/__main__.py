r"""Label the answering model's prompts for tuning: python -m training.labels.

db3 section 2.4, steps 1 to 3.2.2: "invalid question" for false premises; the right answer if the basic answer was
right or the context has the right one; else "i don't know". A missing basic answer counts as wrong.

The basic answers come from a run over labelled questions, which can be interrupted and resumed:

    python local_evaluation.py --preset cpu_small --dataset QUESTIONS --output RUN --resume \
        --set answering.prompt=basic --set knowledge_graph=none --set answering.confidence=none \
        --set answering.gates=[]

By default the prompts about web pages are labelled; with `--answerer graph`, those about the facts of the graph (db3
section 3.3 follows the same steps; the run then needs a graph and `--set knowledge_graph.answer_prompt=basic`). The
model's first answer counts, even if it was withheld later.

Without a run, every answer counts as missing, so that the context alone decides (steps 1, 3.2.1 and 3.2.2):

    python -m agents.web context --dataset QUESTIONS --preset cpu --out contexts.jsonl
    python -m training.labels --contexts contexts.jsonl --questions QUESTIONS --preset cpu --out labels.jsonl

In the paper a language model judges the answers and checks the contexts:

    python -m training.labels --run RUN --out labels.jsonl --judge llm --judge-rubric db3 --context-check llm \
        --judge-preset db3_task1      # or --judge-url URL --judge-model NAME

`--context-check llm` asks the judge's model, or that of `--preset` (db3's p_context, C.2); replies are kept in
OUT.context_checks.jsonl, and `--resume` uses them.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.common.console import end_with
from agents.common.files import write_rows
from agents.llm import LanguageModelDiedError
from agents.settings import load_settings
from evaluation.judge import add_judge_arguments, cost_line, judge_from
from evaluation.store import PREDICTIONS, TRACES
from training.command import CommandError, add_split_argument, count_table, exit_code, parser_of
from training.labels.basic_answers import Answered, BasicAnswers, basic_answers, unanswered
from training.labels.branches import Branch, Labelled, label
from training.labels.in_context import ContextCheck, RulesContextCheck
from training.labels.model_check import ModelContextCheck, open_model_check
from training.run_card import card_folder, run_card, write_card


def main(arguments: Sequence[str] | None = None) -> int:
    """Label and write. Exit code: 1 if an input cannot be used or the engine died."""
    options = _parser().parse_args(arguments)
    return exit_code(lambda: _label(options))


def _label(options: argparse.Namespace) -> int:
    began = time.monotonic()
    folder = card_folder(options.out)
    judge = judge_from(options)
    basics = _basics(options)
    check: ContextCheck = RulesContextCheck()
    if options.context_check == "llm":
        check = open_model_check(options, judge)
    try:
        labelled = label(basics.rows, judge, check)
    except LanguageModelDiedError as error:
        raise CommandError(f"the engine died ({error}); --resume keeps its finished checks") from error
    write_rows(options.out, (one.to_row() for one in labelled))
    figures = summary(labelled, basics)
    if isinstance(check, ModelContextCheck):
        figures["model_check"] = check.counts()
    data = {f"{run.name} {name}": run / name for run in options.run or () for name in (PREDICTIONS, TRACES)}
    data |= {f"contexts {path.name}": path for path in options.contexts or ()}
    data |= {"questions": options.questions} if options.questions else {}
    settings = {
        "answerer": options.answerer,
        "judge": f"{judge.name}@{judge.version}",
        "context_check": check.name,
        **options.split.to_card(),
    }
    card = write_card(folder, run_card(data, settings, time.monotonic() - began, figures))
    print(shown(figures))
    options.split.report()
    if cost := cost_line(judge):
        print(cost)
    print(f"wrote {options.out} and {card}")
    return 0


def _basics(options: argparse.Namespace) -> BasicAnswers:
    if options.contexts is None:
        return basic_answers(options.run, options.questions, Answered(options.answerer), options.split)
    if options.questions is None or options.answerer != Answered.WEB.value:
        raise CommandError("--contexts needs --questions with the right answers, and is for the answerer of web pages")
    return unanswered(options.contexts, options.questions, load_settings(options.preset, options.set), options.split)


def summary(labelled: Sequence[Labelled], basics: BasicAnswers) -> dict[str, Any]:
    """Counts per branch and hittability, over all rows and per domain."""
    unscored = len(basics.rows) - len(labelled)
    domains: dict[str, list[Labelled]] = {"all": list(labelled)}
    for one in labelled:
        domains.setdefault(one.basic.labels.get("domain", "unknown"), []).append(one)
    return {
        "rows": len(labelled),
        "questions": len({one.basic.query for one in labelled}),
        "left_out": dict(basics.left_out) | ({"without a right answer to judge by": unscored} if unscored else {}),
        "domains": {name: _counts(rows) for name, rows in domains.items()},
    }


def _counts(rows: Sequence[Labelled]) -> dict[str, Any]:
    counts = Counter(one.branch for one in rows)
    hits = [one.hittable for one in rows if one.hittable is not None]
    return {
        **{branch.value: counts[branch] for branch in Branch},
        "hittability": round(sum(hits) / len(hits), 3) if hits else None,
    }


def shown(figures: dict[str, Any]) -> str:
    """The summary for a person."""
    lines = [count_table(figures["domains"]), f"{figures['rows']} rows about {figures['questions']} questions"]
    lines += [f"left out: {count} {reason}" for reason, count in figures["left_out"].items()]
    if "model_check" in figures:
        lines.append("context checks by the model: " + json.dumps(figures["model_check"]))
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("training.labels", __doc__)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument(
        "--run", type=Path, action="append", metavar="DIR", help="local_evaluation.py folder; repeatable"
    )
    given.add_argument(
        "--contexts", type=Path, action="append", metavar="FILE",
        help="instead of a run: rows of python -m agents.web context; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--questions", type=Path, metavar="FILE", help="right answers and labels; default: the run's own"
    )
    add_split_argument(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines for training.lora")
    parser.add_argument(
        "--answerer", choices=[one.value for one in Answered], default=Answered.WEB.value,
        help="the answerer to label: of web pages (db3 2.4) or of the graph's facts (3.3); default: web",
    )  # fmt: skip
    add_judge_arguments(parser.add_argument_group("is the basic answer right?"))
    parser.add_argument(
        "--context-check", choices=("rules", "llm"), default="rules", help="does the context hold the right answer?"
    )
    parser.add_argument(
        "--preset",
        metavar="P",
        help="of the model for --context-check llm (default: the judge's model), and of the prompts about --contexts",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change to the preset; can be repeated"
    )
    parser.add_argument("--resume", action="store_true", help="reuse the model's earlier checks")
    parser.add_argument("--overwrite", action="store_true", help="discard the model's earlier checks")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


if __name__ == "__main__":
    end_with(main)
