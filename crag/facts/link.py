"""Links a mention to entities of the tables: exact, then substring, then similarity (db3 section 2.3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from crag.core.deadline import Deadline
from crag.engines.encoders.base import DenseEncoder, Vectors
from crag.facts.mentions import Mention
from crag.facts.tables import Entity
from crag.settings import LinkSettings
from crag.text.matching import plain_name, spellings, without_article

MINIMUM_COVERAGE = 0.4
"""The shorter of two names that contain each other must have at least this share of the longer one's length."""
MINIMUM_SUBSTRING = 4
"""Shorter texts are part of too many names."""


class Link(NamedTuple):
    """A candidate entity of a mention; `score`: 1 if exact, the shared part of a substring, or the cosine."""

    entity: Entity
    score: float


class _Names:
    """The names of one domain's entities: `owners` by every form, `texts` in one form each for the looser levels."""

    def __init__(self, settings: LinkSettings) -> None:
        self.settings = settings
        self.owners: dict[str, list[Entity]] = defaultdict(list)
        self.texts: dict[str, None] = {}
        self.vectors: Vectors = np.empty((0, 0), np.float32)

    def add(self, entity: Entity) -> None:
        self.texts |= dict.fromkeys(filter(None, (without_article(plain_name(name)) for name in entity.names)))
        for form in set().union(*map(spellings, entity.names)):
            self.owners[form].append(entity)

    def by_spelling(self, mention: str) -> list[Link]:
        """Entities whose names are exactly the mention, else those whose names contain it or are part of it."""
        if exact := [(form, 1.0) for form in sorted(spellings(mention)) if form in self.owners]:
            return self._links(exact)
        if self.settings.level == "exact":
            return []
        text = without_article(plain_name(mention))
        close = [(name, score) for name in self.texts if (score := _coverage(text, name)) >= MINIMUM_COVERAGE]
        return self._links(sorted(close, key=lambda pair: -pair[1]))

    def by_similarity(self, vector: Vectors) -> list[Link]:
        """The entities of the most similar name, if it is similar enough."""
        cosines = np.nan_to_num(self.vectors @ vector, nan=-1.0)
        best = int(np.argmax(cosines))
        if cosines[best] < self.settings.minimum_similarity:
            return []
        return self._links([(list(self.texts)[best], float(cosines[best]))])

    def _links(self, scored: Iterable[tuple[str, float]]) -> list[Link]:
        links: dict[int, Link] = {}
        for name, score in scored:
            for entity in self.owners[name]:
                links.setdefault(id(entity), Link(entity, score))
        return list(links.values())


class Linker:
    """Finds entities by name within a domain. `levels` sets the leniency by domain; other domains need exact names."""

    def __init__(
        self, entities: Iterable[Entity], levels: Mapping[str, LinkSettings], dense: DenseEncoder | None
    ) -> None:
        self._dense = dense
        self._names: dict[str, _Names] = {}
        for entity in entities:
            settings = levels.get(entity.domain, LinkSettings())
            self._names.setdefault(entity.domain, _Names(settings)).add(entity)

    def warm_up(self) -> None:
        """Encode the names of domains with level ``similarity``; without an encoder that level is skipped."""
        for names in self._names.values():
            if self._dense is not None and names.settings.level == "similarity" and not len(names.vectors):
                self._dense.warm_up()
                names.vectors, _ = self._dense.encode_passages(list(names.texts))

    def link(self, mentions: Sequence[Mention], deadline: Deadline) -> list[list[Link]]:
        """The entities of each mention at the strictest level that has any, best first; encodes in one call."""
        domains = [self._names.get(mention.domain) for mention in mentions]
        links = [
            names.by_spelling(mention.text) if names else [] for names, mention in zip(domains, mentions, strict=True)
        ]
        unlinked = [
            (place, names)
            for place, names in enumerate(domains)
            if names is not None and len(names.vectors) and not links[place]
        ]
        if self._dense is None or not unlinked or deadline.expired:
            return links
        texts = [without_article(plain_name(mentions[place].text)) for place, _ in unlinked]
        vectors, encoded = self._dense.encode_passages(texts, deadline)
        for (place, names), vector in zip(unlinked[:encoded], vectors, strict=False):
            links[place] = names.by_similarity(vector)
        return links


def _coverage(one: str, other: str) -> float:
    """The share of the longer name that the shorter one has; 0 unless one contains the words of the other in a row."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) / len(longer) if len(shorter) >= MINIMUM_SUBSTRING and f" {shorter} " in f" {longer} " else 0.0
