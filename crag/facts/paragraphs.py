"""Writes an entity as a paragraph, in the form of db3 (section 2.3): ``The <attribute> is <value>.``"""

from collections.abc import Sequence

from crag.facts.entities import Entity

COUNTED_AT_A_GLANCE = 4
"""Longer lists come with their length: small models count badly."""


def write_paragraph(entity: Entity, max_items: int, years: Sequence[int] = ()) -> str:
    """The paragraph of an entity: a sentence for each attribute with a value.

    Lists are cut to `max_items` values; those with one of the `years` come first.

    >>> write_paragraph(Entity(("Heat",), "movie", "films", {"lead actor{s}": ["Al Pacino", "Robert De Niro"]}), 10)
    'The lead actors are Al Pacino and Robert De Niro.'
    """
    sentences: list[str] = []
    for name, values in entity.attributes.items():
        if values:
            sentence = _write_sentence(name, values, max_items, years)
            sentences.append(sentence)
    return " ".join(sentences)


def _write_sentence(name: str, values: Sequence[str], max_items: int, years: Sequence[int]) -> str:
    def lacks_year(value: str) -> bool:
        return not any(str(year) in value for year in years)

    # Values of the question's years come first, the others keep their order.
    items = sorted(values, key=lacks_year)[:max_items]
    if len(values) > len(items):
        items.append(f"{len(values) - len(items)} more")

    listed = items[0]
    if len(items) > 1:
        listed = f"{', '.join(items[:-1])} and {items[-1]}"
    if len(values) > COUNTED_AT_A_GLANCE:
        listed += f" ({len(values)} in all)"

    # The placeholder {s} of the attribute's name is its plural ending.
    is_plural = len(values) > 1
    subject = name.replace("{s}", "s" if is_plural else "")
    verb = "are" if is_plural else "is"
    return f"The {subject} {verb} {listed.removesuffix('.')}."
