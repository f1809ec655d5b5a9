"""The charts of a finished run as SVG files, for pages that a report does not fit into."""

from collections.abc import Mapping
from pathlib import Path

from crag.core.files import DatasetError, write_whole
from crag.evaluation.report.confidence import collect_estimates, reliability, threshold_curve
from crag.evaluation.report.finished_run import FinishedRun, read_finished_run
from crag.evaluation.report.page import REPORT_FAULTS, TEMPLATES, read_file
from crag.evaluation.report.stage_seconds import stage_seconds

SHORTEST_MEAN = 0.005
"""Stages with a mean below this would be drawn as 0.00 s; they are left out."""


def write_pictures(folder: Path, out: Path) -> list[Path]:
    """Write the charts of the finished run in `folder` to the folder `out`, which is made; returns their paths.

    Without P(correct) for answers with known verdicts, only the seconds are drawn. Raises DatasetError: the run is
    unfinished, or a file cannot be written.
    """
    run = read_finished_run(folder)
    try:
        pictures = _draw(run)
    except REPORT_FAULTS as error:
        raise DatasetError(f"{folder}: no picture can be made: {type(error).__name__}: {error}") from error

    paths = []
    for name, picture in pictures.items():
        path = out / f"{name}.svg"
        try:
            out.mkdir(parents=True, exist_ok=True)
            write_whole(path, picture.encode("utf-8", errors="replace"))
        except OSError as error:
            raise DatasetError(f"{path}: cannot be written: {error.strerror}") from None
        paths.append(path)
    return paths


def _draw(run: FinishedRun) -> Mapping[str, str]:
    """File name without ending -> SVG."""
    # The templates' types are unknown to mypy: a module of macros has them as attributes.
    charts = TEMPLATES.get_template("charts.html").module
    pictures: dict[str, str] = {}

    estimates = collect_estimates(run).estimates
    if estimates:
        points = threshold_curve(estimates)
        pictures["score_over_threshold"] = charts.score_over_threshold(points, len(estimates))  # type: ignore[attr-defined]
        pictures["reliability"] = charts.reliability_diagram(reliability(estimates))  # type: ignore[attr-defined]

    # The last row is the whole batch.
    stages = [stage for stage in stage_seconds(run)[:-1] if stage.mean >= SHORTEST_MEAN]
    if stages:
        pictures["seconds_by_stage"] = charts.seconds_by_stage(stages)  # type: ignore[attr-defined]
    return {name: _alone(str(chart)) for name, chart in pictures.items()}


def _alone(chart: str) -> str:
    """A chart of the report as a file: with its namespace, its style and a background."""
    opening, separator, rest = chart.strip().partition(">")
    # Inside a page the namespace is implied, a file of its own needs it
    opening = opening.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    style = f'<style>\n{read_file("picture.css")}</style>\n<rect width="100%" height="100%" class="background"/>'
    return f"{opening}{separator}\n{style}{rest}\n"
