"""Labelled questions: the real ones with their gold calls, and the bank of the writer's examples."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

from agents.common.queries import parse_query_time
from agents.kg.trainable import Task, load_bank
from evaluation.datasets import Record, Split, read_records
from training.api_pairs.example_style import example_style
from training.api_pairs.execution import Bench
from training.api_pairs.fillers import asking_time
from training.api_pairs.groups import CompanyNames, groups_of
from training.api_pairs.pairs import REAL, Pair, read_pair
from training.api_pairs.sampling import written_time


def real_pairs(
    path: Path,
    bench: Bench,
    names: CompanyNames,
    *,
    rewritten: bool = False,
    split: Split | None = None,
    limit: int | None = None,
) -> list[Pair]:
    """The labelled real questions, executed on the first graph.

    Args:
        path: Rows with query, query_time, domain and calls; optional: frame, kg_values, answer and alt_ans.
        bench: Executors.
        names: Tickers of company names.
        split: Skip questions of other splits.
        limit: Most questions.
        rewritten: In the style of the examples if the values stay the same; see `training.api_pairs.example_style`.

    Raises:
        DatasetError: a field is missing, or labelled calls cannot be read.
    """
    records = list(read_records(path, limit, split))
    pairs = _executed([_real(record, names) for record in records], bench, graphs=1)
    return _rewritten(pairs, records, bench) if rewritten else pairs


def _rewritten(pairs: Sequence[Pair], records: Sequence[Record], bench: Bench) -> list[Pair]:
    others = []
    for pair, record in zip(pairs, records, strict=True):
        frame = record.data.get("frame") or {}
        asked_at = parse_query_time(pair.query_time)
        others.append(replace(pair, program=example_style(pair.domain, pair.program, pair.query, asked_at, frame)))
    done = _executed([replace(other, values=()) for other in others], bench, graphs=1)
    return [
        new if _same(new, old, record.data.get("kg_values") or ()) else old
        for old, new, record in zip(pairs, done, records, strict=True)
    ]


def _same(new: Pair, old: Pair, labelled: object) -> bool:
    """Whether the rewritten calls give the same values as the labelled ones, or the same reasons for none."""
    if not new.values:
        return not old.values and [fact.text for fact in new.facts] == [fact.text for fact in old.facts]
    return new.values == old.values or _plain(new.values) == _plain(labelled)


def _plain(values: object) -> list[str]:
    """Values in one list, comparable; nested ones flattened."""
    if isinstance(values, list | tuple):
        return sorted(plain for value in values for plain in _plain(value))
    return [f"{values:g}" if isinstance(values, int | float) else str(values).casefold()]


def bank_version() -> str:
    """Number of examples in the bank, and 12 hexadecimal digits of their hash: ``120@0f...``."""
    bank = load_bank()
    plain = "".join(f"{example.domain}\0{example.question}\0{example.calls}\0" for example in bank)
    return f"{len(bank)}@{hashlib.sha256(plain.encode()).hexdigest()[:12]}"


def bank_pairs(bench: Bench, graphs: int, seed: int, names: CompanyNames) -> list[Pair]:
    """The handwritten examples, executed on the first graph that answers them."""
    rng = Random(seed)  # noqa: S311 - reproducible chance
    pairs = [
        Pair(
            query=example.question,
            query_time=written_time(asking_time(example.domain, rng)),
            domain=example.domain,
            program=example.program,
            source="bank",
            groups=groups_of(example.domain, example.program, names) or (example.question,),
        )
        for example in load_bank()
    ]
    return _executed(pairs, bench, graphs)


def _real(record: Record, names: CompanyNames) -> Pair:
    """The pair before its calls are executed."""
    gold = {"answer": record.data.get("answer"), "alt_ans": [str(text) for text in record.data.get("alt_ans") or ()]}
    pair = read_pair(record, source=REAL, groups=(), facts=(), direct_answer=None, values=(), **gold)
    entities = (record.data.get("frame") or {}).get("entities") or []
    groups = groups_of(pair.domain, pair.program, names) or tuple(map(str, entities)) or (pair.query,)
    return replace(pair, groups=groups)


def _executed(pairs: Sequence[Pair], bench: Bench, graphs: int) -> list[Pair]:
    done = list(pairs)
    for graph in range(graphs):
        places = [place for place, pair in enumerate(done) if pair.program.statements and not pair.values]
        tasks = [Task(done[p].domain, done[p].program, parse_query_time(done[p].query_time)) for p in places]
        for place, outcome in zip(places, bench.run(tasks, graph), strict=True):
            pair = done[place]
            if graph and not outcome.found:
                continue
            asked_at = parse_query_time(pair.query_time)
            said = outcome.answer(pair.query, pair.domain, pair.program, asked_at)
            done[place] = replace(pair, facts=outcome.facts, direct_answer=said, values=outcome.values)
    return done
