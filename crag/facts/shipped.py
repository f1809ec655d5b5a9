"""The public-data path (db3 section 2.3): mentions -> entities of the shipped tables -> paragraphs."""

from collections.abc import Sequence
from functools import cached_property
from itertools import zip_longest

from crag.core.contracts import Fact, Query
from crag.core.deadline import Deadline
from crag.core.places import REPOSITORY
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm.base import LanguageModel
from crag.facts.entities import Entity, load_entities
from crag.facts.link import Link, Linker
from crag.facts.mentions import Mention, find_years
from crag.facts.paragraphs import write_paragraph
from crag.facts.prompt_finder import PromptFinder
from crag.facts.span_finder import SpanFinder
from crag.facts.tables import SHIPPED_TABLES
from crag.settings import PublicDataSettings

_NO_YEAR = 9999


class PublicData:
    """Finds shipped facts about the entities of a question. The base class has none, for submissions without them."""

    def warm_up(self) -> None:
        """Load what the first batch needs."""

    def facts(
        self,
        queries: Sequence[Query],
        domains: Sequence[str | None],
        deadline: Deadline,
    ) -> list[tuple[Fact, ...]]:
        """The facts for each query, in order; none if nothing matches or time runs out.

        `domains` are the router's, where known: ``movie``, ``music``, ``finance`` or any other word.
        """
        return [() for _ in queries]


class ShippedPublicData(PublicData):
    """Finds facts in the tables. Method ``prompt`` asks `model`, links by similarity need `dense`."""

    def __init__(self, settings: PublicDataSettings, model: LanguageModel, dense: DenseEncoder | None) -> None:
        self._settings = settings
        self._model = model
        self._dense = dense

    @cached_property
    def _finder_and_linker(self) -> tuple[PromptFinder | SpanFinder, Linker]:
        tables = REPOSITORY / self._settings.tables if self._settings.tables else SHIPPED_TABLES
        entities = load_entities(tables)
        levels = {str(domain): level for domain, level in self._settings.links.items()}

        if self._settings.method == "prompt":
            finder = PromptFinder(self._model, self._settings.max_new_tokens)
            return finder, Linker(entities, levels, self._dense)
        # Spans match names of the tables exactly, so vectors would not be used.
        return SpanFinder(entities), Linker(entities, levels, None)

    def warm_up(self) -> None:
        """Read the tables, and encode their names if a domain is linked by similarity.

        Raises TableError: the folder of tables cannot be used.
        """
        _, linker = self._finder_and_linker
        linker.warm_up()

    def facts(
        self,
        queries: Sequence[Query],
        domains: Sequence[str | None],
        deadline: Deadline,
    ) -> list[tuple[Fact, ...]]:
        """The paragraphs for each question; raises `crag.engines.llm.LanguageModelDiedError` if the engine is dead."""
        finder, linker = self._finder_and_linker
        mentions_by_query = finder.find(queries, domains, deadline)

        # One call links the mentions of the whole batch.
        mentions: list[Mention] = []
        for query_mentions in mentions_by_query:
            mentions += query_mentions
        links = linker.link(mentions, deadline)

        facts: list[tuple[Fact, ...]] = []
        start = 0
        for query, query_mentions in zip(queries, mentions_by_query, strict=True):
            end = start + len(query_mentions)
            facts.append(self._write_facts(links[start:end], find_years(query)))
            start = end
        return facts

    def _write_facts(self, links: Sequence[Sequence[Link]], years: Sequence[int]) -> tuple[Fact, ...]:
        facts: list[Fact] = []
        for entity in choose_entities(links, years, self._settings.max_entities):
            paragraph = write_paragraph(entity, self._settings.max_items, years)
            facts.append(Fact(paragraph, f"public data: {entity.table}"))
        return tuple(facts)


def choose_entities(links: Sequence[Sequence[Link]], years: Sequence[int], max_entities: int) -> list[Entity]:
    """The entities of a question's mentions, at most `max_entities`; each mention gets its best ones in turn.

    If the question names years, namesakes of other years are left out, and an award's ceremonies of these years come
    first. Otherwise the latest come first; of an award only the latest.
    """
    ranked = [_rank_entities(mention_links, years) for mention_links in links]
    distinct: dict[int, Entity] = {}
    for turn in zip_longest(*ranked):
        for entity in turn:
            if entity is not None:
                # By identity: an entity holds a dict, so it has no hash.
                distinct[id(entity)] = entity
    return list(distinct.values())[:max_entities]


def _rank_entities(links: Sequence[Link], years: Sequence[int]) -> list[Entity]:
    """The entities of one mention that the question can mean, best first."""

    def order(link: Link) -> tuple[float, bool, int]:
        entity_years = link.entity.years
        is_main_year = bool(entity_years) and entity_years[0] in years
        return (-link.score, not is_main_year, -max(entity_years, default=_NO_YEAR))

    entities = [link.entity for link in sorted(links, key=order)]
    return _without_namesakes(_without_other_ceremonies(entities, years), years)


def _without_other_ceremonies(entities: Sequence[Entity], years: Sequence[int]) -> list[Entity]:
    """Of awards that are given once a year only the ceremonies of the question's years; without years only the first.

    `entities` come newest first.
    """
    chosen: list[Entity] = []
    has_award = False
    for entity in entities:
        if entity.one_a_year:
            is_other_ceremony = not _is_of_years(entity, years) if years else has_award
            if is_other_ceremony:
                continue
            has_award = True
        chosen.append(entity)
    return chosen


def _without_namesakes(entities: Sequence[Entity], years: Sequence[int]) -> list[Entity]:
    """Without the entities of other years, where their table also has one of the question's years."""
    tables_with_year = {entity.table for entity in entities if _is_of_years(entity, years)}
    chosen: list[Entity] = []
    for entity in entities:
        is_of_other_year = bool(entity.years) and not _is_of_years(entity, years)
        if not is_of_other_year or entity.table not in tables_with_year:
            chosen.append(entity)
    return chosen


def _is_of_years(entity: Entity, years: Sequence[int]) -> bool:
    return not set(entity.years).isdisjoint(years)
