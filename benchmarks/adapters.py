"""Measure the gain of an adapter: the same prompts with and without it, on questions that it never saw.

    python -m benchmarks.adapters ask --examples FILE --adapter NAME|FOLDER|none --save OUT.jsonl
                                      [--fold 1/2|all] [--preset cpu] [--limit N] [--max-new-tokens 40] [--resume]
    python -m benchmarks.adapters compare --base FILE ... --tuned FILE ... [--report OUT.json]

`ask` gives the prompts of training examples (`training.examples`; those with a question and its answers) to the
preset's language model, greedily. --fold asks only the rows that this fold tests; the adapter must be trained with the
same fold. ``--adapter none`` asks the base model.

`compare` decides each text as the agent does, judges it with the rules judge and prints the score (+1 right, 0 "i don't
know", -1 wrong) of base and tuned model over their common questions, and the paired difference with intervals over
groups. `label` is the score of the training's own completions. Several files are the folds of one cross-validation. Not
covered: the rest of the agent (gates, confidence, sources).
"""

import argparse
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from agents.answering import draft_of, generate_all, shown
from agents.common.console import end_with
from agents.common.deadline import Deadline
from agents.common.files import append_rows, write_json
from agents.llm import FinishReason, Generation, LanguageModel, load_language_model
from agents.llm.trainable import adapter_folder
from benchmarks.common import (
    UNHURRIED_SECONDS,
    Row,
    add_fold_argument,
    add_preset_arguments,
    check_held_out,
    exit_code,
    in_batches,
    resumed_rows,
    shown_difference,
    table,
)
from crag.command import chosen_settings
from crag.kg import choose_adapter
from evaluation.datasets import LABEL_FIELDS, DatasetError, read_records
from evaluation.judge import Claim, RulesJudge, Verdict, judge_claims
from evaluation.metrics import VALUE
from evaluation.trim import official_trim
from models.manifest import WeightsMissingError
from training.calibrate.expected_score import difference, score_table
from training.command import parser_of
from training.examples import TrainingExample, read_examples, row_of
from training.folds import Fold, is_tested
from training.run_card import file_hash

BATCHES_AT_ONCE = 4
"""Batches that the engine may sort by length, to reduce padding; the file grows by as many."""
SLICES = ("source", *LABEL_FIELDS)
FAILED = {"error", "deadline"}

Floats = NDArray[np.float64]
Rewards = dict[str, Floats]
"""What each question earned, +1, 0 or -1, by "base" and "tuned" model and by "label", the completion trained for."""


# --- asking -----------------------------------------------------------------------------------------------------------


def tested_questions(path: Path, fold: Fold | None, limit: int | None, run: Row) -> list[tuple[TrainingExample, Row]]:
    """The examples that can be judged and that the fold tests (None: all), in the order of the file.

    Each comes with its row, still without an answer; `prompt_hash` shows whether two files asked the same text.

    Raises:
        DatasetError: a row is not a training example, or none is left.
    """
    questions = []
    for example, record in zip(read_examples(path), read_records(path), strict=True):
        if example.query and example.answers and (fold is None or is_tested(example.groups, fold)):
            row = {
                "query": example.query,
                "groups": list(example.groups),
                "source": example.source,
                "answers": list(example.answers),
                "completion": example.completion,
                "prompt_hash": hashlib.sha256(json.dumps(shown(example.request)).encode()).hexdigest()[:16],
                "run": run,
            }
            questions.append(
                (example, row | {name: label for name in LABEL_FIELDS if (label := record.data.get(name))})
            )
    if not questions:
        raise DatasetError(f"{path}: no row with query and answers" + (f" is tested in fold {fold}" if fold else ""))
    return questions[:limit]


def ask(options: argparse.Namespace) -> None:
    """Ask the remaining questions, and append the answers batch by batch."""
    settings = chosen_settings(options)
    engine, adapter = choose_adapter(settings.language_model, options.adapter)
    check_held_out(engine, adapter, options.fold)
    run = {"preset": settings.name, "adapter": options.adapter, "max_new_tokens": options.max_new_tokens}
    run |= {"set": options.set} if options.set else {}
    if adapter is not None:
        run |= _weights_hash(engine.adapters[adapter])
    questions = tested_questions(options.examples, options.fold, options.limit, run)
    expected = [{name: row[name] for name in ("query", "prompt_hash", "run")} for _, row in questions]
    done = len(resumed_rows(options.save, expected, resume=options.resume))
    with closing(load_language_model(engine)) as model:
        model.check_weights()
        if done < len(questions):
            model.warm_up()
        for batch in in_batches(questions, settings.batch_size * BATCHES_AT_ONCE, done):
            append_rows(options.save, _asked(model, batch, adapter, options.max_new_tokens))


def _asked(
    model: LanguageModel, batch: Sequence[tuple[TrainingExample, Row]], adapter: str | None, max_tokens: int
) -> list[Row]:
    """The rows of a batch; each question's seconds are its share of the batch's."""
    requests = [replace(example.request, adapter=adapter, max_tokens=max_tokens) for example, _ in batch]
    started = time.perf_counter()
    generations = generate_all(model, requests, Deadline(float(UNHURRIED_SECONDS * len(batch))))
    seconds = round((time.perf_counter() - started) / len(batch), 3)
    return [
        row | {"said": made.text, "finish_reason": made.finish_reason, "error": made.error, "seconds": seconds}
        for (_, row), made in zip(batch, generations, strict=True)
    ]


def _weights_hash(location: str) -> dict[str, str]:
    """The hash of the adapter's weights; nothing if the adapter is not a folder here."""
    try:
        return {"sha256": file_hash(adapter_folder(location) / "adapter_model.safetensors")[:16]}
    except WeightsMissingError:
        return {}


# --- comparing --------------------------------------------------------------------------------------------------------


class _AnswerRow(BaseModel):
    """Required fields of a row that `ask` saved."""

    query: str
    source: str
    groups: list[str]
    answers: list[str]
    completion: str
    said: str
    finish_reason: str
    prompt_hash: str
    run: dict[str, Any]


def read_answers(paths: Sequence[Path]) -> dict[tuple[str, str, int], Row]:
    """The rows of all files that `ask` wrote, by source, query and number among equal ones.

    Raises:
        DatasetError: a row has another form.
    """
    counts: Counter[tuple[str, str]] = Counter()
    rows: dict[tuple[str, str, int], Row] = {}
    for record in (record for path in paths for record in read_records(path)):
        row_of(record, _AnswerRow)
        name = (record.data["source"], record.data["query"])
        rows[*name, counts[name]] = record.data
        counts[name] += 1
    return rows


def judged(rows: Sequence[Row], text_field: str) -> Floats:
    """The rewards of a field's texts, decided as the agent does; NaN if the judge cannot tell."""
    claims = []
    for row in rows:
        reason: FinishReason = row["finish_reason"] if text_field == "said" else "stop"
        draft = draft_of(Generation(row[text_field], None, 0, 0, reason, row.get("error")), row["source"])
        claims.append(Claim(row["query"], tuple(row["answers"]), draft.answer.text))
    verdicts = (judgement.verdict for judgement in judge_claims(RulesJudge(), claims, official_trim().cut))
    return np.array([np.nan if verdict is Verdict.UNSCORED else VALUE[verdict] for verdict in verdicts])


def figures(rewards: Rewards, groups: Sequence[str]) -> dict[str, Any]:
    """All figures of a set of questions: JSON-ready.

    The interval of ``tuned_less_half_of_base`` is below 0 if the tuned model is wrong at most half as often.
    """
    shares: dict[str, Callable[[Floats], Floats]] = {
        "score": lambda earned: earned,
        "accuracy": lambda earned: (earned > 0).astype(np.float64),
        "hallucination": lambda earned: (earned < 0).astype(np.float64),
        "missing": lambda earned: (earned == 0).astype(np.float64),
    }
    base, tuned = rewards["base"], rewards["tuned"]
    wrong = shares["hallucination"](tuned), shares["hallucination"](base)
    return {
        "questions": len(groups),
        "groups": len(set(groups)),
        **{name: score_table(own, groups) for name, own in rewards.items()},
        "tuned_less_base": {name: difference(share(tuned), share(base), groups) for name, share in shares.items()},
        "hallucination": {
            "ratio": float(wrong[0].mean() / wrong[1].mean()) if wrong[1].any() else None,
            "tuned_less_half_of_base": difference(wrong[0], wrong[1] / 2, groups),
        },
    }


def comparison(base: Mapping[Any, Row], tuned: Mapping[Any, Row]) -> dict[str, Any]:
    """Figures over the questions that both were asked, whole and by label, and notes for the reader.

    Raises:
        DatasetError: there is no such question.
    """
    keys = [key for key in tuned if key in base]
    sides = {"base": [base[key] for key in keys], "tuned": [tuned[key] for key in keys]}
    ours = sides["tuned"]
    rewards = {name: judged(rows, "said") for name, rows in sides.items()} | {"label": judged(ours, "completion")}
    scored = np.isfinite(np.array(list(rewards.values()))).all(axis=0)
    if not scored.any():
        raise DatasetError("no question was asked of both models: nothing to compare")
    groups = np.array([row["groups"][0] if row["groups"] else row["query"] for row in ours])

    def of(chosen: NDArray[np.bool_]) -> dict[str, Any]:
        return figures({name: own[chosen] for name, own in rewards.items()}, list(groups[chosen]))

    by: dict[str, dict[str, Any]] = {}
    for field in SLICES:
        labels = np.array([row.get(field) or "" for row in ours])
        by[field] = {str(label): of(scored & (labels == label)) for label in np.unique(labels[scored]) if label}
    hashes = ([row["prompt_hash"] for row in rows] for rows in sides.values())
    judge = RulesJudge()
    return {
        "judge": f"{judge.name}@{judge.version}, {official_trim().name}",
        "runs": {
            name: sorted({", ".join(f"{key} {value}" for key, value in row["run"].items()) for row in rows})
            for name, rows in sides.items()
        },
        "notes": {
            "asked of one model only": len(base) + len(tuned) - 2 * len(keys),
            "unscored": int((~scored).sum()),
            "asked with another prompt": sum(one != other for one, other in zip(*hashes, strict=True)),
            **{f"{name} failed": sum(row["finish_reason"] in FAILED for row in rows) for name, rows in sides.items()},
        },
        "seconds": {name: float(np.mean([row.get("seconds", 0) for row in rows])) for name, rows in sides.items()},
        "all": of(scored),
        "by": by,
    }


def report(facts: Mapping[str, Any]) -> str:
    """The comparison as text."""
    slices = {"all": facts["all"]} | {
        f"{field} {label}": own for field, labels in facts["by"].items() for label, own in labels.items()
    }
    rows = []
    for name, own in slices.items():
        scores = [f"{own[which]['score']:+.3f}" for which in ("base", "tuned", "label")]
        shares = [f"{own['base'][x]:.3f} -> {own['tuned'][x]:.3f}" for x in ("accuracy", "hallucination", "missing")]
        ratio = own["hallucination"]["ratio"]
        gain = shown_difference(own["tuned_less_base"]["score"])
        rows.append([name, own["questions"], *scores, gain, *shares, "-" if ratio is None else f"{ratio:.2f}"])
    header = [
        "questions",
        "n",
        "base",
        "tuned",
        "label",
        "tuned minus base",
        "right",
        "wrong",
        "missing",
        "wrong ratio",
    ]
    runs = [
        f"{name}: {'; '.join(all_)}; {facts['seconds'][name]:.2f} s per question"
        for name, all_ in facts["runs"].items()
    ]
    half = shown_difference(facts["all"]["hallucination"]["tuned_less_half_of_base"])
    notes = [f"{count} {what}" for what, count in facts["notes"].items() if count]
    return "\n".join(
        [
            *runs,
            f"judge: {facts['judge']}; {facts['all']['groups']} groups; intervals: 95 %, resampled by group\n",
            table(header, rows),
            f"\nwrong answers of the tuned model minus half of the base model's: {half}",
            *([f"note: {', '.join(notes)}"] if notes else []),
        ]
    )


def compare(options: argparse.Namespace) -> None:
    """Print the comparison; write all figures to --report."""
    facts = comparison(read_answers(options.base), read_answers(options.tuned))
    print(report(facts))
    if options.report:
        write_json(options.report, facts)


# --- the command line -------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask or compare. Exit code: 0 done, 2 a file, preset or model cannot be used."""
    parser = parser_of("benchmarks.adapters", __doc__)
    commands = parser.add_subparsers(required=True, metavar="ask|compare")
    asking = commands.add_parser("ask", help="ask the model the prompts of a file")
    asking.add_argument("--examples", type=Path, required=True, metavar="FILE", help="training examples")
    asking.add_argument("--adapter", required=True, metavar="NAME|FOLDER|none", help="none: the base model")
    asking.add_argument("--save", type=Path, required=True, metavar="FILE", help="JSON lines")
    add_fold_argument(asking, "which rows; default: all")
    add_preset_arguments(asking)
    asking.add_argument("--limit", type=int, metavar="N", help="only the first N of them")
    asking.add_argument("--max-new-tokens", type=int, default=40, metavar="N", help="default: %(default)s")
    asking.add_argument("--resume", action="store_true", help="continue the file of --save")
    asking.set_defaults(command=ask)
    comparing = commands.add_parser("compare", help="judge the answers of two models to the same questions")
    comparing.add_argument("--base", type=Path, nargs="+", required=True, metavar="FILE", help="saved by `ask`")
    comparing.add_argument("--tuned", type=Path, nargs="+", required=True, metavar="FILE", help="saved by `ask`")
    comparing.add_argument("--report", type=Path, metavar="FILE", help="all figures as JSON")
    comparing.set_defaults(command=compare)
    options = parser.parse_args(arguments)
    return exit_code(lambda: options.command(options))


if __name__ == "__main__":
    end_with(main)
