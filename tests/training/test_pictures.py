"""Pictures are valid, hold what they were given, and are the same for the same data."""

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PIL import Image

from training.calibrate.expected_score import ReliabilityBin
from training.pictures import (
    Confusion,
    Curve,
    Estimate,
    confusion_matrices,
    estimates,
    loss_curve,
    reliability_diagram,
    score_curve,
    wilson_interval,
)

CURVE = Curve([0.0, 0.5, 1.0], [-0.3, 0.1, 0.0], [-0.4, 0.0, 0.0], [-0.2, 0.2, 0.0])
DRAWN: dict[str, tuple[Callable[[Path], None], list[str]]] = {
    "reliability": (
        lambda path: reliability_diagram(
            path, [ReliabilityBin(0.25, 40, 0.3), ReliabilityBin(0.8, 9, 1.0)], "Of answers"
        ),
        ["Of answers", "P(correct)", "share that is right"],
    ),
    "curve": (
        lambda path: score_curve(path, CURVE, {"always answer": -0.3, "never": 0.0}, 0.5, "Score"),
        ["always answer", "never", "threshold 0.5", "95 % interval"],
    ),
    "estimates": (
        lambda path: estimates(
            path, [Estimate("plain", -0.3, -0.4, -0.2), Estimate("gates", 0, -0.1, 0.1)], "score", "T"
        ),
        ["plain", "gates", "score"],
    ),
    "losses": (lambda path: loss_curve(path, [3.0, 2.0, 2.5, 1.0], "Tuning"), ["Tuning", "step", "loss", "a step"]),
    "confusion": (
        lambda path: confusion_matrices(path, [Confusion("domain", ("movie", "music"), [[12, 3], [0, 0]])]),
        ["domain", "movie", "music", "12", "3", "predicted", "true"],
    ),
}


@pytest.mark.parametrize("kind", DRAWN)
def test_svg_is_valid_tells_its_words_and_does_not_change(kind: str, tmp_path: Path) -> None:
    draw, words = DRAWN[kind]
    first, second = tmp_path / "new folder" / "one.svg", tmp_path / "two.svg"
    draw(first)
    draw(second)
    assert first.read_bytes() == second.read_bytes()
    root = ET.fromstring(first.read_text(encoding="utf-8"))  # noqa: S314 - written here
    texts = {text.strip() for element in root.iter() if element.tag.endswith("}text") for text in element.itertext()}
    assert set(words) <= texts
    assert not [element for element in root.iter() if element.tag.endswith("}date")]


def test_png_by_suffix(tmp_path: Path) -> None:
    DRAWN["curve"][0](tmp_path / "curve.png")
    with Image.open(tmp_path / "curve.png") as image:
        assert image.format == "PNG"
        assert image.width > 600


def test_wilson_interval_as_published() -> None:
    """Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3."""
    for count, total, low, high in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)]:
        assert wilson_interval(count / total, total) == pytest.approx((low, high), abs=1e-4)
