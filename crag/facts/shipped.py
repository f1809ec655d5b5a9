"""The public-data path (db3 section 2.3): mentions -> entities of the shipped tables -> paragraphs."""

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from crag.core.contracts import Fact, Query
from crag.core.deadline import Deadline
from crag.core.places import REPOSITORY
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm.base import LanguageModel
from crag.facts.link import Link, Linker
from crag.facts.mentions import PromptFinder, SpanFinder, years_of
from crag.facts.tables import SHIPPED_TABLES, Entity, load_entities, verbalise
from crag.settings import PublicDataSettings


class PublicData:
    """Finds shipped facts about the entities of a question. The base class has none, for submissions without them."""

    def warm_up(self) -> None:
        """Load what the first batch needs."""

    def facts(
        self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline
    ) -> list[tuple[Fact, ...]]:
        """The facts for each query, in order; none if nothing matches or time runs out.

        `domains` are the router's, where known: ``movie``, ``music``, ``finance`` or any other word.
        """
        return [() for _ in queries]


class ShippedPublicData(PublicData):
    """Finds facts in the tables. Method ``prompt`` asks `model`, links by similarity need `dense`."""

    def __init__(self, settings: PublicDataSettings, model: LanguageModel, dense: DenseEncoder | None) -> None:
        self._settings, self._model, self._dense = settings, model, dense

    @cached_property
    def _loaded(self) -> tuple[PromptFinder | SpanFinder, Linker]:
        entities = load_entities(REPOSITORY / self._settings.tables if self._settings.tables else SHIPPED_TABLES)
        links = {str(domain): link for domain, link in self._settings.links.items()}
        asks = self._settings.method == "prompt"
        # Spans match names of the tables exactly, so vectors would not be used.
        linker = Linker(entities, links, self._dense if asks else None)
        return PromptFinder(self._model, self._settings.max_new_tokens) if asks else SpanFinder(entities), linker

    def warm_up(self) -> None:
        """Read the tables, and encode their names if a domain is linked by similarity.
        Raises TableError: the folder of tables cannot be used.
        """
        self._loaded[1].warm_up()

    def facts(
        self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline
    ) -> list[tuple[Fact, ...]]:
        """The paragraphs for each question; raises `crag.engines.llm.LanguageModelDiedError` if the engine is dead."""
        finder, linker = self._loaded
        mentions = finder.find(queries, domains, deadline)
        links = iter(linker.link(list(chain.from_iterable(mentions)), deadline))
        return [
            self._facts([next(links) for _ in own], years_of(query))
            for query, own in zip(queries, mentions, strict=True)
        ]

    def _facts(self, links: Sequence[Sequence[Link]], years: Sequence[int]) -> tuple[Fact, ...]:
        return tuple(
            Fact(verbalise(entity, self._settings.max_items, years), f"public data: {entity.table}")
            for entity in choose(links, years, self._settings.max_entities)
        )


def choose(links: Sequence[Sequence[Link]], years: Sequence[int], max_entities: int) -> list[Entity]:
    """The entities of a question's mentions, at most `max_entities`; each mention gets its best ones in turn.

    If the question names years, namesakes of other years are left out, and an award's ceremonies of these years come
    first. Otherwise the latest come first; of an award only the latest.
    """
    ranked = [_of_the_years(own, years) for own in links]
    longest = max(map(len, ranked), default=0)
    turns = (own[turn] for turn in range(longest) for own in ranked if turn < len(own))
    return list({id(entity): entity for entity in turns}.values())[:max_entities]


def _of_the_years(links: Sequence[Link], years: Sequence[int]) -> list[Entity]:
    def of_year(entity: Entity) -> bool:
        return not set(entity.years).isdisjoint(years)

    def order(link: Link) -> tuple[float, bool, int]:
        own = link.entity.years
        return (-link.score, not own or own[0] not in years, -max(own, default=9999))

    entities = [link.entity for link in sorted(links, key=order)]
    newest = next((entity for entity in entities if entity.one_a_year), None)
    meant = [each for each in entities if not each.one_a_year or (of_year(each) if years else each is newest)]
    fitting = {entity.table for entity in meant if of_year(entity)}
    return [entity for entity in meant if not entity.years or entity.table not in fitting or of_year(entity)]
