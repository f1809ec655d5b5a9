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

In the paper a language model judges the answers and checks the contexts (p_context, C.2):

    python -m training.labels --run RUN --out labels.jsonl --judge llm --judge-rubric db3 --context-check llm \
        --judge-preset db3_task1      # or --judge-url URL --judge-model NAME

The judge's cache keeps all its replies: the same command continues after a kill.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.common.files import UserError, write_rows
from crag.command import add_split_argument, end_with, exit_code, parser_of
from evaluation.judge import Judge, LanguageModelJudge, add_judge_arguments, cost_line, judge_from
from evaluation.store import PREDICTIONS, TRACES
from training.labels.branches import STEPS, Branch, basic_answers, label
from training.labels.in_context import CONTEXT_RUBRIC, RulesContextCheck
from training.run_card import RunCard, count_table


def main(arguments: Sequence[str] | None = None) -> int:
    """Label and write. Exit code: 2 if an input cannot be used."""
    parser = parser_of("python -m training.labels", __doc__)
    folders = "local_evaluation.py folder; repeatable"
    parser.add_argument("--run", type=Path, action="append", required=True, metavar="DIR", help=folders)
    add_split_argument(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines for training.prompts")
    which = "the answerer to label: of web pages (db3 2.4) or of the graph's facts (3.3); default: web"
    parser.add_argument("--answerer", choices=STEPS, default="web", help=which)
    add_judge_arguments(parser.add_argument_group("is the basic answer right?"))
    holds = "does the context hold the right answer? llm: the model of --judge llm (default: %(default)s)"
    parser.add_argument("--context-check", choices=("rules", "llm"), default="rules", help=holds)
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    card = RunCard.beside(options.out)
    judge = judge_from(options)
    check = _context_check(options.context_check, judge)
    basics, left_out = basic_answers(options.run, options.answerer, options.split)
    rows = label(basics, judge, check)
    if unscored := len(basics) - len(rows):
        left_out["without a verdict: the same command asks the model again"] += unscored
    write_rows(options.out, rows)
    domains = defaultdict(list, {"all": rows})
    for row in rows:
        domains[row.get("domain", "unknown")].append(row)
    figures: dict[str, Any] = {
        "rows": len(rows),
        "questions": len({row["query"] for row in rows}),
        "left_out": dict(left_out),
        "domains": {name: _counts(found) for name, found in domains.items()},
    }
    settings = {
        "answerer": options.answerer,
        "judge": f"{judge.name}@{judge.version}",
        "context_check": f"{check.name}@{check.version}",
        **options.split.to_card(),
    }
    data = {f"{run.name} {name}": run / name for run in options.run for name in (PREDICTIONS, TRACES)}
    written = card.write(data, settings, figures)
    print(count_table(figures["domains"]))
    print(f"{figures['rows']} rows about {figures['questions']} questions")
    for reason, count in left_out.items():
        print(f"left out: {count} {reason}")
    options.split.report()
    if cost := cost_line(judge):
        print(cost)
    print(f"wrote {options.out} and {written}")


def _context_check(name: str, judge: Judge) -> Judge:
    if name == "rules":
        return RulesContextCheck()
    if not isinstance(judge, LanguageModelJudge):
        raise UserError("--context-check llm asks the judge's model: pass --judge llm")
    return judge.with_rubric(CONTEXT_RUBRIC)


def _counts(rows: Sequence[dict[str, Any]]) -> dict[str, int | float | None]:
    """Rows per branch, and the share of hittable questions."""
    branches = Counter(row["branch"] for row in rows)
    hits = [row["hittable"] for row in rows if row["hittable"] is not None]
    share = round(sum(hits) / len(hits), 3) if hits else None
    return {**{branch.value: branches[branch.value] for branch in Branch}, "hittability": share}


if __name__ == "__main__":
    end_with(main)
