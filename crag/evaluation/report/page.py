"""What pages of runs share: their templates, style and scripts. A page is one file with its data and packed traces.

The page opens a block of traces (zlib in base64) only when a question of it is opened.
"""

import base64
import hashlib
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, TemplateError

from crag.core.files import DatasetError, write_whole
from crag.core.text import counted
from crag.evaluation.batches import gold_answers
from crag.evaluation.compare import verdicts_title
from crag.evaluation.judge import hedged_line
from crag.evaluation.judge.base import HEDGED
from crag.evaluation.metrics import FEWEST
from crag.evaluation.report.charts import Frame, histogram, interval_band, threshold_frame
from crag.evaluation.report.confidence import collect_estimates, reliability, threshold_curve
from crag.evaluation.report.finished_run import RETRIEVAL_TITLES, SHOWN, FinishedRun
from crag.evaluation.report.packing import BLOCK_QUESTIONS, PackedTraces
from crag.evaluation.report.question_table import facet_title, row_id
from crag.evaluation.report.stage_seconds import stage_seconds
from crag.evaluation.results_text import lost_line, out_of_time_line, tokens_line
from crag.evaluation.signature import signature_line

SHARED_SCRIPTS = ("elements.js", "page.js", "trace.js")
"""In order of dependency; each page has more of its own."""
REPORT_FAULTS = (
    *(OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError),
    TemplateError,
)
"""Raised for unreadable files or unexpected traces and results. A finished run must not fail for them."""


def write_page(path: Path, make_page: Callable[[], str]) -> Path:
    """Write the page that `make_page` makes; returns its path. Raises DatasetError: it cannot be made or written."""
    try:
        # Made as a whole before anything is written: a fault leaves an older report as it is
        page = make_page()
    except REPORT_FAULTS as error:
        raise DatasetError(f"{path}: the page cannot be made: {type(error).__name__}: {error}") from error

    try:
        write_whole(path, page.encode("utf-8", errors="replace"))
    except OSError as error:
        raise DatasetError(f"{path}: cannot be written: {error.strerror}") from None
    return path


def fill_template(
    template: str,
    own_scripts: Sequence[str],
    packed: PackedTraces,
    data: Mapping[str, Any],
    **variables: object,
) -> str:
    """A template with its variables, our style and scripts, and the packed traces; nothing else may run in it."""
    style = read_file("style.css")
    scripts = "\n".join(read_file(name) for name in (*SHARED_SCRIPTS, *own_scripts))
    # The page shows texts of strangers: even if markup got through, no script of theirs would run
    policy = (
        f"default-src 'none'; style-src '{_source_hash(style)}'; script-src '{_source_hash(scripts)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return TEMPLATES.get_template(template).render(
        style=style,
        script=scripts,
        policy=policy,
        packed=packed,
        data={**data, "block_questions": BLOCK_QUESTIONS},
        **variables,
    )


def read_file(name: str) -> str:
    """A file of this package."""
    return files("crag.evaluation.report").joinpath(name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """A style's or script's hash, by which the page's Content-Security-Policy allows it."""
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")


# --- what the templates call ------------------------------------------------------------------------------------------


def percent(share: float, digits: int = 1) -> str:
    """``12.3`` of 0.123."""
    return f"{100 * share:.{digits}f}"


def interval_or_dash(ends: Sequence[float], n: int, form: str = "{:+.3f} to {:+.3f}") -> str:
    """Both ends; a dash if the interval is of too few questions."""
    return form.format(*ends) if n >= FEWEST else "–"


def run_facts(run: FinishedRun) -> dict[str, str]:
    """What was run, where and when."""
    signature = run.signature
    measured = run.saved.run.measured
    facts: dict[str, Any] = {
        "preset": signature.get("preset"),
        "model": signature.get("model"),
        "changes": signature.get("set"),
        "agent": signature.get("agent"),
        "data": signature.get("data"),
        "judge": signature.get("judge"),
        "date": measured.get("date"),
        "machine": measured.get("machine"),
        "commit": measured.get("commit"),
        "command": measured.get("command"),
        "tokens": tokens_line(run.results).removeprefix("tokens: "),
    }
    return {name: str(value) for name, value in facts.items() if value}


TEMPLATES = Environment(
    loader=PackageLoader("crag.evaluation.report", "."),
    autoescape=True,  # no text of a page, a question or a model can become markup
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}  # JSON.parse refuses NaN
TEMPLATES.globals |= {
    "FEWEST": FEWEST,
    "Frame": Frame,
    "RETRIEVAL_TITLES": RETRIEVAL_TITLES,
    "SHOWN": SHOWN,
    "collect_estimates": collect_estimates,
    "counted": counted,
    "gold_answers": gold_answers,
    "histogram": histogram,
    "interval_band": interval_band,
    "interval_or_dash": interval_or_dash,
    "lost_line": lost_line,
    "out_of_time_line": out_of_time_line,
    "hedged_line": hedged_line,
    "HEDGED": HEDGED,
    "reliability": reliability,
    "row_id": row_id,
    "run_facts": run_facts,
    "signature_line": signature_line,
    "stage_seconds": stage_seconds,
    "threshold_curve": threshold_curve,
    "threshold_frame": threshold_frame,
    "verdicts_title": verdicts_title,
}
TEMPLATES.filters |= {
    "facet_title": facet_title,
    "percent": percent,
    "signed": "{:+.3f}".format,
}
