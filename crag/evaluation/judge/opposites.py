"""Words that compare two things, and words of which one excludes the other."""

from collections.abc import Sequence, Set

from crag.text.matching import words

# Of two years `EARLY` words pick the smaller one and `LATE` words the larger;
# of two other numbers `LITTLE` words pick the smaller one and `MUCH` words the larger.
EARLY = frozenset(words("older oldest longer longest 1th earlier before"))
LATE = frozenset(words("younger youngest newer later latest after recently"))
MUCH = frozenset(words("more most larger largest longer longest higher highest bigger biggest greater taller older"))
LITTLE = frozenset(words("less fewer fewest least smaller smallest lower lowest shorter shortest younger cheaper"))


def are_on_opposite_sides(asked: Set[str], said: Set[str], sides: Sequence[Set[str]]) -> bool:
    """Whether the words of a question are on one of two sides, and those of an answer on the other.

    Words of both sides say nothing clear.

    >>> are_on_opposite_sides({"did", "they", "win"}, {"they", "lose"}, ({"win", "beat"}, {"lose"}))
    True
    """
    asked_sides = [not side.isdisjoint(asked) for side in sides]
    said_sides = [not side.isdisjoint(said) for side in sides]
    return sorted(asked_sides) == [False, True] and said_sides == asked_sides[::-1]
