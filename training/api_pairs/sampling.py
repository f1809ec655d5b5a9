"""Samples questions: fills templates from a graph, words and executes them, keeps those that find something."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random
from typing import TypeVar

from agents.kg.trainable import Domain, Program, Task, parse
from training.api_pairs.execution import Bench, Executed
from training.api_pairs.fillers import FILLERS, Draw, Filling, NothingToDrawError, asking_time
from training.api_pairs.graph import Graph
from training.api_pairs.groups import company_names, groups_of
from training.api_pairs.pairs import Pair, normalised
from training.api_pairs.templates import Phraser, Template, filled, load_templates, shares
from training.command import CommandError

ROUNDS = 14
"""Attempts to fill each template's quota; the rest goes to templates that the graph can fill."""
_SHARE_OF_ONE = 0.01
_LEAST_ABOUT_ONE = 8
"""The most questions about one main entity: this share, or this number if it is larger."""
Name = TypeVar("Name")


@dataclass(frozen=True, slots=True)
class _Candidate:
    template: Template
    query: str
    asked_at: datetime
    program: Program
    plain: Program | None
    groups: tuple[str, ...]
    graph: int

    def tasks(self) -> list[Task]:
        """The program, and its version with plain names if there is one."""
        programs = [self.program, *([self.plain] if self.plain is not None else [])]
        return [Task(self.template.domain, program, self.asked_at) for program in programs]


class Sampler:
    """Samples from several graphs; the same seed gives the same questions.

    Args:
        graphs: Sources of names; a domain that one of them lacks is sampled from the others.
        bench: Executors for these graphs, in their order.
        seed: Random seed.
        taken: Keys of questions to leave out.
    """

    def __init__(self, graphs: Sequence[Graph], bench: Bench, seed: int, taken: Iterable[str] = ()) -> None:
        self._graphs = graphs
        self._bench = bench
        self._rng = Random(seed)  # noqa: S311 - reproducible chance
        self._phraser = Phraser(self._rng)
        self._companies = company_names(graphs)
        self._taken = set(taken)
        self._rows_about: Counter[str] = Counter()
        self._most_about_one = 0

    def sample(self, count: int) -> list[Pair]:
        """About `count` questions of all domains, in random order; fewer if the graphs have too little.

        Raises:
            CommandError: no program found anything.
        """
        self._most_about_one = max(_LEAST_ABOUT_ONE, round(count * _SHARE_OF_ONE))
        found: list[Pair] = []
        for domain, quota in _allotted(shares()["domain"], count).items():
            without = round(quota * shares()["without_calls"][domain])
            templates = load_templates(Domain(domain))
            with_calls = [template for template in templates if template.source == "synthetic"]
            others = [template for template in templates if template.source != "synthetic"]
            found += self._fill(with_calls, quota - without)
            found += self._fill(others, without)
        if count and not any(pair.values for pair in found):
            raise CommandError("no sampled program found anything in the graph")
        self._rng.shuffle(found)
        return found

    def _fill(self, templates: Sequence[Template], count: int) -> list[Pair]:
        """Pairs of the templates by weight; unfilled quotas go to templates that can be filled."""
        found: dict[str, list[Pair]] = {template.name: [] for template in templates}
        quotas = _allotted({template: template.weight for template in templates}, count)
        for round_number in range(ROUNDS):
            missing = {template: quota - len(found[template.name]) for template, quota in quotas.items()}
            missing = {template: number for template, number in missing.items() if number > 0}
            if not missing:
                break
            if round_number == ROUNDS // 2:
                fertile = {template: template.weight for template in templates if template not in missing}
                extra = _allotted(fertile, sum(missing.values()))
                quotas = {template: len(found[template.name]) + extra.get(template, 0) for template in templates}
                missing = {template: number for template, number in extra.items() if number > 0}
            wanted = [template for template, number in missing.items() for _ in range(number)]
            for pair, template in self._attempt(wanted):
                if len(found[template.name]) < quotas[template]:
                    found[template.name].append(pair)
                    self._taken.add(pair.key)
        return [pair for pairs in found.values() for pair in pairs]

    def _attempt(self, wanted: Sequence[Template]) -> list[tuple[Pair, Template]]:
        candidates = [made for template in wanted if (made := self._candidate(template)) is not None]
        kept: list[tuple[Pair, Template]] = []
        fresh = set(self._taken)
        executed = self._executed(candidates)
        for place, candidate in enumerate(candidates):
            outcome = executed.get(place)
            key = normalised(candidate.query)
            if outcome is None or key in fresh or self._rows_about[candidate.groups[0]] >= self._most_about_one:
                continue
            fresh.add(key)
            self._rows_about[candidate.groups[0]] += 1
            kept.append((_pair(candidate, outcome), candidate.template))
        return kept

    def _executed(self, candidates: Sequence[_Candidate]) -> dict[int, Executed]:
        """Results of the programs that found something, by the candidates' places."""
        found: dict[int, Executed] = {}
        for graph in range(len(self._graphs)):
            places = [place for place, one in enumerate(candidates) if one.graph == graph]
            found |= {place: Executed(()) for place in places if not candidates[place].program.statements}
            asking = [(place, task) for place in places if place not in found for task in candidates[place].tasks()]
            results = self._bench.run([task for _, task in asking], graph)
            each: dict[int, list[Executed]] = {}
            for (place, _), result in zip(asking, results, strict=True):
                each.setdefault(place, []).append(result)
            found |= {place: said[0] for place, said in each.items() if _sound(said)}
        return found

    def _candidate(self, template: Template) -> _Candidate | None:
        sizes = [math.sqrt(graph.size(template.domain)) for graph in self._graphs]
        if not any(sizes):
            return None
        (graph,) = self._rng.choices(range(len(sizes)), sizes)
        try:
            filling = FILLERS[template.about](Draw(self._graphs[graph], self._rng, template.has))
        except NothingToDrawError:
            return None
        program = parse(filled(template.calls, filling.gaps), template.domain)
        plain = _plain(template, filling)
        query = self._phraser.question(template.wordings, filling.gaps)
        asked_at = filling.asked_at or asking_time(template.domain, self._rng)
        # Without calls, the groups are the entities in the question, or the question itself.
        spoken = tuple(name for gap, name in filling.names.items() if filling.gaps[gap].asked in query)
        groups = groups_of(template.domain, plain or program, self._companies) or spoken or (query,)
        return _Candidate(template, query, asked_at, program, plain, groups, graph)


def _plain(template: Template, filling: Filling) -> Program | None:
    if not filling.plain or template.calls == "None":
        return None
    gaps = filling.gaps | {gap: filling.gaps[gap]._replace(called=name) for gap, name in filling.plain.items()}
    return parse(filled(template.calls, gaps), template.domain)


def _sound(said: Sequence[Executed]) -> bool:
    """Whether all found something, and other spellings gave the same values."""
    return all(one.found for one in said) and len({one.values for one in said}) == 1


def _pair(candidate: _Candidate, outcome: Executed) -> Pair:
    domain = candidate.template.domain
    answer = outcome.answer(candidate.query, domain, candidate.program, candidate.asked_at) if outcome.results else None
    return Pair(
        query=candidate.query,
        query_time=written_time(candidate.asked_at),
        domain=domain,
        program=candidate.program,
        source=candidate.template.source,
        groups=candidate.groups,
        facts=outcome.facts,
        direct_answer=answer,
        values=outcome.values,
    )


def written_time(asked_at: datetime) -> str:
    """A time in CRAG's format.

    >>> written_time(datetime(2024, 3, 5, 23, 17, 7))
    '03/05/2024, 23:17:07 PT'
    """
    return f"{asked_at:%m/%d/%Y, %H:%M:%S} PT"


def _allotted(weights: Mapping[Name, float], count: int) -> dict[Name, int]:
    """Whole numbers in proportion to the weights, with the sum `count`."""
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    exact = {name: count * weight / total for name, weight in weights.items()}
    whole = {name: int(share) for name, share in exact.items()}
    by_rest = sorted(weights, key=lambda name: whole[name] - exact[name])
    for name in by_rest[: count - sum(whole.values())]:
        whole[name] += 1
    return whole
