"""`python -m agents.questions`."""

from crag.command import end_with
from crag.questions import main

end_with(main)
