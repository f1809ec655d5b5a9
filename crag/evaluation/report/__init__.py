"""report.html: a finished run, or two side by side, as one page that needs no network."""
