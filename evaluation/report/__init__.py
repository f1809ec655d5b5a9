"""report.html: a finished run as one page that explains its score and needs no network."""

from evaluation.report.page import write_report

__all__ = ["write_report"]
