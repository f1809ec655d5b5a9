"""`python -m evaluation.report` writes report.html of a finished run again."""

from crag.command import end_with
from crag.report import main

end_with(main)
