"""What the tables know about one film, person, award or company, in sentences (db3 section 2.3)."""

from collections.abc import Sequence
from dataclasses import dataclass

COUNTED_AT_A_GLANCE = 4
"""Longer lists are given with their length: small models count badly."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One property. `name` is in readable words; ``{s}`` in it stands where more than one value asks for a plural.

    `quoted` values are titles and get quotation marks.
    """

    name: str
    values: tuple[str, ...]
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Entity:
    """One record. `names` are all that it is called, the main one first; `years` tell namesakes apart, if it has any.

    `table` is the label of the table that it came from. `one_a_year`: there is one of the same name every year, so that
    without its year in the question only the newest is meant (an award).
    """

    names: tuple[str, ...]
    domain: str
    table: str
    attributes: tuple[Attribute, ...]
    years: tuple[int, ...] = ()
    one_a_year: bool = False


def verbalise(entity: Entity, max_items: int, years: Sequence[int] = ()) -> str:
    """The paragraph of an entity: ``The <attribute> is <value>.`` for each attribute that has a value.

    The length of a list that nobody counts at a glance is told, and more than `max_items` values are cut. Values that
    hold one of the `years` (those of the question) come first, so that the cut does not take them.
    """
    return " ".join(_sentence(each, max_items, years) for each in entity.attributes if each.values)


def _sentence(attribute: Attribute, max_items: int, years: Sequence[int]) -> str:
    wanted = [str(year) for year in years]
    values = sorted(attribute.values, key=lambda value: not any(year in value for year in wanted))
    shown = [f'"{value}"' if attribute.quoted else value for value in values[:max_items]]
    if len(values) > len(shown):
        shown.append(f"{len(values) - len(shown)} more")
    several = len(values) > 1
    name = attribute.name.replace("{s}", "s" if several else "")
    told = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]
    count = f" ({len(values)} in all)" if len(values) > COUNTED_AT_A_GLANCE else ""
    return f"The {name} {'are' if several else 'is'} {told}{count}{'' if told.endswith('.') and not count else '.'}"
