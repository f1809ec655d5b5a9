"""The name of the trim says how exactly it is known."""

import pytest

from evaluation import trim
from models.manifest import WeightsMissingError


def test_without_the_tokenizer_the_name_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise WeightsMissingError(f"weights of {name}: missing")

    monkeypatch.setattr(trim, "locate", missing)
    assert trim.official_trim().name == "bound75"


def test_the_cut() -> None:
    found = trim.official_trim()
    assert found.cut("short") == "short"
    assert len(found.cut("word " * 500)) < 500
