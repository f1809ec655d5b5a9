"""How fast the front half (HTML -> context) is, and how often the answer is in the context: ours against the starter
kit's way.

    python -m benchmarks.front_half [--dataset FILE ...] [--preset cpu] [--out FILE.json]
    python -m benchmarks.front_half --pages 50 --threads 2

The starter kit's published method, written anew here: BeautifulSoup's text of every page, split into sentences (by a
regular expression; the kit used blingfire), each cut at 1000 characters, every sentence embedded, the 20 nearest to
the question joined and cut at 4000 characters. Both sides get the same pages, the same dense encoder, the same
process, `--threads` threads for torch, onnxruntime and BLAS, no worker processes, one question at a time, and 4000
characters of context.

With `--pages N` one question gets N different pages, pooled from the data set, and our side alone is timed: once as
the preset has it, and once with every page read.
"""

import argparse
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.contracts import Page, Query
from agents.deadline import BatchClock
from agents.encoders import load_cross_encoder, load_dense_encoder
from agents.encoders.base import DenseEncoder
from agents.queries import parse_batch
from agents.settings import DenseEncoderSettings, Settings, WebSettings, load_settings
from agents.web import WebPath
from benchmarks.answer_recall import answer_recall, is_measurable
from benchmarks.segment_pages import with_pages
from evaluation.datasets import read_rows

CONTEXT_CHARACTERS = 4000
KIT_SENTENCES = 20
KIT_SENTENCE_CHARACTERS = 1000
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class Characters:
    """A token counter for which every character is a token, so that both sides get the same number of characters."""

    def count_tokens(self, text: str) -> int:
        """Number of characters."""
        return len(text)

    def truncate(self, text: str, max_tokens: int) -> str:
        """The first characters."""
        return text[:max_tokens]


@dataclass(frozen=True)
class Row:
    """One question's outcome. Recalls are None where the gold answer cannot be looked for in a text."""

    interaction_id: str
    query: str
    kit_seconds: float
    our_seconds: float
    kit_processor_seconds: float
    our_processor_seconds: float
    kit_recall: float | None
    our_recall: float | None
    kit_sentences: int


def kit_context(query: Query, encoder: DenseEncoder) -> tuple[str, int]:
    """The starter kit's context and the number of sentences it embedded."""
    from bs4 import BeautifulSoup

    sentences: list[str] = []
    for page in query.pages:
        text = BeautifulSoup(page.html, "lxml").get_text(" ", strip=True)
        sentences += [sentence[:KIT_SENTENCE_CHARACTERS] for sentence in _SENTENCE_END.split(text) if sentence]
    if not sentences:
        return "", 0
    vectors, _ = encoder.encode_passages(sentences)
    nearest = np.argsort(-(vectors @ encoder.encode_queries([query.text])[0]), kind="stable")[:KIT_SENTENCES]
    return "\n".join(sentences[place] for place in nearest)[:CONTEXT_CHARACTERS], len(sentences)


def fair(web: WebSettings) -> WebSettings:
    """The preset's web path with no worker processes and the kit's context size."""
    return web.model_copy(
        update={
            "extract": web.extract.model_copy(update={"workers": 0}),
            "context": web.context.model_copy(update={"max_tokens": CONTEXT_CHARACTERS}),
        }
    )


class Stopwatch:
    """Seconds spent in a `with` block: on the wall clock, and on processors, which other programs do not distort."""

    seconds = 0.0
    processor = 0.0

    def __enter__(self) -> "Stopwatch":
        self._started = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._started[0]
        self.processor = time.process_time() - self._started[1]


def unhurried(settings: Settings) -> BatchClock:
    """A clock that ends nothing early."""
    return BatchClock(3600.0, 0.0, settings.deadline.shares())


def read_queries(paths: Sequence[Path]) -> Iterator[tuple[dict[str, Any], Query]]:
    """Rows with their questions; rows without pages are left out."""
    for path in paths:
        for row in with_pages(list(read_rows(path))):
            keys = ("interaction_id", "query", "search_results", "query_time")
            query = parse_batch({key: [row.get(key)] for key in keys})[0]
            if query.fault is None and query.pages:
                yield row, query


def build_web(settings: Settings, web: WebSettings) -> tuple[WebPath, DenseEncoder]:
    """The web path, warm, and the dense encoder for the kit's side."""
    dense_settings = settings.dense_encoder or DenseEncoderSettings(model="all-minilm-l6-v2")
    dense = load_dense_encoder(dense_settings)
    cross = load_cross_encoder(settings.cross_encoder) if settings.cross_encoder else None
    path = WebPath(web, dense, cross, Characters())
    path.warm_up()
    return path, dense


def compare(settings: Settings, datasets: Sequence[Path], *, limit: int | None, without_kit: bool) -> list[Row]:
    """Both methods on every question."""
    from tqdm import tqdm

    web, dense = build_web(settings, fair(settings.web))
    rows = []
    for row, query in tqdm(list(read_queries(datasets))[:limit], desc="questions", disable=None):
        with Stopwatch() as ours:
            (evidence,) = web.prepare([query], unhurried(settings))
        with Stopwatch() as kits:
            kit, sentences = ("", 0) if without_kit else kit_context(query, dense)
        gold = [row.get("answer") or "", *(row.get("alt_ans") or [])]
        measurable = is_measurable(row.get("question_type", ""), query.text, gold)
        rows.append(
            Row(
                query.interaction_id,
                query.text,
                kit_seconds=kits.seconds,
                our_seconds=ours.seconds,
                kit_processor_seconds=kits.processor,
                our_processor_seconds=ours.processor,
                kit_recall=answer_recall(query.text, gold, kit) if measurable else None,
                our_recall=answer_recall(query.text, gold, evidence.context) if measurable else None,
                kit_sentences=sentences,
            )
        )
    web.close()
    return rows


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Means over the questions; recall over those where it can be measured. An answer counts as found from 0.8 on."""
    measured = [row for row in rows if row.kit_recall is not None and row.our_recall is not None]

    def side(seconds: Sequence[float], processor: Sequence[float], recalls: Sequence[float]) -> dict[str, float]:
        return {
            "seconds_mean": statistics.fmean(seconds),
            "seconds_median": statistics.median(seconds),
            "processor_seconds_mean": statistics.fmean(processor),
            "answer_found": statistics.fmean([recall >= 0.8 for recall in recalls]) if recalls else float("nan"),
            "answer_words_found": statistics.fmean(recalls) if recalls else float("nan"),
        }

    kit = side(
        [row.kit_seconds for row in rows],
        [row.kit_processor_seconds for row in rows],
        [row.kit_recall or 0.0 for row in measured],
    )
    ours = side(
        [row.our_seconds for row in rows],
        [row.our_processor_seconds for row in rows],
        [row.our_recall or 0.0 for row in measured],
    )
    return {
        "questions": len(rows),
        "measurable": len(measured),
        "kit": kit,
        "ours": ours,
        "times_faster": kit["seconds_mean"] / ours["seconds_mean"],
        "times_less_processor_time": kit["processor_seconds_mean"] / ours["processor_seconds_mean"],
    }


def table(facts: dict[str, Any]) -> str:
    """The summary as Markdown."""
    kit, ours = facts["kit"], facts["ours"]
    title = f"{facts['questions']} questions, {facts['measurable']} with a measurable answer"
    lines = [
        f"| {title} | starter kit's method | ours |",
        "|---|---|---|",
        f"| seconds a question, mean | {kit['seconds_mean']:.2f} | {ours['seconds_mean']:.2f} |",
        f"| seconds a question, median | {kit['seconds_median']:.2f} | {ours['seconds_median']:.2f} |",
        f"| processor seconds, mean | {kit['processor_seconds_mean']:.2f} | {ours['processor_seconds_mean']:.2f} |",
        f"| answer in the context | {kit['answer_found']:.3f} | {ours['answer_found']:.3f} |",
        f"| words of the answer in the context | {kit['answer_words_found']:.3f} | {ours['answer_words_found']:.3f} |",
        f"| times faster, by the clock | 1 | {facts['times_faster']:.1f} |",
        f"| times faster, by processor time | 1 | {facts['times_less_processor_time']:.1f} |",
    ]
    return "\n".join(lines)


def many_pages(settings: Settings, datasets: Sequence[Path], count: int) -> dict[str, float]:
    """Seconds of one question with `count` different pages: as the preset has it, and with all of them read."""
    pooled: dict[str, Page] = {}
    query: Query | None = None
    for _, found in read_queries(datasets):
        query = query or found
        pooled.update({page.html: page for page in found.pages if page.html.strip()})
    if query is None or not pooled:
        raise SystemExit("the data sets hold no pages")
    distinct = list(pooled.values())
    pages = [
        # a comment makes copies different pages, so that de-duplication does not help
        replace(distinct[n % len(distinct)], rank=n, html=f"{distinct[n % len(distinct)].html}<!-- {n} -->")
        for n in range(count)
    ]
    asked = replace(query, pages=tuple(pages))
    seconds = {}
    for name, keep in (("as the preset has it", settings.web.pages.keep), ("every page read", min(count, 50))):
        web = settings.web.model_copy(update={"pages": settings.web.pages.model_copy(update={"keep": keep})})
        path, _ = build_web(settings, web)
        clock = unhurried(settings)
        with Stopwatch() as watch:
            path.prepare([asked], clock)
        path.close()
        seconds[f"{name} ({keep} pages)"] = watch.seconds
        seconds.update({f"- {stage} of {keep} pages": spent for stage, spent in clock.seconds.items()})
    return seconds


def with_threads(threads: int) -> None:
    """Start this program anew unless the environment holds the number of threads: libraries read it when loaded."""
    if any(os.environ.get(name) != str(threads) for name in THREAD_VARIABLES):
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
        command = [sys.executable, "-m", "benchmarks.front_half", *sys.argv[1:]]
        os.execve(sys.executable, command, environment)  # noqa: S606 - this program again


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--dataset", type=Path, nargs="+", default=[Path("data/sample/questions.jsonl")])
    parser.add_argument("--preset", default="cpu", help="name, or path of a TOML file")
    parser.add_argument("--pages", type=int, help="time one question with so many pages instead")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch, onnxruntime and BLAS")
    parser.add_argument("--limit", type=int, help="at most so many questions")
    parser.add_argument("--without-kit", action="store_true", help="our side only, for tuning")
    parser.add_argument("--out", type=Path, help="write the figures and every question's row as JSON")
    arguments = parser.parse_args()
    with_threads(arguments.threads)
    settings = load_settings(arguments.preset)
    if arguments.pages:
        seconds = many_pages(settings, arguments.dataset, arguments.pages)
        print("\n".join(f"{name}: {value:.2f} s" for name, value in seconds.items()))
        result: dict[str, Any] = {"pages": arguments.pages, "threads": arguments.threads, "seconds": seconds}
    else:
        rows = compare(settings, arguments.dataset, limit=arguments.limit, without_kit=arguments.without_kit)
        result = {**summary(rows), "threads": arguments.threads, "rows": [asdict(row) for row in rows]}
        print(table(result))
    if arguments.out:
        arguments.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
