"""report.html: a finished run, or two side by side, as one page that needs no network."""

from evaluation.report.page import write_comparison, write_report

__all__ = ["write_comparison", "write_report"]
