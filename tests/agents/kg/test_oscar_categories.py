import pytest

from agents.kg.oscar_categories import same_category


@pytest.mark.parametrize(
    ("asked", "official"),
    [
        ("best actor", "ACTOR IN A LEADING ROLE"),
        ("Best Actor", "ACTOR"),
        ("best supporting actress", "ACTRESS IN A SUPPORTING ROLE"),
        ("best director", "DIRECTING"),
        ("best director", "DIRECTING (Dramatic Picture)"),
        ("best picture", "BEST MOTION PICTURE"),
        ("best picture", "OUTSTANDING PRODUCTION"),
        ("cinematography", "CINEMATOGRAPHY (Black-and-White)"),
        ("best foreign language film", "INTERNATIONAL FEATURE FILM"),
        ("best original screenplay", "WRITING (Screenplay Written Directly for the Screen)"),
        ("best adapted screenplay", "WRITING (Adaptation)"),
        ("best production design", "ART DIRECTION"),
        ("visual effects", "SPECIAL VISUAL EFFECTS"),
        ("honorary award", "HONORARY AWARD"),
        ("short film", "SHORT FILM (Animated)"),
        ("best sound", "SOUND MIXING"),
    ],
)
def test_same_award(asked: str, official: str) -> None:
    assert same_category(asked, official)


@pytest.mark.parametrize(
    ("asked", "official"),
    [
        ("best actor", "ACTOR IN A SUPPORTING ROLE"),
        ("best actor", "ACTRESS IN A LEADING ROLE"),
        ("best picture", "DIRECTING (Dramatic Picture)"),
        ("best picture", "PRODUCTION DESIGN"),
        ("best picture", "ANIMATED FEATURE FILM"),
        ("best documentary", "DOCUMENTARY (Short Subject)"),
        ("best original song", "MUSIC (Original Score)"),
        ("best sound editing", "SOUND MIXING"),
        ("best", "DIRECTING"),
    ],
)
def test_another_award(asked: str, official: str) -> None:
    assert not same_category(asked, official)
