r"""Label the answering model's prompts for tuning: crag train labels.

db3 section 2.4, steps 1 to 3.2.2: "invalid question" for false premises; the right answer if the basic answer was
right or the context has the right one; else "i don't know". A missing basic answer counts as wrong.

The basic answers come from a run over labelled questions, which can be interrupted and resumed:

    crag evaluate --preset cpu --dataset QUESTIONS --output RUN --resume \
        --set answering.prompt=basic --set knowledge_graph=none --set answering.confidence=none \
        --set answering.gates=[]

By default the prompts about web pages are labelled; with `--answerer graph`, those about the facts of the graph (db3
section 3.3 follows the same steps; the run then needs a graph, `--set knowledge_graph.answer_prompt=basic` and, with
cpu, which reads no facts of the graph, `--set "knowledge_graph.read_facts_of=['movie','finance','music','sports',
'open']"`). The model's first answer counts, even if it was withheld later.

In the paper a language model judges the answers and checks the contexts (p_context, C.2):

    crag train labels --run RUN --out labels.jsonl --judge llm --judge-rubric db3 --context-check llm \
        --judge-preset db3_task1      # or --judge-url URL --judge-model NAME

The judge's cache keeps all its replies: the same command continues after a kill.

Several runs over the same questions give several answers to each prompt; the field "samples" has all of them, with
verdicts, for `crag train preferences`. An engine samples alike in two runs of the same settings, so each run needs its
own temperature: --set answering.temperature=0.7.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crag.commands.argument_types import argument_type, new_file
from crag.commands.command_line import add_split_argument, command, parser_of
from crag.core.files import UserError, write_rows
from crag.core.text import counted
from crag.evaluation.answer_in_text import RulesContextCheck
from crag.evaluation.judge import Judge, LanguageModelJudge, add_judge_arguments, cost_line, judge_from
from crag.training.files import RunCard, count_table, files_of_runs
from crag.training.labels.basic_answers import STEPS, Branch, label_answers, read_basic_answers
from crag.training.labels.context_rubric import CONTEXT_RUBRIC


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Label and write."""
    options = _parse(arguments)
    card = RunCard.beside(options.out)
    judge = judge_from(options)
    context_check = _context_check(options, judge)

    basics, left_out = read_basic_answers(options.run, options.answerer, options.split)
    rows = label_answers(basics, judge, context_check)
    unscored = len(basics) - len(rows)
    if unscored:
        left_out["without a verdict: the same command asks the model again"] += unscored
    write_rows(options.out, rows)

    figures = _figures(rows, left_out)
    settings = {
        "answerer": options.answerer,
        "judge": f"{judge.name}@{judge.version}",
        "context_check": f"{context_check.name}@{context_check.version}",
        **options.split.to_card(),
    }
    card_path = card.write(files_of_runs(options.run), settings, figures)

    print(count_table(figures["domains"]))
    print(f"{counted(figures['rows'], 'row')} about {counted(figures['questions'], 'question')}")
    for reason, count in left_out.items():
        print(f"left out: {count} {reason}")
    options.split.report()
    cost = cost_line(judge)
    if cost:
        print(cost)
    print(f"wrote {options.out} and {card_path}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag train labels", __doc__, "Exit code: 0 written; 2 an input cannot be used.")
    parser.add_argument(
        "--run",
        type=Path,
        action="append",
        required=True,
        metavar="DIR",
        help="folder written by crag evaluate; can be repeated",
    )
    add_split_argument(parser)
    parser.add_argument(
        "--out",
        type=argument_type(new_file),
        required=True,
        metavar="FILE",
        help="JSON lines for crag train prompts",
    )

    parser.add_argument(
        "--answerer",
        choices=STEPS,
        default="web",
        help="the answerer to label: of web pages (db3 2.4) or of the graph's facts (3.3); default: web",
    )
    add_judge_arguments(parser.add_argument_group("is the basic answer right?"))
    parser.add_argument(
        "--context-check",
        choices=("rules", "llm"),
        default="rules",
        help="does the context hold the right answer? llm: the model of --judge llm (default: %(default)s)",
    )

    return parser.parse_args(arguments)


def _context_check(options: argparse.Namespace, judge: Judge) -> Judge:
    if options.context_check == "rules":
        return RulesContextCheck()
    if not isinstance(judge, LanguageModelJudge):
        raise UserError("--context-check llm asks the judge's model: pass --judge llm")
    return judge.with_rubric(CONTEXT_RUBRIC)


def _figures(rows: Sequence[dict[str, Any]], left_out: Counter[str]) -> dict[str, Any]:
    """Counts for the run card: rows, questions, and rows of each branch by domain."""
    domains = defaultdict(list, {"all": list(rows)})
    verdicts: Counter[str] = Counter()
    for row in rows:
        domains[row.get("domain", "unknown")].append(row)
        verdicts.update(sample["verdict"] for sample in row["samples"])

    return {
        "rows": len(rows),
        "questions": len({row["query"] for row in rows}),
        "samples": dict(verdicts),
        "left_out": dict(left_out),
        "domains": {name: _branch_counts(domain_rows) for name, domain_rows in domains.items()},
    }


def _branch_counts(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    counts = Counter(row["branch"] for row in rows)
    return {branch.value: counts[branch.value] for branch in Branch}
