"""Measure the question classifier against a plain baseline in the same folds, and its speed.

    python -m benchmarks.routing --out-of-fold FILE [--data FILE] [--picture FILE]

The file is the `out_of_fold.jsonl` of `python -m training.router`: each question is predicted by a classifier that was
trained without it. The baseline is logistic regression on TF-IDF of single words and pairs, in the same folds. The time
is that of the shipped classifier in batches of 16, without loading. --picture draws the confusion matrices (NEC, figure
2).
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents.common.console import end_with
from agents.questions.classifier import Classifier, locate_classifier
from agents.questions.base import FIELD_CLASSES
from benchmarks.common import SHARED, exit_code, in_batches, table
from evaluation.datasets import DatasetError, read_records
from training.command import parser_of
from training.pictures import Confusion, confusion_matrices
from training.router.examples import Examples, read_examples
from training.router.out_of_fold import FieldReport, report_all

BATCH_SIZE = 16
Tables = dict[str, NDArray[np.float64]]
"""Probabilities by field, shape (questions, classes)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table. Exit code: 0 done, 2 a file cannot be used."""
    parser = parser_of("benchmarks.routing", __doc__)
    parser.add_argument("--out-of-fold", type=Path, required=True, help="out_of_fold.jsonl of a training run")
    parser.add_argument(
        "--data",
        type=Path,
        default=SHARED / "crag/questions_split0.jsonl",
        help="the questions it was trained on (default: %(default)s)",
    )
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the confusion matrices into this file")
    parser.add_argument("--classifier", default="cpu", help="the classifier to time (default: cpu)")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    examples, fold, probabilities = matched(options.data, options.out_of_fold)
    ours = report_all(probabilities, examples.classes)
    plain = report_all(baseline(examples, fold), examples.classes)
    figures = ("accuracy", "macro-F1", "ECE")
    print(
        table(
            ["cross-validated", *figures, *(f"baseline {figure}" for figure in figures)],
            [[name, *_figures(report), *_figures(plain[name])] for name, report in ours.items()],
        )
    )
    print(f"\n{milliseconds(options.classifier, examples.texts):.1f} ms per question in batches of {BATCH_SIZE}")
    if options.picture:
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        matrices = [Confusion(name, one.labels, one.confusion) for name, one in ours.items()]
        confusion_matrices(options.picture, matrices)
        print(f"wrote {options.picture}")


def _figures(report: FieldReport) -> list[float]:
    return [report.accuracy, report.macro_f1, report.expected_calibration_error]


def matched(data: Path, out_of_fold: Path) -> tuple[Examples, NDArray[np.int64], Tables]:
    """The questions, the fold of each and its cross-validated probabilities, in the order of the data.

    Raises:
        DatasetError: a file cannot be read, or the two do not belong together.
    """
    rows = [record.data for record in read_records(out_of_fold)]
    try:
        fields = list(rows[0]["route"])
        examples = read_examples(data, fields)
        if [row["interaction_id"] for row in rows] != list(examples.identifiers):
            raise DatasetError(f"{out_of_fold} does not have the questions of {data}")
        routes = {field: [row["route"][field]["probabilities"] for row in rows] for field in fields}
        tables = {
            field: np.array([[found[name] for name in FIELD_CLASSES[field]] for found in routes[field]])
            for field in fields
        }
        return examples, np.array([row["fold"] for row in rows]), tables
    except (KeyError, IndexError, TypeError) as error:
        raise DatasetError(f"{out_of_fold}: not written by training.router: {error!r}") from None


def baseline(examples: Examples, fold: NDArray[np.int64]) -> Tables:
    """The probabilities of TF-IDF and logistic regression for each question, trained on the other folds."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    found = {name: np.zeros((len(examples), len(FIELD_CLASSES[name]))) for name in examples.classes}
    texts = np.array(examples.texts)
    for name, classes in examples.classes.items():
        for number in np.unique(fold):
            held_out = fold == number
            model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression(C=10.0, max_iter=1000))
            model.fit(texts[~held_out], classes[~held_out])
            found[name][np.ix_(held_out, model.classes_)] = model.predict_proba(texts[held_out])
    return found


def milliseconds(name: str, texts: Sequence[str]) -> float:
    """Time per question of a trained classifier, loaded and warm, with one thread as the command uses it."""
    import torch

    torch.set_num_threads(1)
    classifier = Classifier(locate_classifier(name))
    classifier.warm_up()
    classifier.probabilities(texts[:BATCH_SIZE])
    started = time.perf_counter()
    for batch in in_batches(texts, BATCH_SIZE):
        classifier.probabilities(batch)
    return 1000 * (time.perf_counter() - started) / len(texts)


if __name__ == "__main__":
    end_with(main)
