"""Sampled questions: shapes filled from a graph, worded, executed; those whose calls find something stay."""

import math
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from random import Random
from typing import TypeVar

from agents.kg.trainable import Domain, Program, Task, parse
from training.api_pairs.execution import Bench, Executed
from training.api_pairs.graph import Graph
from training.api_pairs.groups import company_names, groups_of
from training.api_pairs.pairs import Pair, normalised
from training.api_pairs.scenes import SCENES, Draw, Scene
from training.api_pairs.scenes.base import asking_time
from training.api_pairs.shape_files import Shape, load_shapes
from training.api_pairs.wording import FOLDER, Phraser, filled

ROUNDS = 14
"""Attempts to fill each shape's quota; what a graph cannot fill goes to the shapes that it can."""
_SHARE_OF_ONE = 0.01
_LEAST_ABOUT_ONE = 8
"""No entity may be what more questions are mainly about than this share, or this number where that is more."""
Name = TypeVar("Name")


class NothingSampledError(RuntimeError):
    """A graph gives nothing to ask about."""


@dataclass(frozen=True, slots=True)
class Shares:
    """How many of the sampled questions go to each domain, and how many of a domain's have no calls."""

    domain: dict[Domain, float]
    without_calls: dict[Domain, float]


@cache
def shares() -> Shares:
    """The shares of ``shapes/shares.toml``, learnt from real questions."""
    data = tomllib.loads((FOLDER / "shares.toml").read_text(encoding="utf-8"))
    return Shares(
        {Domain(name): share for name, share in data["domain"].items()},
        {Domain(name): share for name, share in data["without_calls"].items()},
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    shape: Shape
    query: str
    asked_at: datetime
    program: Program
    plain: Program | None
    groups: tuple[str, ...]
    graph: int

    def tasks(self) -> list[Task]:
        """The program, and the one with the plain names where it has others."""
        programs = [self.program, *([self.plain] if self.plain is not None else [])]
        return [Task(self.shape.domain, program, self.asked_at) for program in programs]


class Sampler:
    """Samples from some graphs, all of them alike; the same seed gives the same questions.

    Args:
        graphs: Where names come from; a domain that one of them lacks is sampled from the others.
        bench: Executors over these graphs, in their order.
        seed: The source of chance.
        taken: Questions that must not come again.
    """

    def __init__(self, graphs: Sequence[Graph], bench: Bench, seed: int, taken: Iterable[str] = ()) -> None:
        self._graphs = graphs
        self._bench = bench
        self._rng = Random(seed)  # noqa: S311 - chance that can be repeated
        self._phraser = Phraser(self._rng)
        self._companies = company_names(graphs)
        self._taken = set(taken)
        self._rows_about: Counter[str] = Counter()
        self._most_about_one = 0

    def sample(self, count: int) -> list[Pair]:
        """About `count` questions of all domains, in random order; fewer where the graphs give no more.

        Raises:
            NothingSampledError: not one program found anything.
        """
        self._most_about_one = max(_LEAST_ABOUT_ONE, round(count * _SHARE_OF_ONE))
        found: list[Pair] = []
        for domain, quota in _allotted(shares().domain, count).items():
            without = round(quota * shares().without_calls[domain])
            with_calls = [shape for shape in load_shapes(domain) if shape.source == "synthetic"]
            others = [shape for shape in load_shapes(domain) if shape.source != "synthetic"]
            found += self._fill(with_calls, quota - without)
            found += self._fill(others, without)
        if count and not any(pair.values for pair in found):
            raise NothingSampledError("no sampled program found anything in the graph")
        self._rng.shuffle(found)
        return found

    def _fill(self, shapes: Sequence[Shape], count: int) -> list[Pair]:
        """Pairs of the shapes by their weights; a quota that cannot be filled goes to the shapes that can."""
        found: dict[str, list[Pair]] = {shape.name: [] for shape in shapes}
        quotas = _allotted({shape: shape.weight for shape in shapes}, count)
        for round_number in range(ROUNDS):
            missing = {shape: quota - len(found[shape.name]) for shape, quota in quotas.items()}
            missing = {shape: number for shape, number in missing.items() if number > 0}
            if not missing:
                break
            if round_number == ROUNDS // 2:
                rest = sum(missing.values())
                fertile = {shape: shape.weight for shape in shapes if shape not in missing}
                extra = _allotted(fertile, rest)
                quotas = {shape: len(found[shape.name]) + extra.get(shape, 0) for shape in shapes}
                missing = {shape: number for shape, number in extra.items() if number > 0}
            wanted = [shape for shape, number in missing.items() for _ in range(number)]
            for pair, shape in self._attempt(wanted):
                if len(found[shape.name]) < quotas[shape]:
                    found[shape.name].append(pair)
                    self._taken.add(pair.key)
        return [pair for pairs in found.values() for pair in pairs]

    def _attempt(self, wanted: Sequence[Shape]) -> list[tuple[Pair, Shape]]:
        candidates = [made for shape in wanted if (made := self._candidate(shape)) is not None]
        kept: list[tuple[Pair, Shape]] = []
        fresh = set(self._taken)
        executed = self._executed(candidates)
        for place, candidate in enumerate(candidates):
            outcome = executed.get(place)
            key = normalised(candidate.query)
            if outcome is None or key in fresh or self._rows_about[candidate.groups[0]] >= self._most_about_one:
                continue
            fresh.add(key)
            self._rows_about[candidate.groups[0]] += 1
            kept.append((_pair(candidate, outcome), candidate.shape))
        return kept

    def _executed(self, candidates: Sequence[_Candidate]) -> dict[int, Executed]:
        """What the programs that found something gave, by the candidates' places."""
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

    def _candidate(self, shape: Shape) -> _Candidate | None:
        sizes = [math.sqrt(graph.size(shape.domain)) for graph in self._graphs]
        if not any(sizes):
            return None
        (graph,) = self._rng.choices(range(len(sizes)), sizes)
        scene = SCENES[shape.about](Draw(self._graphs[graph], self._rng, shape.has))
        if scene is None:
            return None
        program = parse(filled(shape.calls, scene.gaps), shape.domain)
        query = self._phraser.question(shape.wordings, scene.gaps)
        asked_at = scene.asked_at or asking_time(shape.domain, self._rng)
        return _Candidate(
            shape, query, asked_at, program, _plain(shape, scene), self._groups(shape, scene, query), graph
        )

    def _groups(self, shape: Shape, scene: Scene, query: str) -> tuple[str, ...]:
        """What the calls are about or, without calls, the entities in the question, or the question itself."""
        program = _plain(shape, scene) or parse(filled(shape.calls, scene.gaps), shape.domain)
        spoken = tuple(name for gap, name in scene.names.items() if scene.gaps[gap].asked in query)
        return groups_of(shape.domain, program, self._companies) or spoken or (query,)


def _plain(shape: Shape, scene: Scene) -> Program | None:
    if not scene.plain or shape.calls == "None":
        return None
    gaps = scene.gaps | {gap: scene.gaps[gap]._replace(called=name) for gap, name in scene.plain.items()}
    return parse(filled(shape.calls, gaps), shape.domain)


def _sound(said: Sequence[Executed]) -> bool:
    """All found something, and a name spelled otherwise led to the same."""
    return all(one.found for one in said) and len({one.values for one in said}) == 1


def _pair(candidate: _Candidate, outcome: Executed) -> Pair:
    domain = candidate.shape.domain
    answer = outcome.answer(candidate.query, domain, candidate.program, candidate.asked_at) if outcome.results else None
    return Pair(
        query=candidate.query,
        query_time=written_time(candidate.asked_at),
        domain=domain,
        program=candidate.program,
        source=candidate.shape.source,
        groups=candidate.groups,
        facts=outcome.facts,
        direct_answer=answer,
        values=outcome.values,
    )


def written_time(asked_at: datetime) -> str:
    """A moment as CRAG writes it.

    >>> written_time(datetime(2024, 3, 5, 23, 17, 7))
    '03/05/2024, 23:17:07 PT'
    """
    return f"{asked_at:%m/%d/%Y, %H:%M:%S} PT"


def _allotted(weights: Mapping[Name, float], count: int) -> dict[Name, int]:
    """Whole numbers that sum up to `count`, in proportion to the weights."""
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    exact = {name: count * weight / total for name, weight in weights.items()}
    whole = {name: int(share) for name, share in exact.items()}
    by_rest = sorted(weights, key=lambda name: whole[name] - exact[name])
    for name in by_rest[: count - sum(whole.values())]:
        whole[name] += 1
    return whole
