"""Recall and right answers over a folder that grows: the same questions among ever more documents."""

import html
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from time import process_time
from typing import NamedTuple

from crag.asking.asker import Asker
from crag.asking.index import list_indexes
from crag.core.files import DatasetError, read_jsonl
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims

FILES_IN_A_FOLDER = 500


class PassageQuestion(NamedTuple):
    """A question, its right answers, and the number of the document that holds them."""

    text: str
    answers: tuple[str, ...]
    document: int


class CorpusDocument(NamedTuple):
    """A document that is written as a file."""

    title: str
    html: str


class Corpus(NamedTuple):
    """Questions and documents: first those of the questions, then the others."""

    questions: Sequence[PassageQuestion]
    documents: Sequence[CorpusDocument]


class Folder(NamedTuple):
    """A folder of documents, and the questions that are asked over it."""

    path: Path
    corpus: Corpus


class FolderRow(NamedTuple):
    """What was measured over a number of documents.

    Seconds are the work of the process: `start` of a second start, which reads what is kept; `search` of a search.
    Megabytes: `vectors` in memory, `disk` of the indexes. `first` and `among_read` are shares of the questions.
    """

    documents: int
    start: float
    search: float
    vectors: float
    disk: float
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
    numbers: dict[CorpusDocument, int] = {}
    questions: list[PassageQuestion] = []
    for file in files:
        for record in read_jsonl(file):
            row = record.data
            documents = list(_list_documents(row))
            for document in documents:
                numbers.setdefault(document, len(numbers))

            answers = tuple(row.get("answers") or ())
            if file == files[0] and answers and "question" in row:
                text = str(row["question"])
                questions += [PassageQuestion(text, answers, numbers[document]) for document in documents]

    if len(questions) < question_count or len(numbers) < document_count:
        counts = f"{len(questions)} questions and {len(numbers)} documents"
        raise DatasetError(f"{', '.join(map(str, files))}: {counts} are too few; choose smaller numbers or more files")
    spread_questions = questions[:: len(questions) // question_count][:question_count]
    return _put_first(spread_questions, list(numbers), document_count)


def _list_documents(row: dict[str, object]) -> Iterator[CorpusDocument]:
    """The documents of a row."""
    if isinstance(row.get("passage"), str):
        yield CorpusDocument(str(row.get("title", "")), f"<p>{html.escape(str(row['passage']))}</p>")
    results = row.get("search_results")
    for result in results if isinstance(results, list) else ():
        yield CorpusDocument(str(result.get("page_name", "")), str(result.get("page_result", "")))


def _put_first(
    questions: Sequence[PassageQuestion],
    documents: Sequence[CorpusDocument],
    count: int,
) -> Corpus:
    """The first `count` documents, those of the questions before the others and never without one of them."""
    asked_numbers = list(dict.fromkeys(question.document for question in questions))
    other_numbers = sorted(set(range(len(documents))) - set(asked_numbers))
    order = [*asked_numbers, *other_numbers]

    # Each question still names its document
    positions = {number: position for position, number in enumerate(order)}
    moved = [question._replace(document=positions[question.document]) for question in questions]
    size = max(count, len(asked_numbers))
    return Corpus(moved, [documents[number] for number in order[:size]])


def make_folders(corpus: Corpus, parent: Path, documents: int) -> list[Folder]:
    """Write folders with so many `documents` each, and return them with their questions.

    With at least one document for each question there is one folder, to which each call adds documents. With fewer the
    questions are cut into groups of `documents`, and each group gets a folder with the documents that answer it.
    """
    if documents >= len(corpus.questions):
        folder = Folder(parent / "grown", Corpus(corpus.questions, corpus.documents[:documents]))
        write_documents(folder)
        return [folder]

    folders = []
    for start in range(0, len(corpus.questions), documents):
        group = corpus.questions[start : start + documents]
        folder = Folder(parent / f"{documents}-{start}", _put_first(group, corpus.documents, documents))
        write_documents(folder)
        folders.append(folder)
    return folders


def write_documents(folder: Folder) -> None:
    """Write the documents of a folder as files; those that are there stay."""
    for number, (title, body) in enumerate(folder.corpus.documents):
        path = document_path(folder.path, number)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(
                f"<html><head><title>{html.escape(title)}</title></head><body>{body}</body></html>", "utf-8"
            )


def document_path(folder: Path, number: int) -> Path:
    """The file of a document."""
    return folder / f"{number // FILES_IN_A_FOLDER:03}" / f"{number:06}.html"


def measure_folders(
    folders: Sequence[Folder],
    preset: str | Path,
    changes: Sequence[str],
    judge: Judge | None,
) -> FolderRow:
    """Ask all questions, each over the documents of its folder; without a judge, only search."""
    with Asker(preset, changes=changes) as asker:
        for folder in folders:
            asker.read(folder.path)

    with Asker(preset, changes=changes) as asker:
        results = [_measure_folder(asker, folder, judge) for folder in folders]

    ranks: list[int] = []
    verdicts: list[Verdict] = []
    for result in results:
        ranks += result.ranks
        verdicts += result.verdicts

    return FolderRow(
        documents=len(folders[0].corpus.documents),
        start=fmean(result.start for result in results),
        search=sum(result.search for result in results) / len(ranks),
        vectors=max(result.vector_bytes for result in results) / 1e6,
        disk=_count_disk_bytes(folders) / 1e6,
        first=sum(rank == 0 for rank in ranks) / len(ranks),
        among_read=sum(rank < asker.settings.web.pages.keep for rank in ranks) / len(ranks),
        right=verdicts.count(Verdict.CORRECT),
        wrong=verdicts.count(Verdict.INCORRECT),
        silent=verdicts.count(Verdict.MISSING),
    )


class _Measured(NamedTuple):
    """Of one folder: seconds of its start and of all searches, ranks of the right documents, verdicts."""

    start: float
    search: float
    vector_bytes: int
    ranks: Sequence[int]
    verdicts: Sequence[Verdict]


def _measure_folder(asker: Asker, folder: Folder, judge: Judge | None) -> _Measured:
    began = process_time()
    index = asker.read(folder.path)
    start = process_time() - began
    if index is None:
        raise DatasetError(f"{folder.path}: no document")

    # The first search loads the encoder.
    questions = folder.corpus.questions
    index.search(questions[0].text)
    began = process_time()
    ranks = [_find_rank(index.search(question.text), folder.path, question) for question in questions]
    search = process_time() - began

    verdicts = _judge_answers(asker, folder, judge) if judge else []
    return _Measured(start, search, index.vector_bytes, ranks, verdicts)


def _count_disk_bytes(folders: Sequence[Folder]) -> int:
    paths = {str(folder.path) for folder in folders}
    return sum(index.bytes for index in list_indexes() if paths.intersection(index.places))


def _find_rank(results: Sequence[dict[str, str]], folder: Path, question: PassageQuestion) -> int:
    """The position of the right document among the results, from 0; `sys.maxsize` if it is not there."""
    right_address = str(document_path(folder, question.document))
    addresses = [result["page_url"] for result in results]
    return addresses.index(right_address) if right_address in addresses else sys.maxsize


def _judge_answers(asker: Asker, folder: Folder, judge: Judge) -> list[Verdict]:
    questions = folder.corpus.questions
    answers = list(asker.ask_all([question.text for question in questions], folder.path))

    claims: list[Claim] = []
    for question, answer in zip(questions, answers, strict=True):
        claims.append(Claim(question.text, question.answers, answer.text))
    judgements = judge_claims(judge, claims, str)
    return [judgement.verdict for judgement in judgements]
