r"""Label the answering model's prompts for tuning: crag train labels.

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

    crag train labels --run RUN --out labels.jsonl --judge llm --judge-rubric db3 --context-check llm \
        --judge-preset db3_task1      # or --judge-url URL --judge-model NAME

The judge's cache keeps all its replies: the same command continues after a kill.
"""

import enum
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from crag.answering import normalise, trim_to_tokens
from crag.commands.command_line import add_split_argument, command, parser_of
from crag.core.contracts import GRAPH, I_DONT_KNOW, INVALID_QUESTION, WEB
from crag.core.files import UserError, write_rows
from crag.engines.llm import Message
from crag.evaluation.datasets import LABEL_FIELDS, Split
from crag.evaluation.judge import (
    Claim,
    Judge,
    Judgement,
    LanguageModelJudge,
    Verdict,
    add_judge_arguments,
    cost_line,
    judge_claims,
    judge_from,
)
from crag.evaluation.store import PREDICTIONS, TRACES
from crag.text.matching import position_of, tokens
from crag.training.calibrate import FinishedQuestion, read_finished_questions
from crag.training.files import RunCard, TrainingExample, count_table
from crag.training.labels.in_context import CONTEXT_RUBRIC, RulesContextCheck

STEPS = {"web": ("answer", WEB), "graph": ("graph_answer", GRAPH)}
"""db3's answerers of web pages (section 2.4) and of the graph's facts (3.3): their step in a trace, their source."""
_FACTS = re.compile(r'<doc source="[^"]*">.*</doc>\n?', re.DOTALL)
"""The output of `crag.pipeline.case.facts_text`, which breaks marks inside facts."""


class BasicAnswer(NamedTuple):
    """One question with the model's exact prompt and its context.

    `example` still lacks its completion. `answer` is the model's first answer as the evaluator would get it, before
    gates, second looks and P(correct): "i don't know" if it said so, said nothing, or failed. `about` has more fields
    of the row that is written: id, time and labels of the question.
    """

    example: TrainingExample
    context: str
    answer: str
    about: Mapping[str, Any]


def basic_answers(
    runs: Sequence[Path], answerer: str = "web", split: Split | None = None
) -> tuple[list[BasicAnswer], Counter[str]]:
    """The answers of an answerer (a key of `STEPS`) in run folders, and the counts of other questions by reason.

    Identical prompts count once. Raises UserError: no question can be labelled; DatasetError: a run cannot be read.
    """
    rows: dict[object, BasicAnswer] = {}
    left_out: Counter[str] = Counter()
    for question in (question for folder in runs for question in read_finished_questions(folder, split)):
        if not any(gold.strip() for gold in question.golds):
            left_out["without a right answer"] += 1
        elif not question.trace["prompts"].get(STEPS[answerer][0]):
            left_out[f"not asked about {'web pages' if answerer == 'web' else 'facts of the graph'}"] += 1
        else:
            row = _basic_answer(question, *STEPS[answerer])
            if rows.setdefault(row.example.request, row) is not row:
                left_out["asked twice in the same words"] += 1
    if not rows:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise UserError(f"{', '.join(map(str, runs))}: nothing to label ({reasons})")
    return list(rows.values()), left_out


def _basic_answer(question: FinishedQuestion, step: str, source: str) -> BasicAnswer:
    record, trace = question.record, question.trace
    prompt, generation = trace["prompts"][step], trace["generations"].get(step, {"finish_reason": "error"})
    chat = () if isinstance(prompt, str) else tuple(Message(turn["role"], turn["content"]) for turn in prompt)
    context = trace["context"]
    if source == GRAPH:  # the facts in the prompt may be fewer than those in the trace
        facts = _FACTS.search(chat[-1].content if chat else prompt)
        context = facts[0] if facts else ""
    failed = generation["finish_reason"] in {"error", "deadline"}
    return BasicAnswer(
        example=TrainingExample(
            completion="",
            messages=chat,
            prompt=None if chat else prompt,
            groups=(trace["query"],),  # two retrievals for one question fall into one fold
            query=trace["query"],
            answers=tuple(gold for gold in question.golds if gold.strip()),
            split=record.get(Split.FIELD),
        ),
        context=context,
        answer=I_DONT_KNOW if failed else normalise(generation["text"], source).text,
        about={"interaction_id": record["interaction_id"], "query_time": trace["query_time"]}
        | {field: record[field] for field in LABEL_FIELDS if field in record},
    )


class Branch(enum.StrEnum):
    """The paper's step that decided the label."""

    INVALID = "invalid question"
    """Step 1: the question rests on a false premise."""
    RIGHT = "right"
    """Step 3.1: the basic answer is right."""
    IN_CONTEXT = "wrong, in context"
    """Step 3.2.2: it is wrong or missing, but the context has the right one."""
    NOT_IN_CONTEXT = "wrong, not in context"
    """Step 3.2.1: it is wrong or missing, and the context does not have the right one."""


def label(basics: Sequence[BasicAnswer], judge: Judge, check: Judge) -> list[dict[str, Any]]:
    """A row for each basic answer, in order: a training example, and what its label was derived from.

    `judge` decides whether the basic answer is right; `check`, where it is not, whether the context holds a right one.
    Rows without a verdict are left out.
    """
    claims = [Claim(basic.example.query, basic.example.answers, basic.answer) for basic in basics]
    verdicts = [judgement.verdict for judgement in judge_claims(judge, claims, trim_to_tokens)]
    contexts = {
        place: replace(claims[place], prediction=basic.context)
        for place, (basic, verdict) in enumerate(zip(basics, verdicts, strict=True))
        if verdict in {Verdict.INCORRECT, Verdict.MISSING}
        and not (_says(basic, INVALID_QUESTION) or _says(basic, I_DONT_KNOW))
    }
    checked = dict(zip(contexts, check.judge(list(contexts.values())), strict=True))
    return [
        _row(basic, verdict, checked.get(place))
        for place, (basic, verdict) in enumerate(zip(basics, verdicts, strict=True))
        if Verdict.UNSCORED not in {verdict, checked[place].verdict if place in checked else None}
    ]


def _row(basic: BasicAnswer, verdict: Verdict, context: Judgement | None) -> dict[str, Any]:
    """The label is the first right answer that occurs word by word in the context, else the official one."""
    passage, golds = tokens(basic.context), basic.example.answers
    literal = (gold for gold in golds if tokens(gold) and position_of(tokens(gold), passage) >= 0)
    completion = trim_to_tokens(next(literal, golds[0]).strip())
    if _says(basic, INVALID_QUESTION):
        branch, completion = Branch.INVALID, INVALID_QUESTION
    elif verdict is Verdict.CORRECT:
        branch = Branch.RIGHT
    elif context is not None and context.verdict is Verdict.CORRECT:
        branch = Branch.IN_CONTEXT
    else:
        branch, completion = Branch.NOT_IN_CONTEXT, I_DONT_KNOW
    return {
        **replace(basic.example, completion=completion, source=branch.value).to_row(),
        **basic.about,
        "context": basic.context,
        "branch": branch.value,
        "basic_answer": basic.answer,
        "verdict": verdict.value,
        "why": context.reason if context else None,
    }


def _says(basic: BasicAnswer, phrase: str) -> bool:
    """Whether the right answer is this phrase; a few questions of CRAG have only "i don't know"."""
    return any(gold.strip().lower() == phrase for gold in basic.example.answers)


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Label and write. Exit code: 2 if an input cannot be used."""
    parser = parser_of("crag train labels", __doc__)
    folders = "local_evaluation.py folder; repeatable"
    parser.add_argument("--run", type=Path, action="append", required=True, metavar="DIR", help=folders)
    add_split_argument(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines for crag.training.prompts")
    which = "the answerer to label: of web pages (db3 2.4) or of the graph's facts (3.3); default: web"
    parser.add_argument("--answerer", choices=STEPS, default="web", help=which)
    add_judge_arguments(parser.add_argument_group("is the basic answer right?"))
    holds = "does the context hold the right answer? llm: the model of --judge llm (default: %(default)s)"
    parser.add_argument("--context-check", choices=("rules", "llm"), default="rules", help=holds)
    options = parser.parse_args(arguments)
    card = RunCard.beside(options.out)
    judge = judge_from(options)
    check: Judge = RulesContextCheck()
    if options.context_check == "llm":
        if not isinstance(judge, LanguageModelJudge):
            raise UserError("--context-check llm asks the judge's model: pass --judge llm")
        check = judge.with_rubric(CONTEXT_RUBRIC)
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


def _counts(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Rows per branch."""
    branches = Counter(row["branch"] for row in rows)
    return {branch.value: branches[branch.value] for branch in Branch}
