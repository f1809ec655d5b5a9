"""Labels for the answering model's prompts, from its basic answers (db3 section 2.4, steps 1 to 3.2.2).

`read_basic_answers` reads the prompts and first answers of finished runs; `label_answers` decides what the model
should have said. `crag train labels` writes the rows.
"""

import enum
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from crag.answering import MAX_TOKENS, normalise, trim_to_tokens
from crag.answering.reasoned import END_MARK, read_reasoned
from crag.core.contracts import GRAPH, I_DONT_KNOW, INVALID_QUESTION, WEB
from crag.core.files import UserError
from crag.engines.llm import Message
from crag.evaluation.judge import Claim, Judge, Judgement, Verdict, judge_claims
from crag.evaluation.question_fields import LABEL_FIELDS
from crag.evaluation.split import Split
from crag.text.matching import position_of, tokens
from crag.training.calibrate.questions import FinishedQuestion, read_finished_questions
from crag.training.files import TrainingExample

STEPS = {"web": ("answer", WEB), "graph": ("graph_answer", GRAPH)}
"""db3's answerers of web pages (section 2.4) and of the graph's facts (3.3): their step in a trace, their source."""
_FACTS = re.compile(r'<doc source="[^"]*">.*</doc>\n?', re.DOTALL)
"""The output of `crag.pipeline.case.render_facts`, which breaks marks inside facts."""


class BasicAnswer(NamedTuple):
    """One question with the model's exact prompt and its context.

    `example` still lacks its completion. `answer` is the model's first answer as the evaluator would get it, before
    gates, second looks and P(correct): "i don't know" if it said so, said nothing, or failed. `later_answers` are those
    of later runs to the same prompt. `about` has more fields of the row that is written: id, time and labels of the
    question.
    """

    example: TrainingExample
    context: str
    answer: str
    about: Mapping[str, Any]
    later_answers: tuple[str, ...] = ()


class BasicAnswers(NamedTuple):
    """The answers to label, and how many other questions are left out, by reason."""

    answers: list[BasicAnswer]
    left_out: Counter[str]


def read_basic_answers(
    runs: Sequence[Path],
    answerer: str = "web",
    split: Split | None = None,
) -> BasicAnswers:
    """The answers of an answerer (a key of `STEPS`) in run folders.

    The same prompt in several runs is one question with several answers. Raises UserError: no question can be labelled;
    DatasetError: a run cannot be read.
    """
    step, source = STEPS[answerer]
    input_of_answerer = "web pages" if answerer == "web" else "facts of the graph"
    answers: dict[object, BasicAnswer] = {}
    left_out: Counter[str] = Counter()

    for question in _finished_questions(runs, split):
        if not any(gold.strip() for gold in question.golds):
            left_out["without a right answer"] += 1
            continue
        # The traces of another agent may have no prompts
        prompts = question.trace.get("prompts")
        if not isinstance(prompts, dict) or not prompts.get(step):
            left_out[f"not asked about {input_of_answerer}"] += 1
            continue

        answer = _basic_answer(question, step, source)
        first = answers.get(answer.example.request)
        if first is not None:
            # One row, or the prompt would count twice in tuning; all answers serve `crag train preferences`
            answer = first._replace(later_answers=(*first.later_answers, answer.answer))
        answers[answer.example.request] = answer

    if not answers:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise UserError(f"{', '.join(map(str, runs))}: nothing to label ({reasons})")
    return BasicAnswers(list(answers.values()), left_out)


def _finished_questions(runs: Sequence[Path], split: Split | None) -> Iterator[FinishedQuestion]:
    for folder in runs:
        yield from read_finished_questions(folder, split)


def _basic_answer(question: FinishedQuestion, step: str, source: str) -> BasicAnswer:
    record = question.record
    trace = question.trace
    prompt = trace["prompts"][step]

    # A prompt is a text to continue, or a list of turns
    chat: tuple[Message, ...] = ()
    if not isinstance(prompt, str):
        chat = tuple(Message(turn["role"], turn["content"]) for turn in prompt)

    context = trace["context"]
    if source == GRAPH:  # the facts in the prompt may be fewer than those in the trace
        facts = _FACTS.search(chat[-1].content if chat else prompt)
        context = facts[0] if facts else ""

    labels = {field: record[field] for field in LABEL_FIELDS if field in record}
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
        answer=_first_answer(trace, step, source),
        about={
            "interaction_id": record["interaction_id"],
            "query_time": trace["query_time"],
            **labels,
        },
    )


def _first_answer(trace: Mapping[str, Any], step: str, source: str) -> str:
    """What the model answered in a step, before gates and checks."""
    generation = trace["generations"].get(step, {"finish_reason": "error"})
    if generation["finish_reason"] in {"error", "deadline"}:
        return I_DONT_KNOW

    # A trace has the words of a prompt, not its name
    asks_for_reasons = END_MARK in str(trace["prompts"][step])
    if asks_for_reasons:
        return read_reasoned(generation["text"], source, MAX_TOKENS).text
    return normalise(generation["text"], source).text


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


def label_answers(
    basics: Sequence[BasicAnswer],
    judge: Judge,
    context_check: Judge,
) -> list[dict[str, Any]]:
    """A row for each basic answer, in order: a training example, and what its label was derived from.

    `judge` decides whether the basic answer is right; `context_check`, where it is not, whether the context holds a
    right one. Rows without a verdict are left out, and so are later answers without one.
    """
    claims = [Claim(basic.example.query, basic.example.answers, basic.answer) for basic in basics]
    judgements = judge_claims(judge, claims, trim_to_tokens)
    verdicts = [judgement.verdict for judgement in judgements]
    later_samples = _judge_later_answers(basics, claims, judge)
    contexts = _check_contexts(basics, claims, verdicts, context_check)

    rows: list[dict[str, Any]] = []
    for index, (basic, verdict) in enumerate(zip(basics, verdicts, strict=True)):
        context = contexts.get(index)
        if verdict is Verdict.UNSCORED:
            continue
        # Whether to answer or to abstain depends on this verdict
        if context is not None and context.verdict is Verdict.UNSCORED:
            continue

        row = _row(basic, verdict, context)
        row["samples"] = [{"answer": basic.answer, "verdict": verdict.value}, *later_samples[index]]
        rows.append(row)
    return rows


def _judge_later_answers(
    basics: Sequence[BasicAnswer],
    claims: Sequence[Claim],
    judge: Judge,
) -> dict[int, list[dict[str, str]]]:
    """The later answers with their verdicts, by the index of the question; `claims` are about the first answers."""
    later_claims: list[Claim] = []
    owners: list[int] = []
    for index, (basic, claim) in enumerate(zip(basics, claims, strict=True)):
        for answer in basic.later_answers:
            later_claims.append(replace(claim, prediction=answer))
            owners.append(index)

    judgements = judge_claims(judge, later_claims, trim_to_tokens)
    samples: dict[int, list[dict[str, str]]] = {index: [] for index in range(len(basics))}
    for index, claim, judgement in zip(owners, later_claims, judgements, strict=True):
        if judgement.verdict is not Verdict.UNSCORED:
            samples[index].append({"answer": claim.prediction, "verdict": judgement.verdict.value})
    return samples


def _check_contexts(
    basics: Sequence[BasicAnswer],
    claims: Sequence[Claim],
    verdicts: Sequence[Verdict],
    context_check: Judge,
) -> dict[int, Judgement]:
    """Whether the contexts of wrong and missing answers hold a right one, by the index of the answer.

    The contexts are judged as if they were predictions. Questions whose right answer is not text are left out.
    """
    context_claims: dict[int, Claim] = {}
    for index, (basic, verdict) in enumerate(zip(basics, verdicts, strict=True)):
        # Where the basic answer is right, the context does not matter
        if verdict not in {Verdict.INCORRECT, Verdict.MISSING}:
            continue
        if _right_answer_is(basic, INVALID_QUESTION) or _right_answer_is(basic, I_DONT_KNOW):
            continue
        context_claims[index] = replace(claims[index], prediction=basic.context)

    # Not `judge_claims`, which trims answers, and takes "i don't know" in a page for an abstention
    judgements = context_check.judge(list(context_claims.values()))
    return dict(zip(context_claims, judgements, strict=True))


def _row(basic: BasicAnswer, verdict: Verdict, context: Judgement | None) -> dict[str, Any]:
    completion = _right_answer(basic)
    if _right_answer_is(basic, INVALID_QUESTION):
        # Before all others: whatever the context says, a fact would be a wrong answer
        branch = Branch.INVALID
        completion = INVALID_QUESTION
    elif verdict is Verdict.CORRECT:
        branch = Branch.RIGHT
    elif context is not None and context.verdict is Verdict.CORRECT:
        branch = Branch.IN_CONTEXT
    else:
        # The model would have to guess, and must learn not to
        branch = Branch.NOT_IN_CONTEXT
        completion = I_DONT_KNOW

    return {
        **replace(basic.example, completion=completion, source=branch.value).to_row(),
        **basic.about,
        "context": basic.context,
        "branch": branch.value,
        "basic_answer": basic.answer,
        "verdict": verdict.value,
        "why": context.reason if context else None,
    }


def _right_answer(basic: BasicAnswer) -> str:
    """The first right answer that occurs word by word in the context, else the official one."""
    context = tokens(basic.context)
    answer = basic.example.answers[0]
    for gold in basic.example.answers:
        words = tokens(gold)
        # The model can copy this spelling; another would teach it to rephrase
        if words and position_of(words, context) >= 0:
            answer = gold
            break
    return trim_to_tokens(answer.strip())


def _right_answer_is(basic: BasicAnswer, phrase: str) -> bool:
    """Whether the right answer is this phrase; a few questions of CRAG have only "i don't know"."""
    return any(gold.strip().lower() == phrase for gold in basic.example.answers)
