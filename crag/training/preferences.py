"""Pairs of answers to learn preferences from: right over "i don't know" over wrong.

The order is CRAG's score and TruthRL's reward (https://arxiv.org/abs/2509.25760): 1, 0, -1. `crag train lora` teaches
one answer to each prompt; these pairs also teach which of the model's answers should not have been given.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from crag.core.contracts import I_DONT_KNOW
from crag.core.files import DatasetError
from crag.evaluation.judge import Verdict
from crag.evaluation.split import Split
from crag.settings import Settings
from crag.training.files import TrainingExample, read_examples_of_kind
from crag.training.folds import normalise_spelling
from crag.training.labels.basic_answers import Branch
from crag.training.prompts import Label, read_labels

RIGHT_OVER_SILENT = "right over silent"
SILENT_OVER_WRONG = "silent over wrong"
RIGHT_OVER_WRONG = "right over wrong"


class Sample(NamedTuple):
    """One of the model's answers to a prompt, and its verdict."""

    answer: str
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class SampledLabel(Label):
    """A row of `crag train labels` with all answers to its prompt."""

    branch: Branch
    samples: tuple[Sample, ...]


@dataclass(frozen=True, kw_only=True)
class PreferencePair(TrainingExample):
    """A prompt with a preferred answer, its `completion`, and a `rejected` one. `source` is the kind of the pair."""

    rejected: str

    def to_row(self) -> dict[str, Any]:
        """A line of the file."""
        return {**super().to_row(), "rejected": self.rejected}


def read_pairs_of_answers(path: Path, split: Split | None = None) -> list[PreferencePair]:
    """Read the file; raises DatasetError, also for a pair of two equal answers, which teaches nothing."""
    pairs = read_examples_of_kind(PreferencePair, path, split)
    for pair in pairs:
        if _without_full_stop(pair.completion) == _without_full_stop(pair.rejected):
            raise DatasetError(f'{pair.place}: "completion" and "rejected" are the same answer')
    return pairs


def build_preferences(path: Path, settings: Settings, task: str, split: Split | None = None) -> list[PreferencePair]:
    """The pairs of all rows of `crag train labels`, in the prompts of the preset's answerer.

    Raises DatasetError: a row is not a label with samples, or no row gives a pair.
    """
    pairs: list[PreferencePair] = []
    for label in read_labels(SampledLabel, path, settings, task, split):
        pairs += pairs_of(label)
    if not pairs:
        raise DatasetError(f"{path}: no pair of answers: every sample is {I_DONT_KNOW!r}, and so is every label")
    return pairs


def pairs_of(label: SampledLabel) -> Iterator[PreferencePair]:
    """The pairs of one prompt.

    Each sample is compared with "i don't know": a right one is preferred to it, a wrong one is not. So a prompt whose
    samples are mostly right gives more pairs for answering, and one whose samples are mostly wrong more for silence:
    the model learns to answer where it is right more often than wrong, which is where answering pays. Right and wrong
    samples are also paired with each other. Where no sample is right and the label has an answer, the label counts as
    one right sample.

    Example: two right samples, one wrong: right over silent twice, silent over wrong once, right over wrong once.
    """
    right = [sample.answer for sample in label.samples if sample.verdict is Verdict.CORRECT]
    wrong = [sample.answer for sample in label.samples if sample.verdict is Verdict.INCORRECT]
    if not right and label.branch is not Branch.NOT_IN_CONTEXT:
        right = [label.completion]

    for answer in right:
        yield from _pair(label, answer, I_DONT_KNOW, RIGHT_OVER_SILENT)
    for answer in wrong:
        yield from _pair(label, I_DONT_KNOW, answer, SILENT_OVER_WRONG)
    for better, worse in zip(right, wrong, strict=False):
        yield from _pair(label, better, worse, RIGHT_OVER_WRONG)


def count_kinds(pairs: Sequence[PreferencePair]) -> dict[str, int]:
    """Kind of pair -> their number, the most frequent first."""
    return dict(Counter(pair.source for pair in pairs).most_common())


def _pair(label: SampledLabel, better: str, worse: str, kind: str) -> Iterator[PreferencePair]:
    """A pair in the label's prompt; none if the answers differ in case, blanks or a full stop at most."""
    if _without_full_stop(better) == _without_full_stop(worse):
        return
    yield PreferencePair(
        completion=better,
        rejected=worse,
        messages=label.messages,
        prompt=label.prompt,
        groups=label.groups,
        source=kind,
        query=label.query,
        answers=label.answers,
        split=label.split,
    )


def _without_full_stop(answer: str) -> str:
    return normalise_spelling(answer).rstrip(".")
