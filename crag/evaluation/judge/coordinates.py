"""The rule for places on the globe: 51°30' N is 51.5, and 0.1° W is neither 0.1° E nor 0.1."""

import re
from dataclasses import dataclass

from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision

_ASKS_COORDINATES = re.compile(r"^(?!.{0,400}\bhow (?:many|much|far)\b).{0,400}\b(?:coordinates|latitude|longitude)\b")
_NUMBER = r"""
    (?P<sign>[-−](?=\d))?
    (?P<degrees>\d{1,3}(?:\.\d{1,9})?)
    (?P<mark>\s?(?:[°º]|(?:degrees?|deg)\b))?
    (?:\s?(?P<minutes>[0-5]?\d(?:\.\d{1,9})?)\s?['′’](?!['′’]))?
    (?:\s?(?P<seconds>[0-5]?\d(?:\.\d{1,9})?)\s?(?:["″”]|''|′′|’’))?
"""
_SIDE_IN_FRONT = re.compile(rf"(?<![\w.])(?P<side>[NSEW])\s?(?=\d){_NUMBER}(?![\w.]*\d)", re.VERBOSE)
"""N 51.5°"""
_SIDE_BEHIND = re.compile(
    rf"(?<![\w.]){_NUMBER}(?:\s?(?P<side>[NSEWnsew]\b|(?i:north|south|east|west)\b))?(?![\w.]*\d)",
    re.VERBOSE,
)
"""51.5° N, or without a side"""
_WORDS_BETWEEN = re.compile(r"(?i:latitude|longitude|lat|lon|long|and|of|[\s.,;:/()])*")
_LARGEST_ROUNDING = 0.1
"""In degrees, about 11 km: the most by which two roundings of one place may differ."""


@dataclass(frozen=True)
class Angle:
    """Degrees north or east; `step` is the value of the last written digit, `is_marked` if a degree sign stands there.

    `axis` is "latitude" or "longitude", and empty if no side is written.
    """

    degrees: float
    step: float
    axis: str
    is_marked: bool


def same_coordinates(claim: ReadClaim) -> RuleDecision | None:
    """A gold answer that is a place on the globe, or one half of it: the prediction's angles, at most rounded."""
    is_asked = bool(_ASKS_COORDINATES.search(claim.asked))
    gold = _read_angles(claim.gold, is_asked=is_asked)
    rest = _WORDS_BETWEEN.sub("", _form_of(claim.gold).sub("", claim.gold))
    if rest or not 1 <= len(gold) <= 2:
        return None

    found = _read_angles(claim.prediction, is_asked=is_asked)
    if len(found) < len(gold):
        return None
    is_same = all(_is_same(one, other) for one, other in zip(gold, found, strict=False))
    return is_same, f"the prediction says {'the same' if is_same else 'another'} place on the globe"


def _form_of(text: str) -> re.Pattern[str]:
    """Whether the sides of a text stand in front of its angles or behind them: the form that begins first."""
    in_front = _SIDE_IN_FRONT.search(text)
    behind = _SIDE_BEHIND.search(text)
    begins_with_side = in_front is not None and (behind is None or in_front.start() < behind.start())
    return _SIDE_IN_FRONT if begins_with_side else _SIDE_BEHIND


def _read_angles(text: str, *, is_asked: bool) -> list[Angle]:
    """The angles in order; none if the numbers may be something else, as 60 W are."""
    angles = [_read_angle(match) for match in _form_of(text).finditer(text)]
    if is_asked:
        return angles

    sided = [angle for angle in angles if angle.axis]
    is_pair = {angle.axis for angle in sided} == {"latitude", "longitude"}
    return sided if is_pair or all(angle.is_marked for angle in sided) else []


def _read_angle(match: re.Match[str]) -> Angle:
    side = (match["side"] or "")[:1].lower()
    parts = [(match["degrees"], 1.0), (match["minutes"], 60.0), (match["seconds"], 3600.0)]
    written = [(digits, per_degree) for digits, per_degree in parts if digits]

    degrees = sum(float(digits) / per_degree for digits, per_degree in written)
    last_digits, per_degree = written[-1]
    step = 10.0 ** -len(last_digits.partition(".")[2]) / per_degree
    is_minus = side in {"s", "w"} or (match["sign"] and not side)
    axis = {"n": "latitude", "s": "latitude", "e": "longitude", "w": "longitude"}.get(side, "")
    return Angle(-degrees if is_minus else degrees, step, axis, bool(match["mark"]))


def _is_same(one: Angle, other: Angle) -> bool:
    """Whether one may be the other, rounded; an angle without a side may have any."""
    if one.axis and other.axis and one.axis != other.axis:
        return False
    return abs(one.degrees - other.degrees) <= min(max(one.step, other.step), _LARGEST_ROUNDING)
