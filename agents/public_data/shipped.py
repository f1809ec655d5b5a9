"""The public-data path (db3 section 2.3): mentions -> entities of the shipped tables -> paragraphs."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Protocol

from agents.contracts import Fact, Query
from agents.deadline import Deadline
from agents.encoders.base import DenseEncoder
from agents.llm.base import LanguageModel
from agents.public_data.entity import Entity, verbalise
from agents.public_data.link import Link, Linker
from agents.public_data.mentions import PromptFinder, SpanFinder, years_of
from agents.public_data.tables import SHIPPED_TABLES, load_entities
from agents.settings import PublicDataSettings

REPOSITORY = Path(__file__).parents[2]


class PublicData(Protocol):
    """Finds shipped facts about the entities of a question."""

    def warm_up(self) -> None:
        """Load what the first batch would wait for."""

    def facts(
        self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline
    ) -> list[tuple[Fact, ...]]:
        """The facts for each query, in order; none where nothing fits or time runs out.

        `domains` are those that a router knows already: ``movie``, ``music``, ``finance`` or any other word.
        """


class NoPublicData:
    """A submission that ships no data (tasks 2 and 3 of db3: the knowledge graph covers it)."""

    def warm_up(self) -> None:
        """Nothing to load."""

    def facts(
        self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline
    ) -> list[tuple[Fact, ...]]:
        """No facts for any query."""
        return [() for _ in queries]


class ShippedPublicData:
    """Finds facts in the tables; `model` is needed for the method ``prompt``, `dense` for links by similarity.

    Raises:
        agents.public_data.tables.TableError: the folder of tables cannot be used.
        ValueError: the method is ``prompt`` and there is no model.
    """

    def __init__(self, settings: PublicDataSettings, model: LanguageModel | None, dense: DenseEncoder | None) -> None:
        self._settings = settings
        entities = load_entities(REPOSITORY / settings.tables if settings.tables else SHIPPED_TABLES)
        links = {str(domain): link for domain, link in settings.links.items()}
        # Spans are names of the tables to the letter: no vector would ever be looked at.
        self._linker = Linker(entities, links, dense if settings.method == "prompt" else None)
        self._finder: SpanFinder | PromptFinder
        if settings.method == "spans":
            self._finder = SpanFinder(entities)
        elif model is None:
            raise ValueError('public_data.method "prompt" needs a language model')
        else:
            self._finder = PromptFinder(model, settings.max_new_tokens)

    def warm_up(self) -> None:
        """Encode the names of the tables, once, where a domain is linked by similarity."""
        self._linker.warm_up()

    def facts(
        self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline
    ) -> list[tuple[Fact, ...]]:
        """The paragraphs for each question; raises `agents.llm.LanguageModelDiedError` where the engine is gone."""
        mentions = self._finder.find(queries, domains, deadline)
        links = iter(self._linker.link(list(chain.from_iterable(mentions)), deadline))
        found = []
        for query, own in zip(queries, mentions, strict=True):
            years = years_of(query)
            chosen = choose([next(links) for _ in own], years, self._settings.max_entities)
            found.append(tuple(self._fact(entity, years) for entity in chosen))
        return found

    def _fact(self, entity: Entity, years: Sequence[int]) -> Fact:
        return Fact(verbalise(entity, self._settings.max_items, years), f"public data: {entity.table}")


def open_public_data(
    settings: PublicDataSettings | None, model: LanguageModel, dense: DenseEncoder | None
) -> PublicData:
    """The shipped facts that the preset names, or none.

    Raises:
        TableError: the folder of tables cannot be used.
    """
    return ShippedPublicData(settings, model, dense) if settings is not None else NoPublicData()


def choose(links: Sequence[Sequence[Link]], years: Sequence[int], max_entities: int) -> list[Entity]:
    """The entities of all mentions of a question, at most `max_entities`, every mention getting its best ones in turn.

    Where the question names years, namesakes of other years are left out, and of an award the ceremonies of these years
    come first; else the newest come first, and of an award it is the newest alone.
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
