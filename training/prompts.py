"""Turn questions with calls, facts or labels into training examples with the agent's prompts.

    python -m training.prompts kg_writer   --preset cpu_small --pairs pairs.jsonl --out writer.jsonl
    python -m training.prompts kg_answerer --preset cpu_small --pairs pairs.jsonl --out answerer.jsonl
    python -m training.prompts web_answerer --preset cpu_small --labels labels.jsonl --out web_answerer.jsonl
    python -m training.prompts kg_answerer --preset db3_task23 --labels graph_labels.jsonl --out answerer.jsonl
    python -m training.prompts preferences --labels labels.jsonl --out preferences.jsonl

The prompts are the preset's, from the same code: form, rules, tables and examples.

kg_writer: learns the calls of a question. --shown sets other numbers of examples than the preset's: real questions are
asked once with each number (``0,2``: without any, and with two), so that one adapter serves with and without examples;
all others with the first number only.

web_answerer, and kg_answerer with --labels: rows of `training.labels`, always in the preset's prompt. At most the share
--abstaining of them is labelled "i don't know": if most rows are, a small model learns to say nothing else. 1 keeps all
of them, as db3 did.

kg_answerer with --pairs: learns the answer from the calls' facts. Some questions are also shown the facts of another
question of their domain that do not hold the answer; the completion is then "i don't know".

preferences: from rows of `training.labels`, pairs of a better and a worse answer (right > abstaining > wrong); the
wrong ones are the untuned model's.

writer/run_card.json records how writer.jsonl was made: data with sha256, settings, examples by source, seconds.
"""

import argparse
import calendar
import random
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.answering import Answerer
from agents.common.console import end_with
from agents.common.contracts import I_DONT_KNOW, Fact, Query
from agents.encoders import load_dense_encoder
from agents.encoders.base import DenseEncoder
from agents.kg.trainable import Domain, ExampleChoice, write_prompt
from agents.llm import LanguageModel, load_language_model
from agents.pipeline.case import facts_text
from agents.settings import KgWriterSettings, KnowledgeGraphSettings, Settings, SettingsError, load_settings
from evaluation.datasets import DatasetError, Record, Split, read_records
from evaluation.judge import RulesJudge
from evaluation.judge.base import Claim, Verdict, judge_claims
from evaluation.signature import settings_hash
from training.api_pairs import REAL, Pair, bank_version, read_pairs
from training.command import add_split_argument, exit_code, parser_of
from training.examples import TrainingExample, read_examples, write_examples
from training.run_card import card_folder, file_hash, run_card, write_card

LONGEST_ANSWER = 20
"""In words; a longer value is an article that has the answer somewhere."""
UNHELPFUL_SHARE = 0.3
"""Share of the questions that also occur with facts that do not answer them."""


def some(pairs: Sequence[Pair], made_up: int | None, seed: int) -> list[Pair]:
    """All real questions, and at most `made_up` others; None: all."""
    others = [pair for pair in pairs if pair.source != REAL]
    if made_up is not None and made_up < len(others):
        others = random.Random(seed).sample(others, made_up)  # noqa: S311 - a sample, not a secret
    return [pair for pair in pairs if pair.source == REAL] + others


def writer_examples(
    pairs: Sequence[Pair],
    writer: KgWriterSettings,
    dense: DenseEncoder | None,
    shown: Sequence[int],
) -> Iterator[TrainingExample]:
    """Examples for the call writer, in these settings' prompts.

    `shown` are the numbers of examples in the prompts of real questions; no question is its own example.
    """
    pairs = [pair for pair in pairs if names_its_dates(pair)]
    choice = ExampleChoice(writer, dense)
    queries, domains = [pair.query for pair in pairs], [pair.domain for pair in pairs]
    near = {count: choice.choose(queries, domains, count, own=False) if count else [] for count in shown}
    for place, pair in enumerate(pairs):
        for count in shown if pair.source == REAL else shown[:1]:
            examples = near[count][place].examples if count else ()
            asked = write_prompt(writer, pair.domain, examples, pair.query)
            yield TrainingExample(
                "\n".join(pair.calls),
                messages=asked.messages,
                prompt=asked.text,
                groups=pair.groups,
                source=pair.source,
                split=pair.split,
            )


def label_examples(
    path: Path, settings: Settings, task: str, abstaining: float, seed: int, split: Split | None = None
) -> list[TrainingExample]:
    """The rows of `training.labels`, in the prompts of the preset's answerer.

    Args:
        path: The rows.
        settings: The preset.
        task: ``web_answerer`` or ``kg_answerer``.
        abstaining: Most rows labelled "i don't know", as a share of all; 1: all.
        seed: Seed of the choice among these.
        split: Skip rows of other splits.

    Raises:
        DatasetError: a row is not a label, or lacks its context.
    """
    asked = settings.answering if task == "web_answerer" else settings.graph_answering
    answerer = Answerer(asked, load_language_model(settings.language_model))
    examples = [_asked_anew(*row, answerer) for row in _label_rows(path, split)]
    if abstaining == 1:
        return examples
    silent = [example for example in examples if example.completion == I_DONT_KNOW]
    telling = [example for example in examples if example.completion != I_DONT_KNOW]
    most = round(len(telling) * abstaining / (1 - abstaining))
    if most < len(silent):
        silent = random.Random(seed).sample(silent, most)  # noqa: S311 - a sample, not a secret
    return telling + silent


def _label_rows(path: Path, split: Split | None) -> Iterator[tuple[TrainingExample, Record]]:
    """Each row as an example and as a record; skipped rows are counted once."""
    again = Split(split.wanted) if split else None
    return zip(read_examples(path, split=split), read_records(path, split=again), strict=True)


def _asked_anew(example: TrainingExample, record: Record, answerer: Answerer) -> TrainingExample:
    for name in ("query", "query_time", "context"):
        if not isinstance(record.data.get(name), str):
            raise DatasetError(
                f'{record.place}: field "{name}" must be a text, found {record.data.get(name)!r}; label the run again '
                "with this version's python -m training.labels"
            )
    query = Query("", record.data["query"], record.data["query_time"], None, ())
    request = answerer.request(query, record.data["context"])
    return replace(example, messages=request.messages, prompt=request.prompt)


def preference_examples(path: Path, split: Split | None = None) -> Iterator[TrainingExample]:
    """A better and a worse answer of each row of `training.labels`, after the ternary reward of TruthRL.

    Right is better than abstaining, abstaining is better than wrong. No answer is right if the prompt lacks it. The
    wrong answer is the untuned model's; it is left out if it is right or abstains.

    Raises:
        DatasetError: a row is not an example, or lacks its basic answer or verdict.
    """
    for example, record in _label_rows(path, split):
        row = record.data
        for field in ("basic_answer", "verdict"):
            if not isinstance(row.get(field), str):
                raise DatasetError(f'{record.place}: field "{field}" must be a text, found {row.get(field)!r}')
        if example.completion != I_DONT_KNOW:
            yield replace(example, rejected=I_DONT_KNOW)
        known = {"", _plain(I_DONT_KNOW), _plain(example.completion)}
        if row["verdict"] == Verdict.INCORRECT and _plain(row["basic_answer"]) not in known:
            yield replace(example, rejected=row["basic_answer"])


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def names_its_dates(pair: Pair) -> bool:
    """Whether the question has all numbers of the dates in the calls, months also by name.

    Some labels hold computed dates ("the last trading day of the year"). The executor resolves the question's own
    words; a model that is taught to compute learns to guess.
    """
    text = pair.query.casefold()
    numbers = {int(number) for number in re.findall(r"\d+", text)}
    numbers |= {place for place, month in enumerate(calendar.month_name) if month and month[:3].casefold() in text}
    dates = re.findall(r"\b(\d{4})-(\d\d)(?:-(\d\d))?\b", "\n".join(pair.calls))
    return all(int(part) in numbers for date in dates for part in date if part)


def answer_examples(
    pairs: Sequence[Pair],
    settings: Settings,
    model: LanguageModel,
    unhelpful_share: float = UNHELPFUL_SHARE,
    seed: int = 0,
) -> Iterator[TrainingExample]:
    """Examples for the answerer of graph facts; each keeps its question's right answers for measuring."""
    answerable = [pair for pair in pairs if pair.facts and right_answers(pair)]
    by_domain: dict[Domain, list[Pair]] = defaultdict(list)
    for pair in answerable:
        by_domain[pair.domain].append(pair)
    chance = random.Random(seed)  # noqa: S311 - a sample, not a secret
    for pair in answerable:
        yield _answer_example(pair, pair.facts, right_answers(pair)[0], settings, model, pair.source)
        if chance.random() < unhelpful_share:
            other = _unhelpful(pair, by_domain[pair.domain], chance)
            if other is not None:
                about_both = replace(pair, groups=tuple(dict.fromkeys((*pair.groups, *other.groups))))
                yield _answer_example(about_both, other.facts, I_DONT_KNOW, settings, model, "unhelpful")


def right_answers(pair: Pair) -> tuple[str, ...]:
    """The gold answers of a real question, else the rules' answer from the graph's values, if any.

    A real question has none if the values contradict its gold answer: it was asked of another state of the graph.
    """
    if pair.answer is None:
        short = pair.direct_answer is not None and len(pair.direct_answer.split()) <= LONGEST_ANSWER
        return (pair.direct_answer,) if pair.direct_answer and short else ()
    answers = (pair.answer, *pair.alt_ans)
    if pair.direct_answer is not None:
        (judgement,) = judge_claims(RulesJudge(), [Claim(pair.query, answers, pair.direct_answer)], str)
        if judgement.verdict is Verdict.INCORRECT:
            return ()
    return answers


def _unhelpful(pair: Pair, others: Sequence[Pair], chance: random.Random) -> Pair | None:
    """Another pair whose facts do not hold the answer, if possible about the same entity."""
    answers = [answer.casefold() for answer in right_answers(pair)]
    fitting = [
        other
        for other in others
        if other.calls != pair.calls
        and not any(answer in fact.text.casefold() for answer in answers for fact in other.facts)
    ]
    related = [other for other in fitting if set(other.groups) & set(pair.groups)]
    return chance.choice(related or fitting) if fitting else None


def _answer_example(
    pair: Pair, facts: Sequence[Fact], completion: str, settings: Settings, model: LanguageModel, source: str
) -> TrainingExample:
    graph = settings.knowledge_graph or KnowledgeGraphSettings()
    longest = graph.max_fact_tokens // max(1, len(facts))
    shortened = [replace(fact, text=model.truncate(fact.text, longest)) for fact in facts]
    request = Answerer(settings.graph_answering, model).request(
        Query("", pair.query, pair.query_time, None, ()), facts_text(shortened, model, graph.max_fact_tokens)
    )
    return TrainingExample(
        completion,
        messages=request.messages,
        prompt=request.prompt,
        groups=pair.groups,
        source=source,
        query=pair.query,
        answers=right_answers(pair),
        split=pair.split,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file. Exit code: 1 if an input is missing or wrong."""
    parser = parser_of("training.prompts", __doc__)
    parser.add_argument("task", choices=("kg_writer", "kg_answerer", "web_answerer", "preferences"))
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--pairs", type=Path, help="rows of training.api_pairs, for the adapters of the graph")
    given.add_argument("--labels", type=Path, help="rows of training.labels, for the answerers")
    parser.add_argument("--out", type=Path, required=True, help="examples for training.lora")
    parser.add_argument("--preset", help="name, or path of a TOML file; default: the active preset")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change to the preset")
    add_split_argument(parser)
    parser.add_argument("--shown", metavar="N,N", help="kg_writer: numbers of examples (default: the preset's own)")
    parser.add_argument("--made-up", type=int, metavar="N", help="use at most N questions that are not real")
    parser.add_argument("--abstaining", type=float, default=0.4, metavar="SHARE", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    if options.task != "kg_answerer" and (options.task == "kg_writer") != (options.pairs is not None):
        parser.error("web_answerer and preferences need --labels, kg_writer needs --pairs, kg_answerer takes either")
    if not 0 <= options.abstaining <= 1:
        parser.error(f"--abstaining is a share from 0 to 1 (1 keeps all); found {options.abstaining}")
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    """Write the examples and their run card."""
    began = time.monotonic()
    folder = card_folder(options.out)
    examples, chosen = _made(options)
    random.Random(options.seed).shuffle(examples)  # noqa: S311 - an order, not a secret
    write_examples(options.out, examples)
    counts = dict(Counter(example.source for example in examples).most_common())
    data = {"labels": options.labels} if options.labels else {"pairs": options.pairs}
    metrics = {"examples": len(examples), "sources": counts, "sha256": file_hash(options.out)}
    metrics |= options.split.to_card()
    card = write_card(folder, run_card(data, chosen, time.monotonic() - began, metrics))
    sources = ", ".join(f"{count} {source}" for source, count in counts.items())
    sys.stdout.write(f"wrote {len(examples)} examples to {options.out}: {sources}; the run card is {card}\n")
    options.split.report()
    return 0


def _made(options: argparse.Namespace) -> tuple[list[TrainingExample], dict[str, Any]]:
    """The examples, and the task's settings for the run card."""
    chosen: dict[str, Any] = {"task": options.task, "seed": options.seed}
    if options.task == "preferences":
        return list(preference_examples(options.labels, options.split)), chosen
    settings = load_settings(options.preset, options.set)
    chosen |= {"preset": f"{settings.name}@{settings_hash(settings)}", "set": options.set}
    if options.labels:
        chosen["abstaining"] = options.abstaining
        return label_examples(
            options.labels, settings, options.task, options.abstaining, options.seed, options.split
        ), chosen
    chosen["made_up"] = options.made_up
    writer = (settings.knowledge_graph or KnowledgeGraphSettings()).writer
    shown = _shown(options, writer)
    pairs = some(read_pairs(options.pairs, options.split), options.made_up, options.seed)
    if options.task == "kg_answerer":
        model = load_language_model(settings.language_model)
        return list(answer_examples(pairs, settings, model, seed=options.seed)), chosen
    chosen |= {"shown": shown, "bank": bank_version()}
    nearest = writer.selection == "similar" and max(shown)
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder and nearest else None
    if dense is not None:
        dense.warm_up()
    return list(writer_examples(pairs, writer, dense, shown)), chosen


def _shown(options: argparse.Namespace, writer: KgWriterSettings) -> tuple[int, ...]:
    """The numbers of examples in the prompts: the command's, else the writer's."""
    if options.shown is None:
        return (writer.examples,)
    if not all(part.strip().isdecimal() for part in options.shown.split(",")):
        raise SettingsError(f"--shown takes comma-separated numbers, such as 0,0,2; found {options.shown!r}")
    return tuple(int(part) for part in options.shown.split(","))


if __name__ == "__main__":
    end_with(main)
