"""The page of one run: its metrics, charts, tables and traces."""

from pathlib import Path

from crag.core.files import check_target
from crag.evaluation.report.finished_run import FinishedRun, read_finished_run
from crag.evaluation.report.packing import pack_traces
from crag.evaluation.report.page import fill_template, write_page
from crag.evaluation.report.question_table import table_data
from crag.evaluation.store import REPORT


def write_report(folder: Path, out: Path | None = None) -> Path:
    """Write report.html of the finished run in `folder`, there or to `out` (creating folders); returns the path.
    Raises DatasetError: the run is unfinished, or the page cannot be written.
    """
    path = out or folder / REPORT
    run = read_finished_run(folder)
    check_target(path)
    return write_page(path, lambda: _make_page(run))


def _make_page(run: FinishedRun) -> str:
    traces = [run.trace(record) for record in run.records]
    packed = pack_traces(run.records, traces)
    return fill_template("report.html", ("corrections.js", "table.js"), packed, table_data(run), run=run)
