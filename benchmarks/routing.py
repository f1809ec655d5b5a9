"""How well questions are classified, beside a plain baseline in the same folds, and how long it takes.

    python -m benchmarks.routing --out-of-fold FILE [--data FILE] [--picture FILE]

The file is the `out_of_fold.jsonl` that `python -m training.router` writes: each question judged by a classifier that
was trained without it. The baseline is logistic regression on TF-IDF of single words and pairs, with scikit-learn's
defaults, trained and judged in the same folds. Time is that of the shipped classifier in batches of 16, loading apart.
With --picture the confusion matrices are drawn (NEC, figure 2).
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.questions.classifier import Classifier, locate_classifier
from agents.questions.routes import FIELD_CLASSES
from agents.settings import SettingsError
from evaluation.datasets import DatasetError, read_records
from models.manifest import WeightsMissingError
from training.pictures import Confusion, confusion_matrices
from training.router.examples import Examples, read_examples
from training.router.out_of_fold import FieldReport, report_all

DEFAULT_DATA = Path(__file__).parents[2] / "shared/data/crag/questions_split0.jsonl"
BATCH_SIZE = 16
Tables = dict[str, NDArray[np.float64]]
"""Probabilities by field, shape (questions, classes)."""


class OutOfFold(NamedTuple):
    """The fold of each question and its cross-validated probabilities, in the order of the data."""

    fold: NDArray[np.int64]
    probabilities: Tables


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the exit code is 0, or 2 where a file cannot be used."""
    parser = argparse.ArgumentParser(description="accuracy, macro-F1 and calibration of the routes, beside a baseline")
    parser.add_argument("--out-of-fold", type=Path, required=True, help="out_of_fold.jsonl of a training run")
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="the questions it was trained on")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the confusion matrices into this file")
    parser.add_argument("--classifier", default="cpu", help="whose time is taken (default: cpu)")
    options = parser.parse_args(arguments)
    try:
        examples, ours = matched(options.data, options.out_of_fold)
        reports = report_all(ours.probabilities, examples.classes)
        print(table(reports, report_all(baseline(examples, ours.fold), examples.classes)))
        print(f"\n{milliseconds(options.classifier, examples.texts):.1f} ms per question in batches of {BATCH_SIZE}")
    except (DatasetError, SettingsError, WeightsMissingError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.picture:
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        confusion_matrices(
            options.picture, [Confusion(name, one.labels, one.confusion) for name, one in reports.items()]
        )
        print(f"wrote {options.picture}")
    return 0


def matched(data: Path, out_of_fold: Path) -> tuple[Examples, OutOfFold]:
    """The questions and their cross-validated probabilities, which must be of the same questions.

    Raises:
        DatasetError: a file cannot be read, or the two do not belong together.
    """
    rows = [record.data for record in read_records(out_of_fold)]
    try:
        fields = list(rows[0]["route"])
        examples = read_examples(data, fields)
        if [row["interaction_id"] for row in rows] != list(examples.identifiers):
            raise DatasetError(f"{out_of_fold} is not of the questions of {data}")
        tables = {
            field: np.array(
                [[row["route"][field]["probabilities"][name] for name in FIELD_CLASSES[field]] for row in rows]
            )
            for field in fields
        }
        return examples, OutOfFold(np.array([row["fold"] for row in rows]), tables)
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
    for batch in _batches(texts):
        classifier.probabilities(batch)
    return 1000 * (time.perf_counter() - started) / len(texts)


def _batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    return (texts[start : start + BATCH_SIZE] for start in range(0, len(texts), BATCH_SIZE))


def table(ours: Mapping[str, FieldReport], plain: Mapping[str, FieldReport]) -> str:
    """One line per field: accuracy, macro-F1 and calibration error, those of the baseline behind."""
    lines = [
        f"{'cross-validated':20}{'accuracy':>10}{'macro-F1':>10}{'ECE':>8}{'baseline':>12}{'macro-F1':>10}{'ECE':>8}"
    ]
    for name, report in ours.items():
        cells = [
            f"{one.accuracy:>{width}.3f}{one.macro_f1:>10.3f}{one.expected_calibration_error:>8.3f}"
            for one, width in ((report, 10), (plain[name], 12))
        ]
        lines.append(f"{name:20}{''.join(cells)}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
