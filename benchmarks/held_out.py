"""Which questions an adapter never saw: the fold that its training held out, and what each question is about."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents.llm.trainable import adapter_folder
from agents.settings import LanguageModelSettings
from evaluation.datasets import DatasetError, Record, read_records
from training.api_pairs.pairs import REAL
from training.folds import Fold, held_out_fold, is_tested, may_train, parse_fold, spelling
from training.run_card import CARD_FILE


def fold_argument(text: str) -> Fold | None:
    """The type of an argument: ``1/2``, or ``all``, which is None."""
    return None if text == "all" else parse_fold(text)


def check_held_out(engine: LanguageModelSettings, adapter: str | None, fold: Fold | None) -> None:
    """Refuse to test a fold with an adapter whose run card (`training.lora`) does not say that it was held out.

    Args:
        engine: The engine with its adapters.
        adapter: The name of the one that is used; None: the base model.
        fold: None: all questions are asked, and nobody claims that they are unseen.

    Raises:
        DatasetError: another fold was held out, or none, or there is no card.
        WeightsMissingError: there is no such adapter.
    """
    if fold is None or adapter is None:
        return
    card = adapter_folder(engine.adapters[adapter]) / CARD_FILE
    if not card.is_file():
        raise DatasetError(f"{card} is missing, so that nobody knows whether the adapter has seen fold {fold}")
    held_out = held_out_fold(json.loads(card.read_text(encoding="utf-8"))["settings"])
    if held_out != fold:
        raise DatasetError(
            f"{card}: the training held out {f'fold {held_out}' if held_out else 'nothing'}, so that the adapter may "
            f"have learnt from what fold {fold} tests"
        )


class Pairs(NamedTuple):
    """What `training.api_pairs` wrote, as far as folds need it."""

    of_questions: Mapping[str, tuple[str, ...]]
    """Real question -> what it is about, most important first."""
    all_groups: frozenset[tuple[str, ...]]
    """Of every row, real or not."""


def read_pairs(paths: Sequence[Path]) -> Pairs:
    """The groups of files of pairs.

    Raises:
        DatasetError: a row lacks its groups or a real one its query, or two rows of one question contradict each other.
    """
    of_questions: dict[str, tuple[str, ...]] = {}
    found: set[tuple[str, ...]] = set()
    for record in (record for path in paths for record in read_records(path)):
        groups = _groups_of(record)
        found.add(groups)
        if record.data.get("source") != REAL:
            continue
        query = record.data.get("query")
        if not isinstance(query, str):
            raise DatasetError(f'{record.place}: field "query" must be the text of the real question, found {query!r}')
        if of_questions.setdefault(query, groups) != groups:
            raise DatasetError(f'{record.place}: field "groups": another row of {query!r} has other groups')
    return Pairs(of_questions, frozenset(found))


def _groups_of(record: Record) -> tuple[str, ...]:
    groups = record.data.get("groups")
    if not (isinstance(groups, list) and all(isinstance(group, str) for group in groups)):
        raise DatasetError(f'{record.place}: field "groups" must be a list of texts, found {groups!r}')
    return tuple(groups)


def tested_in(rows: Sequence[dict[str, Any]], pairs: Pairs, fold: Fold | None) -> list[dict[str, Any]]:
    """The questions (rows with `query`) that the fold tests, each with its `groups`; None: those of all folds."""
    known = [row | {"groups": pairs.of_questions[row["query"]]} for row in rows if row["query"] in pairs.of_questions]
    return [row for row in known if row["groups"] and (fold is None or is_tested(row["groups"], fold))]


def unseen(rows: Sequence[dict[str, Any]], pairs: Pairs, fold: Fold) -> list[dict[str, Any]]:
    """The questions whose entities are in no training row of that fold.

    A question about two things is tested in the fold of the first; of the second there may be rows in the training.
    """
    learnt = {spelling(group) for groups in pairs.all_groups if may_train(groups, fold) for group in groups}
    return [row for row in rows if learnt.isdisjoint(map(spelling, row["groups"]))]
