"""Links a mention to entities of the tables: exact, then substring, then similarity (db3 section 2.3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agents.common.deadline import Deadline
from agents.encoders.base import DenseEncoder, Vectors
from agents.matching import plain_name, spellings, without_article
from agents.public_data.entity import Entity
from agents.public_data.mentions import Mention
from agents.settings import LinkLevel, LinkSettings

MINIMUM_COVERAGE = 0.4
"""The shorter of two names that contain each other must have at least this share of the longer one's length."""
MINIMUM_SUBSTRING = 4
"""Shorter texts are part of too many names."""


@dataclass(frozen=True, slots=True)
class Link:
    """A candidate entity of a mention; `score`: 1 if exact, the shared part of a substring, or the cosine."""

    entity: Entity
    level: LinkLevel
    score: float


class _Names:
    """The names of one domain's entities: `owners` by every form, `texts` in one form each for the looser levels."""

    def __init__(self, entities: Iterable[tuple[int, Entity]]) -> None:
        owners: dict[str, list[int]] = defaultdict(list)
        texts: dict[str, None] = {}
        for place, entity in entities:
            texts |= dict.fromkeys(without_article(plain_name(name)) for name in entity.names)
            for form in set().union(*map(spellings, entity.names)):
                owners[form].append(place)
        self.owners: Mapping[str, list[int]] = owners
        self.texts = [text for text in texts if text]
        self.vectors: Vectors | None = None


class Linker:
    """Finds entities by name within a domain. `levels` sets the leniency by domain; other domains need exact names."""

    def __init__(
        self, entities: Sequence[Entity], levels: Mapping[str, LinkSettings], dense: DenseEncoder | None
    ) -> None:
        self._entities = entities
        self._levels = levels
        self._dense = dense
        by_domain: dict[str, list[tuple[int, Entity]]] = defaultdict(list)
        for place, entity in enumerate(entities):
            by_domain[entity.domain].append((place, entity))
        self._names = {domain: _Names(own) for domain, own in by_domain.items()}

    def warm_up(self) -> None:
        """Encode the names of domains with level ``similarity``; without an encoder that level is skipped."""
        if self._dense is None:
            return
        for domain, names in self._names.items():
            if self._level(domain).level == "similarity" and names.vectors is None:
                self._dense.warm_up()
                names.vectors, _ = self._dense.encode_passages(names.texts)

    def link(self, mentions: Sequence[Mention], deadline: Deadline) -> list[list[Link]]:
        """The entities of each mention at the strictest level that has any, best first; encodes in one call."""
        found = [self._by_spelling(mention) for mention in mentions]
        open_places = [
            place
            for place, mention in enumerate(mentions)
            if not found[place] and mention.domain in self._names and self._names[mention.domain].vectors is not None
        ]
        if self._dense is None or not open_places or deadline.expired:
            return found
        texts = [without_article(plain_name(mentions[place].text)) for place in open_places]
        vectors, encoded = self._dense.encode_passages(texts, deadline)
        for row, place in enumerate(open_places[:encoded]):
            found[place] = self._by_similarity(mentions[place].domain, vectors[row])
        return found

    def _level(self, domain: str) -> LinkSettings:
        return self._levels.get(domain, LinkSettings())

    def _by_spelling(self, mention: Mention) -> list[Link]:
        names = self._names.get(mention.domain)
        if names is None:
            return []
        forms = spellings(mention.text)
        exact = [(form, 1.0) for form in sorted(forms) if form in names.owners]
        if exact:
            return self._links(exact, names, "exact")
        if self._level(mention.domain).level == "exact":
            return []
        text = without_article(plain_name(mention.text))
        inside = [(name, _coverage(text, name)) for name in names.texts if _holds(text, name) or _holds(name, text)]
        close = [(name, score) for name, score in inside if score >= MINIMUM_COVERAGE]
        return self._links(sorted(close, key=lambda pair: -pair[1]), names, "substring")

    def _by_similarity(self, domain: str, vector: Vectors) -> list[Link]:
        names = self._names[domain]
        if names.vectors is None:
            return []
        cosines = np.nan_to_num(names.vectors @ vector, nan=-1.0)
        best = int(np.argmax(cosines))
        if cosines[best] < self._level(domain).minimum_similarity:
            return []
        return self._links([(names.texts[best], float(cosines[best]))], names, "similarity")

    def _links(self, scored: Iterable[tuple[str, float]], names: _Names, level: LinkLevel) -> list[Link]:
        links: dict[int, Link] = {}
        for name, score in scored:
            for place in names.owners[name]:
                links.setdefault(place, Link(self._entities[place], level, score))
        return list(links.values())


def _coverage(one: str, other: str) -> float:
    return min(len(one), len(other)) / max(len(one), len(other))


def _holds(outer: str, inner: str) -> bool:
    """Whether one name contains the words of the other in a row."""
    return len(inner) >= MINIMUM_SUBSTRING and f" {inner} " in f" {outer} "
