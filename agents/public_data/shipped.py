"""The public-data path (db3 section 2.3): mentions -> entities of the shipped tables -> paragraphs."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from agents.common.contracts import Fact, Query
from agents.common.deadline import Deadline
from agents.encoders.base import DenseEncoder
from agents.llm.base import LanguageModel
from agents.public_data.entity import Entity, verbalise
from agents.public_data.link import Link, Linker
from agents.public_data.mentions import PromptFinder, SpanFinder, years_of
from agents.public_data.tables import SHIPPED_TABLES, load_entities
from agents.settings import PublicDataSettings

REPOSITORY = Path(__file__).parents[2]


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
    """Finds facts in the tables. Method ``prompt`` needs `model`, links by similarity need `dense`.

    Raises:
        agents.public_data.tables.TableError: the folder of tables cannot be used.
        ValueError: the method is ``prompt`` without a model.
    """

    def __init__(self, settings: PublicDataSettings, model: LanguageModel | None, dense: DenseEncoder | None) -> None:
        self._settings = settings
        entities = load_entities(REPOSITORY / settings.tables if settings.tables else SHIPPED_TABLES)
        links = {str(domain): link for domain, link in settings.links.items()}
        # Spans match names of the tables exactly, so vectors would not be used.
        self._linker = Linker(entities, links, dense if settings.method == "prompt" else None)
        self._finder: SpanFinder | PromptFinder
        if settings.method == "spans":
            self._finder = SpanFinder(entities)
        elif model is None:
            raise ValueError('public_data.method "prompt" needs a language model')
        else:
            self._finder = PromptFinder(model, settings.max_new_tokens)

    def warm_up(self) -> None:
        """Encode the names of the tables, once, if a domain is linked by similarity."""
        self._linker.warm_up()

    def facts(
        self, queries: Sequence[Query], domains: Sequence[str | None], deadline: Deadline
    ) -> list[tuple[Fact, ...]]:
        """The paragraphs for each question; raises `agents.llm.LanguageModelDiedError` if the engine is dead."""
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
    return ShippedPublicData(settings, model, dense) if settings is not None else PublicData()


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
