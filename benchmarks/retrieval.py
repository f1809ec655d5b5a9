"""Where answers are lost between the pages and the prompt, beside the starter kit's method on the same pages.

    python -m benchmarks.retrieval [--limit 100] [--set web.rerank.max_pairs=64]
    python -m benchmarks.retrieval --dataset FILE ...

For each kind of pages: the share of questions whose answer stands in the extracted text, among the candidates, and in
contexts of 400 to 2,000 tokens of the preset's language model; the starter kit's method gets 4,000 characters, about
1,000 tokens (`benchmarks.front_half` has both methods and the measure). Questions without a measurable answer are left
out. Seconds are of one thread, without extraction workers.
"""

import argparse
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

from tqdm import tqdm

from agents.common.console import end_with
from agents.common.contracts import Query
from agents.llm import load_language_model
from agents.settings import Settings
from agents.web import WebEvidence, WebPath
from agents.web.context import TokenCounter, build_context
from agents.web.extract import page_text
from benchmarks.common import SHARED, add_preset_arguments, exit_code, table
from benchmarks.front_half import (
    FOUND,
    answer_recall,
    kit_context,
    load_encoders,
    read_queries,
    unhurried,
    with_threads,
)
from crag.command import chosen_settings
from evaluation.datasets import DatasetError
from training.command import parser_of

BUDGETS = (400, 600, 1000, 2000)
"""Tokens of context."""
EVERYTHING = 30_000
"""Tokens that hold all candidates."""
SAFE: Mapping[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # from Python 3.11.4 on
DATASETS = {
    "CRAG's pages": SHARED / "crag/example_dev_10q.jsonl.bz2",
    "news": SHARED / "web/news_pages_600q.jsonl.bz2",
    "tables": SHARED / "web/table_pages_150q.tar.xz",
}
"""Kind of pages -> file."""
PLACES = ("text", "candidates", *(f"{budget} tokens" for budget in BUDGETS), "starter kit")

Found = dict[str, bool]
"""Place -> whether the answer is there."""


def measure(settings: Settings, path: Path, limit: int | None) -> tuple[list[Found], float, float]:
    """Where each answer is found; mean seconds of our contexts and of the starter kit's."""
    dense, cross = load_encoders(settings)
    tokens = load_language_model(settings.language_model)
    rerank = settings.web.rerank
    every = settings.web.context.model_copy(update={"max_tokens": EVERYTHING})
    web = settings.web.model_copy(
        update={"context": every, "rerank": rerank and rerank.model_copy(update={"top_k": 1_000})}
    )
    ours = WebPath(web, dense, cross, tokens)
    ours.warm_up()
    found, seconds, kit_seconds = [], [], []
    for query, gold in tqdm(list(questions(path, limit)), desc=path.name, unit="question", disable=None):
        started = time.perf_counter()
        (evidence,) = ours.prepare([query], unhurried(settings))
        seconds.append(time.perf_counter() - started)
        started = time.perf_counter()
        kit = kit_context(query, dense)
        kit_seconds.append(time.perf_counter() - started)
        texts = _texts(settings, query, evidence, tokens) | {"starter kit": kit}
        found.append({place: (answer_recall(query.text, gold, text) or 0.0) >= FOUND for place, text in texts.items()})
    ours.close()
    if not found:
        raise DatasetError(f"{path}: no question has pages and a measurable answer")
    return found, fmean(seconds), fmean(kit_seconds)


def questions(path: Path, limit: int | None) -> Iterator[tuple[Query, Sequence[str]]]:
    """Questions with pages and gold answers that a text can hold; at most `limit`, spread over the file."""
    measurable = []
    for row, query in read_queries([path]):
        gold = [row.get("answer") or "", *(row.get("alt_ans") or [])]
        false_premise = row.get("question_type") == "false_premise"  # no page holds the refusal of a premise
        if not false_premise and answer_recall(query.text, gold, "") is not None:
            measurable.append((query, gold))
    step = max(1, len(measurable) // limit) if limit else 1
    yield from measurable[::step][:limit]


def _texts(settings: Settings, query: Query, evidence: WebEvidence, tokens: TokenCounter) -> dict[str, str]:
    pages = "\n".join(page_text(page.html, settings.web.extract) for page in query.pages)
    kept = evidence.passages[: settings.web.rerank.top_k] if settings.web.rerank else evidence.passages
    contexts = {
        f"{budget} tokens": build_context(kept, settings.web.context, tokens, max_tokens=budget).text
        for budget in BUDGETS
    }
    return {"text": pages, "candidates": evidence.context, **contexts}


@contextmanager
def dataset(path: Path) -> Iterator[Path]:
    """The file to read; an archive of pages beside `questions.jsonl` is unpacked for as long as the block runs.

    Raises:
        DatasetError: there is no such file.
    """
    if not path.is_file():
        raise DatasetError(f"{path} is missing: pass other questions with pages as --dataset")
    if not path.name.endswith(".tar.xz"):
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(path, folder, **SAFE)
        yield Path(folder) / "questions.jsonl"


def main() -> int:
    """The command. Exit code: 0 done, 2 a file or model cannot be used."""
    parser = parser_of("benchmarks.retrieval", __doc__)
    parser.add_argument("--dataset", type=Path, nargs="+", help="default: the three kinds of ../shared/data")
    parser.add_argument("--limit", type=int, help="at most N questions of each file, spread over it")
    parser.add_argument("--threads", type=int, default=1, help="threads of torch, onnxruntime and BLAS")
    add_preset_arguments(parser)
    options = parser.parse_args()
    with_threads(options.threads, "benchmarks.retrieval")
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    settings = chosen_settings(options)
    extract = settings.web.extract.model_copy(update={"workers": 0})
    settings = settings.model_copy(update={"web": settings.web.model_copy(update={"extract": extract})})
    given = {path.name: path for path in options.dataset} if options.dataset else DATASETS
    rows: list[list[object]] = []
    for kind, path in given.items():
        with dataset(path) as file:
            found, seconds, kit_seconds = measure(settings, file, options.limit)
        shares = [fmean(one[place] for one in found) for place in PLACES]
        rows.append([f"{kind} ({len(found)})", *shares, seconds, f"{kit_seconds / seconds:.1f}"])
    print(table(["answer found in", *PLACES, "seconds", "times faster"], rows))


if __name__ == "__main__":
    end_with(main)
