"""Pictures of fitted models, as SVG or PNG by the file's suffix; the same data gives the same file."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from training.calibrate import ReliabilityBin

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, SHADE, ACCENT = "#22303c", "#9db4c8", "#b3431f"
_STYLE = {
    "svg.hashsalt": "crag",  # else element ids are random
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_Z95 = 1.96


class Curve(NamedTuple):
    """Values over places, with the lower and upper ends of their intervals; all of the same length."""

    places: Sequence[float]
    values: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


class Estimate(NamedTuple):
    """A named number with its interval."""

    name: str
    value: float
    low: float
    high: float


class Confusion(NamedTuple):
    """Counts of shape (classes, classes): rows are the true classes, columns the predicted ones."""

    title: str
    classes: Sequence[str]
    counts: Sequence[Sequence[int]]


def wilson_interval(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share of `count` (Wilson 1927)."""
    middle = (share + _Z95**2 / (2 * count)) / (1 + _Z95**2 / count)
    half = _Z95 / (1 + _Z95**2 / count) * (share * (1 - share) / count + _Z95**2 / (4 * count**2)) ** 0.5
    return middle - half, middle + half


def reliability_diagram(path: Path, bins: Sequence[ReliabilityBin], title: str) -> None:
    """Share of right answers over their probability, with 95 % intervals; below, the number of answers."""
    with _canvas(path, (4.6, 4.8), nrows=2, heights=(4, 1)) as (upper, lower):
        upper.plot([0, 1], [0, 1], color=SHADE, linestyle="--", label="perfectly calibrated")
        ends = [wilson_interval(one.right, one.answers) for one in bins]
        places = [one.probability for one in bins]
        upper.vlines(places, [low for low, _ in ends], [high for _, high in ends], color=INK, linewidth=1)
        upper.plot(places, [one.right for one in bins], "o", color=INK, markersize=4, label="answers, 95 % interval")
        upper.set(xlim=(0, 1), ylim=(0, 1), ylabel="share that is right", title=title)
        upper.legend(frameon=False, loc="upper left")
        lower.bar(places, [one.answers for one in bins], width=0.05, color=SHADE)
        lower.set(xlim=(0, 1), xlabel="P(correct)", ylabel="answers")


def score_curve(path: Path, curve: Curve, levels: Mapping[str, float], threshold: float, title: str) -> None:
    """Score over the threshold on P(correct) with its band; `levels` are other rules' scores, as horizontal lines."""
    with _canvas(path, (5.6, 3.8)) as (axes,):
        band = axes.fill_between(curve.places, curve.low, curve.high, color=SHADE, alpha=0.5, linewidth=0)
        band.set_label("95 % interval")
        axes.plot(curve.places, curve.values, color=INK, label="answer where P(correct) is above")
        for (name, level), style in zip(levels.items(), ("--", ":", "-.") * len(levels), strict=False):
            axes.axhline(level, color=INK, linestyle=style, linewidth=0.8, label=name)
        axes.axvline(threshold, color=ACCENT, linewidth=0.8, label=f"threshold {threshold:g}")
        axes.set(xlim=(0, 1), xlabel="threshold on P(correct)", ylabel="score", title=title)
        axes.legend(frameon=False, fontsize=8)


def estimates(path: Path, found: Sequence[Estimate], label: str, title: str) -> None:
    """Named numbers with their intervals, from top to bottom."""
    with _canvas(path, (6.4, 1.2 + 0.32 * len(found))) as (axes,):
        rows = range(len(found))
        axes.axvline(0, color=SHADE, linewidth=0.8)
        axes.hlines(rows, [one.low for one in found], [one.high for one in found], color=INK, linewidth=1)
        axes.plot([one.value for one in found], rows, "o", color=INK, markersize=4)
        axes.set_yticks(rows, [one.name for one in found])
        axes.set(ylim=(len(found) - 0.5, -0.5), xlabel=label, title=title)


def loss_curve(path: Path, losses: Sequence[float], title: str) -> None:
    """The loss of each step, from step 1, as dots, and its mean over the steps around it as a line."""
    around = max(1, len(losses) // 40)
    parts = [losses[max(0, place - around) : place + around + 1] for place in range(len(losses))]
    steps = range(1, len(losses) + 1)
    with _canvas(path, (5.6, 3.4)) as (axes,):
        axes.plot(steps, losses, ".", color=SHADE, markersize=3, label="a step")
        axes.plot(steps, [sum(part) / len(part) for part in parts], color=INK, label=f"mean of {2 * around + 1} steps")
        axes.set(ylim=(0, None), xlabel="step", ylabel="loss", title=title)
        axes.legend(frameon=False, fontsize=8)


def confusion_matrices(path: Path, matrices: Sequence[Confusion]) -> None:
    """Matrices side by side: counts as text, shade by the share of the true class (as NEC's figure 2)."""
    with _canvas(path, (1.2 + 3.4 * len(matrices), 3.9), ncols=len(matrices)) as panels:
        for axes, matrix in zip(panels, matrices, strict=True):
            shares = [[count / max(1, sum(row)) for count in row] for row in matrix.counts]
            axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
            for row, counts in enumerate(matrix.counts):
                for column, count in enumerate(counts):
                    colour = "white" if shares[row][column] > 0.6 else INK
                    axes.text(column, row, str(count), ha="center", va="center", color=colour, fontsize=8)
            places = range(len(matrix.classes))
            axes.set_xticks(places, matrix.classes, rotation=40, ha="right")
            axes.set_yticks(places, matrix.classes)
            axes.set(xlabel="predicted", ylabel="true", title=matrix.title)


@contextmanager
def _canvas(
    path: Path, inches: tuple[float, float], nrows: int = 1, ncols: int = 1, heights: Sequence[float] | None = None
) -> "Iterator[list[Axes]]":
    """The axes of a figure that is written at the end, without display, date or randomness."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=inches, layout="constrained")
        FigureCanvasAgg(figure)
        yield list(figure.subplots(nrows, ncols, squeeze=False, height_ratios=heights).flat)
        path.parent.mkdir(parents=True, exist_ok=True)
        plain = {"Date": None, "Creator": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(path, metadata=plain, dpi=150, bbox_inches="tight")
