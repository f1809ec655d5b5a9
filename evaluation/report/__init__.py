"""report.html: a finished run as one page that needs no network, for whoever asks why a score is what it is."""

from evaluation.report.page import write_report

__all__ = ["write_report"]
