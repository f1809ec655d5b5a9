"""Recall and right answers over a folder that grows: the same questions among ever more documents."""

import html
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

from crag.asking.asker import Asker
from crag.core.files import DatasetError, read_jsonl
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims

FILES_IN_A_FOLDER = 500


class PassageQuestion(NamedTuple):
    """A question, its right answers, and the number of the document that holds them."""

    text: str
    answers: tuple[str, ...]
    document: int


class Corpus(NamedTuple):
    """Questions, and documents as title and HTML: first those of the questions, then the others."""

    questions: Sequence[PassageQuestion]
    documents: Sequence[tuple[str, str]]


class FolderRow(NamedTuple):
    """What was measured over a number of documents. Seconds of work of the process, but for `start`, a second start."""

    documents: int
    start: float
    search: float
    megabytes: float
    first: float
    among_read: float
    right: int
    wrong: int
    silent: int


def read_corpus(files: Sequence[Path], question_count: int, document_count: int) -> Corpus:
    """Questions of the first file, and documents of all of them.

    A row has `question`, `title`, `passage` and `answers`, or is one of a question file with `search_results`, whose
    pages are documents. Questions are spread over the file.
    Raises DatasetError: there are too few of them, or of documents.
    """
    numbers: dict[tuple[str, str], int] = {}
    questions: list[PassageQuestion] = []
    for file in files:
        for record in read_jsonl(file):
            for document in _list_documents(record.data):
                numbers.setdefault(document, len(numbers))
                answers = tuple(record.data.get("answers") or ())
                if file == files[0] and answers and "question" in record.data:
                    questions.append(PassageQuestion(str(record.data["question"]), answers, numbers[document]))

    if len(questions) < question_count or len(numbers) < document_count:
        found = f"{len(questions)} questions and {len(numbers)} documents"
        raise DatasetError(f"{', '.join(map(str, files))}: {found} are too few; choose smaller numbers or more files")
    chosen = questions[:: len(questions) // question_count][:question_count]
    return _put_first(chosen, list(numbers), document_count)


def _list_documents(row: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Title and HTML of the documents of a row."""
    if isinstance(row.get("passage"), str):
        yield str(row.get("title", "")), f"<p>{html.escape(str(row['passage']))}</p>"
    results = row.get("search_results")
    for result in results if isinstance(results, list) else ():
        yield str(result.get("page_name", "")), str(result.get("page_result", ""))


def _put_first(
    questions: Sequence[PassageQuestion],
    documents: Sequence[tuple[str, str]],
    count: int,
) -> Corpus:
    """The first `count` documents after those of the questions have come to the front."""
    asked = list(dict.fromkeys(question.document for question in questions))
    others = sorted(set(range(len(documents))) - set(asked))
    order = [*asked, *others]
    positions = {number: position for position, number in enumerate(order)}
    moved = [question._replace(document=positions[question.document]) for question in questions]
    return Corpus(moved, [documents[number] for number in order[:count]])


def write_documents(corpus: Corpus, folder: Path, first: int, last: int) -> None:
    """Write the documents from `first` up to `last` as files of a folder."""
    for number in range(first, last):
        title, body = corpus.documents[number]
        path = document_path(folder, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<html><head><title>{html.escape(title)}</title></head><body>{body}</body></html>", "utf-8")


def document_path(folder: Path, number: int) -> Path:
    """The file of a document."""
    return folder / f"{number // FILES_IN_A_FOLDER:03}" / f"{number:06}.html"


def measure_folder(
    corpus: Corpus,
    folder: Path,
    documents: int,
    preset: str | Path,
    changes: Sequence[str],
    judge: Judge | None,
) -> FolderRow:
    """Ask all questions over the documents of the folder; without a judge, only search."""
    with Asker(preset, changes=changes) as asker:
        asker.read(folder)

    with Asker(preset, changes=changes) as asker:
        began = perf_counter()
        index = asker.read(folder)
        start = perf_counter() - began
        if index is None:
            raise DatasetError(f"{folder}: no document")

        # The first search loads the encoder.
        index.search(corpus.questions[0].text)
        began = process_time()
        ranks = [_find_rank(index.search(question.text), folder, question) for question in corpus.questions]
        search = (process_time() - began) / len(ranks)

        verdicts = _judge_answers(asker, corpus, folder, judge) if judge else []
        return FolderRow(
            documents=documents,
            start=start,
            search=search,
            megabytes=index.vector_bytes / 1e6,
            first=sum(rank == 0 for rank in ranks) / len(ranks),
            among_read=sum(rank < asker.settings.web.pages.keep for rank in ranks) / len(ranks),
            right=verdicts.count(Verdict.CORRECT),
            wrong=verdicts.count(Verdict.INCORRECT),
            silent=verdicts.count(Verdict.MISSING),
        )


def _find_rank(results: Sequence[dict[str, str]], folder: Path, question: PassageQuestion) -> int:
    """The position of the right document among the results; their number if it is not there."""
    wanted = str(document_path(folder, question.document))
    addresses = [result["page_url"] for result in results]
    return addresses.index(wanted) if wanted in addresses else sys.maxsize


def _judge_answers(asker: Asker, corpus: Corpus, folder: Path, judge: Judge) -> list[Verdict]:
    answers = list(asker.ask_all([question.text for question in corpus.questions], folder))
    claims = [
        Claim(question.text, question.answers, answer.text)
        for question, answer in zip(corpus.questions, answers, strict=True)
    ]
    return [judgement.verdict for judgement in judge_claims(judge, claims, str)]
