"""Lengths, weights and times in any unit, and lists."""

import pytest

from agents.matching import count_listed, read_measures, same_measure, split_list


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("1,204 metres", "length", 1204),
        ("1.2 km", "length", 1200),
        ("6 feet 2 inches", "length", 1.8796),
        ("6'2\"", "length", 1.8796),
        ("a 5-mile walk", "length", 8046.72),
        ("10 lbs", "weight", 4.535924),
        ("two weeks", "time", 1_209_600),
        ("2 hours and 30 minutes", "time", 9000),
        ("1h 30m", "time", 5400),
        ("an hour and a half", "time", 5400),
    ],
)
def test_measures(text: str, dimension: str, value: float) -> None:
    (found,) = read_measures(text)
    assert found.dimension == dimension
    assert found.value == pytest.approx(value)


def test_same_measure() -> None:
    def same(one: str, other: str) -> bool:
        return same_measure(read_measures(one)[0], read_measures(other)[0])

    assert same("8 km", "5 miles")
    assert same("188 cm", "6 ft 2 in")
    assert same("2 years", "24 months")
    assert not same("8 km", "50 miles")
    assert not same("2 years", "25 months")
    assert not same("8 km", "8 kg")


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("ann lee; bob ray", ["ann lee", "bob ray"]),
        ("ann lee, bob ray, and cy young", ["ann lee", "bob ray", "cy young"]),
        ("nick and norah, tom", ["nick and norah", "tom"]),
        ("tom & jerry", ["tom", "jerry"]),
        ("1,000 apples, 2,000 pears", ["1,000 apples", "2,000 pears"]),
    ],
)
def test_split_list(text: str, items: list[str]) -> None:
    assert [item.strip() for item in split_list(text)] == items


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1. a\n2. b\n3. c", 3),
        ("1) a 2) b", 2),
        ("- a\n- b", 2),
        ("* a", 0),
        ("It rose 2.5 points in 3. quarter", 0),
        ("a, b and c", 0),
        ("", 0),
    ],
)
def test_count_listed(text: str, count: int) -> None:
    assert count_listed(text) == count
