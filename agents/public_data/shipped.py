"""The public-data path of db3 (section 2.3): mentions -> entities of the shipped tables -> paragraphs."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from agents.contracts import Fact, Query
from agents.deadline import Deadline
from agents.encoders.base import DenseEncoder
from agents.llm.base import LanguageModel
from agents.public_data.entity import Entity, verbalise
from agents.public_data.link import Link, Linker
from agents.public_data.prompts import PromptFinder
from agents.public_data.questions import MentionFinder, years_of
from agents.public_data.spans import SpanFinder
from agents.public_data.tables import SHIPPED_TABLES, load_entities
from agents.settings import PublicDataSettings

REPOSITORY = Path(__file__).parents[2]


class ShippedPublicData:
    """Finds shipped facts about the entities of a question.

    The tables are read at construction (the shipped ones in milliseconds). `model` is needed for the method
    ``prompt``, `dense` for links by similarity.

    Raises:
        agents.public_data.tables.TableError: the folder of tables cannot be used.
        ValueError: the method is ``prompt`` and there is no model.
    """

    def __init__(
        self,
        settings: PublicDataSettings,
        model: LanguageModel | None,
        dense: DenseEncoder | None,
    ) -> None:
        self._settings = settings
        entities = load_entities(REPOSITORY / settings.tables if settings.tables else SHIPPED_TABLES)
        links = {str(domain): link for domain, link in settings.links.items()}
        # Spans are names of the tables to the letter: no vector would ever be looked at.
        self._linker = Linker(entities, links, dense if settings.method == "prompt" else None)
        self._finder: MentionFinder
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
        """The paragraphs for each question, in order; none where nothing fits or time does not allow it.

        `domains` are those that a router knows already: ``movie``, ``music``, ``finance`` or any other word.

        Raises:
            agents.llm.LanguageModelDiedError: the engine itself is gone.
        """
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


def choose(links: Sequence[Sequence[Link]], years: Sequence[int], max_entities: int) -> list[Entity]:
    """The entities of all mentions of a question, at most `max_entities`, every mention getting its best ones in turn.

    Where the question names years, namesakes of other years are left out, and of an award the ceremonies of these years
    come first; else the newest come first, and of an award it is the newest alone.
    """
    ranked = [_of_the_years(own, years) for own in links]
    longest = max(map(len, ranked), default=0)
    turns = (own[turn] for turn in range(longest) for own in ranked if turn < len(own))
    return list(_distinct(turns))[:max_entities]


def _of_the_years(links: Sequence[Link], years: Sequence[int]) -> list[Entity]:
    def order(link: Link) -> tuple[float, bool, int]:
        own = link.entity.years
        return (-link.score, own[:1] not in {(year,) for year in years}, -max(own, default=9999))

    ordered = sorted(links, key=order)
    entities = [link.entity for link in ordered]
    yearly = [entity for entity in entities if entity.one_a_year]
    of_year = [entity for entity in yearly if not set(entity.years).isdisjoint(years)] if years else yearly[:1]
    entities = [entity for entity in entities if not entity.one_a_year or entity in of_year]
    fitting = {entity.table for entity in entities if not set(entity.years).isdisjoint(years)}
    return [
        entity
        for entity in entities
        if not entity.years or entity.table not in fitting or not set(entity.years).isdisjoint(years)
    ]


def _distinct(entities: Iterable[Entity]) -> Iterable[Entity]:
    seen: set[int] = set()
    for entity in entities:
        if id(entity) not in seen:
            seen.add(id(entity))
            yield entity
