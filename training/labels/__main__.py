r"""Label the answering model's prompts for tuning: python -m training.labels.

db3 section 2.4, steps 1 to 3.2.2: "invalid question" for false premises; the right answer if the basic answer was
right or the context has the right one; else "i don't know". A missing basic answer counts as wrong.

The basic answers come from a run over labelled questions, which can be interrupted and resumed:

    python local_evaluation.py --preset cpu --dataset QUESTIONS --output RUN --resume \
        --set answering.prompt=basic --set knowledge_graph=none --set answering.confidence=none \
        --set answering.gates=[]

By default the prompts about web pages are labelled; with `--answerer graph`, those about the facts of the graph (db3
section 3.3 follows the same steps; the run then needs a graph and `--set knowledge_graph.answer_prompt=basic`). The
model's first answer counts, even if it was withheld later.

In the paper a language model judges the answers and checks the contexts:

    python -m training.labels --run RUN --out labels.jsonl --judge llm --judge-rubric db3 --context-check llm \
        --judge-preset db3_task1      # or --judge-url URL --judge-model NAME

`--context-check llm` asks the judge's model, or that of `--preset` (db3's p_context, C.2); replies are kept in
OUT.context_checks.jsonl, and `--resume` uses them.
"""

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.common.files import UserError, write_rows
from agents.llm import LanguageModelDiedError
from crag.command import add_split_argument, end_with, exit_code, override, parser_of
from evaluation.judge import add_judge_arguments, cost_line, judge_from
from evaluation.store import PREDICTIONS, TRACES
from training.labels.basic_answers import STEPS, WEB_PAGES, BasicAnswers, basic_answers
from training.labels.branches import Branch, Labelled, label
from training.labels.in_context import ContextCheck, RulesContextCheck
from training.labels.model_check import open_model_check
from training.run_card import card_folder, count_table, run_card, write_card


def main(arguments: Sequence[str] | None = None) -> int:
    """Label and write. Exit code: 2 if an input cannot be used or the engine died."""
    parser = parser_of("python -m training.labels", __doc__)
    folders = "local_evaluation.py folder; repeatable"
    parser.add_argument("--run", type=Path, action="append", required=True, metavar="DIR", help=folders)
    add_split_argument(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines for training.prompts")
    which = "the answerer to label: of web pages (db3 2.4) or of the graph's facts (3.3); default: web"
    parser.add_argument("--answerer", choices=STEPS, default=WEB_PAGES, help=which)
    add_judge_arguments(parser.add_argument_group("is the basic answer right?"))
    holds = "does the context hold the right answer?"
    parser.add_argument("--context-check", choices=("rules", "llm"), default="rules", help=holds)
    parser.add_argument("--preset", metavar="P", help="of the model for --context-check llm (default: the judge's)")
    change = "change to the preset; can be repeated"
    parser.add_argument("--set", type=override, action="append", default=[], metavar="KEY=VALUE", help=change)
    parser.add_argument("--resume", action="store_true", help="reuse the model's earlier checks")
    parser.add_argument("--overwrite", action="store_true", help="discard the model's earlier checks")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _label(options))


def _label(options: argparse.Namespace) -> None:
    began = time.monotonic()
    folder = card_folder(options.out)
    judge = judge_from(options)
    basics = basic_answers(options.run, options.answerer, options.split)
    model_check = open_model_check(options, judge) if options.context_check == "llm" else None
    check: ContextCheck = model_check or RulesContextCheck()
    try:
        labelled = label(basics.rows, judge, check)
    except LanguageModelDiedError as error:
        raise UserError(f"the engine died ({error}); --resume keeps its finished checks") from error
    write_rows(options.out, (one.to_row() for one in labelled))
    figures = summary(labelled, basics)
    if model_check:
        figures["model_check"] = dict(model_check.counts)
    data = {f"{run.name} {name}": run / name for run in options.run for name in (PREDICTIONS, TRACES)}
    settings = {
        "answerer": options.answerer,
        "judge": f"{judge.name}@{judge.version}",
        "context_check": check.name,
        **options.split.to_card(),
    }
    card = write_card(folder, run_card(data, settings, time.monotonic() - began, figures))
    print(count_table(figures["domains"]))
    print(f"{figures['rows']} rows about {figures['questions']} questions")
    for reason, count in figures["left_out"].items():
        print(f"left out: {count} {reason}")
    if model_check:
        print(f"context checks by the model: {figures['model_check']}")
    options.split.report()
    if cost := cost_line(judge):
        print(cost)
    print(f"wrote {options.out} and {card}")


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
    share = round(sum(hits) / len(hits), 3) if hits else None
    return {**{branch.value: counts[branch] for branch in Branch}, "hittability": share}


if __name__ == "__main__":
    end_with(main)
