"""Compare the front half (HTML -> context) with the starter kit's method: speed, and answers in the context.

    python -m benchmarks.front_half [--dataset FILE ...] [--preset cpu]
    python -m benchmarks.front_half --pages 50 --threads 2

The starter kit's published method, reimplemented here: take BeautifulSoup's text of every page, split it into sentences
(by a regular expression; the kit used blingfire), cut each at 1000 characters, embed all sentences, join the 20 nearest
to the question and cut at 4000 characters. Both sides get the same pages, the same dense encoder, the same process,
`--threads` threads for torch, onnxruntime and BLAS, no worker processes, one question at a time, and 4000 characters of
context.

With `--pages N` one question gets N different pages, pooled from the data set, and only our side is timed: once with
the preset's settings, and once with every page read.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from agents.common.console import end_with
from agents.common.contracts import Page, Query
from agents.common.deadline import BatchClock
from agents.common.queries import BATCH_KEYS, parse_row
from agents.encoders import load_cross_encoder, load_dense_encoder
from agents.encoders.base import CrossEncoder, DenseEncoder
from agents.settings import DenseEncoderSettings, Settings
from agents.web import WebPath
from agents.web.ranking import STOPWORDS
from benchmarks.common import add_preset_arguments, exit_code, in_batches, table
from crag.command import chosen_settings
from evaluation.cli import DEFAULT_DATASET
from evaluation.datasets import DatasetError, read_rows
from training.command import parser_of

CONTEXT_CHARACTERS = 4000
KIT_SENTENCES = 20
KIT_SENTENCE_CHARACTERS = 1000
SHORT_ANSWER_WORDS = 4
FOUND = 0.8
"""The least recall of an answer that counts as found."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_NOT_IN_TEXTS = frozenset({"", "yes", "no", "true", "false", "nan", "invalid question", "i don't know", "none", "0"})
"""Answers that no page spells out."""


# --- whether an answer is in a context: a measure of retrieval that needs no judge and no model -----------------------


def answer_recall(question: str, gold: Sequence[str], context: str) -> float | None:
    """The best recall over the gold answers, 0 to 1; None if none of them has words that are not in the question.

    A short answer counts as found (1) if its words are together, else as not found (0); for a longer one, the share of
    its content words that occur, without those of the question.
    """
    found = _words(context)
    return max(
        (_recall(answer, wanted, found) for answer in gold if (wanted := _wanted(question, answer))), default=None
    )


def _recall(answer: str, wanted: set[str], found: Sequence[str]) -> float:
    asked = _words(answer)
    if len(asked) <= SHORT_ANSWER_WORDS:
        return float(f" {' '.join(asked)} " in f" {' '.join(found)} ")
    return len(wanted & set(found)) / len(wanted)


def _wanted(question: str, answer: str) -> set[str]:
    if answer.strip().lower() in _NOT_IN_TEXTS or len(answer.strip()) < 3:
        return set()
    return set(_words(answer)) - set(_words(question)) - STOPWORDS


def _words(text: str) -> list[str]:
    """Lower-case words and numbers, without thousands separators."""
    return _WORD.findall(_THOUSANDS.sub("", text.lower()))


# --- the two methods --------------------------------------------------------------------------------------------------


class Characters:
    """Counts characters as tokens, so that both sides get the same number of characters."""

    def count_tokens(self, text: str) -> int:
        """Number of characters."""
        return len(text)

    def truncate(self, text: str, max_tokens: int) -> str:
        """The first characters."""
        return text[:max_tokens]


class MethodResult(NamedTuple):
    """The time of a method for a question, and the recall of its context; None: not measurable."""

    seconds: float
    processor_seconds: float
    recall: float | None


def timed(context: Callable[[], str], question: str, gold: Sequence[str]) -> MethodResult:
    """Make a context, timed by the wall clock and by processor time, which other programs do not distort."""
    started = time.perf_counter(), time.process_time()
    made = context()
    seconds, processor = time.perf_counter() - started[0], time.process_time() - started[1]
    return MethodResult(seconds, processor, answer_recall(question, gold, made))


def kit_context(query: Query, encoder: DenseEncoder) -> str:
    """The starter kit's context."""
    from bs4 import BeautifulSoup

    sentences: list[str] = []
    for page in query.pages:
        text = BeautifulSoup(page.html, "lxml").get_text(" ", strip=True)
        sentences += [sentence[:KIT_SENTENCE_CHARACTERS] for sentence in _SENTENCE_END.split(text) if sentence]
    if not sentences:
        return ""
    vectors, _ = encoder.encode_passages(sentences)
    nearest = np.argsort(-(vectors @ encoder.encode_queries([query.text])[0]), kind="stable")[:KIT_SENTENCES]
    return "\n".join(sentences[place] for place in nearest)[:CONTEXT_CHARACTERS]


def read_queries(paths: Sequence[Path]) -> Iterator[tuple[dict[str, Any], Query]]:
    """Rows with their questions, without rows that lack pages."""
    for path in paths:
        for row in read_rows(path):
            query = parse_row(*(row.get(key) for key in BATCH_KEYS))
            if query.fault is None and query.pages:
                yield row, query


def load_web(settings: Settings) -> tuple[WebPath, DenseEncoder]:
    """The preset's web path, warm, and the dense encoder for the kit's side."""
    dense, cross = load_encoders(settings)
    path = WebPath(settings.web, dense, cross, Characters())
    path.warm_up()
    return path, dense


def load_encoders(settings: Settings) -> tuple[DenseEncoder, CrossEncoder | None]:
    """The preset's encoders, not warm; MiniLM for a preset without a dense one."""
    dense = load_dense_encoder(settings.dense_encoder or DenseEncoderSettings(model="all-minilm-l6-v2"))
    return dense, load_cross_encoder(settings.cross_encoder) if settings.cross_encoder else None


def unhurried(settings: Settings) -> BatchClock:
    """A clock with ample time."""
    return BatchClock(3600.0, 0.0, settings.deadline.shares())


# --- measuring --------------------------------------------------------------------------------------------------------


def _our_context(web: WebPath, query: Query, settings: Settings) -> str:
    (evidence,) = web.prepare([query], unhurried(settings))
    return evidence.context


def compare(settings: Settings, datasets: Sequence[Path], limit: int | None) -> list[dict[str, MethodResult]]:
    """Both methods on every question: ``kit`` and ``ours``."""
    web, dense = load_web(settings)
    rows = []
    for ((row, query),) in in_batches(list(read_queries(datasets))[:limit], 1):
        gold = [row.get("answer") or "", *(row.get("alt_ans") or [])]
        if row.get("question_type") == "false_premise":  # no page holds the refusal of a premise
            gold = []
        ours = timed(partial(_our_context, web, query, settings), query.text, gold)
        kit = timed(partial(kit_context, query, dense), query.text, gold)
        rows.append({"kit": kit, "ours": ours})
    web.close()
    return rows


def summary(rows: Sequence[dict[str, MethodResult]]) -> dict[str, Any]:
    """Means over the questions; recall over those with a measurable answer."""
    sides = {}
    for name in ("kit", "ours"):
        seconds, processor, recalls = zip(*(row[name] for row in rows), strict=True)
        known = [recall for recall in recalls if recall is not None] or [float("nan")]
        sides[name] = {
            "seconds_mean": fmean(seconds),
            "seconds_median": median(seconds),
            "processor_seconds_mean": fmean(processor),
            "answer_found": fmean(recall >= FOUND for recall in known),
            "answer_words_found": fmean(known),
        }
    kit, ours = sides.values()
    return {
        "questions": len(rows),
        "measurable": sum(row["ours"].recall is not None for row in rows),
        **sides,
        "times_faster": kit["seconds_mean"] / ours["seconds_mean"],
        "times_less_processor_time": kit["processor_seconds_mean"] / ours["processor_seconds_mean"],
    }


def shown(facts: dict[str, Any]) -> str:
    """The summary as a table."""
    names = {
        "seconds_mean": "seconds per question, mean",
        "seconds_median": "seconds per question, median",
        "processor_seconds_mean": "processor seconds, mean",
        "answer_found": "answer in the context",
        "answer_words_found": "words of the answer in the context",
    }
    rows: list[list[object]] = [[name, facts["kit"][key], facts["ours"][key]] for key, name in names.items()]
    rows.append(["times faster, by the clock", 1, f"{facts['times_faster']:.1f}"])
    rows.append(["times faster, by processor time", 1, f"{facts['times_less_processor_time']:.1f}"])
    title = f"{facts['questions']} questions, {facts['measurable']} with a measurable answer"
    return table([title, "starter kit's method", "ours"], rows)


def many_pages(settings: Settings, datasets: Sequence[Path], count: int) -> dict[str, float]:
    """Seconds of one question with `count` different pages: as the preset has it, and with all of them read.

    Raises:
        DatasetError: the data sets hold no pages.
    """
    queries = [query for _, query in read_queries(datasets)]
    distinct: list[Page] = list({p.html: p for query in queries for p in query.pages if p.html.strip()}.values())
    if not distinct:
        raise DatasetError("the data sets hold no pages")
    # A comment makes copies different pages, so that de-duplication does not help.
    copies = [(n, distinct[n % len(distinct)]) for n in range(count)]
    pages = tuple(replace(page, rank=n, html=f"{page.html}<!-- {n} -->") for n, page in copies)
    seconds = {}
    for name, keep in (("as the preset has it", settings.web.pages.keep), ("every page read", min(count, 50))):
        path, _ = load_web(_changed(settings, "pages", keep=keep))
        clock = unhurried(settings)
        started = time.perf_counter()
        path.prepare([replace(queries[0], pages=pages)], clock)
        seconds[f"{name} ({keep} pages)"] = time.perf_counter() - started
        path.close()
        seconds.update({f"- {stage} of {keep} pages": spent for stage, spent in clock.seconds.items()})
    return seconds


def _changed(settings: Settings, part: str, **update: object) -> Settings:
    web = settings.web.model_copy(update={part: getattr(settings.web, part).model_copy(update=update)})
    return settings.model_copy(update={"web": web})


# --- the command line -------------------------------------------------------------------------------------------------


def with_threads(threads: int, program: str) -> None:
    """Restart this program unless the environment has the number of threads: libraries read it when loaded."""
    if any(os.environ.get(name) != str(threads) for name in THREAD_VARIABLES):
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
        command = [sys.executable, "-m", program, *sys.argv[1:]]
        os.execve(sys.executable, command, environment)  # noqa: S606 - this program again


def main() -> int:
    """The command. Exit code: 0 done, 2 a file or model cannot be used."""
    parser = parser_of("benchmarks.front_half", __doc__)
    parser.add_argument("--dataset", type=Path, nargs="+", default=[DEFAULT_DATASET])
    add_preset_arguments(parser)
    parser.add_argument("--pages", type=int, help="time one question with N pages instead")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch, onnxruntime and BLAS")
    parser.add_argument("--limit", type=int, help="use at most N questions")
    options = parser.parse_args()
    with_threads(options.threads, "benchmarks.front_half")
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    settings = chosen_settings(options)
    if options.pages:
        seconds = many_pages(settings, options.dataset, options.pages)
        print("\n".join(f"{name}: {value:.2f} s" for name, value in seconds.items()))
    else:
        fair = _changed(_changed(settings, "extract", workers=0), "context", max_tokens=CONTEXT_CHARACTERS)
        print(shown(summary(compare(fair, options.dataset, options.limit))))


if __name__ == "__main__":
    end_with(main)
