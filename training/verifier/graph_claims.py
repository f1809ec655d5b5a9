"""Claims about the knowledge graph: questions with the results of right and wrong programs."""

import json
from collections.abc import Iterator, Sequence
from random import Random

from agents.answering.claims import claim, graph_evidence
from agents.kg.trainable import Program, Task, render
from agents.queries import parse_query_time
from training.api_pairs import Bench, Executed, Pair
from training.verifier.claims import Claim
from training.verifier.wrong_programs import names_of, wrong_programs

SAID_VALUES = 4
"""How many values stand for an answer that rules cannot derive."""


def graph_claims(pairs: Sequence[Pair], bench: Bench, graphs: int, seed: int) -> Iterator[Claim]:
    """Right claims from the pairs as they are, wrong ones from changed programs whose answers differ."""
    rng = Random(seed)  # noqa: S311 - reproducible chance
    asked = [pair for pair in pairs if pair.program.statements and pair.facts]
    names = names_of([(pair.domain, pair.program) for pair in asked])
    right, wrong = [], []
    for pair in asked:
        right.append((pair, "right", pair.program))
        for change, programs in wrong_programs(pair.domain, pair.program, names, rng).items():
            wrong += [(pair, change, program) for program in programs]
    done = _executed([*right, *wrong], bench, graphs)
    said = {
        pair.query: _answer(pair, program, found).casefold()
        for pair, change, program, found in done
        if change == "right"
    }
    for pair, change, program, found in done:
        answer = _answer(pair, program, found)
        if change != "right" and answer.casefold() == said.get(pair.query):
            continue
        day = parse_query_time(pair.query_time)
        evidence = graph_evidence(render(program).split("\n"), found.facts)
        text = claim(pair.query, f"{day:%Y-%m-%d}" if day else "", answer, evidence)
        yield Claim(text, change == "right", f"graph {change}", _group(pair))


def _executed(
    asked: Sequence[tuple[Pair, str, Program]], bench: Bench, graphs: int
) -> list[tuple[Pair, str, Program, Executed]]:
    """Programs with their results on the first graph where they find something; others are left out."""
    left, kept = list(asked), []
    for graph in range(graphs):
        tasks = [Task(pair.domain, program, parse_query_time(pair.query_time)) for pair, _, program in left]
        rest = []
        for (pair, change, program), done in zip(left, bench.run(tasks, graph, attempts=1), strict=True):
            if done.found and done.facts:
                kept.append((pair, change, program, done))
            else:
                rest.append((pair, change, program))
        left = rest
    return kept


def _answer(pair: Pair, program: Program, done: Executed) -> str:
    derived = done.answer(pair.query, pair.domain, program, parse_query_time(pair.query_time))
    return derived or ", ".join(str(value) for value in done.values[:SAID_VALUES])


def _group(pair: Pair) -> str:
    """What the question asks of which tables: one group for all questions of a template."""
    calls = [(getattr(s, "table", "sort"), getattr(s, "select", None)) for s in pair.program.statements]
    return json.dumps([str(pair.domain), calls])
