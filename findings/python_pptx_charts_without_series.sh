#!/usr/bin/env bash
# python-pptx 1.0.2: of charts with depth, of shares, surfaces and pies of pies no series can be read, and the error of
# `chart.series` is an AttributeError of lxml.
#
# Guessed before the run: `has_chart` is false for kinds that the library cannot draw, or their series are given without
# a type, since their XML has the same series.
# Seen: `has_chart` is true. The plots and `chart.chart_type` raise ValueError ("unsupported plot type"),
# `chart.series` raises AttributeError ('lxml.etree._Element' object has no attribute 'iter_sers').
# What it means: code that reads `chart.series` of every slide ends at the first column with depth, and a guard against
# ValueError does not help.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "python-pptx==1.0.2"
"$folder/venv/bin/python" - <<'PYTHON'
import io
import zipfile

from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches


def chart_of_kind(element: str):
    """The chart of a presentation, read back after its plot was given another element's name."""
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["2023", "2024"]
    data.add_series("boats", (5, 8))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), data)
    written = io.BytesIO()
    presentation.save(written)

    renamed = io.BytesIO()
    with zipfile.ZipFile(written) as old, zipfile.ZipFile(renamed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.startswith("ppt/charts/chart"):
                content = content.replace(b"c:barChart>", f"c:{element}>".encode())
            new.writestr(name, content)

    shape = Presentation(renamed).slides[0].shapes[0]
    assert shape.has_chart
    return shape.chart


def error_of(read) -> str:
    try:
        read()
    except (AttributeError, ValueError) as error:
        return type(error).__name__
    return ""


known = chart_of_kind("barChart")
assert [series.name for series in known.series] == ["boats"]
for element in ("bar3DChart", "pie3DChart", "stockChart", "surfaceChart", "ofPieChart"):
    chart = chart_of_kind(element)
    assert error_of(lambda: list(chart.plots)) == "ValueError"
    assert error_of(lambda: chart.chart_type) == "ValueError"
    assert error_of(lambda: list(chart.series)) == "AttributeError"

print("as described: a chart is announced, its kind is a ValueError and its series an AttributeError")
PYTHON
