"""What an adapter gains: the same prompts answered with it and without it, on questions that it never saw.

    python -m benchmarks.adapters ask --examples FILE --adapter NAME|FOLDER|none --save OUT.jsonl
                                      [--fold 1/2|all] [--preset cpu] [--limit N] [--max-new-tokens 40] [--resume]
    python -m benchmarks.adapters compare --base FILE ... --tuned FILE ... [--report OUT.json]

`ask` puts the prompts of a file of training examples (`training.examples`; those with a question and its answers) to
the preset's language model, greedily. With --fold only the rows that this fold tests: the adapter must be trained with
the same fold. The base model is asked by the same command with ``--adapter none``.

`compare` decides each text as the agent does, judges it by the rules judge and prints the score (+1 right, 0 "i don't
know", -1 wrong) of base and tuned model over the questions that both were asked, and the difference, paired, with
intervals for which whole groups are drawn. `label` is what the training's own completions would earn. Several files
are the folds of one cross-validation. Not covered: what the agent does beside the model (gates, confidence, sources).
"""

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from agents.answering import draft_of, generate_all, shown
from agents.deadline import Deadline
from agents.files import write_rows
from agents.kg.writing.cli import EXPECTED_ERRORS, append_rows, choose_adapter
from agents.llm import FinishReason, Generation, LanguageModel, LanguageModelDiedError, load_language_model
from agents.llm.trainable import adapter_folder
from agents.settings import load_settings
from benchmarks.held_out import check_held_out, fold_argument
from benchmarks.presets import table
from evaluation.datasets import LABEL_FIELDS, DatasetError, Record, read_records
from evaluation.judge import Claim, RulesJudge, Verdict, judge_claims
from evaluation.metrics import VALUE
from evaluation.trim import official_trim
from models.manifest import WeightsMissingError
from training.calibrate.expected_score import difference, score_table
from training.examples import TrainingExample, read_examples
from training.folds import Fold, is_tested
from training.run_card import file_hash

SECONDS_PER_QUESTION = 120.0
"""What is measured is the answers, not the clock."""
BATCHES_AT_ONCE = 4
"""Batches that the engine may sort by length, so that little is padded; the file grows by as many."""
SLICES = ("source", *LABEL_FIELDS)

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


# --- asking -----------------------------------------------------------------------------------------------------------


class AskedContext(NamedTuple):
    """An example that is asked, and those labels of CRAG that its row carries beside it."""

    example: TrainingExample
    labels: Mapping[str, str]

    @property
    def prompt_hash(self) -> str:
        """Tells whether two files asked the same text."""
        return hashlib.sha256(json.dumps(shown(self.example.request)).encode()).hexdigest()[:16]


def tested_questions(path: Path, fold: Fold | None, limit: int | None) -> list[AskedContext]:
    """The rows that can be judged and that the fold tests (None: all), in the order of the file.

    Raises:
        DatasetError: a row is no training example, or none is left.
    """
    rows = zip(read_examples(path), read_records(path), strict=True)
    questions = [
        AskedContext(example, {name: record.data[name] for name in LABEL_FIELDS if record.data.get(name)})
        for example, record in rows
        if example.query and example.answers and (fold is None or is_tested(example.groups, fold))
    ]
    if not questions:
        raise DatasetError(f"{path}: no row with query and answers" + (f" is tested in fold {fold}" if fold else ""))
    return questions[:limit]


def ask(options: argparse.Namespace) -> int:
    """Ask all that is not asked yet, and append what was said batch by batch."""
    settings = load_settings(options.preset)
    engine, adapter = choose_adapter(settings.language_model, options.adapter)
    check_held_out(engine, adapter, options.fold)
    if options.save.exists() and not options.resume:
        raise DatasetError(f"{options.save} is there already: give --resume, or remove it")
    run = {"preset": settings.name, "adapter": options.adapter, "max_new_tokens": options.max_new_tokens}
    if adapter is not None:
        run |= _weights_hash(engine.adapters[adapter])
    questions = tested_questions(options.examples, options.fold, options.limit)
    done = _already_asked(options.save, questions, run) if options.resume and options.save.is_file() else []
    write_rows(options.save, done)
    rest = questions[len(done) :]
    chunk = settings.batch_size * BATCHES_AT_ONCE
    with closing(load_language_model(engine)) as model:
        model.check_weights()
        if rest:
            model.warm_up()
        with tqdm(total=len(questions), initial=len(done), unit="question", disable=None) as progress:
            for batch in (rest[start : start + chunk] for start in range(0, len(rest), chunk)):
                append_rows(options.save, _asked(model, batch, adapter, run))
                progress.update(len(batch))
    return 0


def _asked(
    model: LanguageModel, batch: Sequence[AskedContext], adapter: str | None, run: Mapping[str, Any]
) -> list[Any]:
    """The rows of a batch; each question's seconds are its share of the batch's."""
    limit = run["max_new_tokens"]
    requests = [replace(question.example.request, adapter=adapter, max_tokens=limit) for question in batch]
    started = time.perf_counter()
    generations = generate_all(model, requests, Deadline(SECONDS_PER_QUESTION * len(batch)))
    seconds = round((time.perf_counter() - started) / len(batch), 3)
    return [
        {
            "query": question.example.query,
            "groups": list(question.example.groups),
            "source": question.example.source,
            "answers": list(question.example.answers),
            "completion": question.example.completion,
            "said": generation.text,
            "finish_reason": generation.finish_reason,
            "error": generation.error,
            "seconds": seconds,
            "prompt_hash": question.prompt_hash,
            "run": dict(run),
            **question.labels,
        }
        for question, generation in zip(batch, generations, strict=True)
    ]


def _weights_hash(location: str) -> dict[str, str]:
    """The identity of a training in its folder; nothing where an engine's adapters are no folders here."""
    try:
        return {"sha256": file_hash(adapter_folder(location) / "adapter_model.safetensors")[:16]}
    except WeightsMissingError:
        return {}


def _already_asked(path: Path, questions: Sequence[AskedContext], run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of an interrupted run.

    Raises:
        DatasetError: they are not the beginning of this one.
    """
    done = [record.data for record in _whole_records(path)]
    expected = [(question.example.query, question.prompt_hash, run) for question in questions]
    found = [(row.get("query"), row.get("prompt_hash"), row.get("run")) for row in done]
    if found != expected[: len(found)]:
        raise DatasetError(f"{path}: holds other questions, or answers of another preset or adapter; --save elsewhere")
    return done


def _whole_records(path: Path) -> Iterator[Record]:
    """All but a line that an interruption tore."""
    try:
        yield from read_records(path)
    except (DatasetError, EOFError):
        return


# --- comparing --------------------------------------------------------------------------------------------------------


class _Key(NamedTuple):
    """A question; where it was asked several times, with other passages each, in which place (from 0)."""

    source: str
    query: str
    occurrence: int


class Rewards(NamedTuple):
    """What each question earned, +1, 0 or -1: by the base model, the tuned one, and the completion trained for."""

    base: Floats
    tuned: Floats
    label: Floats

    def of(self, chosen: Bools) -> "Rewards":
        """Those of some of the questions."""
        return Rewards(*(one[chosen] for one in self))


def read_answers(paths: Sequence[Path]) -> dict[_Key, dict[str, Any]]:
    """The rows of all files that `ask` wrote.

    Raises:
        DatasetError: a row is something else.
    """
    counts: Counter[tuple[str, str]] = Counter()
    rows: dict[_Key, dict[str, Any]] = {}
    for record in (record for path in paths for record in read_records(path)):
        _check(record)
        name = (record.data["source"], record.data["query"])
        rows[_Key(*name, counts[name])] = record.data
        counts[name] += 1
    return rows


def _check(record: Record) -> None:
    kinds = dict.fromkeys(("source", "query", "said", "completion", "finish_reason", "prompt_hash"), str)
    for name, kind in {**kinds, "groups": list, "answers": list, "run": dict}.items():
        if not isinstance(record.data.get(name), kind):
            raise DatasetError(f'{record.place}: field "{name}" is missing; a file that `ask` wrote is expected')


def judged(rows: Sequence[Mapping[str, Any]], text_field: str) -> Floats:
    """What the texts of a field earn, decided and judged; NaN where the judge cannot tell."""
    claims = [Claim(row["query"], tuple(row["answers"]), _decided(row, text_field)) for row in rows]
    verdicts = (judgement.verdict for judgement in judge_claims(RulesJudge(), claims, official_trim().cut))
    return np.array([np.nan if verdict is Verdict.UNSCORED else VALUE[verdict] for verdict in verdicts])


def _decided(row: Mapping[str, Any], text_field: str) -> str:
    """The answer that the agent would give; what a model said is nothing where its generation did not end well."""
    reason: FinishReason = row["finish_reason"] if text_field == "said" else "stop"
    generation = Generation(row[text_field], None, 0, 0, reason, row.get("error"))
    return draft_of(generation, row["source"]).answer.text


def figures(rewards: Rewards, groups: Sequence[str]) -> dict[str, Any]:
    """All figures of a set of questions: JSON-ready.

    ``tuned_less_half_of_base`` is below 0 with its whole interval where the tuned model is wrong at most half as often.
    """
    shares: dict[str, Callable[[Floats], Floats]] = {
        "score": lambda earned: earned,
        "accuracy": lambda earned: (earned > 0).astype(np.float64),
        "hallucination": lambda earned: (earned < 0).astype(np.float64),
        "missing": lambda earned: (earned == 0).astype(np.float64),
    }
    wrong = shares["hallucination"](rewards.tuned), shares["hallucination"](rewards.base)
    return {
        "questions": len(groups),
        "groups": len(set(groups)),
        **{name: score_table(own, groups) for name, own in rewards._asdict().items()},
        "tuned_less_base": {
            name: difference(share(rewards.tuned), share(rewards.base), groups) for name, share in shares.items()
        },
        "hallucination": {
            "ratio": float(wrong[0].mean() / wrong[1].mean()) if wrong[1].any() else None,
            "tuned_less_half_of_base": difference(wrong[0], wrong[1] / 2, groups),
        },
    }


def comparison(base: Mapping[_Key, dict[str, Any]], tuned: Mapping[_Key, dict[str, Any]]) -> dict[str, Any]:
    """Figures over the questions that both were asked, whole and by label, and what a reader must know of them.

    Raises:
        DatasetError: there is no such question.
    """
    keys = [key for key in tuned if key in base]
    pairs = [(base[key], tuned[key]) for key in keys]
    ours = [theirs for _, theirs in pairs]
    rewards = Rewards(judged([row for row, _ in pairs], "said"), judged(ours, "said"), judged(ours, "completion"))
    scored: Bools = np.isfinite(rewards.base) & np.isfinite(rewards.tuned) & np.isfinite(rewards.label)
    if not scored.any():
        raise DatasetError("no question was asked of both models, so that there is nothing to compare")
    groups = np.array([row["groups"][0] if row["groups"] else row["query"] for row in ours])
    judge = RulesJudge()
    return {
        "judge": f"{judge.name}@{judge.version}, {official_trim().name}",
        "runs": {"base": _runs(row for row, _ in pairs), "tuned": _runs(iter(ours))},
        "notes": {
            "asked of one model only": len(base) + len(tuned) - 2 * len(keys),
            "unscored": int((~scored).sum()),
            "asked with another prompt": sum(row["prompt_hash"] != other["prompt_hash"] for row, other in pairs),
            "base failed": sum(row["finish_reason"] in {"error", "deadline"} for row, _ in pairs),
            "tuned failed": sum(row["finish_reason"] in {"error", "deadline"} for row in ours),
        },
        "seconds": {
            "base": float(np.mean([row.get("seconds", 0) for row, _ in pairs])),
            "tuned": float(np.mean([row.get("seconds", 0) for row in ours])),
        },
        "all": figures(rewards.of(scored), list(groups[scored])),
        "by": {
            field: {
                label: figures(rewards.of(chosen), list(groups[chosen]))
                for label in sorted({row[field] for row in ours if row.get(field)})
                if (chosen := scored & np.array([row.get(field) == label for row in ours])).any()
            }
            for field in SLICES
        },
    }


def _runs(rows: Iterator[Mapping[str, Any]]) -> list[str]:
    return sorted({", ".join(f"{name} {value}" for name, value in row["run"].items()) for row in rows})


def lines(facts: Mapping[str, Any]) -> list[str]:
    """The report as a reader sees it."""
    slices = {"all": facts["all"]} | {
        f"{field} {label}": own for field, labels in facts["by"].items() for label, own in labels.items()
    }
    header = ["questions", "n", "base", "tuned", "label", "tuned less base", "right", "wrong", "missing", "wrong ratio"]
    rows = [_cells(name, own) for name, own in slices.items()]
    half = facts["all"]["hallucination"]["tuned_less_half_of_base"]
    notes = [f"{count} {what}" for what, count in facts["notes"].items() if count]
    return [
        f"base:  {'; '.join(facts['runs']['base'])}; {facts['seconds']['base']:.2f} s a question",
        f"tuned: {'; '.join(facts['runs']['tuned'])}; {facts['seconds']['tuned']:.2f} s a question",
        f"judge: {facts['judge']}; {facts['all']['groups']} groups; intervals: 95 %, whole groups drawn",
        "",
        table(header, rows),
        "",
        f"wrong answers of the tuned model less half of the base model's: {_with_interval(half)}",
        *([f"note: {', '.join(notes)}"] if notes else []),
    ]


def _cells(name: str, own: Mapping[str, Any]) -> list[str]:
    shares = [f"{own['base'][x]:.3f} -> {own['tuned'][x]:.3f}" for x in ("accuracy", "hallucination", "missing")]
    ratio = own["hallucination"]["ratio"]
    scores = [f"{own[which]['score']:+.3f}" for which in Rewards._fields]
    gain = _with_interval(own["tuned_less_base"]["score"])
    return [name, str(own["questions"]), *scores, gain, *shares, "-" if ratio is None else f"{ratio:.2f}"]


def _with_interval(found: Mapping[str, Any]) -> str:
    low, high = found["ci"]
    return f"{found['difference']:+.3f} [{low:+.3f}, {high:+.3f}]"


def compare(options: argparse.Namespace) -> int:
    """Print the comparison; write all figures where --report says."""
    facts = comparison(read_answers(options.base), read_answers(options.tuned))
    print("\n".join(lines(facts)))
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


# --- the command line -------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask or compare. Exit code: 0 done, 1 a file, preset or model cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.command(options)
    except (*EXPECTED_ERRORS, LanguageModelDiedError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.adapters", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="ask|compare")
    asking = commands.add_parser("ask", help="ask the model the prompts of a file")
    asking.add_argument("--examples", type=Path, required=True, metavar="FILE", help="training examples")
    asking.add_argument("--adapter", required=True, metavar="NAME|FOLDER|none", help="none: the base model")
    asking.add_argument("--save", type=Path, required=True, metavar="FILE", help="JSON lines")
    asking.add_argument("--fold", type=fold_argument, metavar="K/N|all", help="which rows; default: all")
    asking.add_argument("--preset", default="cpu", metavar="P", help="whose language model; default: %(default)s")
    asking.add_argument("--limit", type=int, metavar="N", help="only the first N of them")
    asking.add_argument("--max-new-tokens", type=int, default=40, metavar="N", help="default: %(default)s")
    asking.add_argument("--resume", action="store_true", help="keep what --save holds already and go on after it")
    asking.set_defaults(command=ask)
    comparing = commands.add_parser("compare", help="judge what two models said to the same questions")
    comparing.add_argument("--base", type=Path, nargs="+", required=True, metavar="FILE", help="saved by `ask`")
    comparing.add_argument("--tuned", type=Path, nargs="+", required=True, metavar="FILE", help="saved by `ask`")
    comparing.add_argument("--report", type=Path, metavar="FILE", help="all figures as JSON")
    comparing.set_defaults(command=compare)
    return parser


if __name__ == "__main__":
    sys.exit(main())
