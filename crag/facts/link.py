"""Links a mention to entities of the tables: exact, then substring, then similarity (db3 section 2.3)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from crag.core.deadline import Deadline
from crag.engines.encoders.base import DenseEncoder, Vectors
from crag.facts.entities import Entity
from crag.facts.mentions import Mention
from crag.settings import LinkSettings
from crag.text.matching import plain_name, spellings, without_article

MIN_COVERAGE = 0.4
"""The shorter of two names that contain each other must have at least this share of the longer one's length."""
MIN_SUBSTRING_CHARACTERS = 4
"""Shorter texts are part of too many names."""


class Link(NamedTuple):
    """A candidate entity of a mention; `score`: 1 if exact, the shared part of a substring, or the cosine."""

    entity: Entity
    score: float


class _DomainNames:
    """The names of one domain's entities.

    `entities_by_form` has every form of a name, for exact links. `search_names` has one form of each name, for the
    looser levels; `vectors` are their embeddings, of shape (names, dimensions), or empty.
    """

    def __init__(self, settings: LinkSettings) -> None:
        self.settings = settings
        self.entities_by_form: dict[str, list[Entity]] = defaultdict(list)
        self.search_names: dict[str, None] = {}
        self.vectors: Vectors = np.empty((0, 0), np.float32)

    def add(self, entity: Entity) -> None:
        """Add the names of an entity; their vectors are made later, all at once."""
        forms: set[str] = set()
        for name in entity.names:
            forms |= spellings(name)
            search_name = _search_name(name)
            if search_name:
                self.search_names[search_name] = None

        for form in forms:
            self.entities_by_form[form].append(entity)

    def link_by_spelling(self, mention: str) -> list[Link]:
        """Entities whose names are exactly the mention, else those whose names contain it or are part of it."""
        forms = sorted(spellings(mention))
        exact = [(form, 1.0) for form in forms if form in self.entities_by_form]
        if exact:
            return self._links(exact)
        if self.settings.level == "exact":
            return []

        text = _search_name(mention)
        overlapping: list[tuple[str, float]] = []
        for name in self.search_names:
            score = _coverage(text, name)
            if score >= MIN_COVERAGE:
                overlapping.append((name, score))
        overlapping.sort(key=itemgetter(1), reverse=True)
        return self._links(overlapping)

    def link_by_similarity(self, vector: Vectors) -> list[Link]:
        """The entities of the most similar name, if it is similar enough; `vector` has shape (dimensions,)."""
        # `argmax` would choose a NaN.
        cosines = np.nan_to_num(self.vectors @ vector, nan=-1.0)
        best = int(np.argmax(cosines))
        if cosines[best] < self.settings.minimum_similarity:
            return []
        # The vectors have the order of the names.
        name = list(self.search_names)[best]
        return self._links([(name, float(cosines[best]))])

    def _links(self, scored_names: Iterable[tuple[str, float]]) -> list[Link]:
        """The entities of the names, each once, with its first score."""
        links: dict[int, Link] = {}
        for name, score in scored_names:
            for entity in self.entities_by_form[name]:
                # By identity: an entity holds a dict, so it has no hash.
                links.setdefault(id(entity), Link(entity, score))
        return list(links.values())


class Linker:
    """Finds entities by name within a domain. `levels` sets the leniency by domain; other domains need exact names."""

    def __init__(
        self,
        entities: Iterable[Entity],
        levels: Mapping[str, LinkSettings],
        dense: DenseEncoder | None,
    ) -> None:
        self._dense = dense
        self._names_by_domain: dict[str, _DomainNames] = {}
        for entity in entities:
            if entity.domain not in self._names_by_domain:
                settings = levels.get(entity.domain, LinkSettings())
                self._names_by_domain[entity.domain] = _DomainNames(settings)
            self._names_by_domain[entity.domain].add(entity)

    def warm_up(self) -> None:
        """Encode the names of domains with level ``similarity``; without an encoder that level is skipped."""
        if self._dense is None:
            return
        for names in self._names_by_domain.values():
            is_encoded = len(names.vectors) > 0
            if names.settings.level == "similarity" and not is_encoded:
                self._dense.warm_up()
                names.vectors, _ = self._dense.encode_passages(list(names.search_names))

    def link(self, mentions: Sequence[Mention], deadline: Deadline) -> list[list[Link]]:
        """The entities of each mention at the strictest level that has any, best first; encodes in one call."""
        links: list[list[Link]] = []
        # Positions of mentions that similarity may still link
        unlinked: list[tuple[int, _DomainNames]] = []
        for position, mention in enumerate(mentions):
            names = self._names_by_domain.get(mention.domain)
            if names is None:
                links.append([])
                continue
            mention_links = names.link_by_spelling(mention.text)
            links.append(mention_links)
            if not mention_links and len(names.vectors):
                unlinked.append((position, names))

        if self._dense is None or not unlinked or deadline.expired:
            return links

        texts = [_search_name(mentions[position].text) for position, _ in unlinked]
        vectors, encoded = self._dense.encode_passages(texts, deadline)
        # Mentions that were not encoded in time stay without a link.
        for (position, names), vector in zip(unlinked[:encoded], vectors, strict=False):
            links[position] = names.link_by_similarity(vector)
        return links


def _search_name(name: str) -> str:
    """The form of a name for the levels substring and similarity."""
    return without_article(plain_name(name))


def _coverage(first: str, second: str) -> float:
    """The share of the longer name that the shorter one has; 0 unless one contains the words of the other in a row."""
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) < MIN_SUBSTRING_CHARACTERS or f" {shorter} " not in f" {longer} ":
        return 0.0
    return len(shorter) / len(longer)
