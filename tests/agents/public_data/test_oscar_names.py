import pytest

from agents.public_data.oscar_names import oscar_award, oscar_winners


@pytest.mark.parametrize(
    ("category", "award"),
    [
        ("ACTOR IN A LEADING ROLE", "Best Actor"),
        ("OUTSTANDING PRODUCTION", "Best Picture"),
        ("VISUAL EFFECTS", "Best Visual Effects"),
        ("DOCUMENTARY (Feature)", "Best Documentary Feature"),
        ("DOCUMENTARY (Short Subject)", "Best Documentary Short"),
        ("SHORT FILM (Animated)", "Best Animated Short Film"),
        ("MUSIC (Song--Original for the Picture)", "Best Original Song"),
        ("MUSIC (Original Song Score)", "Best Original Song Score"),
        ("WRITING (Adapted Screenplay)", "Best Adapted Screenplay"),
        ("CINEMATOGRAPHY (Black-and-White)", "Best Cinematography (Black-and-White)"),
        ("HONORARY AWARD", "Honorary Award"),
    ],
)
def test_categories_are_told_in_the_words_of_people(category: str, award: str) -> None:
    assert oscar_award(category) == award


@pytest.mark.parametrize(
    ("credit", "names"),
    [
        ("Jane Doe", ["Jane Doe"]),
        ("Jane Doe and Jim Roe, Producers", ["Jane Doe", "Jim Roe"]),
        ("Screenplay by Jane Doe; Story by Jim Roe & Jane Doe", ["Jane Doe", "Jim Roe"]),
        ("Production Design: Jane Doe; Set Decoration: Jim Roe", ["Jane Doe", "Jim Roe"]),
        ("Jane Doe, Jim Roe, Jr. and Al Poe", ["Jane Doe", "Jim Roe, Jr.", "Al Poe"]),
        ("To Jane Doe, for her craft, and her patience.", ["Jane Doe"]),
        ("", []),
    ],
)
def test_credits_are_names(credit: str, names: list[str]) -> None:
    assert oscar_winners(credit) == names
